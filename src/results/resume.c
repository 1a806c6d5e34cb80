#include "results/resume.h"

#include <stdio.h>
#include <string.h>

#include "base/command.h"
#include "base/memory.h"

static const char field[] = "command", around[] = "command_around";

/* The texts of the context's command before and after the word that is the store's path. Null where
 * it has no such word: the command named the set of shards that this store is one of. */
static json_t *around_path(struct ny_store *store)
{
    struct ny_context *ctx = ny_store_context(store);
    const char *path = ny_store_path(store), *word;
    char *quoted = ny_shell_words(ctx, &path, 1);
    size_t bytes = quoted ? strlen(quoted) : 0;
    json_t *texts = NULL;

    word = ny_context_command_store(ctx);
    if (quoted && word && !strncmp(word, quoted, bytes) && (word[bytes] == ' ' || !word[bytes])) {
        const char *line = ny_context_command(ctx);

        texts = json_pack("[s#, s]", line, (int)(word - line), word + bytes);
    }
    ny_free(ctx, quoted);
    return texts ? texts : json_null();
}

void ny_record_set_command(struct ny_store *store, json_t *object)
{
    const char *command = ny_context_command(ny_store_context(store));

    ny_field_set_json(object, field, command ? json_string(command) : json_null());
    ny_field_set_json(object, around, around_path(store));
}

void ny_record_copy_command(json_t *to, const json_t *from)
{
    static const char *const fields[] = {field, around}; /* 1.0 kept neither */

    for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
        json_t *value = json_object_get(from, fields[i]);

        if (value) ny_field_set_json(to, fields[i], json_incref(value));
    }
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

/* The command of a job, as it was typed, but with the path that the store is opened by now where
 * the record tells which word that is: it may have been moved or copied since, or be named from
 * another folder. */
static char *command_here(struct ny_store *store, const json_t *job)
{
    const json_t *texts = json_object_get(job, around);
    const char *before = json_string_value(json_array_get(texts, 0));
    const char *after = json_string_value(json_array_get(texts, 1)), *path = ny_store_path(store);
    struct ny_context *ctx = ny_store_context(store);
    char *quoted, *text;
    size_t room;

    if (!before || !after) return ny_strdup(ctx, ny_field_text(job, field));
    quoted = ny_shell_words(ctx, &path, 1);
    if (!quoted) return NULL;
    room = strlen(before) + strlen(quoted) + strlen(after) + 1;
    text = ny_alloc(ctx, NY_MEM_OTHER, room);
    if (text) snprintf(text, room, "%s%s%s", before, quoted, after);
    ny_free(ctx, quoted);
    return text;
}

int ny_resume_command(struct ny_store *store, const char *name, const json_t *record, char **out)
{
    const json_t *update = json_object_get(record, "update");
    const json_t *job = update ? update : record, *command = json_object_get(job, field);

    *out = NULL;
    if (command && !json_is_string(command)) return NY_OK;
    if (!update && json_object_get(record, "summed")) command = NULL; /* it ends with the sums */
    *out = command ? command_here(store, job) : plain_command(store, name, record);
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
