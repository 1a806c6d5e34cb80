/*
 * Columns that a fit keeps in memory between its passes, where the budget has room for all of
 * them: pass 1 then computes the products with the landmarks, and no other pass does.
 */
#ifndef NY_FIT_CACHE_H
#define NY_FIT_CACHE_H

#include "columns/tile_cache.h"
#include "fit/fit.h"
#include "fit/sizes.h"

/* Returns the bytes of the columns that a fit keeps, of which stages hold `bytes` besides; 0: it
 * computes them in each pass. */
size_t ny_fit_cache_bytes(const struct ny_sizes *f, const struct ny_course_bytes *bytes,
                          size_t limit);
/* Tells whether a stage is one of those that run while columns are kept. */
bool ny_fit_cache_lives(enum ny_stage_id id);

#endif
