/*
 * New points in isomap: paths reach them through their nearest nodes, δ(x, j) = min_k d(x, x_k) +
 * Δ(x_k, j), and y = Σ_j k(x, j) P_j + q as for the nodes. One sweep over the landmarks serves a
 * batch of new points.
 */
#include <math.h>
#include <string.h>

#include "base/budget.h"
#include "maps/graph_place.h"
#include "maps/isomap_private.h"

struct placing {
    struct ny_isomap map; /* first: the sweep's argument */
    const struct ny_newcomers *new;
    double *Y; /* new points × p */
};

static int add_columns(void *arg, const struct ny_swept *batch)
{
    struct placing *placing = arg;
    const struct ny_isomap *map = &placing->map;
    const struct ny_newcomers *new = placing->new;

    for (size_t i = 0; i < new->count; i++)
        for (size_t l = 0; l < batch->count; l++) {
            const double *P = map->P.at + map->landmark[batch->first + l] * map->p;
            double nearest = INFINITY;

            for (size_t k = 0; k < new->t; k++) {
                size_t at = (size_t) new->node[i * new->t + k] * batch->lanes + l;

                nearest =
                    fmin(nearest, new->distance[i * new->t + k] + (double)batch->distances[at]);
            }
            for (size_t k = 0; k < map->p; k++)
                placing->Y[i * map->p + k] -= nearest * nearest / 2 * P[k];
        }
    return NY_OK;
}

static void count_sweep(struct ny_layout *l, const void *fit, unsigned workers, size_t limit)
{
    const struct ny_graph_fit *of = fit;

    (void)limit;
    ny_sweep_lay(l, &of->edges, of->lanes, workers);
}

static int place(void *arg, const struct ny_newcomers *new, double *Y)
{
    struct placing *placing = arg;
    struct ny_isomap *map = &placing->map;
    const struct ny_context *ctx = map->fit->base.job.ctx;

    placing->new = new;
    placing->Y = Y;
    for (size_t i = 0; i < new->count; i++)
        memcpy(Y + i * map->p, map->map, map->p * sizeof(double));
    map->fit->base.job.workers =
        ny_budget_workers_left(ctx, count_sweep, map->fit, ny_context_threads(ctx));
    return ny_isomap_sweep(map, 0, add_columns, NULL);
}

int ny_isomap_transform(struct ny_graph_fit *fit, struct ny_new_rows *rows)
{
    struct placing placing = {.map = {.fit = fit}};
    int err = ny_isomap_open(&placing.map, fit, true);

    fit->lanes = NY_LANES;
    if (err == NY_OK) err = ny_isomap_load_map(&placing.map);
    if (err == NY_OK) err = ny_graph_place(fit, rows, placing.map.p, place, &placing);
    ny_isomap_close(&placing.map);
    return err;
}
