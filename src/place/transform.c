/*
 * Drives a transform (place/transform.h): new rows become coordinates. place/landmarks.c,
 * place/points.c and maps/graph_place.c call it, each with its own way of placing rows.
 *
 * The rows are read like those that the result was made of, in a type and with slots that hold
 * both. Rows with NaN that are kept come to no placer: they are put as NaN between those that were
 * placed.
 */
#include "place/transform.h"

#include <math.h>

#include "base/memory.h"
#include "linalg/numbers.h"

bool ny_placer_puts_f64(const struct ny_placer *placer)
{
    return placer->computed == NY_PRECISION_F64 && !placer->narrow;
}

/* Tells whether a row of coordinates is one that no landmark reaches. */
static bool is_unreached(const struct ny_placer *placer, bool f64, const void *row)
{
    return placer->divided && ny_coordinates_unreached(f64, row);
}

int ny_placer_check(const struct ny_placer *placer, bool f64, const void *rows, uint64_t first,
                    size_t count)
{
    const struct ny_coordinates *how = &placer->coordinates;
    struct ny_context *ctx = placer->spec.ctx;

    return placer->divided ? ny_coordinates_check_reached(how, ctx, f64, rows, first, count)
                           : ny_coordinates_check(how, ctx, f64, rows, first, count);
}

/* Puts the rows without a place that follow those that were put. */
static int put_blanks(struct ny_placer *placer)
{
    int err = NY_OK;

    while (!err && placer->blank) {
        uint64_t next = placer->placed + placer->blanks;

        if (ny_left_out_at(&placer->left_out, placer->blanks) != next) break;
        err = placer->new->ops->put(placer->new, placer, placer->blank, next, 1);
        placer->blanks++;
    }
    return err;
}

/* Puts rows in the order of the input, and blanks between them. */
static int put_between(struct ny_placer *placer, const void *rows, size_t count)
{
    size_t p = ny_coordinates_count(&placer->coordinates);
    size_t row_bytes = p * (ny_placer_puts_f64(placer) ? sizeof(double) : sizeof(float)), run;
    int err = NY_OK;

    for (size_t i = 0; !err && i < count; i += run) {
        uint64_t next, lost = UINT64_MAX;

        err = put_blanks(placer);
        next = placer->placed + placer->blanks;
        if (placer->blank) lost = ny_left_out_at(&placer->left_out, placer->blanks);
        run = lost - next < count - i ? (size_t)(lost - next) : count - i;
        for (size_t k = 0; k < run; k++)
            if (is_unreached(placer, ny_placer_puts_f64(placer),
                             (const char *)rows + (i + k) * row_bytes))
                ny_unreached_rows_note(&placer->unreached, next + k);
        if (!err)
            err = placer->new->ops->put(placer->new, placer, (const char *)rows + i * row_bytes,
                                        next, run);
        placer->placed += run;
    }
    return err;
}

/* Returns how many units of new rows are in memory at a time. */
static unsigned units_read(const struct ny_placer *placer, unsigned workers)
{
    return placer->ops->by_units ? workers : 1;
}

static void count_with_rows(struct ny_layout *l, const void *placer, unsigned workers, size_t limit)
{
    const struct ny_placer *of = placer;
    size_t row_bytes = ny_raw_bytes(&of->spec) + of->new->beside_bytes;
    size_t unit_bytes = ny_source_unit_rows(ny_placer_most_rows(of)) * row_bytes;

    ny_layout_add(l, NY_MEM_TILES, units_read(of, workers) * unit_bytes);
    ny_layout_add(l, NY_MEM_IO, of->new->output_bytes);
    of->ops->count(l, of, workers, limit);
}

/* Takes as many workers as threads are allowed and the rest of the budget holds; one, where it has
 * the only unit. Refuses a budget that does not hold one. */
static int decide_workers(struct ny_placer *placer)
{
    struct ny_context *ctx = placer->spec.ctx;
    unsigned most = ny_context_threads(ctx);
    bool few = placer->ops->by_units && placer->rows <= NY_UNIT_ROWS;

    placer->workers = ny_budget_workers_left(ctx, count_with_rows, placer, few ? 1 : most);
    if (!placer->ops->by_units) return NY_OK; /* others need less where they do without a tree */
    return ny_budget_need(ctx, "transform", ny_budget_least(count_with_rows, placer));
}

/* Places all rows of a source. Refuses what was placed by two results of one name. */
static int place_all(struct ny_placer *placer, struct ny_source *rows)
{
    const struct ny_placer_ops *ops = placer->ops;
    int err = ops->begin(placer);

    if (!err) err = ops->place(placer, rows);
    if (placer->fitted) err = ny_keep_current(&placer->fitted->keep, placer->fitted->record, err);
    if (!err && ops->end) err = ops->end(placer);
    return err;
}

/* Takes a type and slots that hold both the rows of the result and the new ones. */
static void widen(struct ny_placer *placer, const struct ny_raw_shape *shape)
{
    struct ny_columns_spec *spec = &placer->spec;

    placer->rows = shape->n;
    spec->dtype = ny_dtype_common(spec->dtype, ny_prepared_dtype(&spec->preparation, shape->dtype));
    if (spec->slots && shape->slots > spec->slots) spec->slots = shape->slots;
}

/* Makes the row that stands for those without a place. */
static int make_blank(struct ny_placer *placer)
{
    bool f64 = ny_placer_puts_f64(placer);
    size_t p = ny_coordinates_count(&placer->coordinates);
    void *blank = ny_alloc(placer->spec.ctx, NY_MEM_IO, p * sizeof(double));

    if (!blank) return NY_EBUDGET;
    for (size_t k = 0; k < p; k++)
        ny_number_set(blank, f64, k, NAN);
    placer->blank = blank;
    return NY_OK;
}

int ny_place_all(struct ny_placer *placer, struct ny_new_rows *rows)
{
    struct ny_context *ctx = placer->spec.ctx;
    struct ny_raw_shape shape;
    struct ny_source *source = NULL;
    int err = rows->ops->open(rows, placer, &shape);

    placer->new = rows;
    if (err) goto done;
    widen(placer, &shape);
    err = decide_workers(placer);
    if (!err) err = ny_blas_make_room(ctx, placer->workers);
    if (rows->keeps) ny_left_out_begin(&placer->left_out, ctx);
    if (!err) err = rows->ops->begin(rows, placer, units_read(placer, placer->workers), &source);
    if (!err && rows->keeps) err = make_blank(placer);
    if (!err) err = place_all(placer, source);
    if (!err) err = put_blanks(placer);
    if (!err) err = ny_unreached_rows_check(&placer->unreached, ctx, placer->placed);
    if (!err) err = rows->ops->end(rows, placer);
done:
    ny_source_free(source);
    rows->ops->close(rows);
    ny_left_out_release(&placer->left_out);
    ny_free(ctx, placer->blank);
    return err;
}

int ny_placer_put(struct ny_placer *placer, void *rows, size_t count)
{
    const struct ny_coordinates *how = &placer->coordinates;
    bool f64 = placer->computed == NY_PRECISION_F64;
    uint64_t first = placer->placed + placer->blanks;
    const void *out = rows;
    int err;

    ny_coordinates_apply(how, f64, rows, count, rows);
    err = ny_placer_check(placer, f64, rows, first, count);
    if (!err && placer->narrow) {
        ny_dtype_to_f32(NY_F64, rows, placer->narrow, count * ny_coordinates_count(how));
        err = ny_placer_check(placer, false, placer->narrow, first, count);
        out = placer->narrow;
    }
    return err ? err : put_between(placer, out, count);
}
