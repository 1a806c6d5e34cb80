/*
 * Prepares raw rows, and decides the way in which their base quantity is found: by products,
 * bytes, direct sums or an index (struct ny_preparation, columns_private.h).
 *
 * The way decides how accurate f32 is. Unscaled u8 and i16 rows are exact in f32: for distances
 * their centre is rounded to whole numbers; u8 rows of 9 to 33,000 columns are multiplied as
 * integers where the CPU has the instruction. In at most 8 columns ‖x − y‖² is summed from
 * differences, which cancel nothing; in more columns it is ‖x‖² + ‖y‖² − 2x·y of centred rows. The
 * unit, a power of two next to √γ, keeps γ‖x − y‖² inside the range of f32 whatever the scale of
 * the data, and costs no bit.
 */
#include <math.h>

#include "columns/columns_private.h"

static bool is_distance(enum ny_base_quantity base)
{
    return base == NY_BASE_SQUARE || base == NY_BASE_ABSOLUTE;
}

bool ny_unscaled_integers(const struct ny_columns_spec *spec)
{
    if (spec->dtype != NY_U8 && spec->dtype != NY_I16) return false;
    for (size_t k = 0; k < spec->geometry->d; k++)
        if (spec->geometry->factor[k] != 1) return false;
    return true;
}

enum ny_way ny_way_of(const struct ny_columns_spec *spec)
{
    /* With at most this many columns d² of bytes is below 2³¹, so that 32-bit sums cannot wrap. */
    const size_t byte_columns_max = 33000;
    size_t d = spec->geometry->d;

    if (spec->kernel->base == NY_BASE_GIVEN || spec->kernel->base == NY_BASE_COORDINATE)
        return NY_WAY_GIVEN;
    if (spec->slots) return NY_WAY_SPARSE;
    if (spec->kernel->base == NY_BASE_ABSOLUTE || d <= NY_DIRECT_COLUMNS) return NY_WAY_DIRECT;
    if (spec->kernel->base == NY_BASE_SQUARE && spec->dtype == NY_U8 && d <= byte_columns_max &&
        ny_unscaled_integers(spec))
        return NY_WAY_BYTES;
    if (spec->kernel->steep && spec->kernel->steep(&spec->params)) return NY_WAY_DIRECT;
    return NY_WAY_PRODUCT;
}

/* The power of two by which distances are scaled so that γ becomes about 1. */
static int unit_exponent(enum ny_base_quantity base, double gamma)
{
    if (base == NY_BASE_SQUARE) return (int)lrint(log2(gamma) / 2);
    return base == NY_BASE_ABSOLUTE ? (int)lrint(log2(gamma)) : 0;
}

/* Sets the norm of the centre, on which only dot products depend, and whether factors count. */
static void prepare_sparse(struct ny_preparation *preparation, const struct ny_geometry *geometry)
{
    preparation->plain = true;
    for (size_t k = 0; k < geometry->d; k++) {
        double centre = geometry->centre[k] * (geometry->factor[k] * preparation->unit);

        preparation->plain &= geometry->factor[k] == 1;
        preparation->centre_norm += centre * centre;
    }
    preparation->centred = preparation->centre_norm > 0;
}

void ny_preparation_lay(struct ny_layout *l, struct ny_preparation *preparation,
                        const struct ny_columns_spec *spec, double gamma)
{
    enum ny_base_quantity base = spec->kernel->base;
    const struct ny_geometry *geometry = spec->geometry;
    int exponent = unit_exponent(base, gamma);
    bool whole;

    *preparation = (struct ny_preparation){
        .way = ny_way_of(spec), .params = spec->params, .unit = ldexp(1, exponent)};
    preparation->params.gamma = ldexp(gamma, base == NY_BASE_SQUARE ? -2 * exponent : -exponent);
    preparation->strip_params = preparation->params;
    if (preparation->way == NY_WAY_SPARSE) {
        if (l->ctx) prepare_sparse(preparation, geometry);
        return;
    }
    preparation->centre = ny_lay(l, NY_MEM_DICTIONARY, geometry->d, sizeof(double));
    preparation->factor = ny_lay(l, NY_MEM_DICTIONARY, geometry->d, sizeof(double));
    if (!preparation->centre || !preparation->factor) return;
    whole = is_distance(base) && ny_unscaled_integers(spec);
    for (size_t k = 0; k < geometry->d; k++) {
        preparation->centre[k] = whole ? rint(geometry->centre[k]) : geometry->centre[k];
        preparation->factor[k] = ldexp(geometry->factor[k], exponent);
    }
    /* distances of bytes are those of raw rows */
    if (preparation->way == NY_WAY_BYTES) preparation->strip_params = spec->params;
}

void ny_preparation_row(const struct ny_preparation *preparation,
                        const struct ny_columns_spec *spec, const void *raw, double *out)
{
    const struct ny_geometry *geometry = spec->geometry;

    if (spec->slots) { /* for the few that are wanted in full */
        struct ny_sparse row = ny_sparse_of(raw, spec->slots);

        for (size_t k = 0; k < geometry->d; k++)
            out[k] = -geometry->centre[k] * (geometry->factor[k] * preparation->unit);
        for (size_t k = 0; k < row.count; k++)
            out[row.index[k]] += ny_dtype_at(spec->dtype, row.value, k) *
                                 (geometry->factor[row.index[k]] * preparation->unit);
        return;
    }
    ny_vector()->prepare->row[spec->dtype](raw, preparation->centre, preparation->factor,
                                           spec->geometry->d, out);
}

float ny_preparation_row32(const struct ny_preparation *preparation,
                           const struct ny_columns_spec *spec, const void *raw, double *scratch,
                           float *out)
{
    const struct ny_prepare_ops *ops = ny_vector()->prepare;
    size_t d = spec->geometry->d;
    double scale = 1;

    ny_preparation_row(preparation, spec, raw, scratch);
    if (spec->kernel->unit_rows) {
        double square = ops->dot(scratch, scratch, d);

        scale = square == 0 ? 0 : 1 / sqrt(square);
    }
    return (float)ops->narrow(scratch, scale, d, out);
}
