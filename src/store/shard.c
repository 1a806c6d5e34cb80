/*
 * A store that is a shard of a larger one: its peers (base/peers.h) have the others.
 *
 * Behind ny_store_join() the handle speaks for all shards: the points have the rows of all,
 * numbered through in the order of the shards, statistics are those of all, and a gather finds rows
 * wherever they are. Only what reads a range, a block or a pass stays within the rows that are here
 * (info.here). All peers make these calls together.
 */
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "store/store_private.h"

/* The facts of a shard that its peers have to know. */
struct facts {
    uint64_t rows, lost, nnz, row_slots, unit_values;
    struct ny_lengths lengths;
    struct ny_traits traits;
    uint64_t classes; /* how many have names */
};

/* Adds the names of the classes. */
static int load_classes(struct ny_store *store, struct ny_names *classes)
{
    size_t count;
    char **name;
    int err = ny_points_class_names(store, &name, &count);

    for (size_t i = 0; !err && i < count; i++)
        err = ny_names_add(classes, store->ctx, name[i], strlen(name[i]));
    ny_free(store->ctx, name);
    return err;
}

static int facts_of(struct ny_store *store, struct ny_names *classes, struct facts *facts)
{
    struct ny_names columns = {0};
    struct ny_rows_info info;
    struct ny_party party;
    int err = ny_points_info(store, &info);

    memset(facts, 0, sizeof(*facts)); /* its padding travels too */
    if (!err) err = load_classes(store, classes);
    if (!err) err = ny_points_party(store, &party, &columns);
    ny_names_release(&columns, store->ctx);
    if (err) return err;
    facts->rows = info.n;
    facts->lost = info.lost;
    facts->nnz = info.nnz;
    facts->row_slots = info.row_slots;
    facts->unit_values = info.unit_values || !info.row_slots ? info.unit_values : UINT64_MAX;
    facts->lengths = info.lengths;
    facts->traits = party.traits;
    facts->traits.classes = ny_names_digest(classes);
    facts->classes = classes->count;
    return NY_OK;
}

/* Compares what shards have in common: classes as far as both have them, as each store has those
 * that were known when its rows came. */
static int compare(struct ny_store *store, const struct ny_names *classes, const struct facts *of,
                   unsigned k)
{
    const unsigned same =
        NY_SAME_D | NY_SAME_DTYPE | NY_SAME_LAYOUT | NY_SAME_PREPARATION | NY_SAME_COLUMNS;
    char whose[2][24];
    struct ny_party first = {.whose = whose[0], .traits = of[0].traits},
                    other = {.whose = whose[1], .traits = of[k].traits};
    int err;

    snprintf(whose[0], sizeof(whose[0]), "shard 0");
    snprintf(whose[1], sizeof(whose[1]), "shard %u", k);
    err = ny_traits_compare(store->ctx, &other, &first, same, NULL);
    if (err || of[k].classes > classes->count) return err;
    snprintf(whose[0], sizeof(whose[0]), "shard %u", ny_peers_shard(ny_context_peers(store->ctx)));
    first.traits.classes = ny_names_digest_of(classes, (size_t)of[k].classes);
    return ny_traits_compare(store->ctx, &other, &first, NY_SAME_CLASSES, NULL);
}

static int check_facts(struct ny_store *store, const struct ny_names *classes,
                       const struct facts *of, unsigned shards)
{
    int err = NY_OK;

    for (unsigned k = 0; !err && k < shards; k++) {
        if (!of[k].rows)
            return ny_fail(store->ctx, NY_EDATA, "shard %u has no rows; import them first", k);
        if (of[k].lost)
            return ny_fail(store->ctx, NY_ESTORE,
                           "shard %u has lost rows; remove its folder and import it again", k);
        err = compare(store, classes, of, k);
    }
    return err;
}

/* Gathers the facts of all peers' shards, which have to be alike. */
static int gather_facts(struct ny_store *store, struct facts *all)
{
    struct ny_peers *peers = ny_context_peers(store->ctx);
    struct ny_names classes = {0};
    struct facts mine;
    int err = facts_of(store, &classes, &mine);

    if (!err) err = ny_peers_gather_equal(peers, &mine, sizeof(mine), all);
    if (!err) err = check_facts(store, &classes, all, ny_peers_shards(peers));
    ny_names_release(&classes, store->ctx);
    return err;
}

int ny_store_agree(struct ny_store *store)
{
    unsigned shards = ny_peers_shards(ny_context_peers(store->ctx));
    struct facts *all = ny_calloc(store->ctx, NY_MEM_STORE, shards, sizeof(*all));
    int err = all ? gather_facts(store, all) : NY_EBUDGET;

    ny_free(store->ctx, all);
    return err;
}

int ny_store_join(struct ny_store *store)
{
    struct ny_peers *peers = ny_context_peers(store->ctx);
    unsigned shards = ny_peers_shards(peers);
    struct facts *all;
    int err;

    if (!peers || store->in_memory) return NY_OK;
    all = ny_calloc(store->ctx, NY_MEM_STORE, shards, sizeof(*all));
    store->shard_first = ny_calloc(store->ctx, NY_MEM_STORE, shards + 1, sizeof(uint64_t));
    err = all && store->shard_first ? gather_facts(store, all) : NY_EBUDGET;
    store->shards_nnz = store->shards_slots = store->shards_unit = 0;
    store->shards_lengths = (struct ny_lengths){{0}};
    for (unsigned k = 0; k < shards && !err; k++) {
        store->shard_first[k + 1] = store->shard_first[k] + all[k].rows;
        store->shards_nnz += all[k].nnz;
        ny_lengths_add(&store->shards_lengths, &all[k].lengths);
        if (all[k].row_slots > store->shards_slots) store->shards_slots = all[k].row_slots;
        if (all[k].unit_values > store->shards_unit) store->shards_unit = all[k].unit_values;
    }
    if (!err) store->peers = peers;
    ny_free(store->ctx, all);
    return err;
}

/* ---- rows of all shards ---------------------------------------------------------------------- */

int ny_points_complete(struct ny_rows *X, uint64_t rows, void *array, size_t element)
{
    const struct ny_store *store = ny_store_of(X);
    unsigned shards = ny_peers_shards(store->peers), self = ny_peers_shard(store->peers);
    size_t *sizes;
    int err;

    if (!store->peers) return NY_OK;
    sizes = ny_calloc(store->ctx, NY_MEM_STORE, shards, sizeof(*sizes));
    if (!sizes) return NY_EBUDGET;
    for (unsigned k = 0; k < shards; k++) {
        uint64_t first = store->shard_first[k], end = store->shard_first[k + 1];

        if (end > rows) end = rows;
        sizes[k] = first < end ? (size_t)(end - first) * element : 0;
    }
    err = ny_peers_gather(store->peers, (char *)array + store->shard_first[self] * element, sizes,
                          array);
    ny_free(store->ctx, sizes);
    return err;
}

/* ---- statistics of all shards ---------------------------------------------------------------- */

/* Adds those of another shard to `stats` (Chan, Golub and LeVeque 1979); the variances of both are
 * sums of squared deviations meanwhile. */
static void merge(struct ny_rows_stats *stats, const double *other)
{
    double a = (double)stats->n, b = other[0], n = a + b;
    const double *mean = other + 2, *m2 = mean + stats->d, *least = m2 + stats->d,
                 *most = least + stats->d;

    for (uint64_t j = 0; j < stats->d; j++) {
        double delta = mean[j] - stats->mean[j];

        stats->mean[j] += delta * (b / n);
        stats->variance[j] += m2[j] + delta * delta * a * (b / n);
        stats->minimum[j] = least[j] < stats->minimum[j] ? least[j] : stats->minimum[j];
        stats->maximum[j] = most[j] > stats->maximum[j] ? most[j] : stats->maximum[j];
    }
    stats->mean_norm = (stats->mean_norm * a + other[1] * b) / n;
    stats->n += (uint64_t)b;
}

/* Writes n, the mean norm and the four arrays to `to`, and reads them from `from`. */
static void pack_stats(const struct ny_rows_stats *stats, double *to)
{
    size_t d = (size_t)stats->d, bytes = d * sizeof(double);

    to[0] = (double)stats->n;
    to[1] = stats->mean_norm;
    memcpy(to + 2, stats->mean, bytes);
    for (size_t j = 0; j < d; j++)
        to[2 + d + j] = stats->variance[j] * (double)stats->n;
    memcpy(to + 2 + 2 * d, stats->minimum, bytes);
    memcpy(to + 2 + 3 * d, stats->maximum, bytes);
}

static void unpack_stats(struct ny_rows_stats *stats, const double *from)
{
    size_t d = (size_t)stats->d, bytes = d * sizeof(double);

    stats->n = (uint64_t)from[0];
    stats->mean_norm = from[1];
    memcpy(stats->mean, from + 2, bytes);
    memcpy(stats->variance, from + 2 + d, bytes);
    memcpy(stats->minimum, from + 2 + 2 * d, bytes);
    memcpy(stats->maximum, from + 2 + 3 * d, bytes);
}

/* Makes variances of the sums of squared deviations, once all have been merged. */
static void finish(struct ny_rows_stats *stats)
{
    stats->mean_square_norm = 0;
    for (uint64_t j = 0; j < stats->d; j++) {
        stats->variance[j] /= (double)stats->n;
        stats->mean_square_norm += stats->variance[j] + stats->mean[j] * stats->mean[j];
    }
}

/* Makes of this shard's statistics those of all. */
static int merge_all(struct ny_store *store, struct ny_rows_stats *stats)
{
    unsigned shards = ny_peers_shards(store->peers);
    size_t numbers = 2 + 4 * (size_t)stats->d;
    struct ny_layout l = {.ctx = store->ctx};
    double *mine = ny_lay(&l, NY_MEM_STORE, numbers, sizeof(*mine));
    double *all = ny_lay(&l, NY_MEM_STORE, shards, numbers * sizeof(*all));
    int err = l.err;

    if (err) goto done;
    pack_stats(stats, mine);
    err = ny_peers_gather_equal(store->peers, mine, numbers * sizeof(*mine), all);
    if (err) goto done;
    unpack_stats(stats, all);
    for (unsigned k = 1; k < shards; k++)
        merge(stats, all + k * numbers);
    finish(stats);
done:
    ny_layout_free(&l);
    return err;
}

/* Merges those of the stores of a set. */
static int merge_set(struct ny_store *set, struct ny_rows_stats *stats)
{
    double *numbers = NULL;
    int err = NY_OK;

    for (size_t k = 0; !err && k < set->set->count; k++) {
        struct ny_rows_stats own = {0};
        struct ny_store *store;

        err = ny_set_store(set, k, &store);
        if (!err) err = ny_points_stats_here(store, k ? &own : stats);
        if (!err && !k) {
            numbers = ny_calloc(set->ctx, NY_MEM_STORE, 2 + 4 * stats->d, sizeof(*numbers));
            if (!numbers) err = NY_EBUDGET;
        }
        if (!err) {
            pack_stats(k ? &own : stats, numbers);
            if (k)
                merge(stats, numbers);
            else
                unpack_stats(stats, numbers);
        }
        if (k) ny_rows_stats_release(&own, set->ctx);
    }
    if (!err) finish(stats);
    ny_free(set->ctx, numbers);
    return err;
}

int ny_points_stats(struct ny_rows *X, struct ny_rows_stats *stats)
{
    struct ny_store *store = ny_store_of(X);
    int err;

    *stats = (struct ny_rows_stats){0};
    err = store->set ? merge_set(store, stats) : ny_points_stats_here(store, stats);
    if (!err && store->peers) err = merge_all(store, stats);
    if (err) ny_rows_stats_release(stats, store->ctx);
    return err;
}
