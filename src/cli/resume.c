/*
 * Going on with what was interrupted: the command line that a job remembers, the one that is
 * printed when it stops, and `fit STORE NAME` without options, which goes on with NAME.
 */
#include <string.h>

#include "cli/cli.h"

/* Hands the words of the command line, of which the first operand is the store, to the context:
 * without --restart, which would begin anew. A budget that has no room for the words is refused by
 * the verb, which knows what it needs. */
void cli_remember_command(struct command *command)
{
    const char *words[command->argc];
    size_t count = 0, store = 0;
    bool options = true;

    if (!command->verb->resumable) return;
    for (int i = 0; i < command->argc; i++) {
        options = options && strcmp(command->argv[i], "--") != 0;
        if (options && strcmp(command->argv[i], "--restart") == 0) continue;
        if (i && command->argv[i] == command->operands[0]) store = count;
        words[count++] = command->argv[i];
    }
    ny_context_set_command(command->context, words, count, store);
}

/* ---- after a failure ------------------------------------------------------------------------ */

/* Tells whether the report of NAME has this text, or any for NULL, under a key. Asks with a context
 * of its own, so that an error of this is not the command's, and one of the command's stays. */
static bool report_says(const struct command *command, const char *key, const char *text)
{
    struct ny_context *own = NULL;
    struct ny_report *report = NULL;
    const char *found = NULL;
    bool says;

    if (ny_context_new(&own) == NY_OK &&
        ny_result_report(own, command->operands[0], command->operands[1], &report) == NY_OK)
        found = ny_report_text(report, key);
    says = found && (!text || strcmp(found, text) == 0);
    ny_report_free(report);
    ny_context_free(own);
    return says;
}

/* Tells whether the failed verb, which is resumable, has left a NAME to go on with; an import has
 * no NAME. */
static bool is_interrupted(const struct command *command)
{
    return !(command->verb->groups & NY_GROUP_IMPORT) && report_says(command, "resume", NULL);
}

/* After a signal the same line goes on, and after a full disk if the job left something. */
const char *cli_find_resume(const struct command *command, int status)
{
    bool stopped = status == NY_EHUNGUP || status == NY_EINTERRUPTED || status == NY_ETERMINATED;

    if (!stopped && (status != NY_EIO || !is_interrupted(command))) return NULL;
    return ny_context_command(command->context);
}

/* ---- without options ------------------------------------------------------------------------ */

bool cli_goes_on(const struct command *command, const char *kind)
{
    return !command->chosen && report_says(command, "kind", kind);
}
