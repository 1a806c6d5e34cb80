#include "evaluate/unreached.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"

enum { PIECE_BYTES = 1 << 20 };

/* Lists the rows of a piece that are NaN, up to the number that the record has. */
static void list_piece(const struct ny_result *result, const void *piece, uint64_t first,
                       size_t count, struct ny_lost *unreached)
{
    size_t p = ny_coordinates_count(&result->coordinates);
    uint64_t most = ny_field_count(result->report, "rows_unreached", 0);

    for (size_t i = 0; i < count && unreached->rows < most; i++) {
        double y =
            result->f64 ? ((const double *)piece)[i * p] : (double)((const float *)piece)[i * p];
        struct ny_row_range *last = &unreached->range[unreached->count];

        if (!isnan(y)) continue;
        if (unreached->count && last[-1].end == first + i)
            last[-1].end++;
        else
            unreached->range[unreached->count++] = (struct ny_row_range){first + i, first + i + 1};
        unreached->rows++;
    }
}

int ny_evaluate_unreached(struct ny_result *result, struct ny_lost *unreached)
{
    const struct ny_result_part *part = ny_part_find("embedding");
    size_t row_bytes = part->columns(result) * (result->f64 ? sizeof(double) : sizeof(float));
    size_t rows = row_bytes < PIECE_BYTES ? PIECE_BYTES / row_bytes : 1;
    uint64_t n = part->count(result), most = ny_field_count(result->report, "rows_unreached", 0);
    void *piece = NULL;
    int err;

    *unreached = (struct ny_lost){0};
    if (!most || most > n) return NY_OK;
    if (rows > n) rows = (size_t)n;
    unreached->range = ny_calloc(result->ctx, NY_MEM_OTHER, most, sizeof(*unreached->range));
    piece = ny_calloc(result->ctx, NY_MEM_IO, rows, row_bytes);
    err = unreached->range && piece ? ny_result_prepare(result, part, rows) : NY_EBUDGET;
    for (uint64_t first = 0; !err && first < n; first += rows) {
        size_t count = n - first < rows ? (size_t)(n - first) : rows;

        err = ny_check_interrupt(result->ctx);
        if (!err) err = ny_part_fill(result, part, first, count, piece);
        if (!err) list_piece(result, piece, first, count, unreached);
    }
    ny_free(result->ctx, piece);
    ny_free(result->ctx, result->stored); /* the measures read pieces of another size */
    result->stored = NULL;
    if (!err && unreached->rows)
        ny_log(result->ctx, NY_LOG_WARNING,
               "%llu of %llu rows are left out, the first of them row %llu: no landmark reaches "
               "them, and they have no coordinates",
               (unsigned long long)unreached->rows, (unsigned long long)n,
               (unsigned long long)unreached->range[0].first);
    return err;
}

void ny_unreached_squeeze(const struct ny_lost *unreached, uint32_t *items, uint64_t rows)
{
    for (uint64_t i = 0, run; unreached->count && i < rows - unreached->rows; i += run) {
        uint64_t from = ny_lost_place(unreached, i, &run);

        if (run > rows - from) run = rows - from;
        memmove(items + i, items + from, (size_t)run * sizeof(*items));
    }
}

int ny_unreached_spread(const struct ny_lost *unreached, struct ny_context *ctx, uint32_t **items,
                        uint64_t rows)
{
    uint32_t *all;

    if (!unreached->count) return NY_OK;
    all = ny_calloc(ctx, NY_MEM_DICTIONARY, (size_t)rows, sizeof(*all));
    if (!all) return NY_EBUDGET;
    memset(all, 0xff, (size_t)rows * sizeof(*all));
    for (uint64_t i = 0, run; i < rows - unreached->rows; i += run) {
        uint64_t to = ny_lost_place(unreached, i, &run);

        if (run > rows - to) run = rows - to;
        memcpy(all + to, *items + i, (size_t)run * sizeof(*all));
    }
    ny_free(ctx, *items);
    *items = all;
    return NY_OK;
}
