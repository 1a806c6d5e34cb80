/* Part "features" of a result: the numbers of the columns that its fit has chosen, ascending.
 * Field "features" of the record says how many; a result of all columns has neither. */
#ifndef NY_MODEL_CHOICE_H
#define NY_MODEL_CHOICE_H

#include "job/keep.h"
#include "job/record.h"

/* Stores which of the d columns are chosen, and notes in the state, which the caller saves, how
 * many. */
int ny_stored_choice_put(const struct ny_keep *keep, const unsigned char *chosen, size_t d,
                         struct ny_state *state);
/* Returns how many columns the result has chosen; 0: it has all. */
size_t ny_stored_choice_count(struct ny_record record);
/* Reads their numbers, which ny_free() frees; NY_ESTORE where they are not ascending and below d.
 */
int ny_stored_choice(const struct ny_keep *keep, struct ny_record record, uint64_t d,
                     uint64_t **columns);

#endif
