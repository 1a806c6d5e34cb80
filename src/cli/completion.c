/*
 * Writes the completion script of bash from the tables of verbs and options, for `nystream help
 * --bash-completion`. That of zsh is the same, which runs there by bashcompinit. The script holds
 * all words that the tables know; for the names of results it runs `nystream list STORE` when a key
 * is pressed. Where it has no words, the shell offers files.
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

/* Tells whether the value of an option is the name of a result. */
static bool is_name(const struct option_view *view)
{
    return strcmp(view->name, "graph") == 0 || strcmp(view->name, "landmarks-from") == 0 ||
           strcmp(view->name, "against") == 0;
}

/* Writes a branch of `case` for each option that takes a value: the words that may follow, or none,
 * where the shell offers files. */
static void put_values(FILE *file)
{
    struct option_view view;
    char words[256];

    for (size_t i = 0; cli_option_at(NULL, i, &view); i++) {
        if (!view.argument) continue;
        fprintf(file, view.letter ? "    --%s|-%c) " : "    --%s) ", view.name, view.letter);
        if (is_name(&view)) {
            fputs("words=$(_nystream_names)", file);
        } else if (view.own == OWN_PART) {
            fputs("words=\"", file);
            for (size_t k = 0; ny_export_parts()[k]; k++)
                fprintf(file, "%s ", ny_export_parts()[k]);
            fputs("\"", file);
        } else {
            fprintf(file, "words=\"%s\"", choices_of(&view, words, sizeof(words)) ? words : "");
        }
        fputs(" ;;\n", file);
    }
}

/* Writes a branch for each verb with all its options, the --no-S of switches among them. */
static void put_options(FILE *file, const struct verb *verbs)
{
    struct option_view view;

    for (const struct verb *verb = verbs; verb->name; verb++) {
        fprintf(file, "    %s:*:-*) words=\"", verb->name);
        for (size_t k = 0; cli_option_at(verb, k, &view); k++)
            fprintf(file, "--%s %s%s ", view.name, view.switch_both_ways ? "--no-" : "",
                    view.switch_both_ways ? view.name : "");
        fputs("\" ;;\n", file);
    }
}

/* Writes a branch for each verb that takes the name of a result, as word 3 or from there on. */
static void put_names(FILE *file, const struct verb *verbs)
{
    for (const struct verb *verb = verbs; verb->name; verb++)
        if (strstr(verb->operands, "NAME") || strstr(verb->operands, "GRAPH"))
            fprintf(file, "    %s:%s:*) words=$(_nystream_names) ;;\n", verb->name,
                    strstr(verb->operands, "…") ? "[3-9]*" : "3");
}

static void put_verbs(FILE *file, const struct verb *verbs)
{
    for (const struct verb *verb = verbs; verb->name; verb++)
        fprintf(file, "%s ", verb->name);
}

void cli_print_bash_completion(FILE *file, const struct verb *verbs)
{
    fputs("# completion of nystream; made by `nystream help --bash-completion`\n"
          "_nystream_names() {\n"
          "    nystream list \"${COMP_WORDS[2]/#\\~\\//$HOME/}\" 2>/dev/null | cut -f 1\n"
          "}\n"
          "_nystream_words() {\n"
          "    local cur=${COMP_WORDS[COMP_CWORD]} words=\n"
          "    COMPREPLY=()\n"
          "    case ${COMP_WORDS[COMP_CWORD - 1]} in\n",
          file);
    put_values(file);
    fputs("    *) case ${COMP_WORDS[1]}:$COMP_CWORD:$cur in\n", file);
    put_options(file, verbs);
    put_names(file, verbs);
    fputs("    *:1:* | help:2:*) words=\"", file);
    put_verbs(file, verbs);
    fputs("--help --version\" ;;\n    esac ;;\n    esac\n"
          "    if [ -n \"$words\" ]; then COMPREPLY=($(compgen -W \"$words\" -- \"$cur\")); fi\n"
          "}\n"
          "complete -o default -F _nystream_words nystream\n",
          file);
}

void cli_print_zsh_completion(FILE *file, const struct verb *verbs)
{
    fputs("#compdef nystream\n# zsh loads this when the first word is to be completed\n"
          "autoload -U +X bashcompinit && bashcompinit\n",
          file);
    cli_print_bash_completion(file, verbs);
    fputs("_bash_complete -o default -F _nystream_words\n", file);
}
