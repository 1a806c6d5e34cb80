#include "hdf5_file.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "io/number.h"

#define ULL(x) ((unsigned long long)(x))

static herr_t innermost(unsigned n, const H5E_error2_t *error, void *text)
{
    if (n == 0) *(struct ny_shown *)text = ny_shown(error->desc, strlen(error->desc));
    return 0;
}

/* Ends with what libhdf5 says of its last failure. */
void hdf5_fail(const struct hdf5_file *f, const char *what, const char *name)
{
    struct ny_shown why = {"no reason given"};

    H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, innermost, &why);
    if (strncmp(why.text, "truncated file", strlen("truncated file")) == 0)
        tool_fail(NY_EDATA,
                  "%s has lost its end: it is shorter than it says itself. Copy or download it "
                  "again (libhdf5: %s).",
                  f->path, why.text);
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

static enum ny_dtype dtype_of(hid_t type)
{
    hid_t base = H5Tget_class(type) == H5T_ENUM ? H5Tget_super(type) : type;
    H5T_class_t class = H5Tget_class(base);
    size_t size = H5Tget_size(base);
    bool sign = class == H5T_INTEGER && H5Tget_sign(base) == H5T_SGN_2;

    if (base != type) H5Tclose(base);
    if (class == H5T_FLOAT) return size <= 4 ? NY_F32 : NY_F64;
    if (class != H5T_INTEGER) return NY_DTYPE_NONE;
    if (size == 1 && !sign) return NY_U8;
    return size > 2 ? NY_F64 : sign ? NY_I16 : NY_F32;
}

enum ny_dtype hdf5_dtype(hid_t id)
{
    hid_t type = H5Dget_type(id);
    enum ny_dtype dtype = dtype_of(type);

    H5Tclose(type);
    return dtype;
}

static void read_sizes(struct hdf5_numbers *x)
{
    hid_t space = H5Dget_space(x->id);

    x->rank = H5Sget_simple_extent_dims(space, x->sizes, NULL);
    H5Sclose(space);
}

hid_t hdf5_open_field(const struct hdf5_file *f, const char *table, const char *name,
                      struct hdf5_numbers *x)
{
    hid_t type = -1, field = -1;
    int at = -1;

    *x = (struct hdf5_numbers){.id = H5Oopen(f->id, table, H5P_DEFAULT), .field = name};
    if (x->id < 0) return -1;
    if (H5Iget_type(x->id) == H5I_DATASET) type = H5Dget_type(x->id);
    if (type >= 0 && H5Tget_class(type) == H5T_COMPOUND)
        at = name ? H5Tget_member_index(type, name) : 0;
    if (at >= 0) field = H5Tget_member_type(type, (unsigned)at);
    if (field >= 0 && !name) x->field = H5Tget_member_name(type, 0); /* kept until the end */
    if (type >= 0) H5Tclose(type);
    if (field >= 0)
        read_sizes(x);
    else
        H5Oclose(x->id);
    x->dtype = field >= 0 ? dtype_of(field) : NY_DTYPE_NONE;
    return field;
}

void hdf5_open_numbers(const struct hdf5_file *f, hid_t where, const char *name,
                       struct hdf5_numbers *x)
{
    x->field = NULL;
    x->id = H5Dopen2(where, name, H5P_DEFAULT);
    if (x->id < 0) hdf5_fail(f, "open ", name);
    x->dtype = hdf5_dtype(x->id);
    if (x->dtype == NY_DTYPE_NONE)
        tool_fail(NY_EDATA, "%s: %s does not hold numbers (of a category take NAME/codes).",
                  f->path, name);
    x->type = type_for(x->dtype);
    read_sizes(x);
    if (x->rank < 1) tool_fail(NY_EDATA, "%s: %s has no rows: it is one number.", f->path, name);
}

void hdf5_check_rows(const struct hdf5_file *f, uint64_t rows)
{
    if (!rows) tool_fail(NY_EDATA, "%s: %s has no rows.", f->path, f->name);
}

/* The size that the file tells must be there; libhdf5 would fill in what is not. Returns the rows
 * of a chunk, 1 where there are none. */
hsize_t hdf5_check_storage(const struct hdf5_file *f, const struct hdf5_numbers *x,
                           const char *name)
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
    if (H5Dget_num_chunks(x->id, space, &there) < 0) hdf5_fail(f, "read ", name);
    H5Sclose(space);
    for (int i = 0; i < x->rank; i++) {
        hsize_t along = x->sizes[i] / chunk[i] + (x->sizes[i] % chunk[i] > 0);

        wanted = along > UINT64_MAX / wanted ? UINT64_MAX : wanted * along;
        tool_check(f->ctx, ny_product(f->ctx, &bytes, bytes, (size_t)chunk[i], 1));
    }
    if (there < wanted)
        tool_fail(NY_EDATA, "%s: %s has %llu of its %llu chunks: it was not written as a whole.",
                  f->path, name, ULL(there), ULL(wanted));
    if (f->share && bytes > ny_memory_left(f->ctx))
        tool_fail(
            NY_EBUDGET,
            "%s: a chunk of %s takes %.1f MiB to unpack, which do not fit in the %.1f MiB that "
            "its reader has of the memory budget; give --memory %lluM.",
            f->path, name, (double)bytes / 1048576, (double)ny_memory_limit(f->ctx) / 1048576,
            ULL((ny_memory_used(f->ctx) + 2 * bytes) / 1048576 + 1) * f->share);
    tool_check(f->ctx, ny_reserve(f->ctx, NY_MEM_IO, bytes)); /* libhdf5 holds one at a time */
    return chunk[0];
}

/* `count` rows from row `first` on; of one dimension, numbers. */
void hdf5_read_rows(const struct hdf5_file *f, const struct hdf5_numbers *x, hsize_t first,
                    hsize_t count, void *values)
{
    hsize_t start[H5S_MAX_RANK] = {first}, block[H5S_MAX_RANK];
    hid_t space = H5Dget_space(x->id), memory, type = x->type;

    if (x->field) {
        type = H5Tcreate(H5T_COMPOUND, H5Tget_size(x->type));
        if (H5Tinsert(type, x->field, 0, x->type) < 0) hdf5_fail(f, "read ", x->field);
    }
    memcpy(block, x->sizes, sizeof block);
    block[0] = count;
    memory = H5Screate_simple(x->rank, block, NULL);
    if (H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, block, NULL) < 0 ||
        H5Dread(x->id, type, memory, space, H5P_DEFAULT, values) < 0)
        hdf5_fail(f, "read rows of ", f->name);
    if (x->field) H5Tclose(type);
    H5Sclose(memory);
    H5Sclose(space);
}

/* A short text of an attribute, of variable or fixed length; "" where there is none. */
void hdf5_attribute_text(hid_t where, const char *name, char *text, size_t room)
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

/* Reads the shape of a sparse group. A matrix of 10x Genomics has features × cells, by columns: its
 * cells are our rows. */
static void read_shape(const struct hdf5_file *f, hid_t group, struct hdf5_sparse *x)
{
    char encoding[64];
    uint64_t shape[2];
    bool turned = false;

    hdf5_attribute_text(group, "encoding-type", encoding, sizeof encoding);
    if (!encoding[0]) hdf5_attribute_text(group, "h5sparse_format", encoding, sizeof encoding);
    if (encoding[0] && strncmp(encoding, "csr", 3) && strncmp(encoding, "csc", 3))
        tool_fail(NY_EDATA,
                  "%s: %s has the encoding \"%s\", which is not csr or csc. Save it by rows, in "
                  "Python: adata.X = scipy.sparse.csr_matrix(adata.X).",
                  f->path, f->name, ny_shown(encoding, strlen(encoding)).text);
    x->by_columns = !strncmp(encoding, "csc", 3);
    if (H5Aexists(group, "shape") > 0 || H5Aexists(group, "h5sparse_shape") <= 0) {
        turned = H5Aexists(group, "shape") <= 0;
        if (!two_numbers(group, "shape", shape))
            tool_fail(NY_EDATA, "%s: %s does not say its shape.", f->path, f->name);
    } else if (!two_numbers(group, "h5sparse_shape", shape)) {
        tool_fail(NY_EDATA, "%s: %s does not say its shape.", f->path, f->name);
    }
    x->rows = shape[turned];
    x->columns = shape[!turned];
    x->of_10x = turned;
}

void hdf5_open_sparse(const struct hdf5_file *f, struct hdf5_sparse *x)
{
    hid_t group = H5Gopen2(f->id, f->name, H5P_DEFAULT);

    if (group < 0) hdf5_fail(f, "open ", f->name);
    hdf5_open_numbers(f, group, "data", &x->data);
    hdf5_open_numbers(f, group, "indices", &x->indices);
    hdf5_open_numbers(f, group, "indptr", &x->starts);
    read_shape(f, group, x);
    H5Gclose(group);
    hdf5_check_rows(f, x->rows);
    x->lines = x->by_columns ? x->columns : x->rows;
    x->across = x->by_columns ? x->rows : x->columns;
    if (x->data.rank != 1 || x->indices.rank != 1 || x->starts.rank != 1 ||
        x->data.sizes[0] != x->indices.sizes[0] || x->starts.sizes[0] < 2 ||
        x->starts.sizes[0] - 1 != x->lines)
        tool_fail(NY_EDATA, "%s: data, indices and indptr of %s do not go together.", f->path,
                  f->name);
    if (!x->columns || x->columns > INT32_MAX)
        tool_fail(NY_EDATA, "%s: %s has %llu columns; 1 to %d can be read.", f->path, f->name,
                  ULL(x->columns), INT32_MAX);
    if (x->data.sizes[0]) {
        hdf5_check_storage(f, &x->data, "data");
        hdf5_check_storage(f, &x->indices, "indices");
    }
    hdf5_check_storage(f, &x->starts, "indptr");
    x->starts.type = H5T_NATIVE_INT64; /* below 0: far too large */
}

void hdf5_close_sparse(struct hdf5_sparse *x)
{
    H5Dclose(x->data.id);
    H5Dclose(x->indices.id);
    H5Dclose(x->starts.id);
}

void hdf5_read_starts(const struct hdf5_file *f, const struct hdf5_sparse *x, uint64_t first,
                      size_t lines, uint64_t *starts)
{
    bool whole;

    hdf5_read_rows(f, &x->starts, first, lines + 1, starts);
    whole = first > 0 || starts[0] == 0;
    for (size_t i = 0; i < lines; i++)
        whole &= starts[i] <= starts[i + 1] && starts[i + 1] - starts[i] <= x->across;
    whole &= starts[lines] <= x->data.sizes[0] &&
             (first + lines < x->lines || starts[lines] == x->data.sizes[0]);
    if (!whole)
        tool_fail(NY_EDATA, "%s: indptr of %s is damaged, or not of a matrix by %s, about %s %llu.",
                  f->path, f->name, x->by_columns ? "columns" : "rows",
                  x->by_columns ? "column" : "row", ULL(first));
}

/* A list of what can be asked for: datasets with their sizes, sparse groups; or of names. */
struct list {
    char *text;
    size_t room;
    const char *before, *above; /* each entry; the path of the group */
};

static void list_add(struct list *list, const char *path, const char *what)
{
    size_t length = strlen(list->text);

    if (length + strlen(list->before) + strlen(path) + strlen(what) < list->room)
        sprintf(list->text + length, "%s%s%s", list->before, path, what);
}

/* Adds a dataset of numbers with its sizes. */
static void list_dataset(struct list *list, const char *path, hid_t id)
{
    char what[64 + 21 * H5S_MAX_RANK] = " ";
    hid_t space = H5Dget_space(id);
    hsize_t sizes[H5S_MAX_RANK];
    int rank = H5Sget_simple_extent_dims(space, sizes, NULL);

    H5Sclose(space);
    if (rank < 2) return;
    for (int i = 0; i < rank; i++)
        sprintf(what + strlen(what), " %s%llu", i ? "x " : " ", ULL(sizes[i]));
    list_add(list, path, what);
}

static herr_t list_one(hid_t group, const char *name, const H5L_info_t *info, void *data)
{
    struct list *list = data, inner = *list;
    hid_t id = H5Oopen(group, name, H5P_DEFAULT);
    char path[256];

    (void)info;
    snprintf(path, sizeof path, "%.200s%s%.50s", list->above, *list->above ? "/" : "",
             ny_shown(name, strlen(name)).text);
    if (id >= 0 && H5Iget_type(id) == H5I_DATASET && hdf5_dtype(id) != NY_DTYPE_NONE) {
        list_dataset(list, path, id);
    } else if (id >= 0 && H5Iget_type(id) == H5I_GROUP) {
        inner.above = path;
        if (H5Lexists(id, "indptr", H5P_DEFAULT) > 0) {
            list_add(list, path, "  (sparse)");
        } else if (strlen(path) < 200) {
            H5Literate(id, H5_INDEX_NAME, H5_ITER_NATIVE, NULL, list_one, &inner);
        }
    }
    if (id >= 0) H5Oclose(id);
    return 0;
}

void hdf5_matrices(const struct hdf5_file *f, char *text, size_t room)
{
    struct list list = {text, room, ", ", ""};

    text[0] = '\0';
    H5Literate(f->id, H5_INDEX_NAME, H5_ITER_NATIVE, NULL, list_one, &list);
}

static herr_t name_one(hid_t group, const char *name, const H5L_info_t *info, void *data)
{
    (void)group, (void)info;
    if (name[0] == '_') return 0;
    list_add(data, ny_shown(name, strlen(name)).text, "");
    return 0;
}

void hdf5_names(const struct hdf5_file *f, char *text, size_t room)
{
    struct list list = {text, room, " ", ""};
    bool records = H5Iget_type(f->id) == H5I_DATASET;
    hid_t type = records ? H5Dget_type(f->id) : -1;
    int count = records && H5Tget_class(type) == H5T_COMPOUND ? H5Tget_nmembers(type) : 0;

    text[0] = '\0';
    if (!records) H5Literate(f->id, H5_INDEX_NAME, H5_ITER_NATIVE, NULL, name_one, &list);
    for (int i = 1; i < count; i++) { /* the first is the index */
        char *name = H5Tget_member_name(type, (unsigned)i);

        name_one(f->id, name, NULL, &list);
        H5free_memory(name);
    }
    if (records) H5Tclose(type);
}

void hdf5_open(struct hdf5_file *f, const char *where)
{
    hid_t access = H5Pcreate(H5P_FILE_ACCESS);

    if (eaccess(where, R_OK)) tool_check(f->ctx, ny_fail_errno(f->ctx, "open", f->path));
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
    /* chunks that begin in one batch of rows and end in the next are unpacked once */
    H5Pset_cache(access, 0, 521, HDF5_CACHE_BYTES, 0.75);
    f->id = H5Fopen(where, H5F_ACC_RDONLY, access);
    if (f->id < 0) hdf5_fail(f, "open it as HDF5", "");
    H5Pclose(access);
}
