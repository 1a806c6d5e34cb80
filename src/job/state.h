/*
 * The state of a job: all that a stage needs in order to go on. It is a struct, which is filled in
 * from the record when a job begins, and put into it when the job commits (job/state.c). Stages
 * read no JSON: what the record has for people beside it, they only write. A new field is one entry
 * of the lists below; job/record.h says what the fields are.
 *
 * Types of fields, and what they are where the record has none:
 *
 *   count   0       a number of rows, bytes, …
 *   index   NY_NONE a whole number of which 0 is one like the others
 *   number  NAN     null in the record where it is not finite
 *   sum     0       a number to which others are added
 *   flag    false
 *   text    NULL    owned by the record, or there until the next commit
 */
#ifndef NY_JOB_STATE_H
#define NY_JOB_STATE_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define NY_NONE UINT64_MAX

/* X(type, key): the fields of the sections. */
#define NY_STATE_RECORD(X)                                                                         \
    X(text, stage) X(count, model_bytes) X(sum, averages_mean) X(sum, mean_degree)                 \
    X(flag, coarse) X(flag, gram_f64) X(flag, rounded) X(flag, placed) X(flag, summed)             \
    X(flag, nodes) X(count, check_rows) X(index, first) X(text, graph_digest) X(count, node_order)
#define NY_STATE_CHECKPOINT(X)                                                                     \
    X(text, part) X(index, slot) X(count, bytes) X(count, units) X(count, rows)                    \
    X(count, sums_columns) X(count, sums_rows) X(count, unreached) X(count, first_unreached)       \
    X(sum, sum_squares) X(sum, sum_diagonal) X(sum, sum_entries) X(count, bridges)                 \
    X(count, first_row) X(count, range_rows) X(index, measured)
#define NY_STATE_NOISE(X)                                                                          \
    X(number, trace) X(number, diagonal) X(number, others) X(number, coherent)                     \
    X(number, residual)
#define NY_STATE_SUMS(X) X(text, part) X(count, bytes) X(count, rows) X(text, precision)
#define NY_STATE_SHARDED(X) X(count, first) X(count, rows)
#define NY_STATE_BYTES(X) X(text, differs)
#define NY_STATE_UPDATE(X)                                                                         \
    X(text, mode) X(count, rows) X(count, first) X(count, rows_all) X(count, selected)             \
    X(count, landmarks) X(count, model_bytes) X(flag, same_landmarks)
#define NY_STATE_PARTS(X) X(text, landmarks) X(text, residuals) X(text, model) X(text, sums)
#define NY_STATE_REPORT(X)                                                                         \
    X(count, n) X(number, gamma) X(index, landmarks) X(number, tolerance)                          \
    X(number, residual_mean) X(text, gram_precision) X(number, trace) X(text, trace_of)            \
    X(number, trace_error) X(text, trace_error_from) X(index, converged) X(count, inner_passes)    \
    X(count, rows_unreached) X(number, drift_largest) X(index, passes) X(index, rows_read)         \
    X(index, bytes_read) X(number, flops) X(number, seconds) X(index, total_rows_read)             \
    X(number, total_flops) X(number, total_seconds)
#define NY_STATE_FACTS(X)                                                                          \
    X(count, d) X(text, kernel) X(text, precision) X(count, components) X(text, way)               \
    X(text, blas) X(count, updates)
#define NY_STATE_OPTIONS(X) X(text, largest) X(text, recall)
#define NY_STATE_GRAPH(X)                                                                          \
    X(index, neighbors) X(count, largest) X(text, knn) X(text, metric) X(text, name)               \
    X(text, edge_values) X(index, remeasured)

/* S(section, its fields, its path in the record); the graph's is ny_graph_facts(). */
#define NY_STATE_WRITTEN(S)                                                                        \
    S(record, NY_STATE_RECORD, NULL, NULL)                                                         \
    S(at, NY_STATE_CHECKPOINT, "checkpoint", NULL)                                                 \
    S(noise, NY_STATE_NOISE, "gram_noise", NULL)                                                   \
    S(sums, NY_STATE_SUMS, "sums", NULL)                                                           \
    S(sharded, NY_STATE_SHARDED, "sharded", NULL)                                                  \
    S(bytes, NY_STATE_BYTES, "bytes", NULL)                                                        \
    S(update, NY_STATE_UPDATE, "update", NULL)                                                     \
    S(report, NY_STATE_REPORT, "report", NULL)                                                     \
    S(graph, NY_STATE_GRAPH, NULL, "graph")
/* Sections that no stage changes. */
#define NY_STATE_READ(S)                                                                           \
    S(facts, NY_STATE_FACTS, "report", NULL)                                                       \
    S(options, NY_STATE_OPTIONS, "options", NULL)                                                  \
    S(old_parts, NY_STATE_PARTS, "update", "parts")                                                \
    S(old_sums, NY_STATE_SUMS, "update", "sums")                                                   \
    S(old_at, NY_STATE_CHECKPOINT, "update", "checkpoint")

typedef uint64_t ny_state_count, ny_state_index;
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
};

/* Returns the state that a record has; of NULL, one without anything. */
struct ny_state ny_state_of(const json_t *record);
/* Puts what differs into the record, and takes texts to be those of the record. */
void ny_state_put(struct ny_state *state, json_t *record);
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
/* Returns the facts about the graph that a NAME has made: the report of a graph, or "graph" in the
 * report of a fit. */
json_t *ny_graph_facts(const json_t *record);

#endif
