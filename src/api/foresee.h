/* Tells the least budget of a fit whose rows find no room: api/embed.c and api/embed_file.c. */
#ifndef NY_API_FORESEE_H
#define NY_API_FORESEE_H

#include "api/options.h"
#include "store/store.h"

/* Called after NY_EBUDGET of rows that were to be fitted by these options. If the fit would not run
 * in this budget either, the error becomes that of its plan, which names the least budget that
 * works; otherwise it stays. */
void ny_foresee_refusal(struct ny_context *ctx, const struct ny_options *options,
                        const struct ny_points_shape *shape);

#endif
