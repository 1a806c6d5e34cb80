/*
 * Turns stored rows into coordinates (model/coordinates.h), and keeps in the record how that is
 * done.
 *
 * A stored row has one value of each pair and, for asymmetric maps, one factor behind them.
 * Coordinate k of row u is u[skip + k] times that factor, times scale[k] where coordinates are
 * scaled, and divided by the length of the row where rows are normalized. A record without field
 * "coordinates" has plain rows: what is stored is the embedding.
 */
#include "model/coordinates.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "job/record.h"
#include "linalg/numbers.h"

enum { PAIRS_MAX = 1 << 24 }; /* rows of so many values do not fit a store */

bool ny_coordinates_plain(const struct ny_coordinates *how)
{
    return !how->skip && !how->asymmetric && !how->normalize && !how->scale;
}

/* Returns 1/‖y‖ of the coordinates y of a stored row, each times `factor`; 0 for a row of zeros,
 * which stays one. */
static double inverse_length(const struct ny_coordinates *how, bool f64, const void *row,
                             double factor)
{
    double squares = 0;

    for (size_t k = 0; k < ny_coordinates_count(how); k++) {
        double u = ny_number(row, f64, how->skip + k);
        double y = u * factor * (how->scale ? how->scale[k] : 1);

        squares += y * y;
    }
    return squares > 0 ? 1 / sqrt(squares) : 0;
}

void ny_coordinates_apply(const struct ny_coordinates *how, bool f64, const void *stored,
                          size_t rows, void *out)
{
    size_t width = ny_coordinates_width(how), p = ny_coordinates_count(how);

    if (ny_coordinates_plain(how)) {
        memmove(out, stored, rows * width * ny_number_bytes(f64));
        return;
    }
    /* Goes forward, and writes only behind the values still to be read: `out` may be `stored`. */
    for (size_t i = 0; i < rows; i++) {
        const char *row = (const char *)stored + i * width * ny_number_bytes(f64);
        double factor = 1;

        if (how->asymmetric) factor = ny_number(row, f64, how->pairs);
        if (how->normalize) factor *= inverse_length(how, f64, row, factor);
        for (size_t k = 0; k < p; k++) {
            double u = ny_number(row, f64, how->skip + k);

            ny_number_set(out, f64, i * p + k, u * factor * (how->scale ? how->scale[k] : 1));
        }
    }
}

int ny_coordinates_check(const struct ny_coordinates *how, struct ny_context *ctx, bool f64,
                         const void *rows, uint64_t first, size_t count)
{
    size_t p = ny_coordinates_count(how), bad = ny_numbers_not_finite(rows, f64, count * p);

    if (!bad) return NY_OK;
    return ny_fail_infinite(ctx, "embedding", first + (bad - 1) / p);
}

bool ny_coordinates_unreached(bool f64, const void *row)
{
    return isnan(ny_number(row, f64, 0));
}

int ny_coordinates_check_reached(const struct ny_coordinates *how, struct ny_context *ctx, bool f64,
                                 const void *rows, uint64_t first, size_t count)
{
    size_t row_bytes = ny_coordinates_count(how) * ny_number_bytes(f64);
    const char *at = rows;
    int err = NY_OK;

    for (size_t i = 0, run; !err && i < count; i += run + 1) {
        for (run = 0; i + run < count; run++)
            if (ny_coordinates_unreached(f64, at + (i + run) * row_bytes)) break;
        err = ny_coordinates_check(how, ctx, f64, at + i * row_bytes, first + i, run);
    }
    return err;
}

void ny_coordinates_put(const struct ny_coordinates *how, struct ny_record record,
                        struct ny_state *state)
{
    state->coordinates = (struct ny_state_coordinates){.there = true,
                                                       .pairs = how->pairs,
                                                       .skip = how->skip,
                                                       .asymmetric = how->asymmetric,
                                                       .normalize = how->normalize};
    record.ops->put(record, state);
    if (!how->scale) return;
    record.ops->begin_list(record, NY_LIST_SCALE);
    for (size_t k = 0; k < ny_coordinates_count(how); k++)
        record.ops->append(record, NY_LIST_SCALE, how->scale[k]);
}

int ny_coordinates_parse(struct ny_coordinates *how, struct ny_context *ctx,
                         struct ny_record record)
{
    const struct ny_state state = ny_state_of(record);
    size_t factors = record.ops->count(record, NY_LIST_SCALE);

    *how = (struct ny_coordinates){.pairs = (size_t)state.facts.components};
    if (state.coordinates.there)
        *how = (struct ny_coordinates){.pairs = (size_t)state.coordinates.pairs,
                                       .skip = (size_t)state.coordinates.skip,
                                       .asymmetric = state.coordinates.asymmetric,
                                       .normalize = state.coordinates.normalize};
    if (how->pairs > PAIRS_MAX || how->skip > 1 || (how->skip && how->skip >= how->pairs) ||
        (factors && factors != ny_coordinates_count(how)))
        return ny_fail_damaged(ctx, NULL, NULL);
    if (!factors) return NY_OK;
    how->scale = ny_calloc(ctx, NY_MEM_MODEL, factors, sizeof(double));
    if (!how->scale) return NY_EBUDGET;
    for (size_t k = 0; k < factors; k++)
        how->scale[k] = record.ops->at(record, NY_LIST_SCALE, k);
    return NY_OK;
}

void ny_coordinates_release(struct ny_coordinates *how, struct ny_context *ctx)
{
    ny_free(ctx, how->scale);
    how->scale = NULL;
}
