#include <math.h>
#include <string.h>

#include "columns/columns.h"
#include "store/store.h"

static int geometry_alloc(struct ny_geometry **out, struct ny_context *ctx, size_t d)
{
    struct ny_geometry *geometry = ny_calloc(ctx, NY_MEM_MODEL, 1, sizeof(*geometry));

    *out = NULL;
    if (!geometry) return NY_EBUDGET;
    geometry->d = d;
    geometry->centre = ny_calloc(ctx, NY_MEM_MODEL, d, sizeof(double));
    geometry->factor = ny_calloc(ctx, NY_MEM_MODEL, d, sizeof(double));
    if (!geometry->centre || !geometry->factor) {
        ny_geometry_free(geometry, ctx);
        return NY_EBUDGET;
    }
    *out = geometry;
    return NY_OK;
}

static double factor_of(const struct ny_points_stats *stats, size_t k, enum ny_scale scale)
{
    double range = stats->maximum[k] - stats->minimum[k], factor;

    if (scale == NY_SCALE_NONE) return 1;
    if (range == 0) return 0;
    factor = 1 / (scale == NY_SCALE_STANDARD ? sqrt(stats->variance[k]) : range);
    return isfinite(factor) ? factor : 0;
}

int ny_geometry_new(struct ny_geometry **out, struct ny_store *store, enum ny_scale scale,
                    bool centred)
{
    struct ny_context *ctx = ny_store_context(store);
    struct ny_points_stats stats = {0};
    int err;

    *out = NULL;
    err = ny_points_stats(store, &stats);
    if (err) goto done;
    err = geometry_alloc(out, ctx, stats.d);
    if (err) goto done;
    for (size_t k = 0; k < stats.d; k++) {
        (*out)->centre[k] = centred || scale != NY_SCALE_NONE ? stats.mean[k] : 0;
        (*out)->factor[k] = factor_of(&stats, k, scale);
    }
done:
    ny_points_stats_release(&stats, ctx);
    return err;
}

int ny_geometry_copy(struct ny_geometry **out, struct ny_context *ctx, const double *centre,
                     const double *factor, size_t d)
{
    int err = geometry_alloc(out, ctx, d);

    if (err) return err;
    memcpy((*out)->centre, centre, d * sizeof(double));
    memcpy((*out)->factor, factor, d * sizeof(double));
    return NY_OK;
}

void ny_geometry_free(struct ny_geometry *geometry, struct ny_context *ctx)
{
    if (!geometry) return;
    ny_free(ctx, geometry->centre);
    ny_free(ctx, geometry->factor);
    ny_free(ctx, geometry);
}
