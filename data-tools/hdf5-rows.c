/*
 * Rows of an HDF5 file as h5py, AnnData (.h5ad) and 10x Genomics write them: a dataset of numbers
 * as npy, a sparse matrix by rows (a group of data, indices and indptr) as libsvm text.
 */
#include <hdf5.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "io/number.h"
#include "tool.h"

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
    struct ny_context *ctx;
    const char *path, *name;
    hid_t id;
    struct ny_writer *out;
};

/* One dataset: what its numbers become, and its dimensions. */
struct numbers {
    hid_t id, type; /* type: of the values in memory */
    enum ny_dtype dtype;
    int rank;
    hsize_t sizes[H5S_MAX_RANK];
};

static herr_t innermost(unsigned n, const H5E_error2_t *error, void *text)
{
    if (n == 0) *(struct ny_shown *)text = ny_shown(error->desc, strlen(error->desc));
    return 0;
}

/* Ends with what libhdf5 says of its last failure. */
_Noreturn static void fail_hdf5(const struct file *f, const char *what, const char *name)
{
    struct ny_shown why = {"no reason given"};

    H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, innermost, &why);
    tool_fail(NY_EDATA, "%s: cannot %s%s (libhdf5: %s).", f->path, what, name, why.text);
}

/* The types of the library that hold a type of HDF5. */
static hid_t type_for(enum ny_dtype dtype)
{
    return dtype == NY_U8    ? H5T_NATIVE_UINT8
           : dtype == NY_I16 ? H5T_NATIVE_INT16
           : dtype == NY_F32 ? H5T_NATIVE_FLOAT
                             : H5T_NATIVE_DOUBLE;
}

static enum ny_dtype dtype_of(hid_t id)
{
    hid_t type = H5Dget_type(id), base = H5Tget_class(type) == H5T_ENUM ? H5Tget_super(type) : type;
    H5T_class_t class = H5Tget_class(base);
    size_t size = H5Tget_size(base);
    bool sign = class == H5T_INTEGER && H5Tget_sign(base) == H5T_SGN_2;

    if (base != type) H5Tclose(base);
    H5Tclose(type);
    if (class == H5T_FLOAT) return size <= 4 ? NY_F32 : NY_F64;
    if (class != H5T_INTEGER) return NY_DTYPE_NONE;
    if (size == 1 && !sign) return NY_U8;
    return size > 2 ? NY_F64 : sign ? NY_I16 : NY_F32;
}

static void open_numbers(const struct file *f, hid_t where, const char *name, struct numbers *x)
{
    hid_t space;

    x->id = H5Dopen2(where, name, H5P_DEFAULT);
    if (x->id < 0) fail_hdf5(f, "open ", name);
    x->dtype = dtype_of(x->id);
    if (x->dtype == NY_DTYPE_NONE)
        tool_fail(NY_EDATA, "%s: %s does not hold numbers (of a category take NAME/codes).",
                  f->path, name);
    x->type = type_for(x->dtype);
    space = H5Dget_space(x->id);
    x->rank = H5Sget_simple_extent_dims(space, x->sizes, NULL);
    H5Sclose(space);
    if (x->rank < 1) tool_fail(NY_EDATA, "%s: %s has no rows: it is one number.", f->path, name);
}

/* The size that the file tells must be there; libhdf5 would fill in what is not. Returns the rows
 * of a chunk, 1 where there are none. */
static hsize_t check_storage(const struct file *f, const struct numbers *x, const char *name)
{
    hid_t list = H5Dget_create_plist(x->id), space;
    hsize_t chunk[H5S_MAX_RANK] = {1}, there = 0, wanted = 1;
    size_t bytes = H5Tget_size(x->type);

    for (int i = 0; i < x->rank; i++)
        if (!x->sizes[i]) tool_fail(NY_EDATA, "%s: %s is empty.", f->path, name);
    if (H5Pget_layout(list) != H5D_CHUNKED) {
        if (!H5Dget_storage_size(x->id))
            tool_fail(NY_EDATA, "%s: %s was never written.", f->path, name);
        H5Pclose(list);
        return 1;
    }
    H5Pget_chunk(list, x->rank, chunk);
    H5Pclose(list);
    space = H5Dget_space(x->id);
    if (H5Dget_num_chunks(x->id, space, &there) < 0) fail_hdf5(f, "read ", name);
    H5Sclose(space);
    for (int i = 0; i < x->rank; i++) {
        hsize_t along = x->sizes[i] / chunk[i] + (x->sizes[i] % chunk[i] > 0);

        wanted = along > UINT64_MAX / wanted ? UINT64_MAX : wanted * along;
        tool_check(f->ctx, ny_product(f->ctx, &bytes, bytes, (size_t)chunk[i], 1));
    }
    if (there < wanted)
        tool_fail(NY_EDATA, "%s: %s has %llu of its %llu chunks: it was not written as a whole.",
                  f->path, name, ULL(there), ULL(wanted));
    tool_check(f->ctx, ny_reserve(f->ctx, NY_MEM_IO, bytes)); /* libhdf5 holds one at a time */
    return chunk[0];
}

/* `count` rows from row `first` on; of one dimension, numbers. */
static void read_rows(const struct file *f, const struct numbers *x, hsize_t first, hsize_t count,
                      void *values)
{
    hsize_t start[H5S_MAX_RANK] = {first}, block[H5S_MAX_RANK];
    hid_t space = H5Dget_space(x->id), memory;

    memcpy(block, x->sizes, sizeof block);
    block[0] = count;
    memory = H5Screate_simple(x->rank, block, NULL);
    if (H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, block, NULL) < 0 ||
        H5Dread(x->id, x->type, memory, space, H5P_DEFAULT, values) < 0)
        fail_hdf5(f, "read rows of ", f->name);
    H5Sclose(memory);
    H5Sclose(space);
}

static void write_dense(struct file *f)
{
    struct numbers x;
    hsize_t chunk, rows;
    size_t row = 1;
    void *values;

    open_numbers(f, f->id, f->name, &x);
    chunk = check_storage(f, &x, f->name);
    for (int i = 1; i < x.rank; i++)
        tool_check(f->ctx, ny_product(f->ctx, &row, row, (size_t)x.sizes[i], 1));
    tool_write_npy_head(f->out, x.dtype, x.sizes[0], row);
    tool_check(f->ctx, ny_product(f->ctx, &row, row, ny_dtype_size(x.dtype), 1));
    /* whole bands of chunks, so that each is unpacked once, where they are not too large */
    rows = row < BAND_BYTES ? BAND_BYTES / row : 1;
    if (rows > chunk) rows -= rows % chunk;
    if (rows > x.sizes[0]) rows = x.sizes[0];
    values = tool_alloc(f->ctx, (size_t)rows, row);
    for (hsize_t at = 0, count; at < x.sizes[0]; at += count) {
        count = x.sizes[0] - at < rows ? x.sizes[0] - at : rows;
        read_rows(f, &x, at, count, values);
        tool_write(f->out, values, (size_t)count * row);
    }
    H5Dclose(x.id);
}

struct entry {
    uint64_t place;
    double value;
};

struct sparse {
    struct numbers data, indices, starts;
    hsize_t rows, columns;
    bool dense;
    /* of a band: entries in order of rows, with room for so many */
    size_t room;
    double *values;
    uint64_t *places;
    struct entry *entries;
    void *row; /* dense: one of f32 or f64 */
};

/* A short text of an attribute, of variable or fixed length; "" where there is none. */
static void attribute_text(hid_t where, const char *name, char *text, size_t room)
{
    hid_t id = H5Aexists(where, name) > 0 ? H5Aopen(where, name, H5P_DEFAULT) : -1, type;
    char *variable = NULL;

    text[0] = '\0';
    if (id < 0) return;
    type = H5Aget_type(id);
    if (H5Tis_variable_str(type) > 0 && H5Aread(id, type, &variable) >= 0 && variable) {
        snprintf(text, room, "%s", variable);
        H5free_memory(variable);
    } else if (H5Tget_class(type) == H5T_STRING && H5Tget_size(type) < room &&
               H5Aread(id, type, text) >= 0) {
        text[H5Tget_size(type)] = '\0';
    }
    H5Tclose(type);
    H5Aclose(id);
}

/* The two numbers of an attribute or a dataset. */
static bool two_numbers(hid_t where, const char *name, uint64_t shape[2])
{
    bool attribute = H5Aexists(where, name) > 0, done;
    hid_t id, space;

    if (!attribute && H5Lexists(where, name, H5P_DEFAULT) <= 0) return false;
    id = attribute ? H5Aopen(where, name, H5P_DEFAULT) : H5Dopen2(where, name, H5P_DEFAULT);
    if (id < 0) return false;
    space = attribute ? H5Aget_space(id) : H5Dget_space(id);
    done = H5Sget_simple_extent_npoints(space) == 2 &&
           (attribute ? H5Aread(id, H5T_NATIVE_UINT64, shape)
                      : H5Dread(id, H5T_NATIVE_UINT64, H5S_ALL, H5S_ALL, H5P_DEFAULT, shape)) >= 0;
    H5Sclose(space);
    attribute ? H5Aclose(id) : H5Dclose(id);
    return done;
}

/* How many columns there are. A matrix of 10x Genomics has features × cells, by columns: its cells
 * are our rows. */
static uint64_t sparse_columns(const struct file *f, hid_t group)
{
    char encoding[64];
    uint64_t shape[2];

    attribute_text(group, "encoding-type", encoding, sizeof encoding);
    if (!encoding[0]) attribute_text(group, "h5sparse_format", encoding, sizeof encoding);
    if (!strncmp(encoding, "csc", 3))
        tool_fail(NY_EDATA,
                  "%s: %s is a matrix by columns (csc). Write it by rows first, in Python: "
                  "adata.X = adata.X.tocsr(); adata.write(\"rows.h5ad\").",
                  f->path, f->name);
    if (H5Aexists(group, "shape") <= 0 && two_numbers(group, "h5sparse_shape", shape))
        return shape[1];
    if (!two_numbers(group, "shape", shape))
        tool_fail(NY_EDATA, "%s: %s does not say its shape.", f->path, f->name);
    return H5Aexists(group, "shape") > 0 ? shape[1] : shape[0];
}

static void open_sparse(const struct file *f, struct sparse *x)
{
    hid_t group = H5Gopen2(f->id, f->name, H5P_DEFAULT);

    if (group < 0) fail_hdf5(f, "open ", f->name);
    open_numbers(f, group, "data", &x->data);
    open_numbers(f, group, "indices", &x->indices);
    open_numbers(f, group, "indptr", &x->starts);
    x->columns = sparse_columns(f, group);
    H5Gclose(group);
    if (x->data.rank != 1 || x->indices.rank != 1 || x->starts.rank != 1 ||
        x->data.sizes[0] != x->indices.sizes[0] || x->starts.sizes[0] < 2)
        tool_fail(NY_EDATA, "%s: data, indices and indptr of %s do not go together.", f->path,
                  f->name);
    if (!x->columns || x->columns > INT32_MAX)
        tool_fail(NY_EDATA, "%s: %s has %llu columns; 1 to %d can be read.", f->path, f->name,
                  ULL(x->columns), INT32_MAX);
    if (x->data.sizes[0]) {
        check_storage(f, &x->data, "data");
        check_storage(f, &x->indices, "indices");
    }
    check_storage(f, &x->starts, "indptr");
    x->rows = x->starts.sizes[0] - 1;
    x->data.type = H5T_NATIVE_DOUBLE;
    x->indices.type = x->starts.type = H5T_NATIVE_INT64; /* below 0: far too large */
    if (x->dense) x->row = tool_alloc(f->ctx, (size_t)x->columns, sizeof(double));
}

static void *grown(const struct file *f, void *memory, size_t entries, size_t size)
{
    memory = ny_resize(f->ctx, NY_MEM_OTHER, memory, entries * size);
    if (!memory) tool_check(f->ctx, NY_EBUDGET);
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
    read_rows(f, &x->data, first, count, x->values);
    read_rows(f, &x->indices, first, count, x->places);
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
        if (row[i].place >= x->columns)
            tool_fail(NY_EDATA, "%s: row %llu of %s has column %lld of %llu (from 0).", f->path,
                      ULL(number), f->name, (long long)row[i].place, ULL(x->columns));
        if (i > 0 && row[i - 1].place == row[i].place)
            tool_fail(NY_EDATA, "%s: row %llu of %s has column %llu twice.", f->path, ULL(number),
                      f->name, ULL(row[i].place));
    }
}

/* The last column is named in the first row, with value 0 if need be: so the text says how many
 * there are. */
static void write_text(const struct file *f, const struct sparse *x, const struct entry *row,
                       size_t count, bool first)
{
    int digits = x->data.dtype == NY_F64 ? 17 : 9;

    tool_print(f->out, "0");
    for (size_t i = 0; i < count; i++)
        tool_print(f->out, " %llu:%.*g", ULL(row[i].place + 1), digits, row[i].value);
    if (first && (!count || row[count - 1].place + 1 < x->columns))
        tool_print(f->out, " %llu:0", ULL(x->columns));
    tool_print(f->out, "\n");
}

static void write_full(const struct file *f, const struct sparse *x, const struct entry *row,
                       size_t count)
{
    bool wide = x->data.dtype == NY_F64;
    size_t bytes = (size_t)x->columns * (wide ? sizeof(double) : sizeof(float));

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

static void check_starts(const struct file *f, const struct sparse *x, const uint64_t *starts,
                         uint64_t first, size_t rows)
{
    bool whole = first > 0 || starts[0] == 0;

    for (size_t i = 0; i < rows; i++)
        whole &= starts[i] <= starts[i + 1] && starts[i + 1] - starts[i] <= x->columns;
    whole &= starts[rows] <= x->data.sizes[0] &&
             (first + rows < x->rows || starts[rows] == x->data.sizes[0]);
    if (!whole)
        tool_fail(NY_EDATA,
                  "%s: indptr of %s is damaged, or not of a matrix by rows, about row %llu.",
                  f->path, f->name, ULL(first));
}

/* Writes as many rows at a time as have few entries, one at least. */
static void write_sparse(const struct file *f, struct sparse *x)
{
    enum { STARTS = 65536 };
    uint64_t *starts = tool_alloc(f->ctx, STARTS + 1, sizeof *starts);

    open_sparse(f, x);
    if (x->dense)
        tool_write_npy_head(f->out, x->data.dtype == NY_F64 ? NY_F64 : NY_F32, x->rows, x->columns);
    for (uint64_t at = 0; at < x->rows;) {
        size_t rows = x->rows - at < STARTS ? (size_t)(x->rows - at) : STARTS;

        read_rows(f, &x->starts, at, rows + 1, starts);
        check_starts(f, x, starts, at, rows);
        while (rows > 1 && starts[rows] - starts[0] > ENTRIES)
            rows = (rows + 1) / 2;
        write_band(f, x, starts, at, rows);
        at += rows;
    }
    ny_free(f->ctx, x->values);
    ny_free(f->ctx, x->places);
    ny_free(f->ctx, x->entries);
    H5Dclose(x->data.id);
    H5Dclose(x->indices.id);
    H5Dclose(x->starts.id);
}

/* Prints what can be asked for: datasets with their sizes, sparse groups. */
static herr_t list_one(hid_t group, const char *name, const H5L_info_t *info, void *above)
{
    hid_t id = H5Oopen(group, name, H5P_DEFAULT);
    char path[256];

    (void)info;
    snprintf(path, sizeof path, "%.200s%s%.50s", (const char *)above,
             *(const char *)above ? "/" : "", ny_shown(name, strlen(name)).text);
    if (id >= 0 && H5Iget_type(id) == H5I_DATASET && dtype_of(id) != NY_DTYPE_NONE) {
        hid_t space = H5Dget_space(id);
        hsize_t sizes[H5S_MAX_RANK];
        int rank = H5Sget_simple_extent_dims(space, sizes, NULL);

        fprintf(stderr, "  %s", path);
        for (int i = 0; i < rank; i++)
            fprintf(stderr, " %s %llu", i ? "x" : " ", ULL(sizes[i]));
        fputc('\n', stderr);
        H5Sclose(space);
    } else if (id >= 0 && H5Iget_type(id) == H5I_GROUP) {
        if (H5Lexists(id, "indptr", H5P_DEFAULT) > 0)
            fprintf(stderr, "  %s  (sparse)\n", path);
        else if (strlen(path) < 200)
            H5Literate(id, H5_INDEX_NAME, H5_ITER_NATIVE, NULL, list_one, path);
    }
    if (id >= 0) H5Oclose(id);
    return 0;
}

static void open_file(struct file *f)
{
    if (!strcmp(f->path, "-"))
        tool_fail(NY_EUSAGE, "HDF5 is not read in order: give a file, not a pipe.");
    if (access(f->path, R_OK)) tool_check(f->ctx, ny_fail_errno(f->ctx, "open", f->path));
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
    f->id = H5Fopen(f->path, H5F_ACC_RDONLY, H5P_DEFAULT);
    if (f->id < 0) fail_hdf5(f, "open it as HDF5", "");
}

/* Whether the name is there, with every group on the way to it; a group as a sparse matrix. */
static bool is_sparse(const struct file *f)
{
    hid_t id = H5Oopen(f->id, f->name, H5P_DEFAULT);
    bool group = id >= 0 && H5Iget_type(id) == H5I_GROUP;

    if (id < 0 || (group && H5Lexists(id, "indptr", H5P_DEFAULT) <= 0)) {
        fprintf(stderr, "%s has:\n", f->path);
        H5Literate(f->id, H5_INDEX_NAME, H5_ITER_NATIVE, NULL, list_one, "");
        tool_fail(NY_EUSAGE, "%s %s in it: give a NAME of this list.", f->name,
                  id < 0 ? "is not" : "is a group, not a matrix,");
    }
    H5Oclose(id);
    return group;
}

int main(int argc, char **argv)
{
    struct file f = {.name = NULL};
    struct sparse x = {.dense = false};
    const char *words[2] = {NULL, NULL}, *out = NULL;
    const struct tool_option options[] = {
        {"-o", TOOL_TEXT, &out}, {"--dense", TOOL_SWITCH, &x.dense}, {NULL, TOOL_TEXT, NULL}};
    bool sparse;

    tool_arguments(argc, argv, usage, options, (struct tool_positional){words, 2, 1});
    f.path = words[0];
    f.name = words[1] ? words[1] : "X";
    f.ctx = tool_start();
    open_file(&f);
    sparse = is_sparse(&f);
    f.out = tool_create(f.ctx, out);
    if (sparse)
        write_sparse(&f, &x);
    else
        write_dense(&f);
    tool_close(f.out);
    H5Fclose(f.id);
    tool_end(f.ctx);
    return 0;
}
