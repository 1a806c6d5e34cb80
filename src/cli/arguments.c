/*
 * Reads the command line: `--name value`, `--name=value`, `-o value`, `-ovalue`; options before or
 * after operands; `--` ends them; a lone `-` is an operand.
 *
 * main() calls cli_parse() once. It leaves the verb, the operands and the command's own options in
 * struct command, and the library's options in command->options. The first wrong word ends it with
 * a printed error, so that no verb runs on a line that is only partly understood.
 */
#include "cli/cli.h"

#include <string.h>
#include <sys/stat.h>

enum { NAME_BYTES = 64, VERBS_MAX = 64 };

/* The place in the command line up to which it is read. */
struct cursor {
    struct command *command;
    int next;      /* index of the next word in argv */
    bool finished; /* --help was met */
};

/* ---- verbs -------------------------------------------------------------------------------- */

const struct verb *cli_verb_find(const struct command *command, const char *name)
{
    for (const struct verb *verb = command->verbs; verb->name; verb++)
        if (strcmp(verb->name, name) == 0) return verb;
    return NULL;
}

/* Returns the name of the verb that is meant; NULL when nothing is near. */
static const char *suggest_verb(const struct command *command, const char *name)
{
    const char *names[VERBS_MAX];
    size_t count = 0;

    for (; command->verbs[count].name && count < VERBS_MAX; count++)
        names[count] = command->verbs[count].name;
    return ny_suggest(name, names, count);
}

int cli_fail_verb(struct command *command, const char *word)
{
    const char *nearest = suggest_verb(command, word);

    if (nearest)
        return cli_fail(command, NY_EUSAGE, "unknown verb '%s'; did you mean '%s'?", word, nearest);
    return cli_fail(command, NY_EUSAGE, "unknown verb '%s'; `nystream help` lists the verbs", word);
}

/* ---- options ------------------------------------------------------------------------------ */

/* Fails with the option that was probably meant. `typed` is the name with its dashes. */
static int unknown_option(struct command *command, const char *typed, const char *name)
{
    const struct verb *verb = command->verb;
    const char *nearest = cli_option_suggest(verb, name);

    if (nearest)
        return cli_fail(command, NY_EUSAGE, "%s is not an option of %s; did you mean --%s?", typed,
                        verb->name, nearest);
    return cli_fail(command, NY_EUSAGE,
                    "%s is not an option of %s; `nystream help %s --all` lists its options", typed,
                    verb->name, verb->name);
}

static int needs_value(struct command *command, const char *name, const char *argument)
{
    return cli_fail(command, NY_EUSAGE, "--%s needs a value (%s)", name, argument);
}

/* Sets an option of the command itself; `value` is NULL for a switch. --help ends the reading, so
 * that `nystream fit --help` asks for no operands. */
static int set_own(struct cursor *cursor, const struct option_view *view, const char *value)
{
    struct command *command = cursor->command;
    char *to = (char *)command + view->to;

    if (value && value[0] == '\0') return needs_value(command, view->name, view->argument);
    command->typed |= view->own;
    cursor->finished = view->own == OWN_HELP;
    if (view->argument)
        *(const char **)(void *)to = value;
    else if (view->to)
        *(bool *)to = true;
    return NY_OK;
}

/* Tells whether the value of an option is the next word. An argument in brackets, such as "[LIST]",
 * may be left out: then a word that follows is the value only if it is a list of numbers or
 * "auto". */
static bool takes_next(const struct cursor *cursor, const struct option_view *view)
{
    const struct command *command = cursor->command;
    const char *next;

    if (view->argument[0] != '[') return true;
    if (cursor->next >= command->argc) return false;
    next = command->argv[cursor->next];
    return strcmp(next, "auto") == 0 ||
           (strpbrk(next, "0123456789") && strspn(next, "0123456789.,eE+-") == strlen(next));
}

/* Finds a long option. A switch S of the library is also --no-S; the command's own switches have no
 * such form. */
static bool find_long(const struct verb *verb, const char *name, struct option_view *view)
{
    if (cli_option_find(verb, name, view)) return true;
    return strncmp(name, "no-", 3) == 0 && cli_option_find(verb, name + 3, view) &&
           !view->argument && !view->own;
}

/* Sets an option. `value` is the text behind "=", or NULL: then the next word, if the option takes
 * one. --memory and --threads do not count as chosen, because a job that goes on may be given
 * others (cli_goes_on()). */
static int set_option(struct cursor *cursor, const struct option_view *view, const char *name,
                      const char *value)
{
    struct command *command = cursor->command;

    if (view->argument && !value && !takes_next(cursor, view)) {
        value = "auto";
    } else if (view->argument && !value) {
        if (cursor->next >= command->argc) return needs_value(command, name, view->argument);
        value = command->argv[cursor->next++];
    }
    if (view->own) {
        if (!view->argument && value)
            return cli_fail(command, NY_EUSAGE, "--%s takes no value, not '%s'", name, value);
        return set_own(cursor, view, value);
    }
    if (ny_options_set(command->options, name, value)) return cli_fail_library(command, NY_EUSAGE);
    command->chosen += strcmp(view->name, "memory") != 0 && strcmp(view->name, "threads") != 0;
    return NY_OK;
}

/* Sets "--name" or "--name=value". */
static int parse_long(struct cursor *cursor, const char *word)
{
    struct command *command = cursor->command;
    const char *equals = strchr(word, '=');
    size_t length = equals ? (size_t)(equals - word) - 2 : strlen(word) - 2;
    struct option_view view;
    char name[NAME_BYTES];

    if (length >= sizeof(name)) length = sizeof(name) - 1;
    memcpy(name, word + 2, length);
    name[length] = '\0';
    if (!find_long(command->verb, name, &view)) {
        char typed[NAME_BYTES + 2];

        snprintf(typed, sizeof(typed), "--%s", name);
        return unknown_option(command, typed, name);
    }
    return set_option(cursor, &view, name, equals ? equals + 1 : NULL);
}

/* Sets "-q", "-qv", "-o FILE" or "-oFILE": switches may be joined, and the rest of a word behind a
 * letter that takes a value is that value. */
static int parse_short(struct cursor *cursor, const char *word)
{
    struct option_view view;

    for (const char *letter = word + 1; *letter && !cursor->finished; letter++) {
        const char *value = NULL;
        int err;

        if (!cli_option_by_letter(cursor->command->verb, *letter, &view))
            return unknown_option(cursor->command, word, word + 1); /* -map is meant as --map */
        if (view.argument && letter[1]) value = letter + 1;
        err = set_option(cursor, &view, view.name, value);
        if (err || view.argument) return err;
    }
    return NY_OK;
}

/* ---- operands, and the line as a whole ------------------------------------------------------ */

/* Writes the name that operand number `index` has in the verb's usage line: number 1 of "STORE
 * NAME" is "NAME". */
static void operand_name(const struct verb *verb, size_t index, char *name, size_t size)
{
    const char *word = verb->operands;
    size_t length;

    while (index-- > 0) {
        word += strcspn(word, " ");
        word += strspn(word, " ");
    }
    word += *word == '[';
    length = strcspn(word, " ]");
    snprintf(name, size, "%.*s", (int)length, word);
}

static int too_many_operands(struct command *command)
{
    const struct verb *verb = command->verb;

    return cli_fail_usage(command, "%s takes %s, not '%s'", verb->name,
                          verb->operands[0] ? verb->operands : "no operands",
                          command->operands[verb->most]);
}

int cli_needs(struct command *command, const char *what)
{
    return cli_fail_usage(command, "%s needs %s", command->verb->name, what);
}

/* Checks that there are as many operands as the verb takes and that none is empty, as in `nystream
 * info "$UNSET"`. */
static int check_operands(struct command *command)
{
    const struct verb *verb = command->verb;
    char name[NAME_BYTES];

    if (command->operand_count < verb->least) {
        operand_name(verb, command->operand_count, name, sizeof(name));
        return cli_needs(command, name);
    }
    if (command->operand_count > verb->most) return too_many_operands(command);
    for (size_t i = 0; i < command->operand_count; i++)
        if (command->operands[i][0] == '\0') {
            operand_name(verb, i, name, sizeof(name));
            return cli_fail_usage(command, "%s of %s is empty", name, verb->name);
        }
    return NY_OK;
}

/* Sorts the words behind the verb into options and operands, until the line ends, --help is met or
 * a word is wrong. */
static int parse_words(struct cursor *cursor)
{
    struct command *command = cursor->command;
    bool operands_only = false;
    int err = NY_OK;

    while (!err && !cursor->finished && cursor->next < command->argc) {
        const char *word = command->argv[cursor->next++];

        if (operands_only || word[0] != '-' || word[1] == '\0')
            command->operands[command->operand_count++] = word;
        else if (strcmp(word, "--") == 0)
            operands_only = true;
        else if (word[1] == '-')
            err = parse_long(cursor, word);
        else
            err = parse_short(cursor, word);
    }
    return err;
}

/* Turns `nystream VERB --help [--all]` into `nystream help VERB [--all]`. */
static void become_help(struct cursor *cursor)
{
    struct command *command = cursor->command;

    command->operands[0] = command->verb->name;
    command->operand_count = 1;
    command->verb = cli_verb_find(command, "help");
    for (int i = cursor->next; i < command->argc; i++)
        if (strcmp(command->argv[i], "--all") == 0) command->typed |= OWN_ALL;
}

/* Finds the verb, which is the first word. */
static int parse_verb(struct command *command, const char *word)
{
    if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0) {
        command->verb = cli_verb_find(command, "help");
        return NY_OK;
    }
    if (strcmp(word, "--version") == 0 || strcmp(word, "-V") == 0) {
        command->verb = cli_verb_find(command, "version");
        return NY_OK;
    }
    command->verb = cli_verb_find(command, word);
    return command->verb ? NY_OK : cli_fail_verb(command, word);
}

int cli_parse(struct command *command)
{
    struct cursor cursor = {.command = command, .next = 2};
    int err;

    for (int i = 1; i < command->argc && strcmp(command->argv[i], "--") != 0; i++)
        command->json_wanted |= strcmp(command->argv[i], "--json") == 0;
    if (command->argc < 2) return cli_fail_usage(command, "a verb is missing");
    err = parse_verb(command, command->argv[1]);
    if (err) return err;
    err = parse_words(&cursor);
    if (err) return err;
    if (cursor.finished) {
        become_help(&cursor);
        return NY_OK;
    }
    return check_operands(command);
}
