/*
 * The facts that reports tell, each in one line: the words that people read, the unit, and what an
 * update makes of it. Everybody who names a fact reads this table: a new job (job/job.c), an update
 * (results/update.c), the pages of `report` and the command.
 *
 *   key     in JSON
 *   label   in lines for people, which come in the order of this table; NULL: not shown there, and
 *           under the words of its key in the tables of a page
 *   unit    enum ny_fact_unit
 *   place   in the report of a job, where it is null until it is known; a new one has the number
 *           after the last. 0: it comes to the report when there is something to tell
 *   update  KEPT: an update has it of the result. RUN: each run has its own. FOUND: a full update
 *           finds it again
 */
#ifndef NY_JOB_FACTS_H
#define NY_JOB_FACTS_H

#include <stddef.h>

#define NY_FACTS(X)                                                                                \
    X("name", "name", PLAIN, 0, KEPT)                                                              \
    X("command", "made with", PLAIN, 0, KEPT)                                                      \
    X("status", "status", PLAIN, 0, KEPT)                                                          \
    X("update", "update", PLAIN, 0, KEPT)                                                          \
    X("n", "rows", COUNT, 12, KEPT)                                                                \
    X("rows_behind", "rows appended since", COUNT, 0, KEPT)                                        \
    X("d", "columns", COUNT, 14, KEPT)                                                             \
    X("dtype", "element type", PLAIN, 0, KEPT)                                                     \
    X("stored_dtype", "stored as", PLAIN, 0, KEPT)                                                 \
    X("prepared_rows", "rows prepared", PLAIN, 0, KEPT)                                            \
    X("prepared_values", "values prepared", PLAIN, 0, KEPT)                                        \
    X("format", "format", PLAIN, 0, KEPT)                                                          \
    X("blocks", "blocks", COUNT, 0, KEPT)                                                          \
    X("bytes", "raw size", BYTES, 0, KEPT)                                                         \
    X("bytes_added", "size added", BYTES, 0, KEPT)                                                 \
    X("compressed_bytes", "stored size", BYTES, 0, KEPT)                                           \
    X("store_bytes", "store size", BYTES, 63, KEPT)                                                \
    X("labels", "labels", PLAIN, 0, KEPT)                                                          \
    X("classes", "classes", PLAIN, 0, KEPT)                                                        \
    X("row_names", NULL, PLAIN, 0, KEPT)                                                           \
    X("column_names", NULL, PLAIN, 0, KEPT)                                                        \
    X("first_row_names", "names of rows", PLAIN, 0, KEPT)                                          \
    X("first_column_names", "names of columns", PLAIN, 0, KEPT)                                    \
    X("dropped", "rows dropped", COUNT, 0, KEPT)                                                   \
    X("values_left_out", "values left out", COUNT, 0, KEPT)                                        \
    X("lost", "rows lost", COUNT, 13, KEPT)                                                        \
    X("mean_norm", "mean norm", PLAIN, 0, KEPT)                                                    \
    X("mean_square_norm", "mean squared norm", PLAIN, 0, KEPT)                                     \
    X("imports", NULL, PLAIN, 0, KEPT)                                                             \
    X("shards", NULL, PLAIN, 0, KEPT)                                                              \
    X("clustering", "clusters", PLAIN, 0, KEPT)                                                    \
    X("results", "results", PLAIN, 0, KEPT)                                                        \
    X("map", "map", PLAIN, 1, KEPT)                                                                \
    X("approx", "approximation", PLAIN, 2, KEPT)                                                   \
    X("way", "exact method", PLAIN, 66, KEPT)                                                      \
    X("side", "basis side", PLAIN, 67, KEPT)                                                       \
    X("select", "selection", PLAIN, 3, KEPT)                                                       \
    X("kernel", "kernel", PLAIN, 4, KEPT)                                                          \
    X("gamma", "gamma", PLAIN, 5, KEPT)                                                            \
    X("sigma", "sigma", PLAIN, 6, KEPT)                                                            \
    X("epsilon", "epsilon", PLAIN, 7, KEPT)                                                        \
    X("features", "column selection", PLAIN, 70, KEPT)                                             \
    X("features_kept", "columns kept", COUNT, 71, KEPT)                                            \
    X("scale", "column scale", PLAIN, 92, KEPT)                                                    \
    X("genotypes_missing", "missing genotypes", PLAIN, 0, KEPT)                                    \
    X("dominant_columns", "dominant columns", PLAIN, 0, KEPT)                                      \
    X("landmarks", "landmarks", COUNT, 15, KEPT)                                                   \
    X("tolerance", "tolerance", PLAIN, 36, KEPT)                                                   \
    X("pilot_tolerance_low", "pilot tolerance from", PLAIN, 40, KEPT)                              \
    X("pilot_tolerance_high", "pilot tolerance to", PLAIN, 41, KEPT)                               \
    X("components", "components", COUNT, 16, KEPT)                                                 \
    X("embedded", "rows embedded", COUNT, 17, KEPT)                                                \
    X("graph", "graph", PLAIN, 18, KEPT)                                                           \
    X("edge_weights", "edge weights", PLAIN, 20, KEPT)                                             \
    X("products", "matrix products", COUNT, 21, KEPT)                                              \
    X("eigenvector_residuals", "eigenpair residuals", PLAIN, 22, KEPT)                             \
    X("component_p_values", "p-values", PLAIN, 89, KEPT)                                           \
    X("components_above_noise", "above noise", COUNT, 90, KEPT)                                    \
    X("component_shrinkage", "shrinkage", PLAIN, 91, KEPT)                                         \
    X("converged", "converged pairs", COUNT, 68, FOUND)                                            \
    X("rows_empty", "rows without values", COUNT, 69, FOUND)                                       \
    X("rows_unreached", "rows not reached", COUNT, 76, FOUND)                                      \
    X("rank", "rank", COUNT, 23, KEPT)                                                             \
    X("rank_effective", "effective rank", COUNT, 24, FOUND)                                        \
    X("eigenvalues", "eigenvalues", PLAIN, 25, FOUND)                                              \
    X("eigenvalues_trivial", "trivial eigenvalues", COUNT, 0, KEPT)                                \
    X("component_errors", "component errors", PLAIN, 82, FOUND)                                    \
    X("component_errors_se", "their standard error", PLAIN, 83, FOUND)                             \
    X("component_errors_from", NULL, PLAIN, 88, FOUND)                                             \
    X("eigenvalues_corrected", "corrected", PLAIN, 84, FOUND)                                      \
    X("check_rows", "check rows", COUNT, 85, FOUND)                                                \
    X("degrees_error", "error of degrees", PLAIN, 86, FOUND)                                       \
    X("degrees_error_95", "of 95 % at most", PLAIN, 87, FOUND)                                     \
    X("variance", "variance", PLAIN, 26, FOUND)                                                    \
    X("trace", "trace", PLAIN, 27, FOUND)                                                          \
    X("trace_of", "trace of", PLAIN, 28, FOUND)                                                    \
    X("trace_error", "trace error", PLAIN, 29, FOUND)                                              \
    X("trace_error_from", NULL, PLAIN, 81, FOUND)                                                  \
    X("variance_kept", "variance kept", PLAIN, 30, FOUND)                                          \
    X("probe_columns", "probe columns", COUNT, 31, FOUND)                                          \
    X("probe_error", "probe error", PLAIN, 32, FOUND)                                              \
    X("probe_standard_error", "probe standard error", PLAIN, 33, FOUND)                            \
    X("residual_max", "largest residual", PLAIN, 34, KEPT)                                         \
    X("residual_max_row", NULL, PLAIN, 80, KEPT)                                                   \
    X("residual_mean", "mean residual", PLAIN, 35, KEPT)                                           \
    X("drift_trace_error", "drift: trace error", PLAIN, 37, RUN)                                   \
    X("drift", "drift", PLAIN, 79, RUN)                                                            \
    X("drift_residual_share", "share over tolerance", PLAIN, 38, RUN)                              \
    X("drift_rows", "new rows measured", COUNT, 39, RUN)                                           \
    X("drift_trace_error_fitted", "drift of fitted rows", PLAIN, 72, FOUND)                        \
    X("drift_largest", "largest drift", PLAIN, 73, FOUND)                                          \
    X("drift_largest_rows", "largest drift: rows", COUNT, 75, FOUND)                               \
    X("drift_largest_first", "largest drift: start", COUNT, 74, FOUND)                             \
    X("negative_eigenvalues", "negative eigenvalues", COUNT, 42, FOUND)                            \
    X("residual_variance", "residual variance", PLAIN, 44, KEPT)                                   \
    X("distance_preservation", "distances preserved", PLAIN, 45, KEPT)                             \
    X("sampled_pairs", "sampled pairs", COUNT, 46, KEPT)                                           \
    X("mode", "last update", PLAIN, 56, KEPT)                                                      \
    X("landmarks_added", "landmarks added", COUNT, 57, RUN)                                        \
    X("passes", "passes", COUNT, 50, RUN)                                                          \
    X("selection_passes", NULL, COUNT, 77, RUN)                                                    \
    X("rows_read", "rows read", COUNT, 51, RUN)                                                    \
    X("bytes_read", "data read", BYTES, 52, RUN)                                                   \
    X("flops", "work", FLOPS, 53, RUN)                                                             \
    X("seconds", "time", SECONDS, 54, RUN)                                                         \
    X("network_seconds", "network", SECONDS, 0, KEPT)                                              \
    X("stages", "stages", SECONDS, 0, KEPT)                                                        \
    X("updates", "updates", COUNT, 0, KEPT)                                                        \
    X("total_rows_read", "total rows read", COUNT, 58, KEPT)                                       \
    X("total_flops", "total work", FLOPS, 59, KEPT)                                                \
    X("total_seconds", "total time", SECONDS, 60, KEPT)                                            \
    X("gemm_ratio", "time over ideal", PLAIN, 55, RUN)                                             \
    X("gram_precision", "Gram precision", PLAIN, 47, FOUND)                                        \
    X("peak_rss_bytes", "peak memory", BYTES, 61, RUN)                                             \
    X("memory_budget_bytes", "memory budget", BYTES, 62, KEPT)                                     \
    X("precision", "precision", PLAIN, 9, KEPT)                                                    \
    X("threads", "threads", COUNT, 11, KEPT)                                                       \
    X("seed", "seed", PLAIN, 8, KEPT)                                                              \
    X("online", "online", PLAIN, 10, KEPT)                                                         \
    X("columns_kept_bytes", "columns in memory", BYTES, 78, RUN)                                   \
    X("stage_memory_bytes", "reserved by stage", BYTES, 0, KEPT)                                   \
    X("blas", "BLAS", PLAIN, 64, KEPT)                                                             \
    X("cpu", "CPU", PLAIN, 65, KEPT)                                                               \
    X("version", "version", PLAIN, 0, KEPT)                                                        \
    /* facts of a graph */                                                                         \
    X("neighbors", "neighbours", COUNT, 0, KEPT)                                                   \
    X("neighbors_stored", "neighbours kept", COUNT, 0, KEPT)                                       \
    X("metric", "metric", PLAIN, 0, KEPT)                                                          \
    X("knn", "search", PLAIN, 0, KEPT)                                                             \
    X("recall", "recall", PLAIN, 0, KEPT)                                                          \
    X("recall_interval", "recall 95 % interval", PLAIN, 0, KEPT)                                   \
    X("trees", "trees", COUNT, 0, KEPT)                                                            \
    X("rounds", "rounds", COUNT, 0, KEPT)                                                          \
    X("distances_per_point", "distances per point", PLAIN, 0, KEPT)                                \
    X("edges", "edges", COUNT, 0, KEPT)                                                            \
    X("largest", "largest component", COUNT, 0, KEPT)                                              \
    X("largest_share", "share in largest", PLAIN, 0, KEPT)                                         \
    X("largest_edges", "edges in largest", COUNT, 0, KEPT)                                         \
    X("isolated", "isolated rows", COUNT, 0, KEPT)                                                 \
    X("degree_mean", "mean degree", PLAIN, 0, KEPT)                                                \
    X("degree_max", "largest degree", COUNT, 0, KEPT)                                              \
    X("edge_values", "edge values", PLAIN, 0, KEPT)                                                \
    X("entries", "entries in the file", COUNT, 0, KEPT)                                            \
    X("self_loops", "self-loops left out", COUNT, 0, KEPT)                                         \
    X("repeats", "repeated entries", COUNT, 0, KEPT)                                               \
    X("zero_affinities", "zero affinities", COUNT, 0, KEPT)                                        \
    X("remeasured", "rows remeasured", COUNT, 0, KEPT)                                             \
    X("sweep", "sweep", PLAIN, 0, KEPT)                                                            \
    X("bridges", "bridges", COUNT, 0, KEPT)                                                        \
    X("bridge_shortest", "shortest bridge", PLAIN, 0, KEPT)                                        \
    X("bridge_longest", "longest bridge", PLAIN, 0, KEPT)                                          \
    /* facts of a machine */                                                                       \
    X("key", "machine", PLAIN, 0, KEPT)                                                            \
    X("measured", "measured", PLAIN, 0, KEPT)                                                      \
    X("gemm32_flops", "matrix products, f32", FLOP_RATE, 0, KEPT)                                  \
    X("gemm64_flops", "matrix products, f64", FLOP_RATE, 0, KEPT)                                  \
    X("gram32_flops", "Gram matrices, f32", FLOP_RATE, 0, KEPT)                                    \
    X("gram64_flops", "Gram matrices, f64", FLOP_RATE, 0, KEPT)                                    \
    X("bytes_flops", "products of bytes", FLOP_RATE, 0, KEPT)                                      \
    X("direct_flops", "sums of differences", FLOP_RATE, 0, KEPT)                                   \
    X("exp32", "exponentials, f32", RATE, 0, KEPT)                                                 \
    X("exp64", "exponentials, f64", RATE, 0, KEPT)                                                 \
    X("eigen_flops", "eigenproblems", FLOP_RATE, 0, KEPT)                                          \
    X("disk_write_bytes", "disk writes", BYTE_RATE, 0, KEPT)                                       \
    /* facts that other lines tell, or that are of no use to a reader */                           \
    X("date", NULL, PLAIN, 0, KEPT)                                                                \
    X("load", NULL, PLAIN, 0, KEPT)                                                                \
    X("now", NULL, PLAIN, 0, KEPT)                                                                 \
    X("kind", NULL, PLAIN, 0, KEPT)                                                                \
    X("certificate", NULL, PLAIN, 0, KEPT)                                                         \
    X("resume", NULL, PLAIN, 0, KEPT)                                                              \
    X("import_status", NULL, PLAIN, 0, KEPT)                                                       \
    X("stage", NULL, PLAIN, 0, KEPT)                                                               \
    X("rows_done", NULL, PLAIN, 0, KEPT)                                                           \
    X("landmarks_done", NULL, PLAIN, 0, KEPT)                                                      \
    X("block_rows", NULL, PLAIN, 0, KEPT)                                                          \
    X("result_status", NULL, PLAIN, 0, KEPT)                                                       \
    X("negative_share", NULL, PLAIN, 43, FOUND)                                                    \
    X("options", NULL, PLAIN, 0, KEPT)                                                             \
    X("paths", "paths", PLAIN, 19, KEPT)                                                           \
    X("inner_passes", "inner passes", PLAIN, 48, FOUND)                                            \
    X("inner_residual", "inner residual", PLAIN, 49, FOUND)

enum ny_fact_unit {
    NY_FACT_PLAIN,
    NY_FACT_BYTES,
    NY_FACT_SECONDS,
    NY_FACT_FLOPS,
    NY_FACT_COUNT,
    NY_FACT_FLOP_RATE,
    NY_FACT_BYTE_RATE,
    NY_FACT_RATE
};
enum ny_fact_update { NY_FACT_KEPT, NY_FACT_RUN, NY_FACT_FOUND };

struct ny_fact {
    const char *key, *label;
    enum ny_fact_unit unit;
    unsigned place;
    enum ny_fact_update update;
};

/* Makes an entry of a line. The command, which is built on the public interface alone, makes its
 * own table of them. */
#define NY_FACT(key, label, unit, place, update)                                                   \
    {key, label, NY_FACT_##unit, place, NY_FACT_##update},

/* Returns the i-th line, or NULL behind the last. */
const struct ny_fact *ny_fact_at(size_t i);
/* Returns the line of a key; NULL where there is none. */
const struct ny_fact *ny_fact_find(const char *key);
/* Returns the line of a place, which begins with 1; NULL behind the last. */
const struct ny_fact *ny_fact_placed(unsigned place);

#endif
