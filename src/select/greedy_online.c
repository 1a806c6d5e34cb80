/*
 * One pass that selects and lets another follow: batch by batch, so that rows are read once.
 *
 * Over shards a batch may begin in one of them and end in another. They take turns, first to select
 * from their rows of the batch, and then, with its landmarks, to have these followed. What the
 * selection and its follower have made goes from turn to turn, so that both are those of one store
 * with all rows.
 */
#include "base/clock.h"
#include "base/peers.h"
#include "select/greedy.h"

struct followed {
    struct ny_greedy *greedy;
    const struct ny_follower *follower;
    struct ny_peers *peers;
    uint64_t *first;  /* the first row of each shard, and n */
    size_t landmarks; /* of the dictionary that all shards have */
    uint64_t decided; /* rows before this one are decided */
    uint64_t end;     /* of the batch */
};

static uint64_t lesser(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* ---- batches -------------------------------------------------------------------------------- */

static int find_shards(struct followed *run)
{
    const struct ny_greedy *greedy = run->greedy;
    unsigned shards = ny_peers_shards(run->peers);

    run->first = ny_calloc(greedy->ctx, NY_MEM_OTHER, shards + 1, sizeof(*run->first));
    if (!run->first) return NY_EBUDGET;
    run->first[shards] = greedy->n;
    return ny_peers_gather_equal(run->peers, &greedy->here.first, sizeof(*run->first), run->first);
}

static size_t shard_of(const struct followed *run, uint64_t row)
{
    return ny_range_of(run->first, ny_peers_shards(run->peers), row);
}

/* Returns where the batch ends that begins with this row: at the next multiple of NY_ONLINE_ROWS,
 * or where the unit ends that has it, as units begin anew in each shard. */
static uint64_t end_of_batch(const struct followed *run, uint64_t row)
{
    uint64_t end = (row / NY_ONLINE_ROWS + 1) * NY_ONLINE_ROWS;
    const uint64_t *first;

    if (end >= run->greedy->n) return run->greedy->n;
    first = run->first + shard_of(run, end);
    return lesser(first[0] + ny_units_of(end - first[0]) * NY_UNIT_ROWS, first[1]);
}

/* Returns the first unit of this shard that is not decided. */
static uint64_t next_unit(const struct followed *run)
{
    const struct ny_row_range *here = &run->greedy->here;
    uint64_t decided = lesser(run->decided, here->end);

    return decided > here->first ? ny_units_of(decided - here->first) : 0;
}

/* ---- steps of the shard whose turn it is ---------------------------------------------------- */

static bool has_turn(const struct followed *run)
{
    return run->greedy->turn == ny_peers_shard(run->peers);
}

static int checkpoint(const struct ny_decided *decided)
{
    struct ny_greedy *greedy = decided->selection;

    return ny_greedy_checkpoint(greedy, ny_units_of(decided->rows - greedy->here.first));
}

/* Selects from the rows that are not decided, up to this one. */
static int decide(struct followed *run, uint64_t end)
{
    struct ny_greedy *greedy = run->greedy;
    const struct ny_selection_request *request = greedy->request;
    const struct ny_greedy_limits limits = ny_greedy_limits_of(request);
    struct ny_source *source;
    int err = ny_rows_source(request->X, end, request->spec->slots, greedy->workers, &source);

    if (err) return err;
    err = ny_greedy_run(greedy, &limits, source, next_unit(run), request->checkpoint.save != NULL);
    ny_source_free(source);
    return err;
}

/* Has the rows up to this one followed. */
static int follow(struct followed *run, uint64_t end)
{
    struct ny_decided decided = {run->greedy->dictionary, end, end == run->end ? checkpoint : NULL,
                                 run->greedy};

    return run->follower->follow(run->follower->arg, &decided);
}

/* Batches are shorter than the time between two checkpoints: a pass alone would make none. */
static int checkpoint_if_due(const struct followed *run)
{
    struct ny_greedy *greedy = run->greedy;
    const struct ny_selection_request *request = greedy->request;

    if (!has_turn(run) || !request->checkpoint.save ||
        ny_now() - greedy->checkpoint_s < ny_context_checkpoint_s(greedy->ctx))
        return NY_OK;
    return ny_greedy_checkpoint(greedy, next_unit(run));
}

/* ---- turns ---------------------------------------------------------------------------------- */

/* Gives on the prefixes, so that each unit is screened against the one that it has in one store. */
static int share_prefixes(struct followed *run, unsigned to)
{
    struct ny_greedy *greedy = run->greedy;
    struct {
        uint64_t unit;
        struct ny_prefix_note prefix[NY_GREEDY_AHEAD];
    } noted = {.unit = next_unit(run)};
    int err;

    ny_prefixes_note(&greedy->prefixes, noted.prefix);
    err = ny_peers_share_of(run->peers, greedy->turn, &noted, sizeof(noted));
    if (err || ny_peers_shard(run->peers) != to) return err;
    return ny_prefixes_recall(&greedy->prefixes, greedy->dictionary, noted.prefix, noted.unit,
                              next_unit(run));
}

static int give_turn(struct followed *run, unsigned to)
{
    struct ny_greedy *greedy = run->greedy;
    int err;

    if (!run->peers) return NY_OK;
    err = ny_greedy_share_dictionary(greedy, run->landmarks);
    if (!err) err = share_prefixes(run, to);
    if (!err) err = run->follower->hand_on(run->follower->arg, greedy->turn, to);
    run->landmarks = ny_dictionary_size(greedy->dictionary);
    greedy->turn = to;
    return err;
}

/* Each shard in turn does the step for its rows of those from `row` to the end of the batch. */
static int take_turns(struct followed *run, uint64_t row,
                      int (*step)(struct followed *run, uint64_t end))
{
    int err = NY_OK;

    for (uint64_t end; !err && row < run->end; row = end) {
        unsigned shard = (unsigned)shard_of(run, row);

        end = lesser(run->first[shard + 1], run->end);
        if (shard != run->greedy->turn) err = give_turn(run, shard);
        if (!err && has_turn(run)) err = step(run, end);
        if (run->decided < end) run->decided = end;
    }
    return err;
}

/* *rows, which is known where the turn is, becomes known to all shards. */
static int share_rows(const struct followed *run, uint64_t *rows)
{
    return ny_peers_share_of(run->peers, run->greedy->turn, rows, sizeof(*rows));
}

int ny_greedy_run_followed(struct ny_greedy *greedy, uint64_t first_unit)
{
    struct followed run = {
        .greedy = greedy,
        .follower = greedy->request->greedy.follower,
        .peers = ny_context_peers(greedy->ctx),
        .landmarks = ny_dictionary_size(greedy->dictionary),
        .decided = lesser(greedy->here.first + first_unit * NY_UNIT_ROWS, greedy->here.end)};
    int err = find_shards(&run);

    greedy->checkpoint_s = ny_now();
    if (!err) err = share_rows(&run, &run.decided);
    if (!err) err = follow(&run, 0); /* it learns which landmarks there are from a run before */
    while (!err && run.end < greedy->n) {
        uint64_t followed;

        run.end = end_of_batch(&run, run.end);
        if (run.end < run.decided) continue; /* a run before has followed it, too */
        err = take_turns(&run, run.decided, decide);
        followed = *run.follower->rows;
        if (!err) err = share_rows(&run, &followed);
        if (!err) err = take_turns(&run, followed, follow);
        if (!err) err = checkpoint_if_due(&run);
    }
    if (!err) err = give_turn(&run, 0);
    if (!err && has_turn(&run)) err = follow(&run, greedy->n);
    ny_free(greedy->ctx, run.first);
    return err;
}
