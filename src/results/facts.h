/*
 * The facts that reports tell, each in one line: the words that people read, the unit, and what an
 * update makes of it. Everybody who names a fact reads this table: a new job (job/job.c), an update
 * (update/update.c), the pages of `report` and the command.
 *
 *   key     in JSON
 *   label   in lines for people, which come in the order of this table; NULL: not shown there
 *   page    in the tables of a page; NULL: the key, its words apart
 *   unit    enum ny_fact_unit
 *   place   in the report of a job, where it is null until it is known; a new one has the number
 *           after the last. 0: it comes to the report when there is something to tell
 *   update  KEPT: an update has it of the result. RUN: each run has its own. FOUND: a full update
 *           finds it again
 */
#ifndef NY_RESULTS_FACTS_H
#define NY_RESULTS_FACTS_H

#include <stddef.h>

#define NY_FACTS(X)                                                                                \
    X("name", "name", NULL, PLAIN, 0, KEPT)                                                        \
    X("command", "made with", NULL, PLAIN, 0, KEPT)                                                \
    X("status", "status", NULL, PLAIN, 0, KEPT)                                                    \
    X("update", "update", NULL, PLAIN, 0, KEPT)                                                    \
    X("n", "rows", "rows", COUNT, 12, KEPT)                                                        \
    X("d", "columns", "columns", COUNT, 14, KEPT)                                                  \
    X("dtype", "element type", NULL, PLAIN, 0, KEPT)                                               \
    X("stored_dtype", "stored as", NULL, PLAIN, 0, KEPT)                                           \
    X("prepared_rows", "rows prepared", NULL, PLAIN, 0, KEPT)                                      \
    X("prepared_values", "values prepared", NULL, PLAIN, 0, KEPT)                                  \
    X("format", "format", NULL, PLAIN, 0, KEPT)                                                    \
    X("blocks", "blocks", NULL, COUNT, 0, KEPT)                                                    \
    X("bytes", "raw size", NULL, BYTES, 0, KEPT)                                                   \
    X("compressed_bytes", "stored size", NULL, BYTES, 0, KEPT)                                     \
    X("store_bytes", "store size", "store size", BYTES, 63, KEPT)                                  \
    X("labels", "labels", NULL, PLAIN, 0, KEPT)                                                    \
    X("classes", "classes", NULL, PLAIN, 0, KEPT)                                                  \
    X("row_names", NULL, NULL, PLAIN, 0, KEPT)                                                     \
    X("column_names", NULL, NULL, PLAIN, 0, KEPT)                                                  \
    X("first_row_names", "names of rows", NULL, PLAIN, 0, KEPT)                                    \
    X("first_column_names", "names of columns", NULL, PLAIN, 0, KEPT)                              \
    X("dropped", "rows dropped", NULL, COUNT, 0, KEPT)                                             \
    X("lost", "rows lost", NULL, COUNT, 13, KEPT)                                                  \
    X("mean_norm", "mean norm", NULL, PLAIN, 0, KEPT)                                              \
    X("mean_square_norm", "mean squared norm", NULL, PLAIN, 0, KEPT)                               \
    X("shards", NULL, NULL, PLAIN, 0, KEPT)                                                        \
    X("results", "results", NULL, PLAIN, 0, KEPT)                                                  \
    X("map", "map", NULL, PLAIN, 1, KEPT)                                                          \
    X("approx", "approximation", "approximation", PLAIN, 2, KEPT)                                  \
    X("way", "found by", NULL, PLAIN, 66, KEPT)                                                    \
    X("side", "basis of", NULL, PLAIN, 67, KEPT)                                                   \
    X("select", "selection", "selection", PLAIN, 3, KEPT)                                          \
    X("kernel", "kernel", NULL, PLAIN, 4, KEPT)                                                    \
    X("gamma", "gamma", NULL, PLAIN, 5, KEPT)                                                      \
    X("sigma", "sigma", NULL, PLAIN, 6, KEPT)                                                      \
    X("epsilon", "epsilon", NULL, PLAIN, 7, KEPT)                                                  \
    X("features", "columns chosen by", NULL, PLAIN, 70, KEPT)                                      \
    X("features_kept", "columns kept", "columns kept", COUNT, 71, KEPT)                            \
    X("landmarks", "landmarks", NULL, COUNT, 15, KEPT)                                             \
    X("tolerance", "tolerance", NULL, PLAIN, 36, KEPT)                                             \
    X("pilot_tolerance_low", "pilot's tolerance", NULL, PLAIN, 40, KEPT)                           \
    X("pilot_tolerance_high", "to", NULL, PLAIN, 41, KEPT)                                         \
    X("components", "components", NULL, COUNT, 16, KEPT)                                           \
    X("embedded", "rows embedded", NULL, COUNT, 17, KEPT)                                          \
    X("graph", "graph", NULL, PLAIN, 18, KEPT)                                                     \
    X("edge_weights", "edges weigh", NULL, PLAIN, 20, KEPT)                                        \
    X("products", "products", NULL, COUNT, 21, KEPT)                                               \
    X("eigenvector_residuals", "their residuals", NULL, PLAIN, 22, KEPT)                           \
    X("converged", "as exact as asked", NULL, COUNT, 68, FOUND)                                    \
    X("rows_empty", "rows without values", NULL, COUNT, 69, FOUND)                                 \
    X("rank", "rank", NULL, COUNT, 23, KEPT)                                                       \
    X("rank_effective", "effective rank", NULL, COUNT, 24, FOUND)                                  \
    X("eigenvalues", "eigenvalues", NULL, PLAIN, 25, FOUND)                                        \
    X("variance", "variance", NULL, PLAIN, 26, FOUND)                                              \
    X("trace", "trace", NULL, PLAIN, 27, FOUND)                                                    \
    X("trace_of", "trace of", NULL, PLAIN, 28, FOUND)                                              \
    X("trace_error", "trace error", "trace error", PLAIN, 29, FOUND)                               \
    X("variance_kept", "variance kept", NULL, PLAIN, 30, FOUND)                                    \
    X("probe_columns", "probe columns", NULL, COUNT, 31, FOUND)                                    \
    X("probe_error", "probe error", NULL, PLAIN, 32, FOUND)                                        \
    X("probe_standard_error", "its standard error", NULL, PLAIN, 33, FOUND)                        \
    X("residual_max", "largest residual", "largest residual", PLAIN, 34, KEPT)                     \
    X("residual_mean", "mean residual", NULL, PLAIN, 35, KEPT)                                     \
    X("drift_trace_error", "drift: trace error", NULL, PLAIN, 37, RUN)                             \
    X("drift_residual_share", "above the tolerance", NULL, PLAIN, 38, RUN)                         \
    X("drift_rows", "new rows measured", NULL, COUNT, 39, RUN)                                     \
    X("negative_eigenvalues", "negative eigenvalues", NULL, COUNT, 42, FOUND)                      \
    X("residual_variance", "residual variance", NULL, PLAIN, 44, KEPT)                             \
    X("distance_preservation", "distances preserved", NULL, PLAIN, 45, KEPT)                       \
    X("sampled_pairs", "over pairs", NULL, COUNT, 46, KEPT)                                        \
    X("mode", "updated", NULL, PLAIN, 56, KEPT)                                                    \
    X("landmarks_added", "landmarks added", NULL, COUNT, 57, RUN)                                  \
    X("passes", "passes", NULL, COUNT, 50, RUN)                                                    \
    X("rows_read", "rows read", NULL, COUNT, 51, RUN)                                              \
    X("bytes_read", "read", "read", BYTES, 52, RUN)                                                \
    X("flops", "work", "floating-point operations", FLOPS, 53, RUN)                                \
    X("seconds", "time", "time", SECONDS, 54, RUN)                                                 \
    X("stages", "stages", NULL, SECONDS, 0, KEPT)                                                  \
    X("updates", "updates", NULL, COUNT, 0, KEPT)                                                  \
    X("total_rows_read", "rows read in all", NULL, COUNT, 58, KEPT)                                \
    X("total_flops", "work in all", "floating-point operations in all", FLOPS, 59, KEPT)           \
    X("total_seconds", "time in all", "time in all", SECONDS, 60, KEPT)                            \
    X("gemm_ratio", "time over ideal", NULL, PLAIN, 55, RUN)                                       \
    X("gram_precision", "Gram precision", NULL, PLAIN, 47, FOUND)                                  \
    X("peak_rss_bytes", "peak memory", "peak memory, measured", BYTES, 61, RUN)                    \
    X("memory_budget_bytes", "memory budget", "memory budget", BYTES, 62, KEPT)                    \
    X("precision", "precision", NULL, PLAIN, 9, KEPT)                                              \
    X("threads", "threads", NULL, COUNT, 11, KEPT)                                                 \
    X("seed", "seed", NULL, PLAIN, 8, KEPT)                                                        \
    X("online", "online", NULL, PLAIN, 10, KEPT)                                                   \
    X("stage_memory_bytes", "reserved by stage", NULL, BYTES, 0, KEPT)                             \
    X("blas", "BLAS", NULL, PLAIN, 64, KEPT)                                                       \
    X("cpu", "CPU", NULL, PLAIN, 65, KEPT)                                                         \
    X("version", "version", NULL, PLAIN, 0, KEPT)                                                  \
    /* facts of a graph */                                                                         \
    X("neighbors", "neighbours", NULL, COUNT, 0, KEPT)                                             \
    X("neighbors_stored", "neighbours kept", NULL, COUNT, 0, KEPT)                                 \
    X("metric", "metric", NULL, PLAIN, 0, KEPT)                                                    \
    X("knn", "search", NULL, PLAIN, 0, KEPT)                                                       \
    X("recall", "recall", NULL, PLAIN, 0, KEPT)                                                    \
    X("recall_interval", "its 95 % interval", NULL, PLAIN, 0, KEPT)                                \
    X("trees", "trees", NULL, COUNT, 0, KEPT)                                                      \
    X("rounds", "rounds", NULL, COUNT, 0, KEPT)                                                    \
    X("distances_per_point", "distances a point", NULL, PLAIN, 0, KEPT)                            \
    X("edges", "edges", NULL, COUNT, 0, KEPT)                                                      \
    X("largest", "largest component", NULL, COUNT, 0, KEPT)                                        \
    X("largest_share", "its share of rows", NULL, PLAIN, 0, KEPT)                                  \
    X("largest_edges", "its edges", NULL, COUNT, 0, KEPT)                                          \
    X("isolated", "isolated rows", NULL, COUNT, 0, KEPT)                                           \
    X("degree_mean", "mean degree", NULL, PLAIN, 0, KEPT)                                          \
    X("degree_max", "largest degree", NULL, COUNT, 0, KEPT)                                        \
    X("edge_values", "weights are", NULL, PLAIN, 0, KEPT)                                          \
    X("entries", "entries of the file", NULL, COUNT, 0, KEPT)                                      \
    X("self_loops", "loops left out", NULL, COUNT, 0, KEPT)                                        \
    X("repeats", "repeated entries", NULL, COUNT, 0, KEPT)                                         \
    X("zero_affinities", "affinities of 0", NULL, COUNT, 0, KEPT)                                  \
    X("remeasured", "rows measured again", NULL, COUNT, 0, KEPT)                                   \
    X("sweep", "sweep", NULL, PLAIN, 0, KEPT)                                                      \
    X("bridges", "bridges", NULL, COUNT, 0, KEPT)                                                  \
    X("bridge_shortest", "shortest bridge", NULL, PLAIN, 0, KEPT)                                  \
    X("bridge_longest", "longest bridge", NULL, PLAIN, 0, KEPT)                                    \
    /* facts of a machine */                                                                       \
    X("key", "machine", NULL, PLAIN, 0, KEPT)                                                      \
    X("measured", "measured", NULL, PLAIN, 0, KEPT)                                                \
    X("gemm32_flops", "products, f32", NULL, FLOP_RATE, 0, KEPT)                                   \
    X("gemm64_flops", "products, f64", NULL, FLOP_RATE, 0, KEPT)                                   \
    X("gram32_flops", "Grams, f32", NULL, FLOP_RATE, 0, KEPT)                                      \
    X("gram64_flops", "Grams, f64", NULL, FLOP_RATE, 0, KEPT)                                      \
    X("bytes_flops", "products of bytes", NULL, FLOP_RATE, 0, KEPT)                                \
    X("direct_flops", "sums of differences", NULL, FLOP_RATE, 0, KEPT)                             \
    X("exp32", "exponentials, f32", NULL, RATE, 0, KEPT)                                           \
    X("exp64", "exponentials, f64", NULL, RATE, 0, KEPT)                                           \
    X("eigen_flops", "eigenproblems", NULL, FLOP_RATE, 0, KEPT)                                    \
    X("disk_write_bytes", "writing to disk", NULL, BYTE_RATE, 0, KEPT)                             \
    /* told by others, or of no use to a reader */                                                 \
    X("date", NULL, NULL, PLAIN, 0, KEPT)                                                          \
    X("load", NULL, NULL, PLAIN, 0, KEPT)                                                          \
    X("now", NULL, NULL, PLAIN, 0, KEPT)                                                           \
    X("kind", NULL, NULL, PLAIN, 0, KEPT)                                                          \
    X("resume", NULL, NULL, PLAIN, 0, KEPT)                                                        \
    X("stage", NULL, NULL, PLAIN, 0, KEPT)                                                         \
    X("rows_done", NULL, NULL, PLAIN, 0, KEPT)                                                     \
    X("landmarks_done", NULL, NULL, PLAIN, 0, KEPT)                                                \
    X("block_rows", NULL, NULL, PLAIN, 0, KEPT)                                                    \
    X("result_status", NULL, NULL, PLAIN, 0, KEPT)                                                 \
    X("negative_share", NULL, NULL, PLAIN, 43, FOUND)                                              \
    X("options", NULL, NULL, PLAIN, 0, KEPT)                                                       \
    X("paths", "paths", NULL, PLAIN, 19, KEPT)                                                     \
    X("inner_passes", "inner_passes", NULL, PLAIN, 48, FOUND)                                      \
    X("inner_residual", "inner_residual", NULL, PLAIN, 49, FOUND)

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
    const char *key, *label, *page;
    enum ny_fact_unit unit;
    unsigned place;
    enum ny_fact_update update;
};

/* Makes an entry of a line. The command, which is built on the public interface alone, makes its
 * own table of them. */
#define NY_FACT(key, label, page, unit, place, update)                                             \
    {key, label, page, NY_FACT_##unit, place, NY_FACT_##update},

/* Returns the i-th line, or NULL behind the last. */
const struct ny_fact *ny_fact_at(size_t i);
/* Returns the line of a key; NULL where there is none. */
const struct ny_fact *ny_fact_find(const char *key);
/* Returns the line of a place, which begins with 1; NULL behind the last. */
const struct ny_fact *ny_fact_placed(unsigned place);

#endif
