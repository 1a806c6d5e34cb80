/*
 * The result of before that an update takes new rows into, as the stages of a fit look at it: what
 * of it can be kept, and where its parts are. The record of the update says so: update/update.h.
 */
#ifndef NY_FIT_EARLIER_H
#define NY_FIT_EARLIER_H

#include "fit/settings.h"
#include "job/record.h"

enum ny_update_mode { NY_UPDATE_NONE, NY_UPDATE_FROZEN, NY_UPDATE_FULL };

struct ny_fit;

/* Returns the mode of the update that a record is of; NONE if it is of none. */
enum ny_update_mode ny_update_mode_of(struct ny_record record);
/* Returns "none", "frozen" or "full". */
const char *ny_update_mode_name(enum ny_update_mode mode);

/* Tells whether a selection that starts with the earlier landmarks gives those of all rows. */
bool ny_earlier_starts_selection(const struct ny_fit_settings *settings);
/* Tells whether the sums of accumulate are sums over rows that do not depend on later ones. */
bool ny_earlier_adds_sums(const struct ny_fit_settings *settings);
/* Tells whether there are earlier sums that the settings of the fit can add to. */
bool ny_earlier_has_sums(const struct ny_fit *fit);
/* Tells whether the sums keep the precision that they have, whatever W says. */
bool ny_earlier_keeps_precision(const struct ny_fit *fit);
/* Returns how many rows of the embedding stay as they are: all earlier ones, or none. */
uint64_t ny_earlier_kept_rows(const struct ny_fit *fit);
/* Returns how many rows the earlier result has, of all shards that are updated together. */
uint64_t ny_earlier_rows(const struct ny_fit *fit);
/* Loads a part of the earlier result, which is `stored` under this name. NY_ESTORE where the record
 * does not say where it is: NULL. */
int ny_earlier_get(const struct ny_fit *fit, const char *stored, void *data, size_t bytes);

/* The earlier landmarks among those of the update. */
struct ny_matched {
    size_t *place;  /* for each earlier landmark its place now; SIZE_MAX: it has none */
    size_t *joined; /* places of the landmarks that are new, ascending */
    size_t joined_count;
    bool same; /* all are as before, in the same order */
};

/* Matches m landmarks with the earlier ones; rows NULL: these are the earlier ones themselves. */
int ny_earlier_match(struct ny_matched *matched, struct ny_fit *fit, const uint64_t *rows,
                     size_t m);
/* Frees the arrays `place` and `joined`. */
void ny_matched_release(struct ny_matched *matched, struct ny_context *ctx);

/* Describes the earlier selection, whose rows an update need not look at again; rows: NULL where
 * the selection begins anew, else ny_free() them. */
int ny_earlier_selection(struct ny_fit *fit, struct ny_selected *earlier);
/* Reports how many of the m landmarks of an update are new, and whether all are as before. */
int ny_earlier_compare(struct ny_fit *fit, const uint64_t *rows, size_t m);

#endif
