/* The prefixes of a growing dictionary, each as it was at some unit of a pass: workers screen the
 * units against them while the dictionary grows. */
#ifndef NY_SELECT_PREFIXES_H
#define NY_SELECT_PREFIXES_H

#include "select/dictionary_private.h"

/* Unit u is screened, in parallel, against the dictionary as it was when unit u − NY_GREEDY_AHEAD
 * had been folded: whatever the workers are, the same work is done, with the same bytes. More would
 * keep more workers busy, and leave more rows for the fold, which is sequential. */
enum { NY_GREEDY_AHEAD = 4 };

struct ny_tail;

struct ny_prefixes {
    struct ny_prefix
        prefix[NY_GREEDY_AHEAD]; /* the prefix of unit u is in slot u mod NY_GREEDY_AHEAD */
    struct ny_tail *tails[NY_GREEDY_AHEAD]; /* owns what prefix[].tail points to */
};

/* A prefix without its columns, as images have it. */
struct ny_prefix_note {
    uint64_t rank, started;
    double largest;
};

/* Returns the prefix of this unit. */
static inline const struct ny_prefix *ny_prefix_of(const struct ny_prefixes *prefixes,
                                                   uint64_t unit)
{
    return &prefixes->prefix[unit % NY_GREEDY_AHEAD];
}

/* Sets the prefixes of the first units of a pass to the dictionary as it is. */
int ny_prefixes_begin(struct ny_prefixes *prefixes, const struct ny_dictionary *dictionary);
/* Makes the present dictionary the prefix of this unit, in place of the prefix of the unit
 * NY_GREEDY_AHEAD before. */
int ny_prefixes_set(struct ny_prefixes *prefixes, const struct ny_dictionary *dictionary,
                    uint64_t unit);
/* Notes the prefixes, each in its slot. */
void ny_prefixes_note(const struct ny_prefixes *prefixes,
                      struct ny_prefix_note notes[NY_GREEDY_AHEAD]);
/* Makes the prefixes that were noted for the units from `noted` on those of the units from `unit`
 * on. NY_ESTORE where the dictionary is smaller than one of them. */
int ny_prefixes_recall(struct ny_prefixes *prefixes, const struct ny_dictionary *dictionary,
                       const struct ny_prefix_note notes[NY_GREEDY_AHEAD], uint64_t noted,
                       uint64_t unit);
/* Frees the tails of all prefixes, which are then empty. */
void ny_prefixes_drop(struct ny_prefixes *prefixes, struct ny_context *ctx);

#endif
