/*
 * The description of a table in the caller's memory (struct ny_table of the public header) is
 * checked, digested and named here.
 *
 * Everything that can be checked without looking at rows is checked before one is read: types,
 * sizes that overflow, row_start from its first number to its last. What is wrong with a row is
 * found when it is read (io/memory.c, io/sparse_rows.c).
 */
#include <string.h>

#include "base/checksum.h"
#include "base/memory.h"
#include "io/memory_private.h"
#include "io/refuse.h"

const char *ny_memory_name(const struct ny_table *table)
{
    return table->name ? table->name : "the table";
}

uint64_t ny_memory_start(const struct ny_table *table, uint64_t row)
{
    return table->index_bytes == 4 ? (uint64_t)(int64_t)((const int32_t *)table->row_start)[row]
                                   : (uint64_t)((const int64_t *)table->row_start)[row];
}

size_t ny_memory_element(const struct ny_table *table)
{
    return ny_dtype_size((enum ny_dtype)table->dtype);
}

uint64_t ny_memory_stride(const struct ny_table *table)
{
    return table->row_bytes ? table->row_bytes : table->columns * ny_memory_element(table);
}

struct ny_borrowed_rows ny_memory_values(const struct ny_table *table)
{
    uint64_t row = table->columns * ny_memory_element(table);

    return ny_borrowed_of(table->values,
                          (size_t)((table->rows - 1) * ny_memory_stride(table) + row));
}

/* Adds a list of names, which may be NULL, to a digest. */
static uint64_t digest_names(uint64_t digest, const char *const *names, uint64_t count)
{
    for (uint64_t i = 0; names && i < count; i++) {
        const uint64_t both[2] = {digest, names[i] ? ny_checksum(names[i], strlen(names[i])) : 0};

        digest = ny_checksum(both, sizeof(both));
    }
    return digest;
}

static void give_back(const void *arg, const void *at, size_t bytes)
{
    ny_borrowed_done(arg, at, bytes);
}

/* Digests rows that lie one behind the other. */
static uint64_t digest_values(const struct ny_table *table)
{
    const struct ny_borrowed_rows values = ny_memory_values(table);

    return values.shared ? ny_checksum_by_pieces(values.at, values.bytes, give_back, &values)
                         : ny_checksum(values.at, values.bytes);
}

/* Adds rows with gaps between them to a digest. */
static uint64_t digest_strided(const struct ny_table *table, uint64_t digest)
{
    const struct ny_borrowed_rows values = ny_memory_values(table);
    const uint64_t many_bytes = 8 << 20, stride = ny_memory_stride(table);
    const size_t row_bytes = (size_t)table->columns * ny_memory_element(table);

    for (uint64_t row = 0, first = 0; row < table->rows; row++) {
        const uint64_t end = row + 1;
        const uint64_t both[2] = {digest, ny_checksum(values.at + row * stride, row_bytes)};

        digest = ny_checksum(both, sizeof(both));
        if ((end - first) * stride < many_bytes && end < table->rows) continue;
        ny_borrowed_done(&values, values.at + first * stride, (size_t)((end - first) * stride));
        first = end;
    }
    return digest;
}

/* A table and its digest. */
struct digesting {
    const struct ny_table *table;
    uint64_t digest;
};

static int digest_all(void *arg)
{
    const struct ny_table *table = ((struct digesting *)arg)->table;
    size_t element = ny_memory_element(table), row = (size_t)table->columns * element;
    uint64_t stride = ny_memory_stride(table),
             parts[5] = {table->rows, table->columns, (uint64_t)table->dtype}, digest;

    if (ny_memory_is_sparse(table)) {
        size_t entries = (size_t)table->entries, width = table->index_bytes;

        const uint64_t arrays[3] = {
            ny_checksum(table->row_start, (size_t)(table->rows + 1) * width),
            ny_checksum(table->column, entries * width),
            ny_checksum(table->values, entries * element)};

        parts[3] = ny_checksum(arrays, sizeof(arrays));
    } else if (stride == row) {
        parts[3] = digest_values(table);
    } else {
        parts[3] = digest_strided(table, parts[3]);
    }
    if (table->labels) parts[4] = ny_checksum(table->labels, (size_t)table->rows * sizeof(double));
    digest = digest_names(ny_checksum(parts, sizeof(parts)), table->row_names, table->rows);
    digest = digest_names(digest, table->column_names, table->columns);
    ((struct digesting *)arg)->digest = digest_names(digest, table->class_names, table->classes);
    return NY_OK;
}

uint64_t ny_memory_digest(const struct ny_table *table)
{
    struct digesting digesting = {.table = table};

    (void)ny_guarded(digest_all, &digesting); /* whoever reads the rows tells that they cannot be */
    return digesting.digest;
}

/* ---- what the description says ------------------------------------------------------------ */

/* Fails because of a member of the table, which include/nystream_memory.h describes. */
static int refuse(struct ny_context *ctx, const struct ny_table *table, const char *member)
{
    return ny_fail(ctx, NY_EUSAGE, "%s has an invalid %s (see nystream_memory.h)",
                   ny_memory_name(table), member);
}

/* Checks that rows of this many bytes, so many bytes apart, can be in memory. */
static int check_dense(struct ny_context *ctx, const struct ny_table *table)
{
    uint64_t row = table->columns * ny_memory_element(table), all;

    if (table->row_bytes && table->row_bytes < row) return refuse(ctx, table, "row_bytes");
    if (__builtin_mul_overflow(table->rows, ny_memory_stride(table), &all) || all > PTRDIFF_MAX)
        return refuse(ctx, table, "rows");
    return table->values ? NY_OK : refuse(ctx, table, "values");
}

/* Walks over row_start once. */
static int check_sparse(struct ny_context *ctx, const struct ny_table *table)
{
    uint64_t before, all;

    if (table->index_bytes != 4 && table->index_bytes != 8)
        return refuse(ctx, table, "index_bytes");
    if (table->entries && (!table->column || !table->values)) return refuse(ctx, table, "column");
    if (__builtin_mul_overflow(table->entries, sizeof(uint64_t), &all) || all > PTRDIFF_MAX)
        return refuse(ctx, table, "entries");
    before = ny_memory_start(table, 0);
    for (uint64_t r = 1; r <= table->rows; r++) {
        uint64_t here = ny_memory_start(table, r);

        if (here > table->entries || here < before) return refuse(ctx, table, "row_start");
        before = here;
    }
    return NY_OK;
}

int ny_memory_check(struct ny_context *ctx, const struct ny_table *table)
{
    if (table->dtype < NY_U8 || table->dtype > NY_GENOTYPE ||
        (table->dtype == NY_GENOTYPE && ny_memory_is_sparse(table)))
        return refuse(ctx, table, "dtype");
    if (!table->rows || !table->columns) return ny_refuse_empty(ctx, ny_memory_name(table));
    if (table->columns > NY_FILE_COLUMNS_MAX || table->rows > PTRDIFF_MAX / sizeof(double) - 1)
        return refuse(ctx, table, "rows");
    if (table->classes && !table->class_names) return refuse(ctx, table, "class_names");
    for (uint64_t k = 0; k < table->classes; k++)
        if (!table->class_names[k]) return refuse(ctx, table, "class_names");
    return ny_memory_is_sparse(table) ? check_sparse(ctx, table) : check_dense(ctx, table);
}
