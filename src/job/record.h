/*
 * The record of a result: one JSON object under part "job", written in the same transaction as the
 * state that it describes.
 *
 *   format      NY_RECORD_FORMAT
 *   kind        "fit", "dictionary" or "graph"
 *   stage       what comes next or is under way (enum ny_stage_id, job/stage.h), or done
 *   options     the identity of the options (api/options.h)
 *   command     the command line that makes it, null for a job of the library; not in those of 1.0
 *   inputs      digests of the files that the options name, where they name some
 *   given       landmarks that were given, kept with the job from its beginning: how many, and of
 *               points also their type (model/landmark_points.h)
 *   features    how many columns were chosen (model/choice.h); not there where all count
 *   placed      true: the model came from elsewhere (api/placed.h)
 *   summed      true: the job was to end with its sums, and has
 *   shards      of a fit over shards: how many there are
 *   whole       of a result of all rows of a store in shards: a digest of its shards, and their
 * first rows (results/whole.h) first       and how many rows the shards before this one had when it
 * was begun sharded     and where it is done: shard, shards, first and rows (the number of this
 * one, how many there are, the first of its rows, and the rows of all); same_bytes_as_one, whether
 * it has the bytes of a fit of one store with all rows, and differs, why not. The figures of its
 * report, but n, are those of all rows bytes       while it is made: the last of these rounded
 * true: sums of it were lost        ranges of rows that the store had lost; the result numbers
 * those that were left checkpoint  where the stage under way is report      what `info` prints sums
 * the image of the accumulator that stays with the model: part, bytes, precision selected    rows
 * of the fit, those of all shards: all that selection has looked at, fewer than n after a frozen
 * update; where nothing was selected, not there before such a one node_order  NY_NODE_ORDER of a
 * map of a graph (graph/order.h) edge_limit  of a graph: what its distances are compared with,
 * --max-distance in f32; not there: the report's distance_limit graph_digest of the graph of
 * another NAME that a map was made of (ny_stored_graph_digest()) id          16 digits of chance,
 * which updates keep and a new fit does not; absent: of earlier versions generation  how many
 * updates the result has had; absent: 0 generations of which of them a part is; a part that is not
 * there: of the fit itself update      only while one is under way (update/update.h)
 *
 * While an update is under way its record is part "update", beside the one that readers see.
 */
#ifndef NY_JOB_RECORD_H
#define NY_JOB_RECORD_H

#include "job/fields.h"
#include "job/keep.h"
#include "job/state.h"

enum { NY_RECORD_FORMAT = 1 };

/* Reads the record that readers see, or that of an update under way, with the figures that follow
 * from others; json_decref() it. *out = NULL where there is none. NY_ESTORE where it is damaged, of
 * a later format, or lacks what every record has. */
int ny_record_get(const struct ny_keep *keep, json_t **out);
int ny_record_get_update(const struct ny_keep *keep, json_t **out);
/* Puts the record in the batch; that of an update is beside the one that readers see. */
int ny_record_put(const struct ny_keep *keep, struct ny_batch *batch, const json_t *record);

/* The name under which the store has a part: the part's own of a fit, "model@2" of its second
 * update. */
enum { NY_PART_BYTES = 40 };
struct ny_part {
    char name[NY_PART_BYTES];
};
/* Returns the name of a part of a generation; 0 is the fit itself. */
struct ny_part ny_part_of(const char *part, uint64_t generation);
/* Returns the name that a part has now, by field "generations" of the record. */
struct ny_part ny_record_part(const json_t *record, const char *part);
/* Returns how many updates the result has had, the one under way included. */
uint64_t ny_record_generation(const json_t *record);
/* Makes the part one of the record's generation. */
void ny_record_renew(json_t *record, const char *part);

/* Tells whether two records are of the same rows and figures: all but the clusters in them. */
bool ny_record_same(const json_t *one, const json_t *other);
/* Tells whether a record is that of an update of what the earlier one speaks of, whose rows can
 * still be read: none of its parts is written anew, and they stay until the next update begins. */
bool ny_record_continues(const json_t *now, const json_t *earlier);
/* Finds the rows done at the last checkpoint. False if the stage under way does not go by rows, or
 * not once: a map of a graph goes by sources or steps. */
bool ny_record_rows_done(const json_t *record, uint64_t *rows);
/* Returns how many rows the fit is of, those of all shards: rows that a frozen update placed are
 * behind them. */
uint64_t ny_record_fitted(const json_t *record);
/* Returns the row behind the last one in this store that the fit is of, as the fit numbered it. */
uint64_t ny_record_selected(const json_t *record);
/* Makes the record that of another shard, which is changed, too, but for what is this one's
 * own: checkpoint, sums, command, first, rounded, lost, and what an update has of its parts. */
void ny_record_take(json_t *record, json_t *other);
/* Returns the kind of the result: "fit", "dictionary" or "graph". */
const char *ny_record_kind(const json_t *record);
/* Tells whether the result is of nodes of a graph, in a store that had no points. */
bool ny_of_nodes(const json_t *record);

#endif
