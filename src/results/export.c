/*
 * Writes the parts of a finished result to files (results/export.h): any table of results/parts.c,
 * the model as its image, a graph (results/graph_export.c), and the embedding spread over the rows
 * of the file that was imported.
 *
 * ny_export() and `embed` call it. A table is copied in pieces of at most 4 MiB, or a sixteenth of
 * the budget, so that its size does not matter; a regular file is there as a whole or not at all
 * (io/writer.h). With a salvage, a damaged piece is read again in the smallest units that are
 * damaged together; those that cannot be read are NaN (2⁶⁴ − 1 in columns of numbers), counted,
 * and told in a warning. An export of which no row can be read fails.
 */
#include "results/behind.h"
#include "results/export.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "results/current.h"
#include "model/extension.h"
#include "results/graph_export.h"
#include "results/names.h"
#include "results/shards.h"
#include "results/stored_model.h"
#include "spectral/method.h"

enum { PIECE_BYTES = 4 << 20 };

/* The form in which a part is written. */
struct shape {
    const struct ny_result_part *part;
    enum ny_element element;
    size_t cols;                /* 0: one item a row */
    size_t row_bytes, piece;    /* rows at a time */
    struct ny_salvage *salvage; /* NULL: a damaged row ends the export */
};

/* Fills rows with NaN, or where elements are whole numbers with 2⁶⁴ − 1, which is -1 of I64. */
static void mark_missing(const struct shape *shape, void *out, size_t rows)
{
    size_t items = rows * (shape->cols ? shape->cols : 1);

    for (size_t i = 0; i < items; i++)
        switch (shape->element) {
        case NY_OUT_F32:
            ((float *)out)[i] = NAN;
            break;
        case NY_OUT_F64:
            ((double *)out)[i] = NAN;
            break;
        default:
            ((uint64_t *)out)[i] = UINT64_MAX;
        }
}

/* Adds rows first … end − 1 to what was left out, to the last range where they follow it. */
static void note_missing(struct ny_salvage *salvage, uint64_t first, uint64_t end)
{
    struct ny_row_range *last = salvage->count ? &salvage->range[salvage->count - 1] : NULL;

    salvage->rows += end - first;
    if (last && salvage->more == 0 && last->end == first)
        last->end = end;
    else if (salvage->count < NY_SALVAGE_RANGES)
        salvage->range[salvage->count++] = (struct ny_row_range){first, end};
    else
        salvage->more++;
}

/* Rows of the part; with a salvage those that cannot be read are marked, as few as are damaged
 * together. */
static int fill_piece(struct ny_result *result, const struct shape *shape, uint64_t first,
                      size_t count, char *out)
{
    const struct ny_result_part *part = shape->part;
    int err = ny_part_fill(result, part, first, count, out);
    uint64_t last = first + count;

    if (err != NY_ESTORE || !shape->salvage || !part->grain) return err;
    ny_error_clear(result->ctx);
    for (uint64_t end; first < last; first = end) {
        end = ny_part_grain_end(result, part, first);
        if (end > last) end = last;
        err = ny_part_fill(result, part, first, (size_t)(end - first), out);
        if (err == NY_ESTORE) {
            ny_error_clear(result->ctx);
            mark_missing(shape, out, (size_t)(end - first));
            note_missing(shape->salvage, first, end);
        } else if (err)
            return err;
        out += (end - first) * shape->row_bytes;
    }
    return NY_OK;
}

/* Copies all rows of the part, piece by piece. The room on the disk is asked for once the first
 * piece was read. */
static int copy_pieces(struct ny_result *result, const struct shape *shape,
                       struct ny_writer *writer)
{
    size_t rows = shape->part->count(result);
    void *data = ny_calloc(result->ctx, NY_MEM_IO, shape->piece, shape->row_bytes);
    int err = data ? NY_OK : NY_EBUDGET;

    for (uint64_t first = 0; first < rows && err == NY_OK; first += shape->piece) {
        size_t count = rows - first < shape->piece ? (size_t)(rows - first) : shape->piece;

        err = ny_check_interrupt(result->ctx);
        if (err == NY_OK) err = fill_piece(result, shape, first, count, data);
        if (err == NY_OK && first == 0) err = ny_writer_fits(writer);
        if (err == NY_OK) err = ny_writer_rows(writer, data, count);
    }
    ny_free(result->ctx, data);
    if (err == NY_OK && shape->salvage && shape->salvage->rows == rows)
        err = ny_fail(result->ctx, NY_ESTORE, "%s of '%s' in %s: no row can be read",
                      shape->part->name, result->name, ny_store_path(result->store));
    return err;
}

/* ---- rows in the places that they had in the file ------------------------------------------ */

/* State of an export whose rows go to their places in the imported file. */
struct spread {
    uint64_t *source; /* of a piece */
    void *blank;      /* a row of NaN */
    uint64_t next;    /* the row of the file to write next */
};

/* Writes rows of NaN up to row `end` of the file. */
static int write_blanks(struct spread *spread, struct ny_writer *writer, uint64_t end)
{
    int err = NY_OK;

    for (; err == NY_OK && spread->next < end; spread->next++)
        err = ny_writer_rows(writer, spread->blank, 1);
    return err;
}

/* Writes each row at its place in the file, and blanks between them. */
static int write_spread(struct ny_result *result, const struct shape *shape, struct spread *spread,
                        struct ny_writer *writer, char *data)
{
    size_t rows = shape->part->count(result);
    int err = NY_OK;

    for (uint64_t first = 0; first < rows && err == NY_OK; first += shape->piece) {
        size_t count = rows - first < shape->piece ? (size_t)(rows - first) : shape->piece;

        err = ny_check_interrupt(result->ctx);
        if (err == NY_OK) err = ny_part_fill(result, shape->part, first, count, data);
        if (err == NY_OK) err = ny_result_rows_source(&result->rows, first, count, spread->source);
        for (size_t i = 0; err == NY_OK && i < count; i++) {
            err = write_blanks(spread, writer, spread->source[i]);
            if (err == NY_OK) err = ny_writer_rows(writer, data + i * shape->row_bytes, 1);
            spread->next++;
        }
    }
    return err;
}

/* Allocates what write_spread() needs, and fills the file up with blanks to `total` rows. */
static int copy_spread(struct ny_result *result, const struct shape *shape,
                       struct ny_writer *writer, uint64_t total)
{
    struct spread spread = {.source =
                                ny_calloc(result->ctx, NY_MEM_IO, shape->piece, sizeof(uint64_t)),
                            .blank = ny_alloc(result->ctx, NY_MEM_IO, shape->row_bytes)};
    void *data = ny_calloc(result->ctx, NY_MEM_IO, shape->piece, shape->row_bytes);
    int err = NY_EBUDGET;

    if (!spread.source || !spread.blank || !data) goto done;
    mark_missing(shape, spread.blank, 1);
    err = write_spread(result, shape, &spread, writer, data);
    if (err == NY_OK) err = write_blanks(&spread, writer, total);
done:
    ny_free(result->ctx, spread.source);
    ny_free(result->ctx, spread.blank);
    ny_free(result->ctx, data);
    return err;
}

/* Writes a part to the output: as it is where `total` is 0, else spread over so many rows. */
static int write_part(struct ny_result *result, const struct ny_result_part *part,
                      const char *output, struct ny_salvage *salvage, uint64_t total)
{
    struct shape shape = {.part = part,
                          .element = ny_result_element(result, part),
                          .cols = part->columns ? part->columns(result) : 0,
                          .salvage = salvage};
    size_t bytes = ny_memory_limit(result->ctx) / 16;
    struct ny_writer *writer;
    int err;

    shape.row_bytes = (shape.cols ? shape.cols : 1) * ny_output_bytes(shape.element);
    shape.piece = (bytes < PIECE_BYTES ? bytes : PIECE_BYTES) / shape.row_bytes;
    if (!shape.piece) shape.piece = 1;
    err = ny_result_prepare(result, part, shape.piece);
    if (err) return err;
    err = ny_writer_open(&writer, result->ctx, output, shape.element,
                         total ? total : part->count(result), shape.cols);
    if (err) return err;
    err = total ? copy_spread(result, &shape, writer, total) : copy_pieces(result, &shape, writer);
    if (err) {
        ny_writer_abort(writer);
        return err;
    }
    return ny_writer_commit(writer);
}

/* Writes the image of the model, which ny_model_read() reads, to the output. Refuses a result
 * whose model is not in one piece, and says how to place new rows by it. */
static int write_model(struct ny_result *result, const char *output)
{
    size_t bytes = (size_t)ny_field_count(result->record, "model_bytes", 0);
    const char *approx = ny_field_text(result->report, "approx");
    const struct ny_method *method = approx ? ny_method_find(approx) : NULL;
    bool landmarks = ny_field_count(result->report, "landmarks", 0) > 0;
    struct ny_writer *writer = NULL;
    struct ny_model *model = NULL;
    void *image = NULL;
    int err = ny_result_has_model(result->ctx, result->name, result->record);

    if (err) return err;
    if (!bytes) return ny_result_lacks(result->store, result->name, "model");
    if (method && method->all_rows && landmarks)
        return ny_fail(result->ctx, NY_EUSAGE,
                       "the model of '%s' would be all points of %s; place rows with 'nystream "
                       "transform'",
                       result->name, ny_store_path(result->store));
    err = ny_model_of_result(&model, result->store, result->name);
    if (!err) err = ny_model_take_columns(model, result->store);
    err = ny_result_current(result, NULL, err);
    if (err) goto done;
    bytes = ny_model_image_bytes(model);
    image = ny_alloc(result->ctx, NY_MEM_MODEL, bytes);
    err = NY_EBUDGET;
    if (!image) goto done;
    ny_model_save(model, image);
    err = ny_writer_open(&writer, result->ctx, output, NY_OUT_BYTES, bytes, 0);
    if (err) goto done;
    err = ny_writer_rows(writer, image, bytes);
    if (err) goto done;
    err = ny_writer_commit(writer);
    writer = NULL;
done:
    ny_writer_abort(writer);
    ny_free(result->ctx, image);
    ny_model_free(model);
    return err;
}

/* Writes the names of the rows that the result has, or those of columns. */
static int write_names(struct ny_result *result, const char *part, const char *output,
                       uint64_t *missing)
{
    struct ny_names_part names;
    int err = ny_names_part_find(&names, result->store, result, part);

    return err ? err : ny_names_part_export(&names, output, missing);
}

int ny_part_check(struct ny_context *ctx, const char *name)
{
    const char *const *parts = ny_parts();
    char list[288];
    size_t count = 0;

    for (; parts[count]; count++)
        if (strcmp(parts[count], name) == 0) return NY_OK;
    ny_join(parts, count, list, sizeof(list));
    return ny_fail_value(ctx, "part", list, name);
}

/* Tells which rows of the file are NaN because they were damaged. */
static void warn_of_missing(const struct ny_result *result, const struct ny_salvage *salvage,
                            const char *part, const char *output)
{
    ny_log(result->ctx, NY_LOG_WARNING,
           "%llu rows of the %s of '%s' are damaged; in %s they are NaN (numbers: 2^64-1)",
           (unsigned long long)salvage->rows, part, result->name, output);
}

int ny_part_export(struct ny_store *store, const char *name, const char *part, const char *output,
                   struct ny_salvage *salvage)
{
    const struct ny_result_part *rows = ny_part_find(part);
    struct ny_result result;
    int err = ny_result_open_any(&result, store, name);

    if (err == NY_OK)
        err = rows                         ? write_part(&result, rows, output, salvage, 0)
              : strcmp(part, "graph") == 0 ? ny_graph_export(&result, output)
              : ny_is_names_part(part)
                  ? write_names(&result, part, output, salvage ? &salvage->rows : NULL)
                  : write_model(&result, output);
    if (err == NY_OK && salvage && salvage->rows && rows)
        warn_of_missing(&result, salvage, part, output);
    if (err == NY_OK && rows && rows->by_row) ny_warn_behind(store, name, result.record);
    ny_result_close_any(&result);
    return err;
}

int ny_points_export(struct ny_store *store, const char *part, const char *output,
                     struct ny_salvage *salvage)
{
    const struct ny_result_part *rows = ny_part_find(part);
    struct ny_result points;
    int err = ny_result_of_points(&points, store);

    if (!err && !points.n) err = ny_refuse_nodes(store);
    if (!err && !rows->count(&points)) err = ny_result_lacks(store, NULL, part);
    if (!err) err = write_part(&points, rows, output, salvage, 0);
    if (!err && salvage && salvage->rows) warn_of_missing(&points, salvage, part, output);
    ny_result_close_any(&points);
    return err;
}

int ny_embedding_spread(struct ny_store *store, const char *name, const char *output, uint64_t rows)
{
    struct ny_result result;
    int err = ny_result_open(&result, store, name);

    if (err == NY_OK) err = write_part(&result, ny_part_find("embedding"), output, NULL, rows);
    ny_result_close(&result);
    return err;
}
