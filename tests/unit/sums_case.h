/* Fits whose rows are summed up in parts: their options, parts of a table, and figures of reports.
 */
#ifndef TESTS_UNIT_SUMS_CASE_H
#define TESTS_UNIT_SUMS_CASE_H

#include "support/options.h"
#include "support/results.h"
#include "unit/table_case.h"

enum { LANDMARKS = 40 };

typedef const char *const choices[][2];

/* Options of a fit over LANDMARKS points, which are no rows. */
static inline struct ny_options *options_of(choices more)
{
    double points[LANDMARKS * COLUMNS];
    struct ny_table table = dense_table(NY_F64, LANDMARKS, COLUMNS, points);
    struct ny_options *o = options_with(in.ctx, "gamma=2e-5 components=3");

    for (int i = 0; i < LANDMARKS * COLUMNS; i++)
        points[i] = value_of(6 * (i / COLUMNS), i % COLUMNS) + 0.25;
    ok(ny_options_set_table(o, "landmarks-points", &table));
    for (size_t i = 0; more && more[i][0]; i++)
        if (more[i][1]) ok(ny_options_set(o, more[i][0], more[i][1]));
    return o;
}

/* Rows first … end − 1 of a dense table. */
static inline struct ny_table part_of(const struct ny_table *table, uint64_t first, uint64_t end)
{
    struct ny_table part = *table;

    part.values = (const char *)table->values + first * table->columns * sizes[table->dtype];
    part.rows = end - first;
    return part;
}

#endif
