/* stream/rows_memory.h: rows in memory that are refused, as by an import, and what a budget without
 * room for them leaves behind. */
#include "memory_rows_case.h"

/* An import of the rows says the same. */
static void check_refused(struct rows *rows)
{
    char message[400];
    struct ny_rows *M;

    assert_int_equal(ny_rows_of_memory(&M, ctx, &rows->memory), NY_EDATA);
    assert_null(M);
    snprintf(message, sizeof(message), "%s", ny_context_message(ctx));
    assert_int_equal(import(rows, 0), NY_EDATA);
    assert_string_equal(message, ny_context_message(ctx));
    ny_error_clear(ctx);
    free_rows(rows);
    new_store();
}

TEST(values_that_cannot_be_counted)
{
    enum { ROW = 1234, D = 37, NNZ = 700 };
    const double bad[] = {(double)NAN, (double)INFINITY, -2};
    struct rows rows;

    for (size_t b = 0; b < 3; b++)
        for (size_t gap = 0; gap <= 8; gap += 8) {
            struct shape shape = {5000, D, NY_F64, gap, 0, b < 2 ? &as_they_are : &by_total};

            rows = rows_of_shape(&shape);
            memcpy(rows.packed + (ROW * D + 5) * 8, &bad[b], 8);
            memcpy(rows.values + ROW * (D * 8 + gap) + 5 * 8, &bad[b], 8);
            check_refused(&rows);
        }
    for (size_t b = 0; b < 3; b++)
        for (unsigned index_bytes = 4; index_bytes <= 8; index_bytes += 4) {
            struct shape shape = {500, 150,         NY_F64,
                                  0,   index_bytes, b < 2 ? &as_they_are : &by_total};

            rows = rows_of_shape(&shape);
            memcpy((double *)rows.csr.value + NNZ, &bad[b], 8);
            memcpy((double *)(void *)rows.values + 3 + NNZ, &bad[b], 8);
            check_refused(&rows);
        }
}

TEST(sparse_rows_out_of_order)
{
    static const struct {
        uint32_t start[4], column[6];
        float value[6];
        int err;
    } cases[] = {
        {{0, 2, 2, 6}, {1, 8, 0, 3, 4, 8}, {1, 2, 3, 4, 5, 6}, NY_OK},
        {{0, 2, 2, 6}, {1, 8, 0, 4, 3, 8}, {1, 2, 3, 4, 5, 6}, NY_END}, /* they fall */
        {{0, 2, 2, 6}, {1, 8, 0, 3, 3, 8}, {1, 2, 3, 4, 5, 6}, NY_END}, /* twice */
        {{0, 2, 2, 6}, {1, 9, 0, 3, 4, 8}, {1, 2, 3, 4, 5, 6}, NY_END}, /* beyond the last */
        {{0, 2, 2, 6}, {1, 8, 0, 3, 4, UINT32_MAX}, {1, 2, 3, 4, 5, 6}, NY_END},
        {{0, 2, 2, 6}, {1, 8, 0, 3, 4, 8}, {1, 2, 3, 0, 5, 6}, NY_END}, /* a zero is kept */
        {{0, 2, 1, 6}, {1, 8, 0, 3, 4, 8}, {1, 2, 3, 4, 5, 6}, NY_END},
    };

    for (size_t c = 0; c < sizeof(cases) / sizeof(cases[0]); c++)
        for (unsigned index_bytes = 4; index_bytes <= 8; index_bytes += 4) {
            uint64_t start[4], column[6];
            const struct ny_memory_rows rows = {
                .name = "the table",
                .kept = {.dtype = NY_F32,
                         .n = 3,
                         .d = 9,
                         .values = {.at = (const char *)cases[c].value},
                         .row_start = index_bytes == 4 ? (const void *)cases[c].start : start,
                         .column = index_bytes == 4 ? (const void *)cases[c].column : column,
                         .index_bytes = index_bytes,
                         .start_bytes = index_bytes}};
            struct ny_rows *M;

            for (size_t k = 0; k < 6; k++) {
                if (k < 4) start[k] = cases[c].start[k];
                column[k] = cases[c].column[k];
            }
            assert_int_equal(ny_rows_of_memory(&M, ctx, &rows), cases[c].err);
            assert_true((M != NULL) == (cases[c].err == NY_OK));
            assert_int_equal(ny_context_error(ctx)->status, NY_OK);
            ny_memory_rows_free(M);
        }
}

TEST(a_budget_without_room)
{
    const size_t limit = ny_memory_limit(ctx);
    struct rows rows;
    struct ny_rows *M;

    for (unsigned index_bytes = 0; index_bytes <= 8; index_bytes += 8) {
        size_t before, refusals = 0;
        int err = NY_EBUDGET;

        rows = rows_of_shape(&(struct shape){300, 150, NY_F32, 4, index_bytes, &by_total});
        before = ny_memory_used(ctx);
        for (size_t room = 0; err == NY_EBUDGET; room += 256) {
            ny_context_set_memory(ctx, before + room);
            err = ny_rows_of_memory(&M, ctx, &rows.memory);
            ny_error_clear(ctx);
            if (err) assert_int_equal(ny_memory_used(ctx), before);
            refusals += err != NY_OK;
        }
        assert_int_equal(err, NY_OK);
        assert_true(refusals > 10);
        ny_context_set_memory(ctx, limit);
        ny_memory_rows_free(M);
        free_rows(&rows);
    }
}

AROUND_EACH(start, stop)
