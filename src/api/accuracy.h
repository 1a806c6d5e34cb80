/* Options accuracy and trace-error of a fit: attempts with more and more landmarks, until all
 * components, or the trace, are right to that share. */
#ifndef NY_API_ACCURACY_H
#define NY_API_ACCURACY_H

#include "api/request.h"

/* Takes the option, if there is one, and its limits. */
void ny_accuracy_set(struct ny_request *request);
/* Sets the number of landmarks of this attempt: that of a record whose attempt goes on, or that of
 * the first attempt, which a sample of many rows foretells. */
int ny_accuracy_begin(struct ny_request *request);
/* Returns the landmarks of the attempt that a record is of; 0: it is of no such fit. */
size_t ny_accuracy_landmarks(const json_t *record);
/* Puts the number, and the attempts before, into the record of a new attempt. */
void ny_accuracy_note(const struct ny_request *request, json_t *record);
/* Tells whether the result, which is done, stays. */
bool ny_accuracy_settled(const struct ny_request *request);
/* Sets the landmarks of another attempt at a result: one that is right to less than was asked for,
 * or has far more landmarks than that takes. False: it stays, with a warning where it is not right,
 * and there are no more. */
bool ny_accuracy_again(struct ny_request *request);
/* Takes fewer landmarks for the attempt, whose plan is above a limit; false, with a warning, where
 * these are hardly more than those of the record before it, whose result stays. */
bool ny_accuracy_less(struct ny_request *request, const json_t *before);
/* Sets the landmarks of a plan, as a sample foretells them; *table, which the caller frees, has
 * what twice, half and the whole accuracy take. */
int ny_accuracy_plan(struct ny_store *store, const struct ny_options *options,
                     struct ny_fit_settings *fit, json_t **table);

#endif
