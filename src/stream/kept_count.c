/*
 * Rows in memory are counted where they are (stream/counting.h), 8 MiB of dense ones at a time,
 * which are still in a cache when their norms are. Rows that cannot be read so, as there are gaps
 * between them, their column numbers take 8 bytes, or they are prepared, are copied into a block
 * first.
 */
#include "stream/kept_count.h"

#include <stdatomic.h>
#include <string.h>

#include "base/memory.h"
#include "base/thread.h"
#include "stream/blocks.h"
#include "stream/counting.h"

/* SOURCE_BYTES: that a source takes for itself. */
enum { STEP_BYTES = 8 << 20, SOURCE_BYTES = 512 };

/* ---- shape --------------------------------------------------------------------------------- */

/* Sparse rows, of which some may not be in order. */
struct order {
    const struct ny_kept_rows *kept;
    atomic_bool broken;
};

static int check_order(void *arg, size_t first, size_t count)
{
    struct order *order = arg;
    const struct ny_kept_rows *kept = order->kept;
    size_t element = ny_dtype_size(kept->dtype);
    bool good = true;

    for (size_t i = first, at = first; good && i < first + count; i++) {
        uint64_t begin = ny_kept_start(kept, i), end = ny_kept_start(kept, i + 1);
        const char *column = (const char *)kept->column + begin * kept->index_bytes;

        good = begin <= end &&
               ny_columns_rise(column, kept->index_bytes, (size_t)(end - begin), kept->d) &&
               !ny_dtype_has_zero(kept->dtype, kept->values.at + begin * element,
                                  (size_t)(end - begin));
        if (i + 1 - at == NY_UNIT_ROWS) {
            ny_kept_done(kept, at, i + 1);
            at = i + 1;
        }
    }
    if (!good) atomic_store(&order->broken, true);
    return NY_OK;
}

/* Looks at the number of values of each row and of each block. */
static void measure_rows(const struct ny_kept_rows *kept, struct ny_rows_info *info)
{
    uint64_t block = 0, fullest = 0;

    for (uint64_t i = 0; i < kept->n; i++) {
        uint64_t count = ny_kept_start(kept, i + 1) - ny_kept_start(kept, i);

        block = i % info->block_rows ? block + count : count;
        if (block > fullest) fullest = block;
        if (count > info->row_slots) info->row_slots = count;
        ny_lengths_count(&info->lengths, count);
        if ((i + 1) % NY_UNIT_ROWS == 0) ny_kept_done(kept, i + 1 - NY_UNIT_ROWS, i + 1);
    }
    if (!info->row_slots) info->row_slots = 1;
    info->unit_values = ny_rows_unit_most(info, fullest);
}

int ny_kept_info(struct ny_context *ctx, const struct ny_kept_rows *kept, uint64_t entries,
                 struct ny_rows_info *info)
{
    size_t element = ny_dtype_size(kept->dtype);
    bool sparse = kept->row_start != NULL;
    struct order order = {.kept = kept};
    int err = sparse ? ny_parallel_ranges(ctx, (size_t)kept->n, check_order, &order) : NY_OK;

    if (err || atomic_load(&order.broken)) return err ? err : NY_END;
    *info = (struct ny_rows_info){.n = kept->n,
                                  .d = kept->d,
                                  .here = {0, kept->n},
                                  .aligned = true,
                                  .dtype = ny_prepared_dtype(&kept->how, kept->dtype),
                                  .stored_dtype = kept->dtype,
                                  .preparation = kept->how,
                                  .layout = sparse ? NY_CSR : NY_DENSE,
                                  .block_rows = ny_block_rows_for(kept->d, kept->dtype),
                                  .nnz = kept->n * kept->d};
    if (sparse) {
        info->nnz = ny_kept_start(kept, kept->n) - ny_kept_start(kept, 0);
        if (!entries) entries = info->nnz;
        entries = (entries + kept->n - 1) / kept->n; /* of a row */
        info->block_rows =
            ny_sparse_block_rows_for(entries < kept->d ? entries : kept->d, kept->dtype);
        measure_rows(kept, info);
        element += sizeof(uint32_t);
    }
    info->block_bytes = SOURCE_BYTES + (sparse ? ny_kept_room(kept, (size_t)info->row_slots) : 0);
    info->kept_bytes = info->nnz * element;
    return NY_OK;
}

/* ---- statistics ---------------------------------------------------------------------------- */

/* Rows on their way into the sums. */
struct counter {
    struct ny_context *ctx;
    const struct ny_memory_rows *rows;
    const struct ny_kept_rows *kept; /* of them */
    struct ny_csr csr;        /* sparse rows: all of them where they are, or those of a block */
    struct ny_source *source; /* of rows as they are kept, which are copied; NULL: they are not */
    char *block;              /* dense ones that were copied */
};

/* Tells whether the sums can read the rows where they are. */
static bool in_place(const struct ny_kept_rows *kept)
{
    size_t element = ny_dtype_size(kept->dtype);

    if (ny_prepares(&kept->how)) return false;
    if (kept->row_start) return kept->index_bytes == 4 && kept->start_bytes == 4;
    return kept->row_bytes == kept->d * element && (uintptr_t)kept->values.at % element == 0;
}

/* Makes the source and the block that rows are copied to. */
static int counter_copies(struct counter *counter, const struct ny_rows_info *info)
{
    struct ny_kept_rows raw = *counter->kept;
    size_t rows = (size_t)(info->block_rows < info->n ? info->block_rows : info->n);
    int err;

    raw.how = (struct ny_prepared){.rows = NY_ROWS_NONE};
    if (info->row_slots)
        return ny_source_of_kept_csr(&counter->source, counter->ctx, &raw, (size_t)info->row_slots,
                                     1);
    err = ny_source_of_kept(&counter->source, counter->ctx, &raw);
    if (err) return err;
    counter->block = ny_calloc(counter->ctx, NY_MEM_STORE, rows, raw.d * ny_dtype_size(raw.dtype));
    return counter->block ? NY_OK : NY_EBUDGET;
}

/* Adds a row behind those of the block. */
static int add_row(void *arg, struct ny_sparse row)
{
    struct counter *counter = arg;

    return ny_csr_add(&counter->csr, counter->ctx, NY_MEM_STORE, row);
}

/* Finds or copies the rows first … first+count−1. */
static int load(struct counter *counter, uint64_t first, size_t count, struct ny_next_rows *next)
{
    const struct ny_kept_rows *kept = counter->kept;
    const struct ny_tile tile = {.source = counter->source, .first_row = first, .rows = count};

    *next = (struct ny_next_rows){.count = count, .first = first, .from = counter->rows->from};
    if (counter->rows->number) next->number = counter->rows->number + first;
    if (kept->row_start) {
        next->part = (struct ny_csr_part){&counter->csr, tile.source ? 0 : (size_t)first, count};
        if (!tile.source) return NY_OK;
        counter->csr.rows = 0;
        return tile.source->ops->visit(tile.source, &tile, 0, add_row, counter);
    }
    next->values = tile.source ? counter->block : kept->values.at + first * kept->row_bytes;
    return tile.source ? ny_tile_strip(&tile, 0, count, counter->block) : NY_OK;
}

/* Asks for the dense rows behind rows first … end − 1. */
static void look_ahead(const struct ny_kept_rows *kept, uint64_t first, uint64_t end)
{
    uint64_t left = kept->n - end, count = end - first < left ? end - first : left;

    if (!kept->row_start)
        ny_memory_advise(kept->values.at + end * kept->row_bytes, (size_t)count * kept->row_bytes,
                         MADV_WILLNEED);
}

/* Returns how many rows are counted at a time: some blocks. */
static uint64_t step_of(const struct ny_kept_rows *kept, const struct ny_rows_info *info)
{
    uint64_t block_count = (info->n + info->block_rows - 1) / info->block_rows;
    uint64_t blocks = STEP_BYTES / (info->kept_bytes / block_count + 1);

    return info->block_rows * (in_place(kept) && blocks ? blocks : 1);
}

static int count_steps(struct counter *counter, struct ny_counting *counting, uint64_t step)
{
    const struct ny_kept_rows *kept = counter->kept;
    int err = NY_OK;

    for (uint64_t first = 0, end; !err && first < kept->n; first = end) {
        struct ny_next_rows next;

        end = kept->n - first < step ? kept->n : first + step;
        look_ahead(kept, first, end);
        err = ny_check_interrupt(counter->ctx);
        if (!err) err = load(counter, first, (size_t)(end - first), &next);
        if (!err) err = ny_count_rows(counting, &next);
        ny_kept_done(kept, first, end);
    }
    return err;
}

int ny_kept_count(struct ny_context *ctx, const struct ny_memory_rows *rows,
                  const struct ny_rows_info *info, struct ny_moments *moments, double *norms)
{
    const struct ny_kept_rows *kept = &rows->kept;
    struct counter counter = {
        .ctx = ctx, .rows = rows, .kept = kept, .csr = {.dtype = kept->dtype}};
    struct ny_counting counting = {.ctx = ctx,
                                   .dtype = kept->dtype,
                                   .how = kept->how,
                                   .block_rows = (size_t)info->block_rows,
                                   .moments = *moments,
                                   .norms_known = true};
    bool copies = !in_place(kept);
    int err = kept->row_start ? ny_counting_sparse(&counting) : NY_OK;

    if (!err && copies) err = counter_copies(&counter, info);
    if (!copies && kept->row_start)
        counter.csr = (struct ny_csr){.dtype = kept->dtype,
                                      .rows = (size_t)kept->n,
                                      .start = (uint32_t *)(uintptr_t)kept->row_start,
                                      .index = (uint32_t *)(uintptr_t)kept->column,
                                      .value = (void *)(uintptr_t)kept->values.at}; /* read only */
    if (!err) err = count_steps(&counter, &counting, step_of(kept, info));
    moments->n = counting.moments.n;
    *norms = counting.norms;
    if (copies) ny_csr_release(&counter.csr, ctx);
    ny_free(ctx, counter.block);
    ny_source_free(counter.source);
    ny_counting_release(&counting);
    return err;
}
