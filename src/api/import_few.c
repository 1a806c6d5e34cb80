/*
 * Leaves rows with few values out of an import (--min-values), such as empty cells, batch by batch,
 * as --nan drop leaves rows with NaN out: they are counted, the first are told, and the others keep
 * the numbers that they have in the file.
 */
#include <math.h>
#include <string.h>

#include "api/import_private.h"
#include "io/refuse.h"

/* Returns how many values of a row are not 0. */
static uint64_t values_of(enum ny_dtype dtype, struct ny_sparse row)
{
    uint64_t count = 0;

    for (size_t k = 0; k < row.count; k++)
        count += fabs(ny_dtype_at(dtype, row.value, k)) > 0; /* NaN is none */
    return count;
}

static struct ny_sparse row_of(const struct ny_import *import, const struct ny_row_batch *batch,
                               size_t i)
{
    if (batch->sparse) return ny_csr_row(batch->sparse, i);
    return (struct ny_sparse){.count = (size_t)import->spec.d,
                              .value = import->batch.values + i * import->batch.row_bytes};
}

/* Moves a sparse row behind those that are kept. */
static void move_sparse(struct ny_csr *csr, size_t from, size_t to)
{
    size_t first = csr->start[from], count = csr->start[from + 1] - first, at = csr->start[to];
    size_t size = ny_dtype_size(csr->dtype);

    memmove(csr->index + at, csr->index + first, count * sizeof(*csr->index));
    memmove((char *)csr->value + at * size, (char *)csr->value + first * size, count * size);
    csr->start[to + 1] = (uint32_t)(at + count);
}

static void move_row(struct ny_import *import, struct ny_row_batch *batch, size_t from, size_t to)
{
    if (from == to) return;
    import->batch.labels[to] = import->batch.labels[from];
    import->batch.source[to] = import->batch.source[from];
    if (batch->sparse)
        move_sparse(batch->sparse, from, to);
    else
        memmove(import->batch.values + to * import->batch.row_bytes,
                import->batch.values + from * import->batch.row_bytes, import->batch.row_bytes);
}

/* Moves the next name, at *from, behind those that are kept, or passes over it. */
static void move_name(struct ny_names *names, const char **from, bool keep)
{
    size_t bytes = strlen(*from) + 1;

    if (keep) memmove(names->text + names->bytes, *from, bytes);
    *from += bytes;
    if (keep) names->bytes += bytes;
    names->count += keep;
}

void ny_import_drop_few(struct ny_import *import, struct ny_row_batch *batch)
{
    struct ny_import_dropped *all = &import->left_out;
    const char *name = batch->names ? batch->names->text : NULL;
    size_t kept = 0;

    if (!import->asked.min_values) return;
    if (name) ny_names_clear(batch->names);
    for (size_t i = 0; i < batch->count; i++) {
        bool keep =
            values_of(import->spec.dtype, row_of(import, batch, i)) >= import->asked.min_values;

        if (name) move_name(batch->names, &name, keep);
        if (keep) {
            move_row(import, batch, i, kept++);
            continue;
        }
        if (all->told < NY_DROPPED_TOLD) all->first[all->told++] = import->batch.source[i];
        import->batch.few++;
        all->rows++;
    }
    batch->count = kept;
    if (batch->sparse) batch->sparse->rows = kept;
}

int ny_import_end_few(struct ny_import *import, const char *name, const struct ny_row_batch *last)
{
    uint64_t few = import->batch.few;

    import->batch.few = 0;
    if (!few) return NY_OK;
    if (last->dropped == last->consumed) return ny_refuse_empty(import->ctx, name);
    ny_log(import->ctx, NY_LOG_NOTE, "%s: %llu rows with fewer than %llu values are left out", name,
           (unsigned long long)few, (unsigned long long)import->asked.min_values);
    return NY_OK;
}
