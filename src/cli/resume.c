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

/* Tells whether the failed verb, which is resumable, has left a NAME to go on with; an import has
 * no NAME. Asks with a context of its own, so that the error in the command's context stays. */
static bool is_interrupted(const struct command *command)
{
    struct ny_context *own = NULL;
    struct ny_report *report = NULL;
    bool waits = false;

    if (!(command->verb->groups & NY_GROUP_IMPORT) && ny_context_new(&own) == NY_OK &&
        ny_result_report(own, command->operands[0], command->operands[1], &report) == NY_OK)
        waits = ny_report_text(report, "resume") != NULL;
    ny_report_free(report);
    ny_context_free(own);
    return waits;
}

/* After a signal the same line goes on, and after a full disk if the job left something. */
const char *cli_find_resume(const struct command *command, int status)
{
    bool stopped = status == NY_EHUNGUP || status == NY_EINTERRUPTED || status == NY_ETERMINATED;

    if (!stopped && (status != NY_EIO || !is_interrupted(command))) return NULL;
    return ny_context_command(command->context);
}

/* ---- without options ------------------------------------------------------------------------ */

/* Looks the result up in a context of its own, so that an error of this is not the command's. */
bool cli_goes_on(const struct command *command, const char *kind)
{
    struct ny_context *own = NULL;
    struct ny_report *report = NULL;
    const char *there = NULL;
    bool same = false;

    if (command->chosen || ny_context_new(&own)) return false;
    if (ny_result_report(own, command->operands[0], command->operands[1], &report) == NY_OK)
        there = ny_report_text(report, "kind");
    same = there && strcmp(there, kind) == 0;
    ny_report_free(report);
    ny_context_free(own);
    return same;
}
