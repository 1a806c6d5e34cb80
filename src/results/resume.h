/* The command that goes on with a job, for messages and reports. */
#ifndef NY_RESULTS_RESUME_H
#define NY_RESULTS_RESUME_H

#include "records/fields.h"
#include "store/store.h"

/* Remembers the command line of the store's context: field "command" of a new record, or of the
 * field "update" of one, null where there is none; and as "command_around" what stands before and
 * after the store's path in it, null where it does not have that path. */
void ny_record_set_command(struct ny_store *store, json_t *object);
/* Gives a record the command of another. */
void ny_record_copy_command(json_t *to, const json_t *from);
/* The command that goes on with `record`, the result's own or that of its update: the one that
 * began it, with the path that the store is opened by now, or `nystream fit STORE NAME` where the
 * record is of 1.0, which kept none. *out is NULL for a job of the library, which has no command;
 * ny_free() it. NY_EBUDGET without memory. */
int ny_resume_command(struct ny_store *store, const char *name, const json_t *record, char **out);

/* The end of a sentence about a job that is not done: "resume with: nystream fit …", also for a job
 * of the library, which the command can go on with, too. A line that is too long is not told. */
struct ny_resume_words {
    char text[1024];
};
/* Returns that end of a sentence for a job under `name`. */
struct ny_resume_words ny_resume_words(struct ny_store *store, const char *name,
                                       const json_t *record);

#endif
