#include "results/resume.h"

#include <stdio.h>
#include <string.h>

#include "base/command.h"
#include "base/memory.h"

static const char field[] = "command";

void ny_record_set_command(struct ny_context *ctx, json_t *object)
{
    const char *command = ny_context_command(ctx);

    ny_field_set_json(object, field, command ? json_string(command) : json_null());
}

void ny_record_copy_command(json_t *to, const json_t *from)
{
    ny_field_set_json(to, field, json_incref(json_object_get(from, field)));
}

/* Returns the verb that makes a result of this kind. */
static const char *verb_of(const json_t *record)
{
    if (ny_field_is(record, "kind", "dictionary")) return "select";
    return ny_field_is(record, "kind", "graph") ? "graph" : "fit";
}

/* The command that needs no options, because the record has them. */
static char *plain_command(struct ny_store *store, const char *name, const json_t *record)
{
    const char *mode = ny_field_text(json_object_get(record, "update"), "mode");
    const char *words[] = {"nystream", verb_of(record), ny_store_path(store),
                           name,       "--update",      mode};

    return ny_shell_words(ny_store_context(store), words, mode ? 6 : 4);
}

int ny_resume_command(struct ny_store *store, const char *name, const json_t *record, char **out)
{
    const json_t *update = json_object_get(record, "update");
    const json_t *command = json_object_get(update ? update : record, field);

    *out = NULL;
    if (command && !json_is_string(command)) return NY_OK;
    *out = command ? ny_strdup(ny_store_context(store), json_string_value(command))
                   : plain_command(store, name, record);
    return *out ? NY_OK : NY_EBUDGET;
}

struct ny_resume_words ny_resume_words(struct ny_store *store, const char *name,
                                       const json_t *record)
{
    static const char begin[] = "resume with: ";
    struct ny_resume_words words = {"it can be resumed"};
    char *command;
    int err = ny_resume_command(store, name, record, &command);

    if (err == NY_OK && !command) command = plain_command(store, name, record);
    if (command && sizeof(begin) + strlen(command) <= sizeof(words.text))
        snprintf(words.text, sizeof(words.text), "%s%s", begin, command);
    ny_free(ny_store_context(store), command);
    return words;
}
