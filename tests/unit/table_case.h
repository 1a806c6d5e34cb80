/* Tables in memory, and the store that tests of the public interface put them into. */
#ifndef TESTS_UNIT_TABLE_CASE_H
#define TESTS_UNIT_TABLE_CASE_H

#include <unistd.h>

#include "support/api_case.h"

enum { ROWS = 3000, COLUMNS = 7, WIDE = 60 };

static char log_text[4096];

static inline void keep_log(void *user, int level, const char *message)
{
    (void)user, (void)level;
    strncat(log_text, message, sizeof(log_text) - strlen(log_text) - 1);
}

static inline void setup(void)
{
    log_text[0] = 0;
    api_case_begin("points.nys");
    ny_context_set_log(in.ctx, keep_log, NULL);
}

static inline void ok(int status)
{
    if (status) fail_msg("%d: %s", status, ny_context_message(in.ctx));
}

/* fails(STATUS, call) */
static inline void fails(int status, int got)
{
    if (got != status) fail_msg("%d, not %d: %s", got, status, ny_context_message(in.ctx));
}

static inline double value_of(int row, int column)
{
    return (row * 31 + column * 17) % 251;
}

static inline double get(int dtype, const void *array, size_t i)
{
    return dtype == NY_U8    ? ((const uint8_t *)array)[i]
           : dtype == NY_I16 ? ((const int16_t *)array)[i]
           : dtype == NY_F32 ? (double)((const float *)array)[i]
                             : ((const double *)array)[i];
}

static const size_t sizes[] = {0, 1, 2, 4, 8};

/* A dense table whose rows lie `gap` values apart; free() its values. */
static inline struct ny_table dense(int dtype, int gap)
{
    size_t stride = (size_t)(COLUMNS + gap);
    void *values = lend_zeros(ROWS * stride * sizes[dtype]);

    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < COLUMNS + gap; j++)
            case_put(values, (enum ny_dtype)dtype, (size_t)i * stride + (size_t)j,
                     j < COLUMNS ? value_of(i, j) : 99);
    return (struct ny_table){.struct_bytes = sizeof(struct ny_table),
                             .dtype = dtype,
                             .rows = ROWS,
                             .columns = COLUMNS,
                             .values = values,
                             .row_bytes = gap ? stride * sizes[dtype] : 0};
}

#endif
