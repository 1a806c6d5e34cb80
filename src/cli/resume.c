/*
 * Going on with what was interrupted: the command line that a job remembers, the one that is
 * printed when it stops, and `fit STORE NAME` without options, which goes on with NAME.
 */
#include <string.h>

#include "cli/cli.h"

static const char memory_option[] = "--memory";

/* Tells whether a word is "--name" or "--name=value". */
static bool is_option(const char *word, const char *option)
{
    size_t length = strlen(option);

    return strncmp(word, option, length) == 0 && (word[length] == '\0' || word[length] == '=');
}

/* Hands the words of the command line, of which the first operand is the store, to `context`:
 * without --restart, which would begin anew, and with `memory`, if it is not NULL, as the value of
 * --memory. */
static int set_command(const struct command *command, struct ny_context *context,
                       const char *memory)
{
    const char *words[command->argc + 2];
    size_t count = 0, store = 0;

    for (int i = 0; i < command->argc; i++) {
        const char *word = command->argv[i];

        if (i == 2 && memory) { /* behind the verb: no -- stands before it */
            words[count++] = memory_option;
            words[count++] = memory;
        }
        if (strcmp(word, "--") == 0) {
            while (i < command->argc)
                words[count++] = command->argv[i++];
            break;
        }
        if (is_option(word, "--restart")) continue;
        if (memory && is_option(word, memory_option))
            i += word[strlen(memory_option)] == '\0';
        else
            words[count++] = word;
    }
    for (size_t i = 1; i < count; i++)
        if (words[i] == command->operands[0]) store = i;
    return ny_context_set_command(context, words, count, store);
}

/* A budget that has no room for the words is refused by the verb, which knows what it needs. */
void cli_remember_command(struct command *command)
{
    if (command->verb->resumable) set_command(command, command->context, NULL);
}

/* ---- after a failure ------------------------------------------------------------------------ */

/* Reads the budget that a refusal names: "115M" where the message says "give --memory 115M". */
static bool wanted_memory(const struct command *command, char *size, size_t bytes)
{
    static const char before[] = "give --memory ";
    const char *at = strstr(ny_context_message(command->context), before);
    size_t length;

    if (!at) return false;
    at += strlen(before);
    length = strspn(at, "0123456789KMGT");
    if (length == 0 || length >= bytes) return false;
    memcpy(size, at, length);
    size[length] = '\0';
    return true;
}

/* Tells whether the failed verb, which is resumable, has left a NAME to go on with; an import has
 * no NAME. Asks with a context of its own, so that the error in the command's context stays. */
static bool is_interrupted(const struct command *command, struct ny_context *context)
{
    struct ny_report *report = NULL;
    bool waits = false;

    if (!(command->verb->groups & NY_GROUP_IMPORT) &&
        ny_result_report(context, command->operands[0], command->operands[1], &report) == NY_OK)
        waits = ny_report_text(report, "resume") != NULL;
    ny_report_free(report);
    return waits;
}

/* After a signal the same line goes on. After a full disk it does too, if the job left something;
 * after a refused budget it needs the budget that the refusal names. */
const char *cli_find_resume(const struct command *command, int status, struct ny_context **own)
{
    char memory[32];

    *own = NULL;
    if (status == NY_EHUNGUP || status == NY_EINTERRUPTED || status == NY_ETERMINATED)
        return ny_context_command(command->context);
    if ((status != NY_EBUDGET && status != NY_EIO) || ny_context_new(own) ||
        !is_interrupted(command, *own))
        return NULL;
    if (status == NY_EIO) return ny_context_command(command->context);
    if (!wanted_memory(command, memory, sizeof(memory)) || set_command(command, *own, memory))
        return NULL;
    return ny_context_command(*own);
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
