#include "columns/visit.h"

#include "base/memory.h"
#include "base/progress.h"
#include "stream/source.h"

/* Visits the rows of one tile, each read into `row`. */
static int visit_tile(const struct ny_tile *tile, ny_row_visitor *visit, void *arg, void *row)
{
    const struct ny_source *source = tile->source;
    int err = ny_check_interrupt(source->ctx);

    for (size_t i = 0; !err && i < tile->rows; i++) {
        struct ny_sparse values = {.count = source->d, .value = row};

        err = ny_tile_strip(tile, i, 1, row);
        if (source->slots) values = ny_sparse_of(row, source->slots);
        if (!err) err = visit(arg, tile->first_row + i, source->dtype, &values);
    }
    return err;
}

static int visit_all(struct ny_source *source, ny_row_visitor *visit, void *arg)
{
    struct ny_tile tile = {.source = source};
    struct ny_meter meter;
    void *row =
        ny_alloc(source->ctx, NY_MEM_STORE, ny_row_bytes(source->dtype, source->d, source->slots));
    int err = row ? NY_OK : NY_EBUDGET;

    ny_meter_start(&meter, source->ctx, "stats", 0, source->n);
    while (!err && (err = source->ops->take(source, &tile)) == NY_OK) {
        err = visit_tile(&tile, visit, arg, row);
        if (err) break;
        ny_meter_add(&meter, tile.rows, (double)tile.rows * source->stored_bytes_per_row, 0);
        tile.unit++;
        tile.first_row += NY_UNIT_ROWS;
    }
    if (err == NY_END) ny_meter_finish(&meter);
    ny_free(source->ctx, row);
    return err == NY_END ? NY_OK : err;
}

int ny_visit_rows(struct ny_rows *X, bool raw, ny_row_visitor *visit, void *arg)
{
    struct ny_source *source = NULL;
    struct ny_rows_info points;
    int err;

    ny_rows_raw(X, raw);
    err = X->ops->info(X, &points);
    if (!err) err = ny_rows_source(X, points.n, (size_t)points.row_slots, 1, &source);
    if (!err) err = visit_all(source, visit, arg);
    ny_source_free(source);
    ny_rows_raw(X, false);
    return err;
}

int ny_visit_units(struct ny_rows *X, unsigned workers,
                   int (*unit)(void *arg, const struct ny_tile *tile), void *arg)
{
    const struct ny_pass_work work = {.unit = unit};
    struct ny_source *source = NULL;
    struct ny_rows_info points;
    int err = X->ops->info(X, &points);

    if (!err) err = ny_rows_source(X, points.n, (size_t)points.row_slots, workers, &source);
    if (!err)
        err = ny_pass_run(&(struct ny_pass){.source = source, .stage = "stats", .workers = workers},
                          &work, arg);
    ny_source_free(source);
    return err;
}

void ny_visit_count(struct ny_layout *l, const struct ny_rows_info *points)
{
    ny_rows_source_count(l, NY_MEM_STORE, points, 1);
    ny_lay(l, NY_MEM_STORE, 1, ny_rows_row_bytes(points));
}
