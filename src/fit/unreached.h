/* Rows that no landmark reaches, of a divided kernel: a fit and an update have no coordinates for
 * them, and end where they are too many. */
#ifndef NY_FIT_UNREACHED_H
#define NY_FIT_UNREACHED_H

#include "fit/fit.h"

/* Fails with NY_ENUMERIC where more than 1 % of the rows of a fit are unreached. *unreached: those
 * of this shard, then of all. */
int ny_fit_check_unreached(const struct ny_fit *fit, struct ny_unreached_rows *unreached);
/* Judges the rows that stage project has placed, all of a fit or the new ones of a frozen update;
 * warns of those that are not reached, and reports how many they are. */
int ny_fit_report_unreached(struct ny_fit *fit, struct ny_unreached_rows unreached);

#endif
