/*
 * Prints the tables of verbs and options as JSON, for programs that write documentation: the
 * reference of the guide is made of it (`nystream help --json`).
 */
#include "cli/cli.h"

/* Makes the entry of an option; the sections, defaults and summaries are those of `help --all`. */
static json_t *option_entry(const struct option_view *view)
{
    char letter[2] = {view->letter, '\0'};

    return json_pack("{s:s, s:s?, s:s?, s:s?, s:s, s:s, s:b, s:b}", "name", view->name, "letter",
                     view->letter ? letter : NULL, "argument", view->argument, "default",
                     view->fallback, "section", view->section, "summary", view->summary, "rare",
                     view->rare, "switch_both_ways", view->switch_both_ways);
}

static json_t *verb_entry(const struct verb *verb)
{
    struct option_view view;
    json_t *options = json_array();
    json_t *entry =
        json_pack("{s:s, s:s, s:s, s:s, s:s, s:s, s:o}", "name", verb->name, "operands",
                  verb->operands, "required", verb->required, "summary", verb->summary,
                  "description", verb->description, "examples", verb->examples, "options", options);

    for (size_t i = 0; entry && cli_option_at(verb, i, &view); i++)
        if (json_array_append_new(options, option_entry(&view))) {
            json_decref(entry);
            return NULL;
        }
    return entry;
}

int cli_print_listing(struct command *command, const struct verb *only)
{
    json_t *verbs = json_array();
    int failed = !verbs;

    for (const struct verb *verb = command->verbs; verb->name && !failed; verb++)
        if (!only || verb == only) failed = json_array_append_new(verbs, verb_entry(verb));
    if (!failed) failed = json_dumpf(verbs, stdout, JSON_INDENT(2));
    if (!failed) putchar('\n');
    json_decref(verbs);
    return failed && !ferror(stdout) ? cli_no_memory(command) : NY_OK;
}
