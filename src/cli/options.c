/*
 * Lists the options that a verb takes: those of the library that go with it (ny_option_at()), then
 * the command's own. The parser, help, the man page and completions all ask cli_option_at(), so
 * that what is accepted is what is documented.
 */
#include "cli/cli.h"

#include <stddef.h>
#include <string.h>

enum { NAMES_MAX = 160 };

#define OUTPUT "Output"
/* An option sets this member of struct command: to its value or, of a switch, to true. */
#define TO(member) .to = offsetof(struct command, member)

/* Options of the command itself: letter, name, argument, default, text and section of help. All
 * verbs that have one share its text. */
static const struct option_view own_options[] = {
    {'o', "output", "FILE", NULL,
     "file to write; - is the standard output. Tables are .npy, .csv, .csv.gz or .tsv, models "
     ".nym, pictures .png, .svg or .pdf, reports .html; other extensions are refused",
     OUTPUT, .own = OWN_OUTPUT, TO(output)},
    {0, "input", "FILE", NULL, "file with the rows to place; - is the standard input", "Input",
     .own = OWN_INPUT, TO(input)},
    {0, "name", "NAME", NULL, "the result whose sums are merged, in each store", "Input",
     .own = OWN_NAME, TO(name)},
    {0, "keep", "N", NULL,
     "number of rows to keep from the start, at least 1; info shows where each import begins",
     "Rows", .own = OWN_KEEP, TO(keep)},
    {0, "drop-results", NULL, NULL,
     "remove results that include removed rows; else these are named and nothing changes", "Rows",
     .own = OWN_DROP_RESULTS},
    {0, "part", "PART", "embedding", "the part to write (see below)", OUTPUT, .own = OWN_PART,
     TO(part)},
    {0, "distances", "FILE", NULL, "with a graph: file for the distances to the neighbours", OUTPUT,
     .own = OWN_DISTANCES, TO(distances)},
    {0, "clusters", "FILE", NULL,
     "file for the cluster of each new row, after eval has found clusters", OUTPUT,
     .own = OWN_CLUSTERS, TO(clusters)},
    {0, "neighbors", "K", NULL,
     "with a graph: number of neighbours of each new row (default: as many as the graph has)",
     OUTPUT, .own = OWN_NEIGHBORS, TO(neighbors)},
    {0, "recall", "R", NULL,
     "with a graph: share of the true neighbours to find, measured on some of the new rows; 1: all "
     "of them (default: as asked of the graph, else 1)",
     OUTPUT, .own = OWN_RECALL, TO(recall)},
    {0, "skip-damaged", NULL, NULL, "write damaged rows as NaN and continue", OUTPUT,
     .own = OWN_SKIP_DAMAGED},
    {0, "with", "LIST", NULL,
     "any of header, ids, labels, clusters: write column names above the table, and the name, "
     "label and cluster of each row before its numbers. For axes, mean and features, ids are "
     "column names. transform takes header, ids and labels, if the input has them. Only for "
     ".csv, .csv.gz and .tsv; classes are written as words",
     OUTPUT, .own = OWN_WITH, TO(with)},
    {0, "rows", "RANGE", NULL,
     "rows to write, counted from 0: 200:300 is row 200 up to but without row 300, and 200: is all "
     "from row 200 on. Only for parts that have a line for each row",
     OUTPUT, .own = OWN_ROWS, TO(rows)},
    {0, "terminal", NULL, NULL, "draw with characters, on the standard output", OUTPUT,
     .own = OWN_TERMINAL},
    {0, "all", NULL, NULL, "show every option, with its full description", OUTPUT, .own = OWN_ALL},
    {0, "man", NULL, NULL, "write the manual page in roff", OUTPUT, .own = OWN_MAN},
    {0, "raw", NULL, NULL,
     "points as stored, without the preparation of import --rows and --values", OUTPUT,
     .own = OWN_RAW},
    {0, "labels", NULL, NULL, "require labels, else exit 2", "Measures", .own = OWN_LABELS},
    {0, "bash-completion", NULL, NULL, "write the completion script for bash", OUTPUT,
     .own = OWN_BASH},
    {0, "zsh-completion", NULL, NULL, "write the completion script for zsh", OUTPUT,
     .own = OWN_ZSH},
    {0, "json", NULL, NULL, "print the report as JSON, and errors as one object", OUTPUT,
     .own = OWN_JSON, TO(json)},
    {'q', "quiet", NULL, NULL, "print no plan, progress or summary", OUTPUT, .own = OWN_QUIET,
     TO(quiet)},
    {0, "strict", NULL, NULL, "exit 9 if there was a warning, though all is done", OUTPUT,
     .own = OWN_STRICT, TO(strict)},
    {'v', "verbose", NULL, NULL, "print more about what is done, and what it took", OUTPUT,
     .own = OWN_VERBOSE, TO(verbose)},
    {'h', "help", NULL, NULL, "explain the verb and its options", OUTPUT, .own = OWN_HELP},
};

enum { OWN_COUNT = sizeof(own_options) / sizeof(own_options[0]) };

/* Makes the view of an option. A switch that is on, or whose default depends, shows --no-S too. */
static struct option_view view_of(const struct ny_option_info *info)
{
    bool off = !info->argument && info->fallback && strcmp(info->fallback, "no") == 0;

    return (struct option_view){.name = info->name,
                                .argument = info->argument,
                                .fallback = off ? NULL : info->fallback,
                                .summary = info->summary,
                                .section = info->section,
                                .rare = info->groups & NY_GROUP_RARE,
                                .groups = info->groups,
                                .switch_both_ways = !info->argument && !off};
}

/* Tells whether a library's option goes with the verb. Embed has no store, in which
 * something could be named. */
static bool takes(const struct verb *verb, const struct ny_option_info *info)
{
    bool nothing_stored = verb->groups & NY_GROUP_EMBED;

    return info->groups & verb->groups && !(nothing_stored && info->groups & NY_GROUP_STORED);
}

bool cli_option_at(const struct verb *verb, size_t index, struct option_view *view)
{
    const struct ny_option_info *info;

    for (int i = 0; (info = ny_option_at(i)); i++)
        if ((!verb || takes(verb, info)) && index-- == 0) {
            *view = view_of(info);
            return true;
        }
    for (size_t i = 0; i < OWN_COUNT; i++)
        if ((!verb || own_options[i].own & verb->own) && index-- == 0) {
            *view = own_options[i];
            return true;
        }
    return false;
}

bool cli_option_find(const struct verb *verb, const char *name, struct option_view *view)
{
    for (size_t i = 0; cli_option_at(verb, i, view); i++)
        if (strcmp(view->name, name) == 0) return true;
    return false;
}

bool cli_option_by_letter(const struct verb *verb, char letter, struct option_view *view)
{
    for (size_t i = 0; cli_option_at(verb, i, view); i++)
        if (view->letter == letter && letter) return true;
    return false;
}

const char *cli_option_suggest(const struct verb *verb, const char *name)
{
    const char *names[NAMES_MAX];
    struct option_view view;
    size_t count = 0;

    for (; count < NAMES_MAX && cli_option_at(verb, count, &view); count++)
        names[count] = view.name;
    return ny_suggest(name, names, count);
}
