/*
 * New points in eigenmaps: Nyström's formula with the affinities w_i = exp(−γ‖x − x_i‖²) between
 * the point and its nearest nodes (Bengio et al. 2004, section 3.2), d = Σ w_i,
 *
 *   u_k(x) = 1/(1 − λ_k) Σ_i w_i/√(d d_i) u_ki = √d/(1 − λ_k) Σ_i (w_i/d) z_ki,   z = D^-½u.
 *
 * The nodes are those that the point lists, as the graph's own rows do. As either of two rows may
 * list the other, degrees of rows are a little larger than those of new points. For the walk
 * (asymmetric diffusion) u is divided by √d again.
 */
#include <float.h>
#include <math.h>
#include <string.h>

#include "base/layout.h"
#include "base/text.h"
#include "model/coordinates.h"
#include "model/embedding.h"
#include "maps/graph_place.h"
#include "graph/affinity.h"
#include "linalg/numbers.h"

struct extension {
    struct ny_graph_fit *fit;
    struct ny_layout own;
    double gamma;
    size_t pairs, width; /* of a stored row */
    double *inverse;     /* pairs: 1/(1 − λ) */
    double *Z;           /* nodes × pairs */
    uint64_t far;        /* new points so far away that their degree vanishes */
};

static int load_values(struct extension *extension)
{
    struct ny_job *job = &extension->fit->base.job;
    bool walk = ny_map_of(job->record)->in_time;

    if (!extension->pairs || ny_job_eigenvalues(job) != extension->pairs)
        return ny_fail_damaged(job->ctx, job->keep.name, job->keep.place);
    extension->inverse = ny_lay(&extension->own, NY_MEM_MODEL, extension->pairs, sizeof(double));
    if (!extension->inverse) return NY_EBUDGET;
    for (size_t k = 0; k < extension->pairs; k++) {
        double value = ny_job_eigenvalue(job, k);
        double own = walk ? value : 1 - value; /* 1 − λ */

        if (!(fabs(own) > 1e-6))
            return ny_fail(job->ctx, NY_ENUMERIC,
                           "eigenvector %zu of '%s' says nothing about new points: its eigenvalue "
                           "is %d; fit with fewer --components",
                           k, job->keep.name, walk ? 0 : 1);
        extension->inverse[k] = 1 / own;
    }
    return NY_OK;
}

/* Z of the stored rows, which come in the order of the points. */
static int load_rows(struct extension *extension, const struct ny_affinity *affinity, bool f64,
                     void *stored)
{
    const struct ny_graph_fit *fit = extension->fit;
    const struct ny_edges *edges = &fit->edges;
    struct ny_embedding_layout layout =
        ny_embedding_layout(edges->n, extension->width, ny_number_bytes(f64));
    uint64_t at = 0;
    int err = NY_OK;

    for (uint64_t row = 0; row < fit->base.job.points.n && err == NY_OK; row++) {
        uint32_t node = edges->node[row];
        size_t in = at % NY_UNIT_ROWS * extension->width;
        uint64_t left = edges->n - at;

        if (node == NY_NO_ROW) continue;
        if (at % NY_UNIT_ROWS == 0)
            err = ny_embedding_rows(&fit->base.job.keep, &layout, at,
                                    left < NY_UNIT_ROWS ? (size_t)left : NY_UNIT_ROWS, stored);
        for (size_t k = 0; k < extension->pairs && err == NY_OK; k++)
            extension->Z[node * extension->pairs + k] =
                ny_number(stored, f64, in + k) * sqrt(affinity->inverse[node]);
        at++;
    }
    return err;
}

static int load_vectors(struct extension *extension)
{
    const struct ny_graph_fit *fit = extension->fit;
    bool f64 = ny_is(fit->base.job.state.facts.precision, "f64");
    struct ny_affinity affinity = {0};
    struct ny_layout l = {.ctx = fit->base.job.ctx};
    void *stored = ny_lay(&l, NY_MEM_STORE, NY_UNIT_ROWS, extension->width * sizeof(double));
    int err;

    extension->Z =
        ny_lay(&extension->own, NY_MEM_MODEL, fit->edges.n, extension->pairs * sizeof(double));
    err = l.err ? l.err : extension->own.err;
    if (!err) err = ny_affinity_new(&affinity, &fit->edges, extension->gamma);
    if (err == NY_OK) err = load_rows(extension, &affinity, f64, stored);
    ny_affinity_release(&affinity);
    ny_layout_free(&l);
    return err;
}

/* Weights beside that of the nearest node, so that they do not all vanish. */
static void place_point(struct extension *extension, const uint32_t *node, const double *distance,
                        size_t t, double *y)
{
    size_t pairs = extension->pairs;
    double sum = 0, degree;

    for (size_t k = 0; k < extension->width; k++)
        y[k] = 0;
    for (size_t i = 0; i < t; i++) {
        const double *z = extension->Z + node[i] * pairs;
        double beyond = (distance[i] - distance[0]) * (distance[i] + distance[0]);
        double weight = exp(-extension->gamma * beyond);

        sum += weight;
        for (size_t k = 0; k < pairs; k++)
            y[k] += weight * z[k];
    }
    degree = sum * exp(-extension->gamma * distance[0] * distance[0]);
    if (degree < DBL_MIN) {
        extension->far++;
        degree = DBL_MIN;
    }
    if (extension->width > pairs) y[pairs] = 1 / sqrt(degree);
    for (size_t k = 0; k < pairs; k++)
        y[k] *= extension->inverse[k] * sqrt(degree) / sum;
}

static int place(void *arg, const struct ny_newcomers *new, double *Y)
{
    struct extension *extension = arg;

    for (size_t i = 0; i < new->count; i++)
        place_point(extension, new->node + i *new->t, new->distance + i *new->t, new->t,
                    Y + i * extension->width);
    return NY_OK;
}

int ny_eigenmaps_transform(struct ny_graph_fit *fit, struct ny_new_rows *rows)
{
    struct ny_context *ctx = fit->base.job.ctx;
    struct extension extension = {.fit = fit, .own.ctx = ctx};
    struct ny_coordinates coordinates;
    double gamma = fit->base.job.state.report.gamma;
    int err = ny_coordinates_parse(&coordinates, ctx, fit->base.job.record);

    extension.gamma = isnan(gamma) ? 0 : gamma;
    extension.pairs = coordinates.pairs;
    extension.width = ny_coordinates_width(&coordinates);
    ny_coordinates_release(&coordinates, ctx);
    if (err == NY_OK) err = load_values(&extension);
    if (err == NY_OK) err = load_vectors(&extension);
    if (err == NY_OK) err = ny_graph_place(fit, rows, extension.width, place, &extension);
    if (err == NY_OK && extension.far)
        ny_log(ctx, NY_LOG_WARNING,
               "%s so far from all rows of '%s' that all weights exp(-%g d^2) vanish; %s placed %s",
               ny_counted(extension.far, "new row is", "new rows are").text,
               fit->base.job.keep.name, extension.gamma, extension.far == 1 ? "it is" : "they are",
               extension.width > extension.pairs ? "by their nearest rows" : "at 0");
    ny_layout_free(&extension.own);
    return err;
}
