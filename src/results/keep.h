/* A NAME in a store as the keep of a job (job/keep.h). */
#ifndef NY_RESULTS_KEEP_H
#define NY_RESULTS_KEEP_H

#include "job/keep.h"
#include "store/store.h"

/* Returns the keep of NAME; it borrows both. */
struct ny_keep ny_store_keep(struct ny_store *store, const char *name);

#endif
