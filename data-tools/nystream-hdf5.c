/*
 * The program that reads HDF5 for nystream: it writes the rows of a matrix to a pipe
 * (src/io/hdf5_stream.h), with libhdf5, which may crash on a damaged file. So the process that
 * imports does not, and needs no libhdf5. Files of AnnData and 10x Genomics.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "confine.h"
#include "hdf5_file.h"
#include "io/hdf5_stream.h"
#include "io/number.h"

static const char usage[] =
    "nystream-hdf5 FILE [--matrix NAME] [--label-column NAME | --known-label NAME] [--names]\n"
    "              [--name SHOWN] [--memory BYTES]\n"
    "\n"
    "Writes the rows of a matrix in an HDF5 file (.h5ad of AnnData, .h5 of 10x Genomics) to a\n"
    "pipe, in a form that nystream import reads, which starts this program by itself.\n"
    "\n"
    "  --matrix NAME        X, layers/NAME, obsm/NAME, raw/X; X or 10x's matrix without it\n"
    "  --label-column NAME  a column of obs, as labels\n"
    "  --known-label NAME   the same, if obs has such a column\n"
    "  --names              the names of rows and of columns come, too: the index of obs and of\n"
    "                       var; barcodes, and names of features\n"
    "  --name SHOWN         the file's name in messages\n"
    "  --memory BYTES       the most that this process may take for its data\n";

#define ULL(x) ((unsigned long long)(x))
enum { BAND_BYTES = 4 << 20, NAMES_MAX = 65536, NAME_BYTES_MAX = 1024 };

struct source {
    struct hdf5_file in;
    struct hdf5_numbers table; /* dense */
    struct hdf5_sparse sparse;
    struct ny_hdf5_head head;
    const char *label_column, *known_label;
    bool names; /* are asked for */
    struct hdf5_texts row_names, column_names;
};

static void put(const void *bytes, size_t count)
{
    for (size_t done = 0; done < count;) {
        ssize_t some = write(STDOUT_FILENO, (const char *)bytes + done, count - done);

        if (some < 0) tool_fail(NY_EIO, "The reader of the rows is gone.");
        done += (size_t)some;
    }
    confine_renew();
}

/* ---- labels ---------------------------------------------------------------------------------- */

static bool is_text(hid_t id)
{
    hid_t type = H5Dget_type(id);
    bool text = H5Tget_class(type) == H5T_STRING;

    H5Tclose(type);
    return text;
}

/* Writes the names of categories that are whole numbers. */
static void put_whole_names(const struct source *s, hid_t id, uint32_t names)
{
    int64_t *numbers = tool_alloc(s->in.ctx, names, sizeof *numbers);

    if (H5Dread(id, H5T_NATIVE_INT64, H5S_ALL, H5S_ALL, H5P_DEFAULT, numbers) < 0)
        hdf5_fail(&s->in, "read the categories of ", s->label_column);
    for (uint32_t i = 0; i < names; i++) {
        char text[24];
        uint32_t length = (uint32_t)snprintf(text, sizeof text, "%lld", (long long)numbers[i]);

        put(&length, sizeof length);
        put(text, length);
    }
}

/* Writes the names of categories: texts of variable or fixed length, or whole numbers. */
static void put_names(const struct source *s, hid_t id, uint32_t names)
{
    hid_t type = H5Dget_type(id);
    bool variable = H5Tis_variable_str(type) > 0;
    size_t bytes = variable ? sizeof(char *) : H5Tget_size(type);
    char *texts;

    if (H5Tget_class(type) == H5T_INTEGER) {
        H5Tclose(type);
        put_whole_names(s, id, names);
        return;
    }
    if (H5Tget_class(type) != H5T_STRING || !bytes || bytes > NAME_BYTES_MAX)
        tool_fail(NY_EDATA,
                  "%s: the categories of obs/%s are neither short texts nor whole numbers; in "
                  "Python: adata.obs[\"%s\"] = adata.obs[\"%s\"].astype(str).astype(\"category\").",
                  s->in.path, s->label_column, s->label_column, s->label_column);
    texts = tool_alloc(s->in.ctx, (size_t)names + 1, bytes);
    if (H5Dread(id, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, texts) < 0)
        hdf5_fail(&s->in, "read the categories of ", s->label_column);
    for (uint32_t i = 0; i < names; i++) {
        const char *text = variable ? ((char **)(void *)texts)[i] : texts + i * bytes;
        uint32_t length =
            !text ? 0 : (uint32_t)strnlen(text, variable ? NAME_BYTES_MAX + 1 : bytes);

        if (!length || length > NAME_BYTES_MAX)
            tool_fail(NY_EDATA,
                      "%s: a category of obs/%s has no name, or one of more than %d "
                      "bytes.",
                      s->in.path, s->label_column, NAME_BYTES_MAX);
        put(&length, sizeof length);
        put(text, length);
    }
    H5Tclose(type);
}

static _Noreturn void no_column(const struct source *s)
{
    struct hdf5_file obs = s->in;
    char known[1024] = "";

    obs.id = H5Oopen(s->in.id, "obs", H5P_DEFAULT);
    if (obs.id < 0)
        tool_fail(NY_EUSAGE, "%s has no obs, and so no labels in it; give --labels FILE.",
                  s->in.path);
    hdf5_names(&obs, known, sizeof known);
    tool_fail(NY_EUSAGE, "%s: obs has no column \"%s\"; it has%s.", s->in.path,
              ny_shown(s->label_column, strlen(s->label_column)).text, known);
}

static _Noreturn void fail_texts(const struct source *s)
{
    tool_fail(NY_EDATA,
              "%s: obs/%s is a column of texts, not of categories; in Python: "
              "adata.obs[\"%s\"] = adata.obs[\"%s\"].astype(\"category\").",
              s->in.path, s->label_column, s->label_column, s->label_column);
}

/* Before AnnData 0.7 obs was a dataset of records, with codes of categories, whose names are in
 * uns. Closes the type of the field. Returns the categories; −1: none. */
static hid_t open_old_column(const struct source *s, struct hdf5_numbers *codes, hid_t type)
{
    char names[600];

    if (H5Tget_class(type) == H5T_STRING) fail_texts(s);
    H5Tclose(type);
    if (codes->dtype == NY_DTYPE_NONE)
        tool_fail(NY_EDATA, "%s: obs/%s is neither categories nor numbers; give --labels FILE.",
                  s->in.path, s->label_column);
    snprintf(names, sizeof names, "uns/%.500s_categories", s->label_column);
    return H5Dopen2(s->in.id, names, H5P_DEFAULT);
}

/* Opens the categories of the column, and its codes or numbers. Returns the categories; −1: none.
 */
static hid_t open_column(const struct source *s, struct hdf5_numbers *codes)
{
    char path[600], names[600];
    hid_t id = hdf5_open_field(&s->in, "obs", s->label_column, codes);

    if (id >= 0) return open_old_column(s, codes, id);
    snprintf(path, sizeof path, "obs/%.500s", s->label_column);
    snprintf(names, sizeof names, "obs/__categories/%.500s", s->label_column);
    id = H5Oopen(s->in.id, path, H5P_DEFAULT);
    if (id < 0) no_column(s);
    if (H5Iget_type(id) == H5I_GROUP) {
        snprintf(names, sizeof names, "obs/%.500s/categories", s->label_column);
        snprintf(path, sizeof path, "obs/%.500s/codes", s->label_column);
        if (H5Lexists(id, "codes", H5P_DEFAULT) <= 0 ||
            H5Lexists(id, "categories", H5P_DEFAULT) <= 0)
            tool_fail(NY_EDATA, "%s: obs/%s is neither categories nor numbers; give --labels FILE.",
                      s->in.path, s->label_column);
    } else if (is_text(id)) {
        fail_texts(s);
    }
    H5Oclose(id);
    hdf5_open_numbers(&s->in, s->in.id, path, codes);
    return H5Dopen2(s->in.id, names, H5P_DEFAULT);
}

static uint32_t count_names(const struct source *s, hid_t id)
{
    hid_t space = H5Dget_space(id);
    hssize_t count = H5Sget_simple_extent_npoints(space);

    H5Sclose(space);
    if (count < 1 || count > NAMES_MAX)
        tool_fail(NY_EDATA, "%s: obs/%s has %lld categories; 1 to %d can be labels.", s->in.path,
                  s->label_column, (long long)count, NAMES_MAX);
    return (uint32_t)count;
}

static bool has_column(const struct source *s, const char *name)
{
    char path[600];
    struct hdf5_numbers field;

    if (hdf5_open_field(&s->in, "obs", name, &field) >= 0) return true;
    snprintf(path, sizeof path, "obs/%.500s", name);
    return H5Lexists(s->in.id, "obs", H5P_DEFAULT) > 0 &&
           H5Lexists(s->in.id, path, H5P_DEFAULT) > 0;
}

/* Writes the head, and the labels behind it. */
static void put_labels(struct source *s)
{
    struct hdf5_numbers codes;
    size_t size = sizeof(double);
    void *band;
    hid_t names;

    if (s->known_label && has_column(s, s->known_label)) s->label_column = s->known_label;
    if (!s->label_column) {
        put(&s->head, sizeof s->head);
        return;
    }
    names = open_column(s, &codes);
    if (codes.rank != 1 || codes.sizes[0] != s->head.rows)
        tool_fail(NY_EDATA, "%s: obs/%s does not have one value for each of the %llu rows.",
                  s->in.path, s->label_column, ULL(s->head.rows));
    codes.type = H5T_NATIVE_DOUBLE;
    hdf5_check_storage(&s->in, &codes, "the label column");
    s->head.labels = NY_HDF5_NUMBERS;
    if (names >= 0) {
        s->head.labels = NY_HDF5_NAMES;
        s->head.names = count_names(s, names);
        codes.type = H5T_NATIVE_INT32;
        size = sizeof(int32_t);
    }
    put(&s->head, sizeof s->head);
    if (names >= 0) put_names(s, names, s->head.names);
    band = tool_alloc(s->in.ctx, NY_HDF5_PIECE, size);
    for (uint64_t at = 0, count; at < s->head.rows; at += count) {
        count = s->head.rows - at < NY_HDF5_PIECE ? s->head.rows - at : NY_HDF5_PIECE;
        hdf5_read_rows(&s->in, &codes, at, count, band);
        put(band, (size_t)count * size);
    }
}

/* ---- names of rows and of columns ------------------------------------------------------------ */

/* The tables of AnnData that name rows and columns of its matrices; NULL: none does. */
static const struct {
    const char *matrix; /* its name, or with '/' at the end the group that it is in */
    const char *rows, *columns;
} tables[] = {{"X", "obs", "var"},    {"layers/", "obs", "var"}, {"raw/", "obs", "raw/var"},
              {"obsm/", "obs", NULL}, {"obsp/", "obs", "obs"},   {"varm/", "var", NULL},
              {"varp/", "var", "var"}};

static void open_anndata_names(struct source *s)
{
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
        size_t length = strlen(tables[i].matrix);
        bool group = tables[i].matrix[length - 1] == '/';

        if (strncmp(s->in.name, tables[i].matrix, length + !group) != 0) continue;
        hdf5_open_index(&s->in, tables[i].rows, &s->row_names);
        if (tables[i].columns) hdf5_open_index(&s->in, tables[i].columns, &s->column_names);
    }
}

/* Opens what names the rows and the columns of the matrix, where the file has that. */
static void open_names(struct source *s)
{
    if (!s->names) return;
    if (s->head.of_10x) {
        hdf5_open_texts(&s->in, s->in.name, "barcodes", &s->row_names);
        hdf5_open_texts(&s->in, s->in.name, "features/name", &s->column_names);
        if (s->column_names.id < 0)
            hdf5_open_texts(&s->in, s->in.name, "gene_names", &s->column_names);
    } else {
        open_anndata_names(s);
    }
    hdf5_check_texts(&s->in, &s->row_names, s->head.rows, "rows");
    hdf5_check_texts(&s->in, &s->column_names, s->head.columns, "columns");
    s->head.row_names = s->row_names.id >= 0;
    s->head.column_names = s->column_names.id >= 0;
}

static void put_text(void *user, const char *text, size_t length)
{
    uint32_t bytes = (uint32_t)length;

    (void)user;
    put(&bytes, sizeof bytes);
    put(text, length);
}

/* Writes the head, the labels behind it, and the names. */
static void put_head(struct source *s)
{
    open_names(s);
    put_labels(s);
    if (s->head.column_names) hdf5_each_text(&s->in, &s->column_names, put_text, NULL);
    if (s->head.row_names) hdf5_each_text(&s->in, &s->row_names, put_text, NULL);
}

/* ---- types ----------------------------------------------------------------------------------- */

static hid_t type_for(enum ny_dtype dtype)
{
    return dtype == NY_U8    ? H5T_NATIVE_UINT8
           : dtype == NY_I16 ? H5T_NATIVE_INT16
           : dtype == NY_F32 ? H5T_NATIVE_FLOAT
                             : H5T_NATIVE_DOUBLE;
}

/* Tells whether the dataset holds integers that may be too many bits for its dtype. */
static bool is_wide(const struct hdf5_numbers *x)
{
    hid_t type = H5Dget_type(x->id);
    bool wide = H5Tget_class(type) == H5T_INTEGER && H5Tget_size(type) > 1 && x->dtype != NY_I16;

    H5Tclose(type);
    return wide;
}

/* Chooses the smallest type for integers of more than 16 bits, by a look at all of them: counts of
 * 10x Genomics are int32, and nearly all of them are below 256. */
static void choose_type(const struct source *s, struct hdf5_numbers *x, size_t row)
{
    struct hdf5_numbers wide = *x;
    size_t rows = row < NY_HDF5_PIECE ? NY_HDF5_PIECE / row : 1;
    int64_t *band, least = 0, largest = 0;

    if (!is_wide(x)) return;
    band = tool_alloc(s->in.ctx, rows * row, sizeof *band);
    wide.type = H5T_NATIVE_INT64;
    for (hsize_t at = 0, count; at < x->sizes[0]; at += count) {
        count = x->sizes[0] - at < rows ? x->sizes[0] - at : rows;
        hdf5_read_rows(&s->in, &wide, at, count, band);
        put(NY_HDF5_LOOKING, strlen(NY_HDF5_LOOKING));
        for (size_t i = 0; i < (size_t)count * row; i++) {
            if (band[i] < least) least = band[i];
            if (band[i] > largest) largest = band[i];
        }
    }
    if (least < -(INT64_C(1) << 53) || largest > INT64_C(1) << 53)
        tool_fail(NY_EDATA, "%s: %s has integers beyond 2^53; save them as float64.", s->in.path,
                  s->in.name);
    x->dtype = least >= 0 && largest <= UINT8_MAX                            ? NY_U8
               : least >= INT16_MIN && largest <= INT16_MAX                  ? NY_I16
               : least >= -(INT64_C(1) << 24) && largest <= INT64_C(1) << 24 ? NY_F32
                                                                             : NY_F64;
    x->type = type_for(x->dtype);
}

/* ---- sparse ---------------------------------------------------------------------------------- */

/* Columns of at most 32 bits are sent as int32. */
static void choose_index_type(struct source *s)
{
    hid_t type = H5Dget_type(s->sparse.indices.id);
    bool narrow =
        H5Tget_size(type) < 4 || (H5Tget_size(type) == 4 && H5Tget_sign(type) == H5T_SGN_2);

    H5Tclose(type);
    s->head.index_bytes = narrow ? 4 : 8;
    s->sparse.indices.type = narrow ? H5T_NATIVE_INT32 : H5T_NATIVE_INT64;
}

static void open_matrix(struct source *s, uint64_t *starts)
{
    struct hdf5_sparse *x = &s->sparse;

    hdf5_open_sparse(&s->in, x);
    choose_type(s, &x->data, 1);
    choose_index_type(s);
    s->head.form = x->by_columns ? NY_HDF5_COLUMNS : NY_HDF5_ROWS;
    s->head.dtype = (uint32_t)x->data.dtype;
    s->head.of_10x = x->of_10x;
    s->head.rows = x->rows;
    s->head.columns = x->columns;
    s->head.entries = x->data.sizes[0];
    for (uint64_t at = 0; at < x->lines;) {
        size_t lines =
            x->lines - at < NY_HDF5_BATCH_LINES ? (size_t)(x->lines - at) : NY_HDF5_BATCH_LINES;

        hdf5_read_starts(&s->in, x, at, lines, starts);
        put(NY_HDF5_LOOKING, strlen(NY_HDF5_LOOKING));
        for (size_t i = 0; i < lines; i++)
            if (starts[i + 1] - starts[i] > s->head.most) s->head.most = starts[i + 1] - starts[i];
        at += lines;
    }
}

static void put_entries(const struct source *s, uint64_t first, uint64_t end, char *piece)
{
    size_t value_bytes = ny_dtype_size(s->sparse.data.dtype);

    for (uint64_t count; first < end; first += count) {
        count = end - first < NY_HDF5_PIECE ? end - first : NY_HDF5_PIECE;
        hdf5_read_rows(&s->in, &s->sparse.indices, first, count, piece);
        put(piece, (size_t)count * s->head.index_bytes);
        hdf5_read_rows(&s->in, &s->sparse.data, first, count, piece);
        put(piece, (size_t)count * value_bytes);
    }
}

static void put_sparse(struct source *s)
{
    uint64_t *starts = tool_alloc(s->in.ctx, NY_HDF5_BATCH_LINES + 1, sizeof *starts);
    uint32_t *counts = tool_alloc(s->in.ctx, NY_HDF5_BATCH_LINES, sizeof *counts);
    char *piece = tool_alloc(s->in.ctx, NY_HDF5_PIECE, sizeof(double));
    struct hdf5_sparse *x = &s->sparse;

    open_matrix(s, starts);
    put_head(s);
    for (uint64_t at = 0; at < x->lines;) {
        size_t lines =
            x->lines - at < NY_HDF5_BATCH_LINES ? (size_t)(x->lines - at) : NY_HDF5_BATCH_LINES;
        struct ny_hdf5_batch batch;

        hdf5_read_starts(&s->in, x, at, lines, starts);
        while (lines > 1 && starts[lines] - starts[0] > NY_HDF5_PIECE)
            lines = (lines + 1) / 2;
        for (size_t i = 0; i < lines; i++) {
            if (starts[i + 1] - starts[i] > UINT32_MAX)
                tool_fail(NY_EDATA, "%s: a row or column of %s has more than %u entries.",
                          s->in.path, s->in.name, UINT32_MAX);
            counts[i] = (uint32_t)(starts[i + 1] - starts[i]);
        }
        batch = (struct ny_hdf5_batch){lines, starts[lines] - starts[0]};
        put(&batch, sizeof batch);
        put(counts, lines * sizeof *counts);
        put_entries(s, starts[0], starts[lines], piece);
        at += lines;
    }
    hdf5_close_sparse(x);
}

/* ---- dense ----------------------------------------------------------------------------------- */

static void put_dense(struct source *s)
{
    struct hdf5_numbers *x = &s->table;
    size_t row = 1;
    hsize_t chunk, rows;
    void *band;

    hdf5_open_numbers(&s->in, s->in.id, s->in.name, x);
    hdf5_check_rows(&s->in, x->sizes[0]);
    chunk = hdf5_check_storage(&s->in, x, s->in.name);
    for (int i = 1; i < x->rank; i++)
        tool_check(s->in.ctx, ny_product(s->in.ctx, &row, row, (size_t)x->sizes[i], 1));
    choose_type(s, x, row);
    s->head.dtype = (uint32_t)x->dtype;
    s->head.rows = x->sizes[0];
    s->head.columns = row;
    put_head(s);
    row *= ny_dtype_size(x->dtype);
    /* whole bands of chunks, so that each is unpacked once, where they are not too large */
    rows = row < BAND_BYTES ? BAND_BYTES / row : 1;
    if (rows < chunk && chunk * row <= ny_memory_left(s->in.ctx) / 2) rows = chunk;
    if (rows > chunk) rows -= rows % chunk;
    if (rows > x->sizes[0]) rows = x->sizes[0];
    band = tool_alloc(s->in.ctx, (size_t)rows, row);
    for (hsize_t at = 0, count; at < x->sizes[0]; at += count) {
        count = x->sizes[0] - at < rows ? x->sizes[0] - at : rows;
        hdf5_read_rows(&s->in, x, at, count, band);
        put(band, (size_t)count * row);
    }
    H5Dclose(x->id);
}

/* ---- the file -------------------------------------------------------------------------------- */

/* Finds the matrix, and tells whether it is sparse: a group of data, indices and indptr. */
static bool find_matrix(struct source *s)
{
    const char *const usual[] = {"X", "matrix"};
    char list[1024];
    bool group;
    hid_t id;

    for (size_t i = 0; !s->in.name && i < sizeof usual / sizeof *usual; i++)
        if (H5Lexists(s->in.id, usual[i], H5P_DEFAULT) > 0) s->in.name = usual[i];
    id = s->in.name ? H5Oopen(s->in.id, s->in.name, H5P_DEFAULT) : -1;
    group = id >= 0 && H5Iget_type(id) == H5I_GROUP;
    if (id < 0 || (group && H5Lexists(id, "indptr", H5P_DEFAULT) <= 0)) {
        hdf5_matrices(&s->in, list, sizeof list);
        if (!list[0])
            tool_fail(
                NY_EDATA,
                "%s has neither X nor matrix, nor any other matrix; is it of another kind, or "
                "damaged?",
                s->in.path);
        if (!s->in.name)
            tool_fail(NY_EDATA, "%s has neither X nor matrix; give --matrix, one of%s.", s->in.path,
                      list + 1);
        tool_fail(NY_EUSAGE, "%s %s in %s; give --matrix, one of%s.", s->in.name,
                  id < 0 ? "is not" : "is a group, and no matrix,", s->in.path, list + 1);
    }
    H5Oclose(id);
    return group;
}

int main(int argc, char **argv)
{
    static struct source s = {.head = {.magic = {'n', 'y', 'r', 'o', 'w', 's', '2', '\n'}},
                              .row_names = {.id = -1},
                              .column_names = {.id = -1}};
    const char *where = NULL;
    uint64_t memory = 0;
    const struct tool_option options[] = {
        {"--matrix", TOOL_TEXT, &s.in.name}, {"--label-column", TOOL_TEXT, &s.label_column},
        {"--names", TOOL_SWITCH, &s.names},  {"--known-label", TOOL_TEXT, &s.known_label},
        {"--name", TOOL_TEXT, &s.in.path},   {"--memory", TOOL_COUNT, &memory},
        {NULL, TOOL_TEXT, NULL}};

    tool_arguments(argc, argv, usage, options, (struct tool_positional){&where, 1, 0});
    if (!s.in.path) s.in.path = where;
    if (isatty(STDOUT_FILENO)) tool_fail(NY_EUSAGE, "Rows are not for a terminal: use a pipe.");
    s.in.ctx = tool_start();
    confine_begin(s.in.ctx, memory);
    s.in.share = memory ? NY_HDF5_SHARE : 0;
    setenv("HDF5_USE_FILE_LOCKING", "FALSE", 1); /* the file is only read */
    hdf5_open(&s.in, where);
    confine_calls();
    if (find_matrix(&s))
        put_sparse(&s);
    else
        put_dense(&s);
    H5Fclose(s.in.id);
    tool_end(s.in.ctx);
    return 0;
}
