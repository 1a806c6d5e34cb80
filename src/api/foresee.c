/*
 * Plans a fit of rows that are not in a store, because the budget has no room to take them. Their
 * import knows only what is missing at that moment, and the fit needs more: a user who followed the
 * advice of the import would be refused a second time.
 */
#include "api/foresee.h"

#include <stdio.h>

#include "api/announce.h"
#include "api/fit_store.h"
#include "api/settings.h"
#include "base/memory.h"
#include "linalg/matrix.h"
#include "job/fields.h"

/* Plans the fit, and refuses it if it does not fit: NY_OK where it was not refused. */
static int refuse(struct ny_context *ctx, const struct ny_options *options,
                  const struct ny_points_shape *shape)
{
    struct ny_owned_settings settings = {0};
    struct ny_store *store = NULL;
    struct ny_plan plan;
    int err, refused = NY_OK;

    ny_fields_begin();
    ny_blas_borrow();
    ny_plan_lend(ctx);
    err = ny_store_imagine(&store, ctx, "these rows", shape);
    if (!err) err = ny_settings_new(&settings, store, options, NY_GROUP_FIT, NULL);
    if (!err) err = ny_store_fit_plan(store, &settings.fit, 0, &plan);
    if (!err && !plan.fits) refused = ny_plan_refuse_fit(ctx, &plan, &settings.fit);
    ny_settings_release(&settings, ctx);
    ny_store_close(store);
    ny_memory_lend(ctx, 0);
    ny_blas_return();
    return refused;
}

void ny_foresee_refusal(struct ny_context *ctx, const struct ny_options *options,
                        const struct ny_points_shape *shape)
{
    const size_t mib = 1 << 20; /* a smaller number was meant with a unit */
    char said[1024];

    if (ny_memory_limit(ctx) < mib || ny_context_peers(ctx)) return;
    snprintf(said, sizeof(said), "%s", ny_context_message(ctx));
    ny_error_clear(ctx);
    if (refuse(ctx, options, shape)) return;
    ny_error_clear(ctx);
    ny_fail(ctx, NY_EBUDGET, "%s", said);
}
