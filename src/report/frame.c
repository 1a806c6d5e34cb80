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
    err = ny_result_open_any(&frame->result, store, name);
    if (err) return err;
    frame->n = embedding->count(&frame->result);
    if (!frame->n && frame->result.map) return ny_result_prepare(&frame->result, embedding, 0);
    if (!frame->n)
        return ny_fail(
            frame->ctx, NY_EUSAGE,
            "'%s' is only a %s: it has no embedding to draw; fit one with 'nystream fit %s NAME'",
            name, frame->result.graph.neighbors ? "graph" : "dictionary", ny_store_path(store));
    frame->components = embedding->columns(&frame->result);
    row_bytes = frame->components * sizeof(double);
    frame->piece = PIECE_BYTES / row_bytes;
    if (frame->piece > PIECE_ROWS) frame->piece = PIECE_ROWS;
    if (frame->piece < 1) frame->piece = 1;
    frame->room = ny_calloc(frame->ctx, NY_MEM_IO, frame->piece, row_bytes);
    return frame->room ? ny_result_prepare(&frame->result, embedding, frame->piece) : NY_EBUDGET;
}

void ny_data_frame_close(struct ny_data_frame *frame)
{
    for (size_t k = 0; k < NY_FRAME_COLUMNS; k++) {
        if (frame->column[k].outside) ny_outside_close(frame->column[k].outside);
        ny_free(frame->ctx, frame->column[k].outside);
        ny_free(frame->ctx, frame->column[k].values);
    }
    for (size_t k = 0; k < frame->others; k++) {
        ny_result_close_any(&frame->other[k]);
        ny_free(frame->ctx, frame->other_name[k]);
    }
    ny_free(frame->ctx, frame->rows);
    ny_free(frame->ctx, frame->room);
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
        return ny_fail(frame->ctx, NY_EUSAGE, "'%s' has no %s of all rows of %s to colour '%s' by",
                       name, column->part->name, ny_store_path(other->store), frame->result.name);
    frame->rows_wanted = true;
    return ny_result_prepare(other, column->part, frame->piece);
}

/* "row, label, residual": the words that name a column of this result. */
static void list_columns(const struct ny_data_frame *frame, char *text, size_t bytes)
{
    size_t length = (size_t)snprintf(text, bytes, "row");

    for (size_t i = 0; i < WORDS; i++) {
        const struct ny_result_part *part = ny_part_find(words[i].part);

        if (part->count(&frame->result) && length < bytes)
            length += (size_t)snprintf(text + length, bytes - length, ", %s", words[i].name);
    }
}

/* Says that labels have one name, as the column of a file that they came from has another. Where a
 * word is near what was typed, that is enough. */
static const char *label_words(const struct ny_data_frame *frame, const struct ny_hint *hint)
{
    if (*hint->text || !ny_data_frame_has(frame, "label")) return "";
    return "; labels are 'label', whatever column of a file they came from";
}

/* Tells where labels and clusters come from that a result does not have. */
static const char *missing_words(const struct ny_data_frame *frame)
{
    bool label = ny_data_frame_has(frame, "label"), cluster = ny_data_frame_has(frame, "cluster");

    if (label && cluster) return "";
    if (label) return "; cluster comes with 'nystream eval --clusters'";
    if (cluster) return "; label comes with 'nystream import --label-column' or --labels";
    return "; label comes with 'nystream import --label-column' or --labels, cluster with "
           "'nystream eval --clusters'";
}

static int unknown_column(const struct ny_data_frame *frame, const char *name)
{
    const char *names[WORDS + 1];
    struct ny_hint hint;
    char has[64];
    int err = NY_OK;

    for (size_t i = 0; i < WORDS; i++)
        names[i] = words[i].name;
    names[WORDS] = "row";
    hint = ny_hint(name, names, WORDS + 1);
    if (!*hint.text) err = ny_store_hint_column(frame->result.store, name, &hint);
    if (err) return err;
    list_columns(frame, has, sizeof(has));
    return ny_fail(frame->ctx, NY_EUSAGE,
                   "there is no column '%s' of '%s': it has %s, and its components, from 1 to "
                   "%zu%s; NAME or column:NAME is a column of the points%s%s",
                   name, frame->result.name, has, frame->components, missing_words(frame),
                   label_words(frame, &hint), hint.text);
}

/* Refuses a word whose part this result does not have, with what a picture can have instead. */
static int lacking_part(const struct ny_data_frame *frame, const struct ny_result_part *part)
{
    char has[64];

    list_columns(frame, has, sizeof(has));
    return ny_fail(frame->ctx, NY_EUSAGE,
                   "'%s' in %s has no %s; a picture can have %s, components 1 to %zu, NAME or "
                   "column:NAME of the points, and the colour density%s",
                   frame->result.name, ny_store_path(frame->result.store), part->name, has,
                   frame->components, missing_words(frame));
}

static int unknown_component(const struct ny_data_frame *frame, unsigned long number)
{
    if (number == 0)
        return ny_fail(frame->ctx, NY_EUSAGE, "components of '%s' are numbered from 1, to %zu",
                       frame->result.name, frame->components);
    return ny_fail(frame->ctx, NY_EUSAGE,
                   "there is no component %lu of '%s', which has %zu: 'nystream fit %s NAME "
                   "--components %lu' finds as many",
                   number, frame->result.name, frame->components,
                   ny_store_path(frame->result.store), number);
}

/* Adds a column of the points, or the values of a file. */
static int add_outside(struct ny_data_frame *frame, const char *name, bool file,
                       struct ny_frame_column *column)
{
    struct ny_store *store = frame->result.store;

    column->outside = ny_calloc(frame->ctx, NY_MEM_OTHER, 1, sizeof(*column->outside));
    if (!column->outside) return NY_EBUDGET;
    frame->rows_wanted = true;
    return file ? ny_outside_file(column->outside, store, name)
                : ny_outside_column(column->outside, store, name);
}

/* Adds what no word of this file names: a bare name of a column of the points, or a file. */
static int add_named(struct ny_data_frame *frame, const char *name, struct ny_frame_column *column)
{
    bool has;
    int err = ny_outside_has(frame->result.store, name, &has);

    if (err) return err;
    if (has) return add_outside(frame, name, false, column);
    if (ny_outside_is_file(name)) return add_outside(frame, name, true, column);
    return unknown_column(frame, name);
}

/* Finds the part that a word names, in this result or, after a colon, in another. */
static int add_part(struct ny_data_frame *frame, const char *name, struct ny_frame_column *column)
{
    size_t length = strcspn(name, ":");

    for (size_t i = 0; i < WORDS; i++) {
        if (strncmp(words[i].name, name, length) != 0 || words[i].name[length]) continue;
        column->part = ny_part_find(words[i].part);
    }
    if (!column->part) return add_named(frame, name, column);
    if (name[length]) return add_other(frame, name + length + 1, column);
    if (column->part->count(&frame->result) == 0) return lacking_part(frame, column->part);
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
    if (frame->count == NY_FRAME_COLUMNS)
        return ny_fail(frame->ctx, NY_EINTERNAL, "more than %zu columns of a picture",
                       frame->count);
    if (name[0] >= '0' && name[0] <= '9' && !*end) {
        if (number < 1 || number > frame->components) return unknown_component(frame, number);
        column->component = number;
    } else if (strcmp(name, "row") == 0) {
        frame->rows_wanted = true;
    } else if (strncmp(name, "column:", 7) == 0) {
        err = add_outside(frame, name + 7, false, column);
    } else {
        err = add_part(frame, name, column);
    }
    if (err) return err;
    column->values = ny_calloc(frame->ctx, NY_MEM_IO, frame->piece, sizeof(double));
    frame->count++;
    if (frame->rows_wanted && !frame->rows)
        frame->rows = ny_calloc(frame->ctx, NY_MEM_IO, frame->piece, sizeof(uint64_t));
    return column->values && (frame->rows || !frame->rows_wanted) ? NY_OK : NY_EBUDGET;
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

bool ny_data_frame_is_class(const struct ny_frame_column *column)
{
    for (size_t i = 0; i < WORDS; i++)
        if (column->part && strcmp(words[i].part, column->part->name) == 0) return words[i].classes;
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
        for (run = 1; i + run < count && rows[i + run] == rows[i] + run;)
            run++;
        if (rows[i] + run > other->n)
            return ny_fail(frame->ctx, NY_EUSAGE,
                           "'%s' does not cover row %llu of '%s', which was appended since",
                           other->name, (unsigned long long)(rows[i] + run - 1),
                           frame->result.name);
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
    if (column->outside)
        return ny_outside_read(column->outside, frame->rows, count, column->values);
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
    int err = ny_part_fill(result, ny_part_find("landmarks"), 0, most, rows);

    *count = 0;
    for (size_t i = 0; err == NY_OK && i < most; i++)
        if (!sharded || (rows[i] >= begin && rows[i] - begin < result->n))
            rows[(*count)++] = rows[i] - begin;
    if (err == NY_OK) qsort(rows, *count, sizeof(*rows), ny_compare_rows);
    return err;
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
        if (err == NY_OK) err = each(user, frame, count);
        ny_meter_add(&meter, count, (double)count * 8 * (double)frame->components, 0);
    }
    ny_meter_finish(&meter);
    return err;
}
