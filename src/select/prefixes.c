#include "select/prefixes.h"

/* A copy of a panel's first landmarks that several prefixes share. */
struct ny_tail {
    struct ny_columns *columns;
    unsigned users;
};

static void drop_tail(struct ny_context *ctx, struct ny_tail *tail)
{
    if (!tail || --tail->users) return;
    ny_columns_free(tail->columns);
    ny_free(ctx, tail);
}

static int new_tail(struct ny_tail **out, const struct ny_dictionary *dictionary, size_t rank)
{
    struct ny_context *ctx = dictionary->spec.ctx;
    struct ny_tail *tail;
    int err;

    *out = NULL;
    if (rank % NY_DICTIONARY_PANEL == 0) return NY_OK;
    tail = ny_calloc(ctx, NY_MEM_DICTIONARY, 1, sizeof(*tail));
    if (!tail) return NY_EBUDGET;
    err = ny_dictionary_tail(&tail->columns, dictionary, rank);
    if (err) {
        ny_free(ctx, tail);
        return err;
    }
    *out = tail;
    return NY_OK;
}

/* Sets the prefix of this unit, whose tail is made. Units come in order, so that equal prefixes
 * share their tail. */
static int set(struct ny_prefixes *prefixes, const struct ny_dictionary *dictionary, uint64_t unit,
               struct ny_prefix prefix)
{
    size_t slot = (size_t)(unit % NY_GREEDY_AHEAD);
    size_t like = (size_t)((unit + NY_GREEDY_AHEAD - 1) % NY_GREEDY_AHEAD);
    struct ny_tail *tail = prefixes->tails[like];
    int err = NY_OK;

    if (prefixes->prefix[like].rank != prefix.rank) err = new_tail(&tail, dictionary, prefix.rank);
    if (err) return err;
    if (tail) tail->users++;
    drop_tail(dictionary->spec.ctx, prefixes->tails[slot]);
    prefixes->tails[slot] = tail;
    prefix.tail = tail ? tail->columns : NULL;
    prefixes->prefix[slot] = prefix;
    return NY_OK;
}

int ny_prefixes_set(struct ny_prefixes *prefixes, const struct ny_dictionary *dictionary,
                    uint64_t unit)
{
    return set(prefixes, dictionary, unit, ny_dictionary_now(dictionary));
}

int ny_prefixes_begin(struct ny_prefixes *prefixes, const struct ny_dictionary *dictionary)
{
    int err = NY_OK;

    ny_prefixes_drop(prefixes, dictionary->spec.ctx);
    for (uint64_t unit = 0; unit < NY_GREEDY_AHEAD && !err; unit++)
        err = ny_prefixes_set(prefixes, dictionary, unit);
    return err;
}

void ny_prefixes_note(const struct ny_prefixes *prefixes,
                      struct ny_prefix_note notes[NY_GREEDY_AHEAD])
{
    for (size_t i = 0; i < NY_GREEDY_AHEAD; i++) {
        const struct ny_prefix *prefix = &prefixes->prefix[i];

        notes[i] = (struct ny_prefix_note){prefix->rank, prefix->started, prefix->largest};
    }
}

int ny_prefixes_recall(struct ny_prefixes *prefixes, const struct ny_dictionary *dictionary,
                       const struct ny_prefix_note notes[NY_GREEDY_AHEAD], uint64_t noted,
                       uint64_t unit)
{
    int err = NY_OK;

    for (size_t i = 0; !err && i < NY_GREEDY_AHEAD; i++) {
        const struct ny_prefix_note *note = &notes[(noted + i) % NY_GREEDY_AHEAD];
        struct ny_prefix prefix = {
            .rank = note->rank, .started = note->started != 0, .largest = note->largest};

        if (prefix.rank > dictionary->rank)
            return ny_fail_damaged(dictionary->spec.ctx, NULL, NULL);
        err = set(prefixes, dictionary, unit + i, prefix);
    }
    return err;
}

void ny_prefixes_drop(struct ny_prefixes *prefixes, struct ny_context *ctx)
{
    for (size_t i = 0; i < NY_GREEDY_AHEAD; i++) {
        drop_tail(ctx, prefixes->tails[i]);
        prefixes->tails[i] = NULL;
        prefixes->prefix[i] = (struct ny_prefix){0};
    }
}
