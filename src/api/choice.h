/*
 * The columns that --features asks for: a rule, or numbers in a file. Numbers are kept with the job
 * from its beginning, and those that a rule has found from then on: an update, and a job that is
 * resumed, need neither the file nor the rule again.
 */
#ifndef NY_API_CHOICE_H
#define NY_API_CHOICE_H

#include "api/landmarks.h"
#include "columns/choice.h"

struct ny_given_choice {
    struct ny_column_choice choice; /* its list is `columns` */
    uint64_t *columns;              /* ascending; NULL: a rule, or all columns */
    bool kept;                      /* the job has them already */
};

/* Reads what --features says, or what was kept of it (`own`; NULL: the job is new).
 * ny_given_choice_release() it, also after a failure. NY_EUSAGE for a rule that there is not,
 * NY_EDATA for a list of what are no columns of the store. */
int ny_given_choice_read(struct ny_given_choice *given, struct ny_store *store,
                         const struct ny_options *options, const struct ny_own_landmarks *own);
/* Keeps a list with the job, whose record is stored again, unless it is. */
int ny_given_choice_keep(const struct ny_given_choice *given, struct ny_store *store,
                         const char *name, json_t *record);
/* Returns a digest of a list, by which the same options are known as another job; 0: there is none.
 */
uint64_t ny_given_choice_digest(const struct ny_given_choice *given);
/* Frees the list. */
void ny_given_choice_release(struct ny_given_choice *given, struct ny_context *ctx);

#endif
