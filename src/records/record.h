/*
 * Records as JSON (job/record.h): one object under part "job" of a result, written in the same
 * batch as what it describes. While an update is under way its record is part "update", beside the
 * one that readers see. The fields:
 *
 *   format        NY_RECORD_FORMAT
 *   kind          "fit", "dictionary" or "graph"
 *   id            16 digits of chance, which updates keep and a new fit does not; absent: of
 *                 earlier versions
 *   generation    how many updates the result has had; absent: 0
 *   generations   of which of them a part is; a part that is not there: of the fit itself
 *   stage         what comes next or is under way (job/stage.h), or done
 *   checkpoint    where the stage under way is
 *   options       the identity of the options (api/options.h)
 *   command       the command line that makes it, null for a job of the library; not in those
 * of 1.0 inputs        digests of the files that the options name, where they name some given
 * landmarks that were given, kept with the job from its beginning: how many, and of points also
 * their type (model/landmark_points.h) features      how many columns were chosen (model/choice.h);
 * not there where all count placed        true: the model came from elsewhere (api/placed.h)
 *   rounded       true: sums of it were rounded
 *   summed        true: the job was to end with its sums, and has
 *   sums          the image of the accumulator that stays with the model: part, bytes, precision
 *   selected      rows of the fit, those of all shards: all that selection has looked at, fewer
 *                 than n after a frozen update; where nothing was selected, not there before one
 *   lost          ranges of rows that the store had lost; the result numbers those that were left
 *   node_order    NY_NODE_ORDER of a map of a graph (graph/order.h)
 *   edge_limit    of a graph: what its distances are compared with, --max-distance in f32; not
 *                 there: the report's distance_limit
 *   graph_digest  of the graph of another NAME that a map was made of (ny_stored_graph_digest())
 *   coordinates   how coordinates follow from what is stored (model/coordinates.h)
 *   update        only while one is under way (update/update.h)
 *   report        what `info` prints; "graph" in it: the figures of a fit's own graph
 *
 * Results over shards have these, too:
 *
 *   whole         of a result of all rows: a digest of the shards, and their first rows
 *                 (results/whole.h)
 *   shards        how many shards there are
 *   first         how many rows the shards before this one had when it was begun
 *   bytes         while it is made: whether all has the bytes of a fit of one store
 *   sharded       when it is done: shard, shards, first and rows (the number of this one, how many
 *                 there are, the first of its rows, and the rows of all); same_bytes_as_one, and
 *                 differs, why not. The figures of its report, but n, are those of all rows
 */
#ifndef NY_RECORDS_RECORD_H
#define NY_RECORDS_RECORD_H

#include "job/record.h"
#include "records/fields.h"

enum { NY_RECORD_FORMAT = 1 };

/* How the records of all keeps of a store are read and put. */
extern const struct ny_record_ops ny_records_json;

/* Returns the record that an object is, which it borrows. */
struct ny_record ny_record_of(const json_t *object);
/* Returns the object of a record; NULL: there is none. */
json_t *ny_record_json(struct ny_record record);

/* Reads the record that readers see, or that of an update under way, with the figures that follow
 * from others; json_decref() it. *out = NULL where there is none. NY_ESTORE where it is damaged, of
 * a later format, or lacks what every record has. */
int ny_record_get(const struct ny_keep *keep, json_t **out);
int ny_record_get_update(const struct ny_keep *keep, json_t **out);
/* Puts the record in the batch; that of an update is beside the one that readers see. */
int ny_record_put(const struct ny_keep *keep, struct ny_batch *batch, const json_t *record);

/* Returns how many updates the result has had, the one under way included. */
uint64_t ny_record_generation(const json_t *record);
/* Returns the kind of the result: "fit", "dictionary" or "graph". */
const char *ny_record_kind(const json_t *record);
/* Tells whether the result is of nodes of a graph, in a store that had no points. */
bool ny_of_nodes(const json_t *record);
/* Returns the facts about the graph that a NAME has made: the report of a graph, or "graph" in the
 * report of a fit. */
json_t *ny_graph_facts(const json_t *record);

/* NY_EUSAGE unless all shards work at the result with the same options, and digests of the files
 * that these name (NULL: there are none). Called before any of them changes what it has. */
int ny_shards_agree(struct ny_context *ctx, const json_t *options, const json_t *inputs);
/* Gives the object `mine` of one shard to all; those of the others are not used. *shared is the
 * caller's. */
int ny_shards_share_json(struct ny_context *ctx, unsigned shard, const json_t *mine,
                         json_t **shared);

/* Parts of the contract: records/share.c, records/codec.c. */
int ny_record_share(struct ny_record record, struct ny_context *ctx, unsigned shard);
struct ny_state ny_codec_state(struct ny_record record);
void ny_codec_put(struct ny_record record, struct ny_state *state);
void ny_codec_begin_list(struct ny_record record, enum ny_list list);
void ny_codec_append(struct ny_record record, enum ny_list list, double number);
size_t ny_codec_count(struct ny_record record, enum ny_list list);
double ny_codec_at(struct ny_record record, enum ny_list list, size_t k);

#endif
