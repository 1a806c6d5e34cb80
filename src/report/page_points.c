/*
 * Gathers what a report shows of the points of a result (report/page_points.h): a raster of all
 * rows over the first two components, a sample of rows that can be pointed at, landmarks, and the
 * rows of a path. report/page.c makes one for each result in turn, and report/page_json.c writes it
 * out.
 *
 * The ranges of axes come from a sample, colours from one look at each column that may be classes;
 * then a single pass over all rows fills everything at once. The memory of that pass is demanded
 * from the budget before it begins, and does not grow with n. Images of rows are read afterwards.
 */
#include "report/page_points.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/budget.h"
#include "base/memory.h"
#include "base/random.h"

static enum ny_raster_kind kind_of_raster(const struct ny_page_points *p)
{
    bool classes = p->tint_count > 0 && p->tints[0].kind == NY_RASTER_CLASSES;

    return classes ? NY_RASTER_CLASSES : NY_RASTER_AMOUNT;
}

/* ---- what there is ------------------------------------------------------------------------ */

/* Adds the components that can be axes: the first few, up to NY_PAGE_COMPONENTS. */
static int add_columns(struct ny_page_points *p)
{
    int err = NY_OK;

    p->components =
        p->frame.components < NY_PAGE_COMPONENTS ? p->frame.components : NY_PAGE_COMPONENTS;
    p->frame.rows_wanted = true;
    for (size_t k = 0; err == NY_OK && k < p->components; k++) {
        char name[2] = {(char)('1' + k), '\0'};
        size_t place;

        err = ny_data_frame_add(&p->frame, name, &place);
    }
    return err;
}

/* Adds the colours that the result has: labels, clusters, residuals. */
static int add_tints(struct ny_page_points *p)
{
    static const char *const tints[NY_PAGE_TINTS] = {"label", "cluster", "residual"};
    int err = NY_OK;

    for (size_t k = 0; err == NY_OK && k < NY_PAGE_TINTS; k++)
        if (ny_data_frame_has(&p->frame, tints[k]))
            err = ny_tint_new(&p->tints[p->tint_count++], &p->frame, tints[k]);
    return err;
}

/* Sets the ranges of axes and of quantities from a sample, so that they are known before the pass.
 */
static int set_ranges(struct ny_page_points *p)
{
    struct ny_plot_sample sample;
    int err = ny_plot_sample_new(&sample, &p->frame);

    for (size_t k = 0; err == NY_OK && k < p->components; k++)
        p->axes[k] = ny_axis_of(ny_plot_sample_column(&sample, k), sample.count, false);
    for (size_t k = 0; err == NY_OK && k < p->tint_count; k++)
        if (p->tints[k].kind == NY_RASTER_VALUES)
            p->tints[k].range =
                ny_axis_of(ny_plot_sample_column(&sample, p->tints[k].column), sample.count, false);
    ny_plot_sample_release(&sample);
    return err;
}

/* Takes the row numbers of landmarks: the first that were selected, as many as a page shows. */
static int take_landmarks(struct ny_page_points *p)
{
    const struct ny_result_part *part = ny_part_find("landmarks");
    size_t count = part->count(&p->frame.result);

    if (count == 0) return NY_OK;
    if (count > p->limits->landmarks) count = p->limits->landmarks; /* the first ones */
    p->landmarks = ny_lay(&p->own, NY_MEM_OTHER, count, sizeof(uint64_t));
    p->mark_rows = ny_lay(&p->own, NY_MEM_OTHER, count, sizeof(uint64_t));
    p->marks = ny_lay(&p->own, NY_MEM_OTHER, count * p->components, sizeof(double));
    if (p->own.err) return p->own.err;
    return ny_data_frame_landmarks(&p->frame, count, p->landmarks, &p->landmark_count);
}

/* Makes the raster, 4 : 3, where there are two components. */
static int add_raster(struct ny_page_points *p)
{
    double cells = (double)p->limits->cells;

    if (p->components < 2) return NY_OK;
    return ny_raster_new(&p->raster, p->ctx, kind_of_raster(p), (size_t)sqrt(cells * 4 / 3),
                         (size_t)sqrt(cells * 3 / 4), UINT64_MAX);
}

/* ---- the pass ----------------------------------------------------------------------------- */

/* The row of the result that is number k of the sample: one of each n/room neighbours. */
static uint64_t sampled(const struct ny_page_points *p, size_t k)
{
    uint64_t n = p->frame.n, first = n * k / p->room, end = n * (k + 1) / p->room;

    return first + ny_hash64(0, NY_STREAM_SAMPLE, k) % (end - first);
}

/* Keeps the rows of a piece that are in the sample. Both come in ascending order. */
static void keep_sample(struct ny_page_points *p, uint64_t first, size_t count)
{
    uint64_t row;

    while (p->count < p->room && (row = sampled(p, p->count)) < first + count) {
        size_t i = (size_t)(row - first);

        p->rows[p->count] = p->frame.rows[i];
        for (size_t k = 0; k < p->frame.count; k++)
            p->values[p->count * p->frame.count + k] = p->frame.column[k].values[i];
        p->count++;
    }
}

/* Keeps the coordinates of the landmarks in a piece. */
static void keep_landmarks(struct ny_page_points *p, size_t count)
{
    for (size_t l = 0; l < p->landmark_count; l++) {
        size_t i = ny_data_frame_place(&p->frame, count, p->landmarks[l]);

        if (i == count) continue;
        for (size_t k = 0; k < p->components; k++)
            p->marks[p->mark_count * p->components + k] = p->frame.column[k].values[i];
        p->mark_rows[p->mark_count++] = p->landmarks[l];
    }
}

/* Keeps the coordinates of the path's rows in a piece. */
static void keep_path(struct ny_page_points *p, size_t count)
{
    for (size_t k = 0; k < p->path->count; k++) {
        size_t i = ny_data_frame_place(&p->frame, count, p->path->rows[k]);

        for (size_t c = 0; c < p->components && i < count; c++)
            p->path_values[k * p->components + c] = p->frame.column[c].values[i];
    }
}

static void count_raster(struct ny_page_points *p, size_t count)
{
    const struct ny_frame_column *column = p->frame.column;
    bool classes = p->raster.kind == NY_RASTER_CLASSES;

    for (size_t i = 0; p->raster.width && i < count; i++)
        ny_raster_add(&p->raster, ny_axis_place(&p->axes[0], column[0].values[i]),
                      ny_axis_place(&p->axes[1], column[1].values[i]),
                      classes ? ny_tint_of(&p->tints[0], column[p->tints[0].column].values[i]) : 0);
}

static void take_piece(void *user, uint64_t first, size_t count)
{
    keep_sample(user, first, count);
    keep_landmarks(user, count);
    keep_path(user, count);
    count_raster(user, count);
}

static int take_points(struct ny_page_points *p)
{
    p->room = p->frame.n < p->limits->points ? (size_t)p->frame.n : p->limits->points;
    p->rows = ny_lay(&p->own, NY_MEM_OTHER, p->room, sizeof(uint64_t));
    p->values = ny_lay(&p->own, NY_MEM_OTHER, p->room * p->frame.count, sizeof(double));
    p->path_values = ny_lay(&p->own, NY_MEM_OTHER, p->path->count * p->components, sizeof(double));
    if (p->own.err) return p->own.err;
    for (size_t k = 0; k < p->path->count * p->components; k++)
        p->path_values[k] = NAN;
    return ny_data_frame_walk(&p->frame, "report", take_piece, p);
}

/* ---- images ------------------------------------------------------------------------------- */

static int take_images(struct ny_page_points *p)
{
    const size_t *size = p->limits->image;
    size_t pixels = size[0] * size[1], count = pixels ? p->limits->image_bytes / pixels : 0;
    uint64_t *rows;
    int err;

    if (count > p->count) count = p->count;
    rows = ny_calloc(p->ctx, NY_MEM_OTHER, count, sizeof(uint64_t));
    if (!rows) return NY_EBUDGET;
    for (size_t k = 0; k < count; k++)
        rows[k] = p->rows[k * p->count / count];
    err = ny_page_images_new(&p->images, p->frame.result.store, size, rows, count);
    ny_free(p->ctx, rows);
    return err;
}

/* All that is still to come, once the colours are known. */
static size_t bytes_needed(const struct ny_page_points *p)
{
    const struct ny_page_limits *limits = p->limits;
    struct ny_raster raster = {
        .kind = kind_of_raster(p), .width = limits->cells, .height = p->components > 1};
    size_t rows = p->frame.n < NY_PLOT_SAMPLE_ROWS ? (size_t)p->frame.n : NY_PLOT_SAMPLE_ROWS;
    size_t shown = limits->points + limits->landmarks + p->path->count;
    struct ny_layout l = {0};

    ny_lay_peak(&l, NY_MEM_OTHER, rows * p->frame.count, sizeof(double)); /* the sample */
    ny_lay(&l, NY_MEM_OTHER, shown, sizeof(double) * (p->frame.count + 3));
    if (limits->image[0]) ny_lay(&l, NY_MEM_OTHER, limits->image_bytes, 2 * sizeof(double) + 1);
    ny_raster_allot(&l, &raster);
    ny_lay(&l, NY_MEM_IO, NY_CHUNK_BYTES + 2 * limits->cells, 1);
    return ny_layout_most(&l);
}

int ny_page_points_new(struct ny_page_points *points, struct ny_store *store, const char *name,
                       const struct ny_page_limits *limits, const struct ny_page_path *path)
{
    int err;

    *points =
        (struct ny_page_points){.ctx = ny_store_context(store), .limits = limits, .path = path};
    points->own.ctx = points->ctx;
    err = ny_data_frame_open(&points->frame, store, name);
    if (err == NY_OK) err = add_columns(points);
    if (err == NY_OK) err = add_tints(points);
    if (err == NY_OK) err = ny_budget_need(points->ctx, "report", bytes_needed(points));
    if (err == NY_OK) err = set_ranges(points);
    if (err == NY_OK) err = take_landmarks(points);
    if (err == NY_OK) err = add_raster(points);
    if (err == NY_OK) err = take_points(points);
    return err ? err : take_images(points);
}

void ny_page_points_release(struct ny_page_points *p)
{
    if (!p->ctx) return;
    ny_raster_release(&p->raster);
    for (size_t k = 0; k < p->tint_count; k++)
        ny_tint_release(&p->tints[k]);
    ny_page_images_release(&p->images);
    ny_layout_free(&p->own);
    ny_data_frame_close(&p->frame);
    p->ctx = NULL;
}
