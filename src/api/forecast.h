/* Foretells the landmarks of options accuracy and trace-error, by fits of a sample of the rows. */
#ifndef NY_API_FORECAST_H
#define NY_API_FORECAST_H

#include <jansson.h>

#include "api/curve.h"
#include "api/options.h"
#include "fit/settings.h"
#include "store/store.h"

/* Takes option accuracy or trace-error, if one is typed. */
void ny_accuracy_take(struct ny_fit_settings *fit, const struct ny_options *options);
/* Returns the error that a report has of what is to be right: the largest one of the components
 * that exist, or that of the trace; NaN: none is known. */
double ny_error_of(const json_t *report, const struct ny_fit_settings *fit);
/* Returns the landmarks of a first attempt. */
size_t ny_forecast_first(const struct ny_fit_settings *fit);
/* Tells whether a sample is so much smaller than n rows that it is worth looking at. */
bool ny_forecast_pays(uint64_t n);
/* Fits a sample of the rows, in memory, with more and more landmarks, until it is as right as
 * `fit` says, or too many of its rows are landmarks, or there is no room for
 * more. The attempts are added to the curve, which is without any. Errors are those of such a fit,
 * where not one attempt was made.
 *
 * The error with some landmarks is that of all rows, if these are many more than the landmarks. */
int ny_forecast(struct ny_store *store, const struct ny_options *options,
                const struct ny_fit_settings *fit, struct ny_curve *curve);

#endif
