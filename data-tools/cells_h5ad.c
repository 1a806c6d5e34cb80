/*
 * The file of AnnData for cells.c, as its specification of files has it (0.8): X by rows, the index
 * of obs and var, and the type of each cell as a category. Rows are drawn once; columns and values
 * are chunked, and grow with them.
 */
#include <errno.h>
#include <hdf5.h>
#include <stdio.h>
#include <string.h>

#include "cells.h"
#include "io/draft.h"

enum {
    CHUNK = 1 << 18, /* entries; names go in pieces of a sixteenth */
    NAMES = CHUNK / 16,
    NAME_BYTES = 32
};

struct h5ad {
    struct ny_context *ctx;
    const char *path;
    hid_t file, text;
};

/* A dataset of one dimension that grows: what is held is behind its first `size` elements. */
struct column {
    hid_t id, type; /* type: in memory */
    size_t bytes;   /* of an element */
    char *held;
    size_t count;
    hsize_t size;
};

/* Returns what a call of libhdf5 returned; ends the tool where that is an error. */
static hid_t done(const struct h5ad *out, hid_t returned)
{
    if (returned < 0) tool_check(out->ctx, ny_fail_errno(out->ctx, "write", out->path));
    return returned;
}

/* Adds an attribute of so many elements; 0: one, without dimensions. */
static void describe(const struct h5ad *out, hid_t object, const char *name, hid_t type,
                     hsize_t count, const void *value)
{
    hid_t space = count ? H5Screate_simple(1, &count, NULL) : H5Screate(H5S_SCALAR);
    hid_t id = done(out, H5Acreate2(object, name, type, space, H5P_DEFAULT, H5P_DEFAULT));

    done(out, H5Awrite(id, type, value));
    H5Aclose(id);
    H5Sclose(space);
}

static void encode(const struct h5ad *out, hid_t object, const char *type, const char *version)
{
    describe(out, object, "encoding-type", out->text, 0, &type);
    describe(out, object, "encoding-version", out->text, 0, &version);
}

static hid_t make_group(const struct h5ad *out, hid_t where, const char *name, const char *type,
                        const char *version)
{
    hid_t id = done(out, H5Gcreate2(where, name, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));

    encode(out, id, type, version);
    return id;
}

/* Returns how datasets are made: without the time, which would make each file another. */
static hid_t dataset_list(void)
{
    hid_t list = H5Pcreate(H5P_DATASET_CREATE);

    H5Pset_obj_track_times(list, false);
    return list;
}

/* Makes a dataset of `size` elements. */
static hid_t make_array(const struct h5ad *out, hid_t where, const char *name, hid_t type,
                        hsize_t size)
{
    hid_t space = H5Screate_simple(1, &size, NULL), list = dataset_list();
    hid_t id = done(out, H5Dcreate2(where, name, type, space, H5P_DEFAULT, list, H5P_DEFAULT));

    H5Pclose(list);
    H5Sclose(space);
    return id;
}

static void write_piece(const struct h5ad *out, hid_t id, hid_t type, hsize_t first, hsize_t count,
                        const void *values)
{
    hid_t space = done(out, H5Dget_space(id)), memory = H5Screate_simple(1, &count, NULL);

    H5Sselect_hyperslab(space, H5S_SELECT_SET, &first, NULL, &count, NULL);
    done(out, H5Dwrite(id, type, memory, space, H5P_DEFAULT, values));
    H5Sclose(memory);
    H5Sclose(space);
}

/* ---- entries --------------------------------------------------------------------------------- */

static void open_column(const struct h5ad *out, struct column *column, hid_t where,
                        const char *name, hid_t type, hid_t stored)
{
    const hsize_t none = 0, any = H5S_UNLIMITED, chunk = CHUNK;
    hid_t space = H5Screate_simple(1, &none, &any), list = dataset_list();

    *column = (struct column){.type = type, .bytes = H5Tget_size(type)};
    column->held = tool_alloc(out->ctx, CHUNK, column->bytes);
    H5Pset_chunk(list, 1, &chunk);
    H5Pset_fill_time(list, H5D_FILL_TIME_NEVER);
    column->id = done(out, H5Dcreate2(where, name, stored, space, H5P_DEFAULT, list, H5P_DEFAULT));
    H5Pclose(list);
    H5Sclose(space);
}

static void flush(const struct h5ad *out, struct column *column)
{
    hsize_t size = column->size + column->count;

    done(out, H5Dset_extent(column->id, &size));
    write_piece(out, column->id, column->type, column->size, column->count, column->held);
    column->size = size;
    column->count = 0;
}

static void put(const struct h5ad *out, struct column *column, const void *values, size_t count)
{
    for (size_t some; count; count -= some) {
        some = CHUNK - column->count < count ? CHUNK - column->count : count;
        memcpy(column->held + column->count * column->bytes, values, some * column->bytes);
        values = (const char *)values + some * column->bytes;
        column->count += some;
        if (column->count == CHUNK) flush(out, column);
    }
}

static void close_column(const struct h5ad *out, struct column *column)
{
    if (column->count) flush(out, column);
    done(out, H5Dclose(column->id));
}

/* Draws all rows: X, and the type of each. */
static void write_rows(struct cells *cells, const struct h5ad *out, int32_t *type,
                       struct ny_writer *labels)
{
    const uint64_t shape[] = {cells->cells, cells->features};
    uint64_t *start = tool_alloc(out->ctx, cells->cells + 1, sizeof *start);
    hid_t x = make_group(out, out->file, "X", "csr_matrix", "0.1.0"), starts;
    struct column columns, values;

    describe(out, x, "shape", H5T_NATIVE_INT64, 2, shape);
    open_column(out, &columns, x, "indices", H5T_NATIVE_INT32, H5T_STD_I32LE);
    open_column(out, &values, x, "data", cells->binary ? H5T_NATIVE_UINT8 : H5T_NATIVE_INT16,
                cells->binary ? H5T_STD_U8LE : H5T_STD_I16LE);
    for (uint64_t row = 0; row < cells->cells; row++) {
        struct cells_row *drawn = cells_draw(cells, out->ctx, row);
        size_t count = drawn->kept;

        type[row] = (int32_t)drawn->type;
        start[row + 1] = start[row] + count;
        put(out, &columns, drawn->column, count);
        if (cells->binary) memset(drawn->count, 1, count);
        put(out, &values, drawn->count, count);
        if (labels) tool_print(labels, "%d\n", type[row]);
    }
    close_column(out, &columns);
    close_column(out, &values);
    starts = make_array(out, x, "indptr", H5T_STD_I64LE, cells->cells + 1);
    done(out, H5Dwrite(starts, H5T_NATIVE_INT64, H5S_ALL, H5S_ALL, H5P_DEFAULT, start));
    H5Dclose(starts);
    H5Gclose(x);
}

/* ---- obs and var ----------------------------------------------------------------------------- */

/* Writes `word`0, `word`1 … */
static void write_names(const struct h5ad *out, hid_t where, const char *name, const char *word,
                        uint64_t size)
{
    char(*texts)[NAME_BYTES] = tool_alloc(out->ctx, NAMES, sizeof *texts);
    const char **piece = tool_alloc(out->ctx, NAMES, sizeof *piece);
    hid_t id = make_array(out, where, name, out->text, size);

    encode(out, id, "string-array", "0.2.0");
    for (uint64_t at = 0, count; at < size; at += count) {
        count = size - at < NAMES ? size - at : NAMES;
        for (uint64_t i = 0; i < count; i++) {
            snprintf(texts[i], NAME_BYTES, "%s%llu", word, (unsigned long long)(at + i));
            piece[i] = texts[i];
        }
        write_piece(out, id, out->text, at, count, piece);
    }
    H5Dclose(id);
}

/* Makes a table of names and, unless it is NULL, one column. */
static hid_t make_table(const struct h5ad *out, const char *name, const char *word, uint64_t size,
                        const char *column)
{
    static const char *const index = "_index";
    hid_t id = make_group(out, out->file, name, "dataframe", "0.2.0");

    describe(out, id, index, out->text, 0, &index);
    if (column) {
        describe(out, id, "column-order", out->text, 1, &column);
    } else {
        const hsize_t none = 0;
        hid_t space = H5Screate_simple(1, &none, NULL);

        H5Aclose(
            done(out, H5Acreate2(id, "column-order", out->text, space, H5P_DEFAULT, H5P_DEFAULT)));
        H5Sclose(space);
    }
    write_names(out, id, index, word, size);
    return id;
}

/* Adds a column of categories 0, 1 …, which have no order. */
static void write_types(const struct cells *cells, const struct h5ad *out, hid_t obs,
                        const int32_t *type)
{
    hid_t group = make_group(out, obs, "type", "categorical", "0.2.0"), codes;
    hid_t boolean = H5Tenum_create(H5T_STD_I8LE); /* as h5py has it */

    H5Tenum_insert(boolean, "FALSE", &(int8_t){0});
    H5Tenum_insert(boolean, "TRUE", &(int8_t){1});
    describe(out, group, "ordered", boolean, 0, &(int8_t){0});
    H5Tclose(boolean);
    codes = make_array(out, group, "codes",
                       cells->types <= INT8_MAX    ? H5T_STD_I8LE
                       : cells->types <= INT16_MAX ? H5T_STD_I16LE
                                                   : H5T_STD_I32LE,
                       cells->cells);
    encode(out, codes, "array", "0.2.0");
    done(out, H5Dwrite(codes, H5T_NATIVE_INT32, H5S_ALL, H5S_ALL, H5P_DEFAULT, type));
    H5Dclose(codes);
    write_names(out, group, "categories", "", cells->types);
    H5Gclose(group);
}

static void open_file(struct h5ad *out, int fd)
{
    hid_t access;
    char where[32];

    H5dont_atexit(); /* a tool that ends with an error leaves its file as it is */
    access = H5Pcreate(H5P_FILE_ACCESS);
    H5Pset_fapl_stdio(access); /* the one driver that opens a file without a name */
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
    out->text = H5Tcopy(H5T_C_S1);
    H5Tset_size(out->text, H5T_VARIABLE);
    H5Tset_cset(out->text, H5T_CSET_UTF8);
    snprintf(where, sizeof where, "/proc/self/fd/%d", fd);
    out->file = done(out, H5Fcreate(where, H5F_ACC_TRUNC, H5P_DEFAULT, access));
    H5Pclose(access);
    encode(out, out->file, "anndata", "0.1.0");
}

void cells_write_h5ad(struct cells *cells, struct ny_context *ctx, const char *path,
                      struct ny_writer *labels)
{
    struct h5ad out = {.ctx = ctx, .path = path};
    int32_t *type = tool_alloc(ctx, cells->cells, sizeof *type);
    struct ny_draft *draft;
    hid_t obs;
    int fd;

    tool_check(ctx, ny_draft_open(&draft, ctx, path, &fd));
    open_file(&out, fd);
    write_rows(cells, &out, type, labels);
    obs = make_table(&out, "obs", "cell", cells->cells, "type");
    write_types(cells, &out, obs, type);
    H5Gclose(obs);
    H5Gclose(make_table(&out, "var", "gene", cells->features, NULL));
    H5Tclose(out.text);
    done(&out, H5Fclose(out.file));
    tool_check(ctx, ny_draft_commit(draft));
}
