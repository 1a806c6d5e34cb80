/*
 * Fits whose rows are placed by a model from elsewhere (option model): a job that is like any other
 * but for its course, which is stage project alone.
 */
#ifndef NY_API_PLACED_H
#define NY_API_PLACED_H

#include "api/request.h"

/* Loads the model that option model names, and makes it the options that a fit with its kernel, map
 * and landmarks would have. NY_EUSAGE for other options beside it, and for models that have no
 * landmarks. */
int ny_placed_options(struct ny_request *request);
/* Refuses to go on without option model where the job was stopped before it had kept its model:
 * NY_EUSAGE. */
int ny_placed_check(const struct ny_request *request);
/* Sets *digest to that of the model, by which the same options are known as another job. */
int ny_placed_digest(const struct ny_request *request, uint64_t *digest);
/* Keeps the model with the job, whose landmarks are kept already, unless it is: in the type of its
 * rows, with its geometry and degrees, and what the report says of it. */
int ny_placed_keep(struct ny_request *request);

#endif
