/* Objects that are given back where the scope that declares them ends, as in
 *
 *     OWNED(ny_report) *report = NULL;
 *
 * those that were declared last at first. A file with objects of more types says of each what gives
 * it back: OWNS() of structs, OWNS_POINTER() where the library makes them. */
#ifndef TESTS_SUPPORT_OWNED_H
#define TESTS_SUPPORT_OWNED_H

#include <jansson.h>

#include "nystream_memory.h"
#include "nystream_sums.h"
#include "store/store.h"

#define OWNED(type) __attribute__((cleanup(drop_##type))) struct type
#define OWNS(type, release)                                                                        \
    static inline void drop_##type(struct type *at)                                                \
    {                                                                                              \
        release;                                                                                   \
    }
#define OWNS_POINTER(type, release)                                                                \
    static inline void drop_##type(struct type **at)                                               \
    {                                                                                              \
        release(*at);                                                                              \
    }

OWNS_POINTER(json_t, json_decref)
OWNS_POINTER(ny_appender, ny_appender_free)
OWNS_POINTER(ny_context, ny_context_free)
OWNS_POINTER(ny_model, ny_model_free)
OWNS_POINTER(ny_options, ny_options_free)
OWNS_POINTER(ny_report, ny_report_free)
OWNS_POINTER(ny_store, ny_store_close)
OWNS_POINTER(ny_sums, ny_sums_free)
OWNS_POINTER(ny_view, ny_view_free)

#endif
