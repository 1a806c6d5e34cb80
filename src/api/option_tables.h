/* Tables in memory in the place of files that options name. */
#ifndef NY_API_OPTION_TABLES_H
#define NY_API_OPTION_TABLES_H

#include "api/options.h"
#include "io/reader.h"
#include "model/model.h"

/* Opens the file that an option in force names, or the table that was set instead. */
int ny_options_open(struct ny_reader **out, const struct ny_options *options, const char *name,
                    const struct ny_reader_options *how);
/* Whole numbers, which whoever has them frees with ny_free(). */
struct ny_numbers {
    uint64_t *number;
    size_t count;
};
/* Reads the table of one column that an option in force names behind the numbers that are there.
 * They are to be freed after a failure, too. */
int ny_options_numbers(const struct ny_options *options, const char *name, struct ny_numbers *list);
/* Returns the bytes of all tables that the options hold. */
size_t ny_options_table_bytes(const struct ny_options *options);
/* Returns what messages call it; it belongs to the options. */
const char *ny_options_source(const struct ny_options *options, const char *name);
/* Sets option landmarks-points to the landmarks of the model, which are copied. */
int ny_landmark_table_set(struct ny_options *options, const struct ny_model *model);

#endif
