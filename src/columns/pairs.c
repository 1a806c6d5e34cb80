#include "columns/pairs.h"

uint64_t ny_pairs_all_tiles(uint64_t n)
{
    return ny_units_of(n) * (ny_units_of(n) + 1) / 2;
}

size_t ny_panel_rows(uint64_t n)
{
    return n < NY_UNIT_ROWS ? (size_t)n : NY_UNIT_ROWS;
}

/* Tiles with units outside the range, which come first. */
static uint64_t tiles_outside(const struct ny_pairs *pairs)
{
    return (pairs->end_panel - pairs->first_panel) * pairs->first_panel;
}

/* Counts the tiles of the panels q before p with units q …: Σ_{q = a}^{p − 1} (U − q). */
static uint64_t first_of_panel(const struct ny_pairs *pairs, uint64_t panel)
{
    uint64_t a = pairs->first_panel, p = panel;

    return (p - a) * pairs->units - (p * (p - (p > 0)) - a * (a - (a > 0))) / 2;
}

uint64_t ny_pairs_tiles(const struct ny_pairs *pairs)
{
    return tiles_outside(pairs) + first_of_panel(pairs, pairs->end_panel);
}

uint64_t ny_pairs_unit(const struct ny_pairs *pairs, uint64_t t, uint64_t *panel)
{
    uint64_t low = pairs->first_panel, high = pairs->end_panel, outside = tiles_outside(pairs);

    if (t < outside) {
        *panel = low + t / low;
        return t % low;
    }
    while (high - low > 1) {
        uint64_t middle = low + (high - low) / 2;

        if (first_of_panel(pairs, middle) <= t - outside)
            low = middle;
        else
            high = middle;
    }
    *panel = low;
    return low + (t - outside - first_of_panel(pairs, low));
}

size_t ny_pairs_rows(const struct ny_pairs *pairs, uint64_t unit)
{
    uint64_t left = pairs->n - unit * NY_UNIT_ROWS;

    return left < NY_UNIT_ROWS ? (size_t)left : NY_UNIT_ROWS;
}

static int take(struct ny_source *source, struct ny_tile *tile)
{
    const struct ny_pairs *pairs = (const struct ny_pairs *)source;
    uint64_t panel, unit;

    if (tile->unit >= ny_pairs_tiles(pairs)) return NY_END;
    unit = ny_pairs_unit(pairs, tile->unit, &panel);
    tile->first_row = unit * NY_UNIT_ROWS;
    tile->rows = ny_pairs_rows(pairs, unit);
    return NY_OK;
}

static int strip(struct ny_source *source, const struct ny_tile *tile, size_t first, size_t count,
                 void *rows)
{
    struct ny_source *points = ((struct ny_pairs *)source)->points;

    return points->ops->strip(points, tile, first, count, rows);
}

void ny_pairs_init(struct ny_pairs *pairs, struct ny_source *points, uint64_t first_panel,
                   uint64_t panels)
{
    static const struct ny_source_ops ops = {.take = take, .strip = strip};

    *pairs = (struct ny_pairs){.source = *points,
                               .points = points,
                               .n = points->n,
                               .units = ny_units_of(points->n),
                               .first_panel = first_panel,
                               .end_panel = first_panel + panels};
    pairs->source.ops = &ops;
    pairs->source.n = ny_pairs_tiles(pairs) * NY_UNIT_ROWS;
}

void ny_pairs_panel_lay(struct ny_layout *l, struct ny_pairs_panel *panel,
                        const struct ny_columns_spec *spec, uint64_t n, enum ny_precision precision)
{
    size_t rows = ny_panel_rows(n);

    panel->raw = ny_lay(l, NY_MEM_TILES, rows, ny_raw_bytes(spec));
    ny_tiles_lay(l, &panel->tiles, spec, rows, precision, 1);
    ny_columns_count(l, spec, rows);
}

int ny_pairs_panel_take(struct ny_pairs_panel *panel, const struct ny_pairs *pairs,
                        const struct ny_columns_spec *spec, const struct ny_tile *tile,
                        struct ny_tile *rows)
{
    uint64_t number;

    ny_pairs_unit(pairs, tile->unit, &number);
    *rows = (struct ny_tile){.source = pairs->points,
                             .unit = number,
                             .first_row = number * NY_UNIT_ROWS,
                             .worker = tile->worker};
    if (panel->columns && panel->number == number) return NY_OK;
    rows->rows = ny_pairs_rows(pairs, number);
    panel->number = number;
    return ny_columns_of_tile(&panel->columns, spec, rows, panel->raw);
}

int ny_pairs_panel_compute(struct ny_pairs_panel *panel, const struct ny_tile *tile)
{
    struct ny_tile own = *tile; /* of the worker's own tiles */

    own.worker = 0;
    return ny_tiles_compute(&panel->tiles, &own);
}
