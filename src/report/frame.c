/*
 * Reads the columns of a result for pictures (report/frame.h), and what is beside it. Scenes
 * (report/scene.c) and the points of a report (report/page_points.c) open one; tints add the column
 * of their colours.
 *
 * A piece is as many rows as take 4 MiB in f64, and at most 65,536. All values become f64, whatever
 * their part stores. Columns of another result are looked up by the row numbers of the piece, run
 * by run, since that result covers all rows of the store and this one perhaps only a component of a
 * graph.
 */
#include "report/frame.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/compare.h"
#include "base/memory.h"
#include "base/progress.h"
#include "base/text.h"

enum { PIECE_BYTES = 4 << 20, PIECE_ROWS = 65536 };

/* Words that name a column, the part of a result that each stands for, and whether its values are
 * always classes. */
static const struct {
    const char *name, *part;
    bool classes;
} words[] = {{"label", "labels", false},
             {"cluster", "clusters", true},
             {"component", "components", true},
             {"residual", "residuals", false}};

enum { WORDS = sizeof(words) / sizeof(words[0]) };

int ny_data_frame_open(struct ny_data_frame *frame, struct ny_store *store, const char *name)
{
    const struct ny_result_part *embedding = ny_part_find("embedding");
    size_t row_bytes;
    int err;

    *frame = (struct ny_data_frame){.ctx = ny_store_context(store)};
    frame->own.ctx = frame->ctx;
    err = ny_result_open_any(&frame->result, store, name);
    if (err) return err;
    frame->n = embedding->count(&frame->result);
    if (!frame->n && frame->result.map) return ny_result_prepare(&frame->result, embedding, 0);
    if (!frame->n) return ny_result_lacks(store, name, "embedding");
    frame->components = embedding->columns(&frame->result);
    row_bytes = frame->components * sizeof(double);
    frame->piece = PIECE_BYTES / row_bytes;
    if (frame->piece > PIECE_ROWS) frame->piece = PIECE_ROWS;
    if (frame->piece < 1) frame->piece = 1;
    frame->room = ny_lay(&frame->own, NY_MEM_IO, frame->piece, row_bytes);
    return frame->room ? ny_result_prepare(&frame->result, embedding, frame->piece) : NY_EBUDGET;
}

void ny_data_frame_close(struct ny_data_frame *frame)
{
    for (size_t k = 0; k < NY_FRAME_COLUMNS; k++)
        if (frame->column[k].points) ny_points_column_close(frame->column[k].points);
    for (size_t k = 0; k < frame->others; k++) {
        ny_result_close_any(&frame->other[k]);
        ny_free(frame->ctx, frame->other_name[k]);
    }
    ny_layout_free(&frame->own);
    ny_result_close_any(&frame->result);
}

/* ---- columns ------------------------------------------------------------------------------ */

/* Adds a column of another result: "cluster:B" opens B, which must know all rows of the store. */
static int add_other(struct ny_data_frame *frame, const char *name, struct ny_frame_column *column)
{
    struct ny_result *other = &frame->other[frame->others];
    int err;

    frame->other_name[frame->others] = ny_strdup(frame->ctx, name);
    if (!frame->other_name[frame->others]) return NY_EBUDGET;
    err = ny_result_open_any(other, frame->result.store, frame->other_name[frame->others]);
    column->other = ++frame->others;
    if (err) return err;
    if (column->part->count(other) != other->n || other->rows.lost.rows)
        return ny_result_lacks(other->store, name, column->part->name);
    frame->rows_wanted = true;
    return ny_result_prepare(other, column->part, frame->piece);
}

static int unknown_column(const struct ny_data_frame *frame, const char *name)
{
    return ny_fail(frame->ctx, NY_EUSAGE, "'%s' has no column '%s', and components 1 to %zu",
                   frame->result.name, name, frame->components);
}

/* Adds a column of the points. */
static int add_points(struct ny_data_frame *frame, const char *name, struct ny_frame_column *column)
{
    column->points = ny_lay(&frame->own, NY_MEM_OTHER, 1, sizeof(*column->points));
    if (!column->points) return NY_EBUDGET;
    frame->rows_wanted = true;
    return ny_points_column_open(column->points, frame->result.store, name);
}

/* Adds what no word of this file names: a bare name of a column of the points. */
static int add_named(struct ny_data_frame *frame, const char *name, struct ny_frame_column *column)
{
    int err = add_points(frame, name, column);

    if (err != NY_EDATA && err != NY_EUSAGE) return err;
    ny_error_clear(frame->ctx);
    return unknown_column(frame, name);
}

/* Finds the part that a word names, in this result or, after a colon, in another. */
static int add_part(struct ny_data_frame *frame, const char *name, struct ny_frame_column *column)
{
    size_t length = strcspn(name, ":"), word = 0;

    while (word < WORDS && (strncmp(words[word].name, name, length) || words[word].name[length]))
        word++;
    if (word == WORDS) return add_named(frame, name, column);
    column->part = ny_part_find(words[word].part);
    column->classes = words[word].classes;
    if (name[length]) return add_other(frame, name + length + 1, column);
    if (column->part->count(&frame->result) == 0)
        return ny_result_lacks(frame->result.store, frame->result.name, column->part->name);
    if (column->part->count(&frame->result) >
        frame->n) /* components: of all rows, also those that the result has not */
        return add_other(frame, frame->result.name, column);
    return ny_result_prepare(&frame->result, column->part, frame->piece);
}

int ny_data_frame_add(struct ny_data_frame *frame, const char *name, size_t *place)
{
    struct ny_frame_column *column = &frame->column[frame->count];
    char *end;
    unsigned long number = strtoul(name, &end, 10);
    int err = NY_OK;

    *place = frame->count;
    if (frame->count == NY_FRAME_COLUMNS) return NY_BUG(frame->ctx);
    if (name[0] >= '0' && name[0] <= '9' && !*end) {
        if (number < 1 || number > frame->components) return unknown_column(frame, name);
        column->component = number;
    } else if (strcmp(name, "row") == 0) {
        frame->rows_wanted = true;
    } else if (strncmp(name, "column:", 7) == 0) {
        err = add_points(frame, name + 7, column);
    } else {
        err = add_part(frame, name, column);
    }
    if (err) return err;
    column->values = ny_lay(&frame->own, NY_MEM_IO, frame->piece, sizeof(double));
    frame->count++;
    if (frame->rows_wanted && !frame->rows)
        frame->rows = ny_lay(&frame->own, NY_MEM_IO, frame->piece, sizeof(uint64_t));
    return frame->own.err;
}

bool ny_data_frame_has(const struct ny_data_frame *frame, const char *name)
{
    for (size_t i = 0; i < WORDS; i++) {
        const struct ny_result_part *part = ny_part_find(words[i].part);

        if (strcmp(words[i].name, name) == 0)
            return part && part->count(&frame->result) == frame->n;
    }
    return false;
}

/* ---- reading ------------------------------------------------------------------------------ */

/* Every `stride`-th element from the first on, as f64. */
static void widen(enum ny_element element, const void *room, size_t stride, size_t count,
                  double *values)
{
    for (size_t i = 0; i < count; i++)
        switch (element) {
        case NY_OUT_F32:
            values[i] = (double)((const float *)room)[i * stride];
            break;
        case NY_OUT_F64:
            values[i] = ((const double *)room)[i * stride];
            break;
        default:
            values[i] = ((const uint64_t *)room)[i * stride] == UINT64_MAX /* of no cluster */
                            ? NAN
                            : (double)((const uint64_t *)room)[i * stride];
        }
}

static int fill_embedding(struct ny_data_frame *frame, uint64_t first, size_t count)
{
    return ny_part_fill(&frame->result, ny_part_find("embedding"), first, count, frame->room);
}

/* Takes one component out of the rows of the embedding that were read. */
static void take_component(struct ny_data_frame *frame, struct ny_frame_column *column,
                           size_t count)
{
    enum ny_element element = ny_result_element(&frame->result, ny_part_find("embedding"));
    size_t bytes = element == NY_OUT_F64 ? sizeof(double) : sizeof(float);

    widen(element, (const char *)frame->room + (column->component - 1) * bytes, frame->components,
          count, column->values);
}

static int fill_rows(struct ny_data_frame *frame, uint64_t first, size_t count)
{
    if (!frame->rows) return NY_OK;
    return ny_part_fill(&frame->result, ny_part_find("rows"), first, count, frame->rows);
}

/* Reads another result's values of the rows of this piece, run by run. */
static int read_other(struct ny_data_frame *frame, struct ny_frame_column *column, size_t count)
{
    struct ny_result *other = &frame->other[column->other - 1];
    const uint64_t *rows = frame->rows;
    int err = NY_OK;

    for (size_t i = 0, run; err == NY_OK && i < count; i += run) {
        run = ny_run_of_rows(rows + i, count - i);
        if (rows[i] + run > other->n)
            return ny_fail(frame->ctx, NY_EUSAGE, "'%s' does not cover all rows of '%s'",
                           other->name, frame->result.name);
        err = ny_part_fill(other, column->part, rows[i], run, frame->room);
        if (err == NY_OK) widen(column->part->element, frame->room, 1, run, column->values + i);
    }
    return err;
}

/* Reads one column of a piece: a part of this result or of another, or the row numbers. */
static int read_part(struct ny_data_frame *frame, struct ny_frame_column *column, uint64_t first,
                     size_t count)
{
    int err;

    if (column->other) return read_other(frame, column, count);
    if (column->points)
        return ny_points_column_read(column->points, frame->rows, count, column->values);
    if (!column->part) {
        widen(NY_OUT_U64, frame->rows, 1, count, column->values);
        return NY_OK;
    }
    err = ny_part_fill(&frame->result, column->part, first, count, frame->room);
    if (err == NY_OK) widen(column->part->element, frame->room, 1, count, column->values);
    return err;
}

int ny_data_frame_read_column(struct ny_data_frame *frame, size_t place, uint64_t first,
                              size_t count)
{
    struct ny_frame_column *column = &frame->column[place];
    int err;

    if (!column->component) {
        err = fill_rows(frame, first, count);
        return err ? err : read_part(frame, column, first, count);
    }
    err = fill_embedding(frame, first, count);
    if (err == NY_OK) take_component(frame, column, count);
    return err;
}

int ny_data_frame_read(struct ny_data_frame *frame, uint64_t first, size_t count)
{
    int err = fill_rows(frame, first, count);

    if (err == NY_OK) err = fill_embedding(frame, first, count);
    for (size_t k = 0; err == NY_OK && k < frame->count; k++)
        if (frame->column[k].component) take_component(frame, &frame->column[k], count);
    for (size_t k = 0; err == NY_OK && k < frame->count; k++)
        if (!frame->column[k].component) err = read_part(frame, &frame->column[k], first, count);
    return err;
}

int ny_data_frame_landmarks(struct ny_data_frame *frame, size_t most, uint64_t *rows, size_t *count)
{
    struct ny_result *result = &frame->result;
    const json_t *sharded = result->span ? NULL : json_object_get(result->record, "sharded");
    uint64_t begin = ny_field_count(sharded, "first", 0); /* rows of the shards before */
    uint64_t end = ny_record_selected(ny_record_of(result->record));
    int err = ny_part_fill(result, ny_part_find("landmarks"), 0, most, rows);

    *count = 0;
    for (size_t i = 0; err == NY_OK && i < most; i++)
        if (!sharded || (rows[i] >= begin && rows[i] < end)) rows[(*count)++] = rows[i] - begin;
    return err;
}

size_t ny_data_frame_place(const struct ny_data_frame *frame, size_t count, uint64_t row)
{
    const uint64_t *at = bsearch(&row, frame->rows, count, sizeof(row), ny_compare_rows);

    return at ? (size_t)(at - frame->rows) : count;
}

int ny_data_frame_walk(struct ny_data_frame *frame, const char *stage, ny_data_frame_fn *each,
                       void *user)
{
    struct ny_meter meter;
    int err = NY_OK;

    ny_meter_start(&meter, frame->ctx, stage, 0, frame->n);
    for (uint64_t first = 0; err == NY_OK && first < frame->n; first += frame->piece) {
        size_t count = frame->n - first < frame->piece ? (size_t)(frame->n - first) : frame->piece;

        err = ny_check_interrupt(frame->ctx);
        if (err == NY_OK) err = ny_data_frame_read(frame, first, count);
        if (err == NY_OK) each(user, first, count);
        ny_meter_add(&meter, count, (double)count * 8 * (double)frame->components, 0);
    }
    ny_meter_finish(&meter);
    return err;
}
