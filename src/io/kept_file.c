/* Maps the rows of a file, or copies of them (io/kept_file.h). */
#include "io/kept_file.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/memory.h"
#include "io/binary.h"

/* ---- rows that come in batches -------------------------------------------------------------- */

static int append(struct ny_kept_file *kept, enum ny_kept_part part, const void *data, size_t bytes)
{
    struct ny_scratch *file = &kept->file[part];
    int err = bytes && file->fd < 0 ? ny_scratch_open(file) : NY_OK;

    if (!err) err = ny_scratch_put(file, data, bytes, kept->bytes[part]);
    kept->bytes[part] += bytes;
    return err;
}

/* Appends names of rows, one behind another, and where each begins. */
static int append_names(struct ny_kept_file *kept, const char *text, size_t rows)
{
    enum { SOME = 512 };
    uint64_t start[SOME];
    const char *next = text;
    size_t count;
    int err = NY_OK;

    for (size_t i = 0; !err && i < rows; i += count) {
        count = rows - i < SOME ? rows - i : SOME;
        for (size_t k = 0; k < count; k++) {
            start[k] = kept->bytes[NY_KEPT_NAMES] + (uint64_t)(next - text);
            next += strlen(next) + 1;
        }
        err = append(kept, NY_KEPT_NAME_STARTS, start, count * sizeof(*start));
    }
    return err ? err : append(kept, NY_KEPT_NAMES, text, (size_t)(next - text));
}

/* Appends where the rows of the piece begin. */
static int append_starts(struct ny_kept_file *kept)
{
    enum { SOME = 512 };
    uint64_t start[SOME];
    uint64_t before = kept->bytes[NY_KEPT_VALUES] / ny_dtype_size(kept->rows.dtype);
    size_t rows = kept->piece.rows, count;
    int err = NY_OK;

    for (size_t i = 0; !err && i < rows; i += count) {
        count = rows - i < SOME ? rows - i : SOME;
        for (size_t k = 0; k < count; k++)
            start[k] = before + kept->piece.start[i + k];
        err = append(kept, NY_KEPT_STARTS, start, count * sizeof(*start));
    }
    return err;
}

/* Appends sparse rows, or dense ones that become sparse. */
static int append_sparse(struct ny_kept_file *kept, const struct ny_row_batch *batch)
{
    struct ny_csr *piece = &kept->piece;
    size_t d = kept->rows.d, element = ny_dtype_size(kept->rows.dtype), nnz;
    int err = NY_OK;

    piece->rows = 0;
    for (size_t i = 0; !err && i < batch->count; i++) {
        struct ny_sparse row = {d, NULL, (const char *)batch->values + i * d * element};

        if (batch->sparse) row = ny_csr_row(batch->sparse, i);
        err = ny_csr_add(piece, kept->ctx, NY_MEM_IO, row);
    }
    nnz = ny_csr_nnz(piece);
    if (!err) err = append_starts(kept);
    if (!err) err = append(kept, NY_KEPT_COLUMNS, piece->index, nnz * sizeof(*piece->index));
    return err ? err : append(kept, NY_KEPT_VALUES, piece->value, nnz * element);
}

void ny_file_begin(struct ny_kept_file *kept, struct ny_context *ctx,
                   const struct ny_file_table *table)
{
    kept->ctx = ctx;
    for (size_t part = 0; part < NY_KEPT_PARTS; part++)
        kept->file[part] = (struct ny_scratch){ctx, kept->folder, "the rows", -1};
    kept->sparse |= table->layout == NY_CSR;
    kept->piece.dtype = kept->rows.dtype = table->dtype;
    kept->rows.d = (size_t)table->d;
}

int ny_file_add(struct ny_kept_file *kept, const struct ny_row_batch *batch)
{
    size_t row_bytes = kept->rows.d * ny_dtype_size(kept->rows.dtype);
    int err = NY_OK;

    if (kept->numbers)
        err = append(kept, NY_KEPT_NUMBERS, batch->source, batch->count * sizeof(*batch->source));
    if (!err && kept->names) err = append_names(kept, batch->names->text, batch->count);
    if (!err)
        err = kept->sparse ? append_sparse(kept, batch)
                           : append(kept, NY_KEPT_VALUES, batch->values, batch->count * row_bytes);
    kept->rows.n += batch->count;
    return err;
}

/* ---- mapping -------------------------------------------------------------------------------- */

/* Maps bytes of a file from a place on, and returns where they are; NULL: they cannot be. */
static const char *map(struct ny_kept_file *kept, enum ny_kept_part part, int fd, uint64_t place,
                       uint64_t bytes)
{
    uint64_t before = place % (uint64_t)sysconf(_SC_PAGESIZE);
    void *at;

    if (!bytes) return "";
    at = mmap(NULL, bytes + before, PROT_READ, MAP_SHARED, fd, (off_t)(place - before));
    if (at == MAP_FAILED) return NULL;
    kept->map[part].at = at;
    kept->map[part].bytes = bytes + before;
    return (const char *)at + before;
}

bool ny_file_map(struct ny_kept_file *kept, const struct ny_reader *reader)
{
    const struct ny_file_table *table = ny_reader_table(reader);
    uint64_t bytes = table->rows * table->d * ny_dtype_size(table->dtype), place;
    const char *at;

    if (kept->sparse || kept->numbers || kept->names ||
        reader->entry->format->skip != ny_binary_skip || !ny_binary_place(reader, &place))
        return false;
    at = map(kept, NY_KEPT_VALUES, reader->bytes->fd, place, bytes);
    if (!at) return false; /* a file system that cannot */
    kept->rows.values = ny_borrowed_mapped(at, bytes);
    kept->rows.n = table->rows;
    return true;
}

/* Closes the files, which stay as long as they are mapped. */
static void close_files(struct ny_kept_file *kept)
{
    if (!kept->ctx) return;
    for (size_t part = 0; part < NY_KEPT_PARTS; part++)
        ny_scratch_close(&kept->file[part]);
    ny_csr_release(&kept->piece, kept->ctx);
    kept->ctx = NULL;
}

int ny_file_end(struct ny_kept_file *kept)
{
    const void *at[NY_KEPT_PARTS];
    uint64_t end = kept->bytes[NY_KEPT_VALUES] / ny_dtype_size(kept->rows.dtype);
    int err = kept->sparse ? append(kept, NY_KEPT_STARTS, &end, sizeof(end)) : NY_OK;

    for (enum ny_kept_part part = 0; !err && part < NY_KEPT_PARTS; part++) {
        at[part] = map(kept, part, kept->file[part].fd, 0, kept->bytes[part]);
        if (!at[part]) err = ny_fail_errno(kept->ctx, "map", kept->folder);
    }
    close_files(kept);
    if (err) return err;
    kept->rows.values = ny_borrowed_mapped(at[NY_KEPT_VALUES], kept->bytes[NY_KEPT_VALUES]);
    if (kept->numbers) kept->number = at[NY_KEPT_NUMBERS];
    if (kept->names)
        kept->row_names = (struct ny_given_names){at[NY_KEPT_NAMES], at[NY_KEPT_NAME_STARTS]};
    if (!kept->sparse) return NY_OK;
    kept->rows.row_start = at[NY_KEPT_STARTS];
    kept->rows.column = at[NY_KEPT_COLUMNS];
    kept->rows.index_bytes = sizeof(uint32_t);
    kept->rows.start_bytes = sizeof(uint64_t);
    return NY_OK;
}

void ny_file_release(struct ny_kept_file *kept)
{
    for (size_t part = 0; part < NY_KEPT_PARTS; part++)
        if (kept->map[part].at) munmap(kept->map[part].at, kept->map[part].bytes);
    close_files(kept);
}
