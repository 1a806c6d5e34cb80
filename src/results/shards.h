/*
 * A result of all shards of a store, read as one: each shard has the rows of its own, placed by the
 * same model. What is read row by row comes from the shard that has the row; all else is that of
 * the last.
 */
#ifndef NY_RESULTS_SHARDS_H
#define NY_RESULTS_SHARDS_H

#include "results/parts.h"

/* Sums up what the stores of a set have of one result. */
struct ny_together {
    size_t lacking, unfinished; /* stores that have nothing of it, that do not have it done */
    size_t shards;              /* stores that have it done by a fit of all shards, */
    size_t of;                  /* which were so many */
    uint64_t id;                /* of that fit */
    bool torn;                  /* they have it from different fits */
};
/* Adds the record that a store has; NULL: it has none. */
void ny_together_add(struct ny_together *whole, const json_t *record);
/* Adds up the records of all stores of a set, and tells in `lacking` (NULL: not) which have not
 * finished it. NY_ESTORE where the result is torn. */
int ny_result_together(struct ny_store *set, const char *name, bool *lacking,
                       struct ny_together *whole);
/* Tells whether the stores that lack it are those that joined since: there are `count` shards now.
 */
bool ny_together_joined(const struct ny_together *whole, size_t count);
/* Opens a result that is done, of a store or of all stores of a set. NY_EUSAGE where a shard lacks
 * it or has not finished it, where shards have it by different models, and for kinds that are of
 * one store alone. Close it after a failure, too. */
int ny_result_open_any(struct ny_result *result, struct ny_store *store, const char *name);
/* Frees what such a result holds. */
void ny_result_close_any(struct ny_result *result);
/* Computes a digest of the result's model. NY_EUSAGE where it has none, so that the rows of shards
 * are those of different maps. */
int ny_result_digest(struct ny_result *result, uint64_t *digest);
/* Gives rows that the report of a shard tells the numbers that they have now. Called for one shard
 * after another, with the rows before it then and now; `own`: it is the report of this one. */
void ny_report_rows_now(json_t *told, const json_t *report, const uint64_t before[2], bool own);
/* Makes the points themselves a result without a name, which has the parts of points alone. */
int ny_result_of_points(struct ny_result *result, struct ny_store *store);
/* Reads rows first … first + count − 1 of a part, of a result that was opened in any of these ways.
 */
int ny_part_fill(struct ny_result *result, const struct ny_result_part *part, uint64_t first,
                 size_t count, void *out);
/* Returns the row behind those that are damaged together with this one. */
uint64_t ny_part_grain_end(const struct ny_result *result, const struct ny_result_part *part,
                           uint64_t row);

/* Stores clusters of all rows with the result, in each shard those of its own, as
 * ny_stored_clusters_put() does for one store. */
int ny_result_put_clusters(const struct ny_result *result, const uint32_t *cluster, size_t count,
                           const json_t *figures);

/* Finds the layout of a finished embedding, and its number of components. */
int ny_result_layout(struct ny_store *store, const char *name, struct ny_embedding_layout *layout,
                     size_t *components);
/* Reads rows of the embedding as f32, whatever its precision; ny_result_prepare() was called for
 * as many. */
int ny_result_fill32(struct ny_result *result, uint64_t first, size_t count, float *rows);
/* Reads rows first … first + count − 1 of a finished embedding, as f32. */
int ny_result_rows32(struct ny_store *store, const char *name, uint64_t first, size_t count,
                     float *rows);

#endif
