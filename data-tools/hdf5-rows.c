/*
 * Rows of an HDF5 file as h5py, AnnData (.h5ad) and 10x Genomics write them: a dataset of numbers
 * as npy, a sparse matrix by rows (a group of data, indices and indptr) as libsvm text.
 */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "hdf5_file.h"

static const char usage[] =
    "hdf5-rows FILE [NAME] [-o OUT] [--dense]\n"
    "\n"
    "Writes the rows of NAME (X) of an HDF5 file: a dataset of numbers as npy (its first\n"
    "dimension counts rows; one of one dimension serves as import --labels FILE), a sparse\n"
    "matrix by rows, as AnnData and 10x Genomics keep it (a group of data, indices, indptr),\n"
    "as libsvm text (import of a pipe of it wants --dims COLUMNS). What the file has is listed\n"
    "when NAME is not in it.\n"
    "\n"
    "  -o OUT    where to; standard output without it\n"
    "  --dense   a sparse matrix as npy, too\n"
    "\n"
    "Integers beyond 16 bits become float64, and are exact up to 2^53. Categories of a .h5ad are\n"
    "numbers in NAME/codes, such as obs/cell_type/codes. libhdf5 may crash on a file that was\n"
    "made to harm: read files of strangers where that matters to nobody.\n";

#define ULL(x) ((unsigned long long)(x))
enum { BAND_BYTES = 64 << 20, ENTRIES = 1 << 20 };

struct file {
    struct hdf5_file in;
    struct ny_writer *out;
};

static void write_dense(struct file *f)
{
    struct hdf5_numbers x;
    hsize_t chunk, rows;
    size_t row = 1;
    void *values;

    hdf5_open_numbers(&f->in, f->in.id, f->in.name, &x);
    chunk = hdf5_check_storage(&f->in, &x, f->in.name);
    for (int i = 1; i < x.rank; i++)
        tool_check(f->in.ctx, ny_product(f->in.ctx, &row, row, (size_t)x.sizes[i], 1));
    tool_write_npy_head(f->out, x.dtype, x.sizes[0], row);
    tool_check(f->in.ctx, ny_product(f->in.ctx, &row, row, ny_dtype_size(x.dtype), 1));
    /* whole bands of chunks, so that each is unpacked once, where they are not too large */
    rows = row < BAND_BYTES ? BAND_BYTES / row : 1;
    if (rows > chunk) rows -= rows % chunk;
    if (rows > x.sizes[0]) rows = x.sizes[0];
    values = tool_alloc(f->in.ctx, (size_t)rows, row);
    for (hsize_t at = 0, count; at < x.sizes[0]; at += count) {
        count = x.sizes[0] - at < rows ? x.sizes[0] - at : rows;
        hdf5_read_rows(&f->in, &x, at, count, values);
        tool_write(f->out, values, (size_t)count * row);
    }
    H5Dclose(x.id);
}

struct entry {
    uint64_t place;
    double value;
};

struct sparse {
    struct hdf5_sparse in;
    bool dense;
    /* of a band: entries in order of rows, with room for so many */
    size_t room;
    double *values;
    uint64_t *places;
    struct entry *entries;
    void *row; /* dense: one of f32 or f64 */
};

static void *grown(const struct file *f, void *memory, size_t entries, size_t size)
{
    memory = ny_resize(f->in.ctx, NY_MEM_OTHER, memory, entries * size);
    if (!memory) tool_check(f->in.ctx, NY_EBUDGET);
    return memory;
}

static void read_entries(const struct file *f, struct sparse *x, uint64_t first, uint64_t count)
{
    if (count > x->room) {
        x->room = (size_t)count;
        x->values = grown(f, x->values, x->room, sizeof *x->values);
        x->places = grown(f, x->places, x->room, sizeof *x->places);
        x->entries = grown(f, x->entries, x->room, sizeof *x->entries);
    }
    if (!count) return;
    hdf5_read_rows(&f->in, &x->in.data, first, count, x->values);
    hdf5_read_rows(&f->in, &x->in.indices, first, count, x->places);
    for (size_t i = 0; i < count; i++)
        x->entries[i] = (struct entry){x->places[i], x->values[i]};
}

static int by_place(const void *a, const void *b)
{
    uint64_t x = ((const struct entry *)a)->place, y = ((const struct entry *)b)->place;

    return (x > y) - (x < y);
}

/* Columns of a row ascend in libsvm, and need not in HDF5. */
static void order_row(const struct file *f, const struct sparse *x, struct entry *row, size_t count,
                      uint64_t number)
{
    bool ascend = true;

    for (size_t i = 1; i < count; i++)
        ascend &= row[i - 1].place < row[i].place;
    if (!ascend) qsort(row, count, sizeof *row, by_place);
    for (size_t i = 0; i < count; i++) {
        if (row[i].place >= x->in.columns)
            tool_fail(NY_EDATA, "%s: row %llu of %s has column %lld of %llu (from 0).", f->in.path,
                      ULL(number), f->in.name, (long long)row[i].place, ULL(x->in.columns));
        if (i > 0 && row[i - 1].place == row[i].place)
            tool_fail(NY_EDATA, "%s: row %llu of %s has column %llu twice.", f->in.path,
                      ULL(number), f->in.name, ULL(row[i].place));
    }
}

/* The last column is named in the first row, with value 0 if need be: so the text says how many
 * there are. */
static void write_text(const struct file *f, const struct sparse *x, const struct entry *row,
                       size_t count, bool first)
{
    int digits = x->in.data.dtype == NY_F64 ? 17 : 9;

    tool_print(f->out, "0");
    for (size_t i = 0; i < count; i++)
        tool_print(f->out, " %llu:%.*g", ULL(row[i].place + 1), digits, row[i].value);
    if (first && (!count || row[count - 1].place + 1 < x->in.columns))
        tool_print(f->out, " %llu:0", ULL(x->in.columns));
    tool_print(f->out, "\n");
}

static void write_full(const struct file *f, const struct sparse *x, const struct entry *row,
                       size_t count)
{
    bool wide = x->in.data.dtype == NY_F64;
    size_t bytes = (size_t)x->in.columns * (wide ? sizeof(double) : sizeof(float));

    memset(x->row, 0, bytes);
    for (size_t i = 0; i < count; i++)
        if (wide)
            ((double *)x->row)[row[i].place] = row[i].value;
        else
            ((float *)x->row)[row[i].place] = (float)row[i].value;
    tool_write(f->out, x->row, bytes);
}

/* Rows from `first` on, whose entries begin and end at starts[0] … starts[rows]. */
static void write_band(const struct file *f, struct sparse *x, const uint64_t *starts,
                       uint64_t first, size_t rows)
{
    read_entries(f, x, starts[0], starts[rows] - starts[0]);
    for (size_t i = 0; i < rows; i++) {
        struct entry *row = x->entries + (starts[i] - starts[0]);
        size_t count = (size_t)(starts[i + 1] - starts[i]);

        order_row(f, x, row, count, first + i);
        if (x->dense)
            write_full(f, x, row, count);
        else
            write_text(f, x, row, count, first + i == 0);
    }
}

/* Writes as many rows at a time as have few entries, one at least. */
static void write_sparse(const struct file *f, struct sparse *x)
{
    enum { STARTS = 65536 };
    uint64_t *starts = tool_alloc(f->in.ctx, STARTS + 1, sizeof *starts);

    hdf5_open_sparse(&f->in, &x->in);
    if (x->in.by_columns)
        tool_fail(NY_EDATA,
                  "%s: %s is a matrix by columns (csc): nystream import reads it, with --matrix "
                  "%s. Or write it by rows first, in Python: adata.X = adata.X.tocsr(); "
                  "adata.write(\"rows.h5ad\").",
                  f->in.path, f->in.name, f->in.name);
    x->in.data.type = H5T_NATIVE_DOUBLE;
    x->in.indices.type = H5T_NATIVE_INT64; /* below 0: far too large */
    if (x->dense) {
        x->row = tool_alloc(f->in.ctx, (size_t)x->in.columns, sizeof(double));
        tool_write_npy_head(f->out, x->in.data.dtype == NY_F64 ? NY_F64 : NY_F32, x->in.rows,
                            x->in.columns);
    }
    for (uint64_t at = 0; at < x->in.rows;) {
        size_t rows = x->in.rows - at < STARTS ? (size_t)(x->in.rows - at) : STARTS;

        hdf5_read_starts(&f->in, &x->in, at, rows, starts);
        while (rows > 1 && starts[rows] - starts[0] > ENTRIES)
            rows = (rows + 1) / 2;
        write_band(f, x, starts, at, rows);
        at += rows;
    }
    ny_free(f->in.ctx, x->values);
    ny_free(f->in.ctx, x->places);
    ny_free(f->in.ctx, x->entries);
    hdf5_close_sparse(&x->in);
}

/* Whether the name is there, with every group on the way to it; a group as a sparse matrix. */
static bool is_sparse(const struct file *f)
{
    hid_t id = H5Oopen(f->in.id, f->in.name, H5P_DEFAULT);
    bool group = id >= 0 && H5Iget_type(id) == H5I_GROUP;
    char list[16384];

    if (id < 0 || (group && H5Lexists(id, "indptr", H5P_DEFAULT) <= 0)) {
        hdf5_list(&f->in, "\n  ", list, sizeof list);
        fprintf(stderr, "%s has:%s\n", f->in.path, list);
        tool_fail(NY_EUSAGE, "%s %s in it: give a NAME of this list.", f->in.name,
                  id < 0 ? "is not" : "is a group, not a matrix,");
    }
    H5Oclose(id);
    return group;
}

int main(int argc, char **argv)
{
    struct file f = {.out = NULL};
    struct sparse x = {.dense = false};
    const char *words[2] = {NULL, NULL}, *out = NULL;
    const struct tool_option options[] = {
        {"-o", TOOL_TEXT, &out}, {"--dense", TOOL_SWITCH, &x.dense}, {NULL, TOOL_TEXT, NULL}};
    bool sparse;

    tool_arguments(argc, argv, usage, options, (struct tool_positional){words, 2, 1});
    f.in.path = words[0];
    f.in.name = words[1] ? words[1] : "X";
    f.in.ctx = tool_start();
    if (!strcmp(f.in.path, "-"))
        tool_fail(NY_EUSAGE, "HDF5 is not read in order: give a file, not a pipe.");
    hdf5_open(&f.in, f.in.path);
    sparse = is_sparse(&f);
    f.out = tool_create(f.in.ctx, out);
    if (sparse)
        write_sparse(&f, &x);
    else
        write_dense(&f);
    tool_close(f.out);
    H5Fclose(f.in.id);
    tool_end(f.in.ctx);
    return 0;
}
