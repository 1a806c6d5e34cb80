/*
 * The state of a job: what a stage needs in order to go on, and the figures that it reports. It is
 * a struct, which is filled in from the record when a job begins, and put into it when the job
 * commits (job/record.h). A new field is one entry of the lists below, which record.h explains.
 *
 * Types of fields, and what they are where the record has none:
 *
 *   count   0       a number of rows, bytes, …
 *   index   NY_NONE a whole number of which 0 is one like the others
 *   fact    NY_NONE like an index, but null there where there is none
 *   number  NAN     null there where it is not finite
 *   sum     0       a number to which others are added
 *   flag    false
 *   answer  NY_NONE, or 0: no, 1: yes
 *   text    NULL    owned by the record, or there until the next commit
 */
#ifndef NY_JOB_STATE_H
#define NY_JOB_STATE_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "job/stage.h"

#define NY_NONE UINT64_MAX

/* X(type, key): the fields of the sections. */
/* clang-format off */
#define NY_STATE_RECORD(X)                                                                        \
    X(text, kind) X(text, id) X(count, generation) X(text, stage) X(count, model_bytes)           \
    X(sum, averages_mean) X(sum, mean_degree) X(flag, coarse) X(flag, gram_f64) X(flag, rounded)  \
    X(flag, placed) X(flag, summed) X(flag, nodes) X(count, check_rows) X(index, first)           \
    X(text, graph_digest) X(count, node_order) X(count, features) X(index, selected)              \
    X(number, edge_limit) X(flag, rows_elsewhere)
#define NY_STATE_CHECKPOINT(X)                                                                    \
    X(text, part) X(index, slot) X(count, bytes) X(count, units) X(count, rows)                   \
    X(count, sums_columns) X(count, sums_rows) X(count, unreached) X(count, first_unreached)      \
    X(sum, sum_squares) X(sum, sum_diagonal) X(sum, sum_entries) X(count, bridges)                \
    X(count, first_row) X(count, range_rows) X(index, measured)
#define NY_STATE_NOISE(X)                                                                         \
    X(number, trace) X(number, diagonal) X(number, others) X(number, coherent)                    \
    X(number, residual)
#define NY_STATE_SUMS(X) X(text, part) X(count, bytes) X(count, rows) X(text, precision)
#define NY_STATE_SHARDED(X)                                                                       \
    X(index, shard) X(index, shards) X(index, first) X(count, rows) X(answer, same_bytes_as_one)  \
    X(text, differs)
#define NY_STATE_BYTES(X) X(text, differs)
#define NY_STATE_UPDATE(X)                                                                        \
    X(text, mode) X(count, rows) X(count, first) X(count, rows_all) X(count, selected)            \
    X(count, landmarks) X(count, model_bytes) X(flag, same_landmarks)
#define NY_STATE_PARTS(X) X(text, landmarks) X(text, residuals) X(text, model) X(text, sums)
#define NY_STATE_REPORT(X)                                                                        \
    X(count, n) X(number, gamma) X(number, sigma) X(number, epsilon) X(text, scale)               \
    X(text, dominant_columns) X(fact, features_kept) X(index, landmarks) X(number, tolerance)     \
    X(number, pilot_tolerance_low) X(number, pilot_tolerance_high) X(fact, selection_passes)      \
    X(fact, landmarks_added) X(number, residual_mean) X(number, residual_max)                     \
    X(fact, residual_max_row) X(text, gram_precision) X(fact, columns_kept_bytes) X(fact, rank)   \
    X(fact, rank_effective) X(fact, negative_eigenvalues) X(number, negative_share)               \
    X(number, trace) X(text, trace_of) X(number, trace_error) X(text, trace_error_from)           \
    X(index, converged) X(count, inner_passes) X(number, inner_residual) X(fact, check_rows)      \
    X(number, degrees_error) X(number, degrees_error_95) X(fact, probe_columns)                   \
    X(number, probe_error) X(number, probe_standard_error) X(text, side)                          \
    X(fact, components_above_noise) X(fact, rows_empty) X(count, rows_unreached)                  \
    X(text, edge_weights) X(fact, embedded) X(fact, products) X(number, residual_variance)        \
    X(number, distance_preservation) X(fact, sampled_pairs) X(number, drift)                      \
    X(number, drift_trace_error) X(number, drift_trace_error_fitted)                              \
    X(number, drift_residual_share) X(fact, drift_rows) X(number, drift_largest)                  \
    X(fact, drift_largest_first) X(fact, drift_largest_rows) X(index, passes)                     \
    X(index, rows_read) X(index, bytes_read) X(number, flops) X(number, seconds)                  \
    X(number, gemm_ratio) X(sum, network_seconds) X(fact, peak_rss_bytes)                         \
    X(fact, memory_budget_bytes) X(fact, store_bytes) X(index, total_rows_read)                   \
    X(number, total_flops) X(number, total_seconds) X(number, genotypes_missing)
#define NY_STATE_FACTS(X)                                                                         \
    X(text, approx) X(text, map) X(count, d) X(text, kernel) X(text, precision)                   \
    X(count, components) X(text, way) X(text, blas) X(count, updates)
#define NY_STATE_OPTIONS(X) X(text, largest) X(text, recall) X(text, mutual)
#define NY_STATE_NOTHING(X)
#define NY_STATE_GRAPH(X)                                                                         \
    X(index, neighbors) X(fact, neighbors_stored) X(text, knn) X(text, metric) X(text, name)      \
    X(number, distance_limit) X(fact, edges) X(fact, components) X(count, largest)                \
    X(number, largest_share) X(fact, largest_edges) X(fact, isolated) X(number, degree_mean)      \
    X(fact, degree_max) X(fact, bridges) X(number, bridge_shortest) X(number, bridge_longest)     \
    X(number, recall) X(index, remeasured) X(fact, trees) X(fact, rounds)                         \
    X(number, distances_per_point) X(text, edge_values) X(index, entries) X(index, self_loops)    \
    X(index, repeats) X(index, zero_affinities)
#define NY_STATE_COORDINATES(X)                                                                   \
    X(count, pairs) X(count, skip) X(flag, asymmetric) X(flag, normalize)
#define NY_STATE_GIVEN(X) X(count, landmarks) X(text, dtype) X(count, slots)
/* clang-format on */

/* S(section, its fields, its path there); the graph's is ny_graph_facts(). */
#define NY_STATE_WRITTEN(S)                                                                        \
    S(record, NY_STATE_RECORD, NULL, NULL)                                                         \
    S(at, NY_STATE_CHECKPOINT, "checkpoint", NULL)                                                 \
    S(noise, NY_STATE_NOISE, "gram_noise", NULL)                                                   \
    S(sums, NY_STATE_SUMS, "sums", NULL)                                                           \
    S(sharded, NY_STATE_SHARDED, "sharded", NULL)                                                  \
    S(bytes, NY_STATE_BYTES, "bytes", NULL)                                                        \
    S(update, NY_STATE_UPDATE, "update", NULL)                                                     \
    S(coordinates, NY_STATE_COORDINATES, "coordinates", NULL)                                      \
    S(given, NY_STATE_GIVEN, "given", NULL)                                                        \
    S(report, NY_STATE_REPORT, "report", NULL)                                                     \
    S(graph, NY_STATE_GRAPH, NULL, "graph")
/* Sections that no stage changes. */
#define NY_STATE_READ(S)                                                                           \
    S(facts, NY_STATE_FACTS, "report", NULL)                                                       \
    S(own_graph, NY_STATE_NOTHING, "report", "graph")                                              \
    S(options, NY_STATE_OPTIONS, "options", NULL)                                                  \
    S(old_parts, NY_STATE_PARTS, "update", "parts")                                                \
    S(old_sums, NY_STATE_SUMS, "update", "sums")                                                   \
    S(old_at, NY_STATE_CHECKPOINT, "update", "checkpoint")

typedef uint64_t ny_state_count, ny_state_index, ny_state_fact, ny_state_answer;
typedef double ny_state_number, ny_state_sum;
typedef bool ny_state_flag;
typedef const char *ny_state_text;

#define NY_STATE_MEMBER(type, key) ny_state_##type key;
#define NY_STATE_SECTION(s, FIELDS, ...)                                                           \
    struct ny_state_##s {                                                                          \
        bool there;                                                                                \
        FIELDS(NY_STATE_MEMBER)                                                                    \
    } s;

/* `there`: the record has the section; a commit removes those that are not. */
struct ny_state {
    NY_STATE_WRITTEN(NY_STATE_SECTION)
    NY_STATE_READ(NY_STATE_SECTION)
    double stage_s[NY_STAGE_DONE]; /* seconds, and the most that was charged */
    uint64_t stage_bytes[NY_STAGE_DONE];
};

/* Returns a state without anything. */
struct ny_state ny_state_none(void);
/* Tells whether a text is there and is this one. */
static inline bool ny_is(const char *text, const char *other)
{
    return text && strcmp(text, other) == 0;
}
/* Adds to an index that counts. */
static inline void ny_index_add(uint64_t *index, uint64_t more)
{
    *index = (*index == NY_NONE ? 0 : *index) + more;
}
/* Returns the landmarks that are chosen; 0: none so far. */
static inline size_t ny_state_landmarks(const struct ny_state *state)
{
    return state->report.landmarks == NY_NONE ? 0 : (size_t)state->report.landmarks;
}

#endif
