/* Memory, disk and time of isomap. */
#include "maps/isomap_private.h"
#include "graph/batches.h"
#include "graph/buckets.h"
#include "linalg/eigen_few.h"

static size_t solve_bytes(const struct ny_graph_shape *shape)
{
    size_t m = shape->m, p = shape->settings->components, square = m * m * sizeof(double);
    struct ny_problem problem = ny_settings_problem(shape->settings, m);
    size_t inner = shape->settings->method->bytes(m, p, p, &problem) + m * p * sizeof(double);
    size_t values = ny_eigen_is_few(m, p) ? ny_eigen_count_bytes(m)
                                          : m * sizeof(double) + ny_eigen_top_bytes(m, 1);
    size_t state = ny_isomap_state_bytes(m), most = inner > values ? inner : values;

    return square + (most > state ? most : state) + (m + 1) * p * sizeof(double) +
           m * ny_isomap_samples(m) * sizeof(float);
}

void ny_isomap_bill(const struct ny_graph_shape *shape, enum ny_stage_id stage, unsigned workers,
                    size_t limit, size_t by_purpose[NY_PURPOSES])
{
    size_t m = shape->m, p = shape->settings->components, n = (size_t)shape->nodes;
    bool keeps = ny_isomap_keeps_columns(shape->settings);
    size_t columns = n * p * sizeof(double), map = (m + 1) * p * sizeof(double);

    if (stage < NY_STAGE_SELECT || stage > NY_STAGE_PROJECT || stage == NY_STAGE_DEGREES) return;
    by_purpose[NY_MEM_DICTIONARY] +=
        m * (2 * sizeof(uint64_t) + 3 * sizeof(uint32_t) + sizeof(double));
    if (stage == NY_STAGE_SELECT) {
        size_t spread = ny_buckets_bytes(n) + n * (sizeof(float) + 1);
        size_t batches = ny_batches_bytes(n, m);

        by_purpose[NY_MEM_DICTIONARY] += m * 2 * sizeof(uint64_t);
        by_purpose[NY_MEM_TILES] +=
            shape->settings->rule->paths && spread > batches ? spread : batches;
    }
    if (stage == NY_STAGE_ACCUMULATE) {
        by_purpose[NY_MEM_TILES] += ny_sweep_bytes(n, workers);
        by_purpose[NY_MEM_OTHER] += ny_isomap_state_bytes(m);
        by_purpose[NY_MEM_STORE] += ny_graph_put_bytes(limit, ny_isomap_state_bytes(m));
        if (keeps)
            by_purpose[NY_MEM_STORE] += ny_graph_put_bytes(limit, n * NY_LANES * sizeof(float));
    }
    if (stage == NY_STAGE_SOLVE) {
        by_purpose[NY_MEM_PROCESS] +=
            ny_blas_bytes(shape->settings->threads, workers, m);
        by_purpose[NY_MEM_SOLVE] += solve_bytes(shape);
        if (keeps) by_purpose[NY_MEM_GRAM] += ny_isomap_gram_bytes(m, workers);
        by_purpose[NY_MEM_STORE] += ny_graph_put_bytes(limit, map);
    }
    if (stage == NY_STAGE_PROJECT) {
        size_t sweep = ny_sweep_bytes(n, workers),
               batches = ny_batches_bytes(n, ny_isomap_sources(n));
        size_t during = ny_graph_put_bytes(limit, columns);
        size_t after = ny_graph_embed_bytes(shape, limit); /* the sweep is gone by then */

        if (batches > sweep) sweep = batches; /* of the sources of pairs, before their sweep */
        after = after > sweep ? after - sweep : 0;
        by_purpose[NY_MEM_PROCESS] += ny_blas_bytes(shape->settings->threads, workers, m);
        by_purpose[NY_MEM_TILES] += sweep + (NY_UNIT_ROWS + p) * NY_LANES * sizeof(double);
        by_purpose[NY_MEM_OTHER] += columns;
        by_purpose[NY_MEM_SOLVE] += map + m * ny_isomap_samples(m) * sizeof(float);
        by_purpose[NY_MEM_STORE] += during > after ? during : after;
    }
}

void ny_isomap_work(const struct ny_graph_shape *shape, struct ny_plan *plan)
{
    const double paths_per_s = 4e7; /* nodes a source and a thread: bench_paths */
    const double slower = 1.5;      /* than the small problem that is measured */
    double m = (double)shape->m, n = (double)shape->nodes;
    double p = (double)shape->settings->components;
    double sweep_s = m * n / (paths_per_s * shape->settings->threads);
    double cubes = ny_eigen_is_few(shape->m, shape->settings->components) ? 1.0 / 3 : 8.0 / 3;
    double small = cubes * m * m * m + 2 * m * m * p;
    bool keeps = ny_isomap_keeps_columns(shape->settings), all = shape->m == shape->nodes;
    double pairs_s =
        (double)ny_isomap_sources(shape->nodes) * n / (paths_per_s * shape->settings->threads);

    plan->flops += small + 2 * n * m * p;
    plan->stage_s[NY_STAGE_ACCUMULATE] += sweep_s;
    plan->stage_s[NY_STAGE_SOLVE] += slower * small / plan->rates.eigen;
    plan->stage_s[NY_STAGE_PROJECT] += all ? 0 : pairs_s;
    plan->stage_s[NY_STAGE_PROJECT] +=
        all && !keeps ? 0 : sweep_s + 2 * n * m * p / plan->rates.gemm64;
    if (keeps) {
        plan->flops += n * m * m;
        plan->stage_s[NY_STAGE_SOLVE] += n * m * m / plan->rates.gram64;
        plan->stage_s[NY_STAGE_PROJECT] -= sweep_s;
        plan->disk_bytes += ny_isomap_columns_bytes(shape->nodes, shape->m);
    }
    plan->disk_bytes += 2 * ny_isomap_state_bytes(shape->m) +
                        (all ? 0 : 2 * shape->nodes * shape->settings->components * 8);
}
