/* Whether a result is still the one that was opened: others may fit it anew, update it or remove it
 * while it is read, since readers are in nobody's way. */
#ifndef NY_RESULTS_CURRENT_H
#define NY_RESULTS_CURRENT_H

#include "results/parts.h"

/* Returns the status `err` of what was read of the clusters of a result. NY_EBUSY where its record
 * is no longer this one, be it by other clusters alone, which ny_keep_current() does not look at.
 */
int ny_record_untouched(struct ny_store *store, const char *name, const json_t *record, int err);
/* Returns the status `err` of what was read of the points since their state was taken. NY_EBUSY
 * where rows were cut off or replaced meanwhile. */
int ny_points_current(struct ny_store *store, struct ny_points_state *state, int err);
/* Returns the status `err` of what was read of a part (NULL: of another kind) in the same way, also
 * of points that are read without a result. It costs nothing where nobody has written. */
int ny_result_current(struct ny_result *result, const struct ny_result_part *part, int err);

#endif
