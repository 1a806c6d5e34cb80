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

/* Returns what does here what another program calls so; NULL where nothing is known to. */
static const char *meant_by(const char *word)
{
    static const struct {
        const char *verb, *words;
    } table[] = {
        {"eval --clusters K", " cluster clusters kmeans k-means clustering "},
        {"transform", " predict place project apply "},
        {"import", " add append load ingest read "},
        {"rm", " remove delete del drop "},
        {"info", " show describe status stat "},
        {"list", " ls results "},
        {"fit", " train run update resume "},
        {"plot", " draw picture scatter "},
        {"graph", " knn neighbors neighbours "},
        {"embed", " pca svd kpca isomap umap tsne reduce "},
    };
    size_t length = strlen(word);

    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++)
        for (const char *at = table[i].words + 1; *at; at += strcspn(at, " ") + 1)
            if (strcspn(at, " ") == length && strncmp(at, word, length) == 0) return table[i].verb;
    return NULL;
}

int cli_fail_verb(struct command *command, const char *word)
{
    const char *nearest = suggest_verb(command, word), *meant = meant_by(word);

    if (meant)
        return cli_fail(command, NY_EUSAGE, "unknown verb '%s'; use nystream %s", word, meant);
    if (nearest)
        return cli_fail(command, NY_EUSAGE, "unknown verb '%s'; did you mean '%s'?", word, nearest);
    return cli_fail(command, NY_EUSAGE, "unknown verb '%s'; `nystream help` lists the verbs", word);
}

/* ---- options ------------------------------------------------------------------------------ */

/* Writes the verbs that have an option, as in " (import and transform have it)", if they are few:
 * what many have is no sign of what was meant. */
static void list_owners(const struct command *command, const char *option, char *text, size_t size)
{
    enum { FEW = 4 };
    const char *owner[FEW];
    struct option_view view;
    size_t count = 0, used = 0;

    text[0] = '\0';
    for (const struct verb *verb = command->verbs; verb->name; verb++) {
        if (!cli_option_find(verb, option, &view)) continue;
        if (count == FEW) return;
        owner[count++] = verb->name;
    }
    for (size_t i = 0; i < count && used < size; i++)
        used += (size_t)snprintf(text + used, size - used, "%s%s",
                                 i == 0          ? " ("
                                 : i < count - 1 ? ", "
                                                 : " and ",
                                 owner[i]);
    if (used && used < size)
        snprintf(text + used, size - used, count == 1 ? " has it)" : " have it)");
}

/* Fails with the hint that fits best: that the output's name decides the format, that other verbs
 * have this option, or which option was probably meant. `typed` is the name with its dashes. */
static int unknown_option(struct command *command, const char *typed, const char *name)
{
    const struct verb *verb = command->verb;
    const char *nearest = cli_option_suggest(verb, name);
    struct option_view view;
    char owners[96];

    if (strcmp(name, "format") == 0 && verb->own & OWN_OUTPUT)
        return cli_fail(command, NY_EUSAGE,
                        "%s is not an option of %s: the extension of the output file selects its "
                        "format, as in %s",
                        typed, verb->name,
                        verb->groups & NY_GROUP_PLOT     ? "-o NAME.svg"
                        : verb->groups & NY_GROUP_REPORT ? "-o NAME.html"
                                                         : "-o NAME.csv");
    if (!cli_option_find(verb, name, &view) && cli_option_find(NULL, name, &view)) {
        list_owners(command, name, owners, sizeof(owners));
        return cli_fail(command, NY_EUSAGE,
                        "%s is not an option of %s%s; `nystream help %s --all` lists its options",
                        typed, verb->name, owners, verb->name);
    }
    if (nearest)
        return cli_fail(command, NY_EUSAGE, "unknown option %s of %s; did you mean --%s?", typed,
                        verb->name, nearest);
    return cli_fail(command, NY_EUSAGE,
                    "unknown option %s of %s; `nystream help %s --all` lists its options", typed,
                    verb->name, verb->name);
}

/* Sets an option of the command itself; `value` is NULL for a switch. --help ends the reading, so
 * that `nystream fit --help` asks for no operands. */
static int set_own(struct cursor *cursor, const struct option_view *view, const char *value)
{
    struct command *command = cursor->command;

    if (value && value[0] == '\0')
        return cli_fail(command, NY_EUSAGE, "--%s needs a value (%s)", view->name, view->argument);
    command->typed |= view->own;
    switch (view->own) {
    case OWN_OUTPUT:
        command->output = value;
        break;
    case OWN_INPUT:
        command->input = value;
        break;
    case OWN_PART:
        command->part = value;
        break;
    case OWN_WITH:
        command->with = value;
        break;
    case OWN_NAME:
        command->name = value;
        break;
    case OWN_DISTANCES:
        command->distances = value;
        break;
    case OWN_CLUSTERS:
        command->clusters = value;
        break;
    case OWN_NEIGHBORS:
        command->neighbors = value;
        break;
    case OWN_KEEP:
        command->keep = value;
        break;
    case OWN_ROWS:
        command->rows = value;
        break;
    case OWN_RECALL:
        command->recall = value;
        break;
    case OWN_JSON:
        command->json = true;
        break;
    case OWN_QUIET:
        command->quiet = true;
        break;
    case OWN_STRICT:
        command->strict = true;
        break;
    case OWN_VERBOSE:
        command->verbose = true;
        break;
    case OWN_HELP:
        cursor->finished = true;
        break;
    default: /* the documents that help writes: `given` is all there is to know */
        break;
    }
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

/* Tells whether "S" or "S=VALUE" names an option: `name` is then S. */
static bool names_option(const struct verb *verb, const char *word, char name[NAME_BYTES])
{
    struct option_view view;

    snprintf(name, NAME_BYTES, "%.*s", (int)strcspn(word, "="), word);
    return find_long(verb, name, &view);
}

/* Sets an option. `value` is the text behind "=", or NULL: then the next word, if the option takes
 * one. --memory and --threads do not count as chosen, because a job that goes on may be given
 * others (cli_goes_on()). */
static int set_option(struct cursor *cursor, const struct option_view *view, const char *name,
                      const char *value)
{
    struct command *command = cursor->command;
    char next[NAME_BYTES];

    if (view->argument && !value && !takes_next(cursor, view)) {
        value = "auto";
    } else if (view->argument && !value) {
        if (cursor->next >= command->argc)
            return cli_fail(command, NY_EUSAGE, "--%s needs a value (%s)", name, view->argument);
        value = command->argv[cursor->next++];
        if (strncmp(value, "--", 2) == 0 && names_option(command->verb, value + 2, next))
            return cli_fail(command, NY_EUSAGE,
                            "--%s needs a value (%s), but the next word is the option --%s", name,
                            view->argument, next);
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

/* Sets "--name" or "--name=value". A value behind "=" may look like an option; a word of its own
 * that names one is refused, since then the value was probably forgotten. */
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

/* Fails with a hint: the operand may be an option without its dashes, or a file without -o. */
static int too_many_operands(struct command *command)
{
    const struct verb *verb = command->verb;
    const char *word = command->operands[verb->most], *hint = "";
    char name[NAME_BYTES];

    if (names_option(verb, word, name))
        return cli_fail_usage(command,
                              "%s takes no operand '%s'; options begin with --, as in --%s",
                              verb->name, word, name);
    if (verb->own & OWN_INPUT && !command->input)
        hint = "; the file to read follows --input";
    else if (verb->own & OWN_OUTPUT && !command->output && !(command->typed & OWN_TERMINAL))
        hint = "; the file to write follows -o";
    return cli_fail_usage(command, "%s takes %s%s, and '%s' is one operand too many%s", verb->name,
                          verb->operands[0] ? verb->operands : "no operands",
                          verb->operands[0] ? " only" : "", word, hint);
}

int cli_fail_name(struct command *command, const char *operand)
{
    const char *store = command->operands[0];
    char results[CLI_RESULTS_BYTES];

    cli_name_results(store, results, sizeof(results));
    if (!results[0]) return cli_fail_usage(command, "%s needs %s", command->verb->name, operand);
    return cli_fail_usage(command, "%s needs %s; %s has %s", command->verb->name, operand, store,
                          results);
}

/* Fails where an operand is missing, with a hint where a table stands in the place of a store, and
 * with the results of a store where one of them is missing. */
static int too_few_operands(struct command *command)
{
    const struct verb *verb = command->verb;
    const char *first = command->operand_count ? command->operands[0] : "";
    char name[NAME_BYTES];
    struct stat there;

    operand_name(verb, command->operand_count, name, sizeof(name));
    if (strncmp(verb->operands, "STORE NAME", 10) != 0 || stat(first, &there))
        return cli_fail_usage(command, "%s needs %s", verb->name, name);
    if (!S_ISREG(there.st_mode)) return cli_fail_name(command, name);
    return cli_fail_usage(command,
                          "%s needs a store and %s, but %s is a file; 'nystream import STORE %s' "
                          "makes a store of it",
                          verb->name, name, first, first);
}

/* Checks that there are as many operands as the verb takes and that none is empty, as in `nystream
 * info "$UNSET"`. */
static int check_operands(struct command *command)
{
    const struct verb *verb = command->verb;
    char name[NAME_BYTES];

    if (command->operand_count < verb->least) return too_few_operands(command);
    if (command->operand_count > verb->most) return too_many_operands(command);
    for (size_t i = 0; i < command->operand_count; i++)
        if (command->operands[i][0] == '\0') {
            operand_name(verb, i, name, sizeof(name));
            return cli_fail_usage(command, "%s of %s is empty", name, verb->name);
        }
    return NY_OK;
}

/* Tells whether a word begins with a dash that a word processor put there: en, em or minus. */
static bool has_other_dash(const char *word)
{
    static const char *const dashes[] = {"\u2013", "\u2014", "\u2212"};

    for (size_t i = 0; i < sizeof(dashes) / sizeof(dashes[0]); i++)
        if (strncmp(word, dashes[i], strlen(dashes[i])) == 0) return true;
    return false;
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

        if (!operands_only && has_other_dash(word))
            err =
                cli_fail(command, NY_EUSAGE,
                         "'%s' begins with a dash that is not '-'; type --, as in --memory", word);
        else if (operands_only || word[0] != '-' || word[1] == '\0')
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

/* Finds the verb, which is the first word. `nystream points.nys fit` is answered with the order
 * that was meant, unless the first word is nearly a verb itself. */
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
    if (word[0] == '-')
        return cli_fail_usage(command, "a verb comes first, and options such as %s after it", word);
    command->verb = cli_verb_find(command, word);
    if (command->verb) return NY_OK;
    if (command->argc > 2 && cli_verb_find(command, command->argv[2]) &&
        !suggest_verb(command, word))
        return cli_fail(command, NY_EUSAGE,
                        "unknown verb '%s'; the verb comes first: nystream %s %s", word,
                        command->argv[2], word);
    return cli_fail_verb(command, word);
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
