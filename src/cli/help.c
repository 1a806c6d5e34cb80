/*
 * Prints help from the tables of verbs and options, so that no option can be missing from it: the
 * overview of `nystream help`, the page of `nystream help VERB`, and the usage line below an error.
 *
 * The page is short by default: the first line of the description, and the first sentence of each
 * option that is not rare. --all prints everything. Lines are as wide as the terminal, within 40
 * and 100 columns.
 */
#include "cli/cli.h"

#include <string.h>

enum { WIDTH_MAX = 100, VERB_COLUMN = 13, SUMMARY_COLUMN = 26, SYNOPSIS_BYTES = 256 };

static int page_width(void)
{
    int width = cli_terminal_width();

    return width > WIDTH_MAX ? WIDTH_MAX : width < 40 ? 40 : width;
}

void cli_synopsis(const struct verb *verb, char *text, size_t bytes)
{
    snprintf(text, bytes, "%s%s%s%s%s%s", verb->name, verb->operands[0] ? " " : "", verb->operands,
             verb->required[0] ? " " : "", verb->required, verb->groups ? " [options]" : "");
}

void cli_print_usage(FILE *file, const struct verb *verb)
{
    char synopsis[SYNOPSIS_BYTES];

    cli_synopsis(verb, synopsis, sizeof(synopsis));
    fprintf(file, "usage: nystream %s\n", synopsis);
}

void cli_print_overview(FILE *file, const struct verb *verbs)
{
    int width = page_width();

    fputs("nystream: spectral embeddings of data sets that do not fit in memory\n\n"
          "usage: nystream VERB …\n\n",
          file);
    for (const struct verb *verb = verbs; verb->name; verb++) {
        fprintf(file, "  %-*s", VERB_COLUMN - 2, verb->name);
        cli_wrap(file, verb->summary, VERB_COLUMN, VERB_COLUMN, width);
    }
    fputs("\nA first embedding:\n"
          "  nystream embed table.csv -o embedding.npy\n"
          "The same in separate steps, for data of any size:\n"
          "  nystream import points.nys table.csv\n"
          "  nystream plan points.nys --memory 2G\n"
          "  nystream fit points.nys first --memory 2G\n"
          "  nystream export points.nys first -o embedding.npy\n"
          "  nystream report points.nys first -o first.html\n\n"
          "`nystream help VERB` explains a verb and its options.\n",
          file);
}

/* Writes the summary, or its first sentence, and the default behind it: "… (default 2)". */
static void option_text(const struct option_view *view, bool all, char *text, size_t bytes)
{
    snprintf(text, bytes, "%.*s%s%s%s", all ? (int)bytes : cli_first_sentence(view->summary),
             view->summary, view->fallback ? " (default " : "",
             view->fallback ? view->fallback : "", view->fallback ? ")" : "");
}

/* Prints an option with its text in a column beside it, or on the next line where its name is too
 * long for that. */
static void print_option(FILE *file, const struct option_view *view, bool all, int width)
{
    char synopsis[SYNOPSIS_BYTES], text[1024];
    int column;

    if (view->letter)
        snprintf(synopsis, sizeof(synopsis), "-%c, --%s%s%s", view->letter, view->name,
                 view->argument ? " " : "", view->argument ? view->argument : "");
    else if (view->switch_both_ways)
        snprintf(synopsis, sizeof(synopsis), "--%s, --no-%s", view->name, view->name);
    else
        snprintf(synopsis, sizeof(synopsis), "--%s%s%s", view->name, view->argument ? " " : "",
                 view->argument ? view->argument : "");
    option_text(view, all, text, sizeof(text));
    fprintf(file, "  %s", synopsis);
    column = 2 + cli_columns(synopsis);
    if (column + 2 > SUMMARY_COLUMN) {
        fputc('\n', file);
        column = 0;
    }
    fprintf(file, "%*s", SUMMARY_COLUMN - column, "");
    cli_wrap(file, text, SUMMARY_COLUMN, SUMMARY_COLUMN, width);
}

/* Prints the parts that --part takes, for the verb export. */
static void print_parts(FILE *file, int width)
{
    const char *const *parts = ny_export_parts();
    char list[512] = "";
    size_t length = 0;

    for (size_t i = 0; parts[i] && length < sizeof(list); i++)
        length +=
            (size_t)snprintf(list + length, sizeof(list) - length, "%s%s", i ? ", " : "", parts[i]);
    fputs("\nParts: ", file);
    cli_wrap(file, list, 7, 7, width);
}

static void print_examples(FILE *file, const char *lines)
{
    fputs("\nFor example:\n", file);
    for (size_t length; *lines; lines += length + (lines[length] == '\n')) {
        length = strcspn(lines, "\n");
        fprintf(file, "  %.*s\n", (int)length, lines);
    }
}

/* Prints the first line of a description, or with `all` every line. */
static void print_description(FILE *file, const char *text, bool all, int width)
{
    char line[2048];
    size_t length;

    do { /* a line "- word: what it is" is an entry of a list */
        length = strcspn(text, "\n");
        snprintf(line, sizeof(line), "%.*s", (int)length, text);
        cli_wrap(file, line, 0, strncmp(line, "- ", 2) == 0 ? 2 : 0, width);
        text += length + (text[length] == '\n');
    } while (all && *text);
}

/* Tells whether option `index` is the first of its section that is shown. */
static bool begins_section(const struct verb *verb, size_t index, const char *section, bool all)
{
    struct option_view earlier;

    for (size_t i = 0; i < index && cli_option_at(verb, i, &earlier); i++)
        if ((all || !earlier.rare) && strcmp(earlier.section, section) == 0) return false;
    return true;
}

/* Prints a section's options together, wherever they stand in the table. */
static void print_section(FILE *file, const struct verb *verb, const char *section, bool all,
                          int width)
{
    struct option_view view;

    fprintf(file, "%s:\n", section);
    for (size_t i = 0; cli_option_at(verb, i, &view); i++)
        if ((all || !view.rare) && strcmp(view.section, section) == 0)
            print_option(file, &view, all, width);
}

void cli_print_help(FILE *file, const struct verb *verb, bool all)
{
    struct option_view view;
    int width = page_width();
    size_t count = 0, rare = 0;

    cli_print_usage(file, verb);
    fputc('\n', file);
    print_description(file, verb->description, all, width);
    print_examples(file, verb->examples);
    fputc('\n', file);
    for (; cli_option_at(verb, count, &view); count++) {
        rare += view.rare;
        if ((all || !view.rare) && begins_section(verb, count, view.section, all))
            print_section(file, verb, view.section, all, width);
    }
    if (verb->own & OWN_PART) print_parts(file, width);
    if (rare && !all)
        fprintf(file, "\n`nystream help %s --all` explains more, with %zu more options.\n",
                verb->name, rare);
    else if (strchr(verb->description, '\n') && !all)
        fprintf(file, "\n`nystream help %s --all` explains more.\n", verb->name);
}
