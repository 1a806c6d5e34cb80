/*
 * Writes the completion scripts of bash and zsh from the tables of verbs and options, for `nystream
 * help --bash-completion` and --zsh-completion. The scripts hold all words that the tables know;
 * for the names of results they run `nystream list STORE` when a key is pressed.
 *
 * An option's values follow from its placeholder: "a|b|c" are words, FILE and DIR are paths. Only
 * the few that is_file() and values_of() name are known by the option's name.
 */
#include "cli/cli.h"

#include <ctype.h>
#include <string.h>

/* Writes the words of "a|b|c", separated by blanks; false when the argument is a placeholder such
 * as FILE. A placeholder among words, as in "G|auto", is in capitals and is left out. */
static bool choices_of(const struct option_view *view, char *words, size_t size)
{
    size_t used = 0, length;

    if (!view->argument || !strchr(view->argument, '|')) return false;
    for (const char *at = view->argument; *at && used < size; at += length + (at[length] == '|')) {
        length = strcspn(at, "|");
        if (!isupper((unsigned char)*at))
            used += (size_t)snprintf(words + used, size - used, "%s%.*s", used ? " " : "",
                                     (int)length, at);
    }
    return used > 0;
}

/* Tells whether an option's value is a path, or may be one, by its placeholder. */
static bool is_file(const struct option_view *view)
{
    return view->argument &&
           (strncmp(view->argument, "FILE", 4) == 0 || strstr(view->argument, ".npy") ||
            strstr(view->argument, ".nym") || strcmp(view->argument, "DIR") == 0 ||
            strcmp(view->name, "features") == 0);
}

/* Kinds of option values besides words and files. */
enum values { VALUES_OTHER, VALUES_NAMES, VALUES_COLORS, VALUES_COLUMNS };

/* Finds by their names the options whose values are results of the store, colours, or columns of a
 * file. */
static enum values values_of(const struct option_view *view)
{
    if (strcmp(view->name, "graph") == 0 || strcmp(view->name, "landmarks-from") == 0 ||
        strcmp(view->name, "against") == 0)
        return VALUES_NAMES;
    if (strcmp(view->name, "color") == 0) return VALUES_COLORS;
    return strcmp(view->name, "label-column") == 0 || strcmp(view->name, "id-column") == 0
               ? VALUES_COLUMNS
               : VALUES_OTHER;
}

/* Words that --color takes. Numbers of components and columns of other results can be typed too. */
static const char colors[] = "auto density label cluster row component residual";

/* Writes the parts that --part takes, separated by blanks. */
static void put_parts(FILE *file)
{
    for (size_t i = 0; ny_export_parts()[i]; i++)
        fprintf(file, "%s%s", i ? " " : "", ny_export_parts()[i]);
}

static void put_verbs(FILE *file, const struct verb *verbs)
{
    for (const struct verb *verb = verbs; verb->name; verb++)
        fprintf(file, "%s%s", verb > verbs ? " " : "", verb->name);
}

/* Writes the rest of a branch of `case` for an option: the words that may follow, or that the shell
 * completes file names, or nothing. Behind a switch the script goes on. */
static void put_bash_value(FILE *file, const struct option_view *view)
{
    char words[256];

    if (!view->argument) {
        fputs(";;\n", file);
    } else if (values_of(view) == VALUES_NAMES) {
        fputs("words=$(_nystream_names) ;;\n", file);
    } else if (values_of(view) == VALUES_COLORS) {
        fprintf(file, "words=\"%s\" ;;\n", colors);
    } else if (values_of(view) == VALUES_COLUMNS) {
        fputs("words=$(_nystream_columns) ;;\n", file);
    } else if (view->own == OWN_PART) {
        fputs("words=\"", file);
        put_parts(file);
        fputs("\" ;;\n", file);
    } else if (choices_of(view, words, sizeof(words))) {
        fprintf(file, "words=\"%s\" ;;\n", words);
    } else {
        fputs(is_file(view) ? "_nystream_files -f; return ;;\n" : "return ;;\n", file);
    }
}

/* Tells whether an option of the command has the name of one of the library, which other verbs
 * take. */
static bool has_namesake(const struct option_view *view)
{
    struct option_view first;

    return view->own && cli_option_find(NULL, view->name, &first) && !first.own;
}

/* Writes the branches of `case VERB:OPTION` that tell what follows options. Those of the command
 * that have a namesake go first. */
static void put_bash_values(FILE *file, const struct verb *verbs)
{
    struct option_view view;

    for (const struct verb *verb = verbs; verb->name; verb++)
        for (size_t i = 0; cli_option_at(verb, i, &view); i++) {
            if (!has_namesake(&view)) continue;
            fprintf(file, "    %s:--%s) ", verb->name, view.name);
            put_bash_value(file, &view);
        }
    for (size_t i = 0; cli_option_at(NULL, i, &view); i++) {
        if (!view.argument || has_namesake(&view)) continue;
        fprintf(file, view.letter ? "    *:--%s|*:-%c) " : "    *:--%s) ", view.name, view.letter);
        put_bash_value(file, &view);
    }
}

/* Writes a branch for each verb with all its options, the --no-S of switches among them. */
static void put_bash_options(FILE *file, const struct verb *verbs)
{
    struct option_view view;

    for (const struct verb *verb = verbs; verb->name; verb++) {
        fprintf(file, "        %s) words=\"", verb->name);
        for (size_t k = 0; cli_option_at(verb, k, &view); k++)
            fprintf(file, "%s--%s%s%s", k ? " " : "", view.name,
                    view.switch_both_ways ? " --no-" : "", view.switch_both_ways ? view.name : "");
        fputs("\" ;;\n", file);
    }
}

/* Writes the verbs that take operands of a kind, as a pattern of the shell: "fit|select". */
static void put_verbs_with(FILE *file, const struct verb *verbs,
                           bool (*has)(const struct verb *verb))
{
    const char *separator = "";

    for (const struct verb *verb = verbs; verb->name; verb++) {
        if (!has(verb)) continue;
        fprintf(file, "%s%s", separator, verb->name);
        separator = "|";
    }
}

/* Tells whether the word behind the verb is a store, for which the shell offers folders. */
static bool takes_store(const struct verb *verb)
{
    return strncmp(verb->operands + (verb->operands[0] == '['), "STORE", 5) == 0;
}

/* Tells whether the word behind the store is the name of a result. */
static bool takes_name(const struct verb *verb)
{
    return strstr(verb->operands, "NAME") || strstr(verb->operands, "GRAPH");
}

/* Tells whether all further words are names of results too, as in "report STORE [NAME]…". */
static bool takes_names(const struct verb *verb)
{
    return strstr(verb->operands, "NAME…") || strstr(verb->operands, "[NAME]…");
}

/* Functions of the script that print the path that a word of the command line is, which bash hands
 * over as it was typed, with its quotes; the names of the store's results; and the columns of the
 * first line of each CSV or TSV file on the line; and one that offers files (-f) or folders (-d),
 * whose names may have blanks. Nothing of the line is evaluated. */
static const char bash_helpers[] = "_nystream_path() {\n"
                                   "    local word=$1\n"
                                   "    case $word in\n"
                                   "    \\'*) word=${word#?} word=${word%\\'} ;;\n"
                                   "    \\\"*) word=${word#?} word=${word%\\\"} ;;\n"
                                   "    *) IFS= read word <<<\"$word\" ;;\n"
                                   "    esac\n"
                                   "    case $1 in \"~/\"*) word=$HOME/${word#??} ;; esac\n"
                                   "    printf '%s\\n' \"$word\"\n"
                                   "}\n"
                                   "_nystream_names() {\n"
                                   "    nystream list \"$(_nystream_path \"${COMP_WORDS[2]}\")\" "
                                   "2>/dev/null | cut -f 1\n"
                                   "}\n"
                                   "_nystream_columns() {\n"
                                   "    local word\n"
                                   "    for word in \"${COMP_WORDS[@]:2}\"; do\n"
                                   "        word=$(_nystream_path \"$word\")\n"
                                   "        case $word in\n"
                                   "        *.csv | *.tsv) head -n 1 \"$word\" 2>/dev/null | tr -d "
                                   "'\"\\r' | tr ',\\t' '\\n\\n' ;;\n"
                                   "        esac\n"
                                   "    done\n"
                                   "}\n"
                                   "_nystream_files() {\n"
                                   "    mapfile -t COMPREPLY < <(compgen \"$1\" -- \"$cur\")\n"
                                   "}\n";

/* Places decide what is offered: word 1 is a verb, word 2 mostly a store, word 3 mostly a name. An
 * option in front of the word goes before all of these. Where nothing is known, the script falls
 * back to file names. */
void cli_print_bash_completion(FILE *file, const struct verb *verbs)
{
    fputs("# bash completion of nystream; made by `nystream help --bash-completion`\n", file);
    fputs(bash_helpers, file);
    fputs("_nystream() {\n"
          "    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]} words=\n"
          "    COMPREPLY=()\n"
          "    if [ \"$COMP_CWORD\" -eq 1 ]; then\n"
          "        COMPREPLY=($(compgen -W \"",
          file);
    put_verbs(file, verbs);
    fputs(" --help --version\" -- \"$cur\"))\n        return\n    fi\n"
          "    case ${COMP_WORDS[1]}:$prev in\n",
          file);
    put_bash_values(file, verbs);
    fputs("    esac\n    if [ -z \"$words\" ] && [[ $cur == -* ]]; then\n"
          "        case ${COMP_WORDS[1]} in\n",
          file);
    put_bash_options(file, verbs);
    fputs("        esac\n    elif [ -z \"$words\" ] && [ \"$COMP_CWORD\" -eq 3 ]; then\n"
          "        case ${COMP_WORDS[1]} in\n        ",
          file);
    put_verbs_with(file, verbs, takes_name);
    fputs(")\n            words=$(_nystream_names) ;;\n"
          "        esac\n"
          "    elif [ -z \"$words\" ] && [ \"$COMP_CWORD\" -gt 3 ]; then\n"
          "        case ${COMP_WORDS[1]} in\n        ",
          file);
    put_verbs_with(file, verbs, takes_names);
    fputs(")\n            words=$(_nystream_names) ;;\n"
          "        esac\n"
          "    elif [ -z \"$words\" ] && [ \"$COMP_CWORD\" -eq 2 ]; then\n"
          "        case ${COMP_WORDS[1]} in\n        ",
          file);
    put_verbs_with(file, verbs, takes_store);
    fputs(")\n            _nystream_files -d ;;\n        help)\n            "
          "words=\"",
          file);
    put_verbs(file, verbs);
    fputs("\" ;;\n        esac\n    fi\n"
          "    if [ -n \"$words\" ]; then\n"
          "        COMPREPLY=($(compgen -W \"$words\" -- \"$cur\"))\n"
          "    elif [ ${#COMPREPLY[@]} -eq 0 ]; then\n"
          "        _nystream_files -f\n"
          "    fi\n"
          "}\n"
          "complete -o filenames -F _nystream nystream\n",
          file);
}

/* Writes the first bytes of a text so that they can stand inside single quotes, and in the brackets
 * or the list of words of _arguments. */
static void put_zsh_text(FILE *file, const char *text, size_t length)
{
    for (const char *end = text + length; text < end; text++) {
        if (*text == '\'')
            fputs("'\\''", file);
        else if (strchr("[]:\\", *text))
            fprintf(file, "\\%c", *text);
        else
            fputc(*text, file);
    }
}

/* Writes the first sentence of a text in the same way. */
static void put_zsh_summary(FILE *file, const char *text)
{
    put_zsh_text(file, text, (size_t)cli_first_sentence(text));
}

/* Writes a line of _arguments, such as '--skip-damaged[write damaged rows as NaN and continue]',
 * and a second one for the --no-S of a switch. */
static void put_zsh_option(FILE *file, const struct option_view *view)
{
    char words[256];

    fprintf(file, "            '--%s%s[", view->name, view->argument ? "=" : "");
    put_zsh_summary(file, view->summary);
    fputc(']', file);
    if (values_of(view) == VALUES_NAMES) {
        fprintf(file, ":%s:_nystream_names", view->name);
    } else if (values_of(view) == VALUES_COLORS) {
        fprintf(file, ":%s:(%s)", view->name, colors);
    } else if (view->own == OWN_PART) {
        fputs(":part:(", file);
        put_parts(file);
        fputc(')', file);
    } else if (choices_of(view, words, sizeof(words))) {
        fprintf(file, ":%s:(", view->name);
        put_zsh_text(file, words, strlen(words));
        fputc(')', file);
    } else if (view->argument) {
        fprintf(file, ":%s:%s", view->name, is_file(view) ? "_files" : "");
    }
    fputs("' \\\n", file);
    if (view->switch_both_ways) {
        fprintf(file, "            '--no-%s[", view->name);
        put_zsh_summary(file, view->summary);
        fputs("]' \\\n", file);
    }
}

void cli_print_zsh_completion(FILE *file, const struct verb *verbs)
{
    struct option_view view;

    fputs("#compdef nystream\n# made by `nystream help --zsh-completion`\n"
          "_nystream_names() {\n"
          "    local -a names\n"
          "    local store=${(Q)words[3]} # the word without its quotes\n"
          "    [[ $store == '~/'* ]] && store=$HOME/${store:2}\n"
          "    names=(${(f)\"$(nystream list \"$store\" 2>/dev/null | cut -f 1)\"})\n"
          "    compadd -a names\n"
          "}\n"
          "_nystream() {\n    local -a verbs\n    verbs=(\n",
          file);
    for (const struct verb *verb = verbs; verb->name; verb++) {
        fprintf(file, "        '%s:", verb->name);
        put_zsh_summary(file, verb->summary);
        fputs("'\n", file);
    }
    fputs("    )\n    if (( CURRENT == 2 )); then\n        _describe verb verbs\n        return\n"
          "    fi\n    case $words[2] in\n",
          file);
    for (const struct verb *verb = verbs; verb->name; verb++) {
        fprintf(file, "    %s)\n        _arguments \\\n", verb->name);
        for (size_t k = 0; cli_option_at(verb, k, &view); k++)
            put_zsh_option(file, &view);
        if (takes_store(verb)) fputs("            '2:store:_directories' \\\n", file);
        fputs(takes_name(verb) ? "            '*:name:_nystream_names' ;;\n"
                               : "            '*:file:_files' ;;\n",
              file);
    }
    fputs("    esac\n}\n_nystream \"$@\"\n", file);
}
