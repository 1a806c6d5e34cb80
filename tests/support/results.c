#include "support/results.h"

#include "support/options.h"
#include "support/test.h"

void must_fit(struct ny_context *ctx, const char *store, const char *name, struct ny_report **report,
            const char *format, ...)
{
    OWNED(ny_options) *options = NULL;
    char words[500];
    va_list values;

    va_start(values, format);
    assert_true((size_t)vsnprintf(words, sizeof(words), format, values) < sizeof(words));
    va_end(values);
    options = options_with(ctx, "%s", words);
    if (ny_fit(ctx, store, name, options, report))
        fail_msg("%s: %s", words, ny_context_message(ctx));
}

double number_of(const struct ny_report *report, const char *key)
{
    double value;

    return ny_report_number(report, key, &value) ? value : (double)NAN;
}

double *part_of_result(struct ny_context *ctx, const char *store, const char *name,
                       const char *part, size_t rows, size_t columns)
{
    double *values = lend(rows * columns * sizeof(double));
    OWNED(ny_view) *view = NULL;
    uint64_t n, count;
    int type;

    CHECK(ny_view_open(&view, ctx, store, name));
    CHECK(ny_view_shape(view, part, &n, &count, &type));
    assert_int_equal(n, rows);
    assert_int_equal(count ? count : 1, columns);
    CHECK(ny_view_read(view, part, 0, n, values));
    for (size_t i = rows * columns; type == NY_F32 && i-- > 0;) /* from the last on, in place */
        values[i] = (double)((const float *)(const void *)values)[i];
    for (size_t i = 0; type == NY_U64 && i < rows * columns; i++)
        values[i] = (double)((const uint64_t *)(const void *)values)[i];
    return values;
}

size_t *rows_of_result(struct ny_context *ctx, const char *store, const char *name,
                       const char *part, size_t rows, size_t columns)
{
    double *values = part_of_result(ctx, store, name, part, rows, columns);
    size_t *numbers = lend(rows * columns * sizeof(*numbers));

    for (size_t i = 0; i < rows * columns; i++)
        numbers[i] = (size_t)values[i];
    return numbers;
}
