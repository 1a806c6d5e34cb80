/* Command lines, a word a line: parsing, the option table, and the rules between options. A refusal
 * is one sentence, or one object of JSON; what is accepted has an identity that reads back. */
#include <jansson.h>

#include "api/options.h"
#include "cli/cli.h"
#include "fuzz/fuzz.h"

enum { MEMORY = 8 << 20, WORDS = 64, TEXT = 4096 };

static int split(char *text, char *words[WORDS])
{
    int count = 0;

    words[count++] = (char *)(uintptr_t) "nystream";
    for (char *word = strtok(text, "\n"); word && count < WORDS - 1; word = strtok(NULL, "\n"))
        words[count++] = strcmp(word, "''") == 0 ? word + 2 : word;
    words[count] = NULL;
    return count;
}

static void check_refusal(const struct command *command, int status, const char *said)
{
    FUZZ_CHECK(status == NY_EUSAGE || status == NY_EBUDGET); /* --memory acts at once */
    if (command->json_wanted) {
        json_t *json = json_loads(said, 0, NULL);

        FUZZ_CHECK(json_is_integer(json_object_get(json_object_get(json, "error"), "code")));
        json_decref(json);
    } else {
        FUZZ_CHECK(strncmp(said, "nystream: ", 10) == 0 && strchr(said, '\n'));
    }
}

/* Uses the options as a verb does before anything else. */
static void use(const struct ny_options *options, unsigned groups, struct ny_context *ctx)
{
    const struct ny_option_info *info;
    json_t *identity;
    char *text;

    for (int i = 0; (info = ny_option_at(i)); i++)
        (void)ny_options_get(options, info->name);
    (void)fuzz_status(ctx, ny_options_check(options, groups));
    ny_error_clear(ctx);
    identity = ny_options_to_json(options, groups);
    FUZZ_CHECK(identity);
    text = ny_options_differences(options, groups, identity);
    FUZZ_CHECK(text && text[0] == '\0');
    ny_free(ctx, text);
    json_decref(identity);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct ny_context *ctx = fuzz_context(MEMORY);
    const char *operands[WORDS];
    char text[TEXT], *words[WORDS], *said = NULL;
    struct command command = {
        .verbs = cli_verbs, .context = ctx, .argv = words, .operands = operands};
    FILE *own = stderr, *words_said;
    size_t length;
    int status;

    if (size >= TEXT) return 0;
    for (size_t i = 0; i < size; i++)
        text[i] = data[i] ? (char)data[i] : ' ';
    text[size] = '\0';
    command.argc = split(text, words);
    FUZZ_CHECK(ny_options_new(&command.options, ctx) == NY_OK);
    words_said = open_memstream(&said, &length);
    stderr = words_said;
    status = cli_parse(&command);
    stderr = own;
    fclose(words_said);
    ny_context_set_memory(ctx, MEMORY);
    ny_context_set_threads(ctx, 1);
    if (status) check_refusal(&command, status, said);
    else FUZZ_CHECK(length == 0 && command.operand_count < WORDS);
    if (!status) use(command.options, command.verb->groups, ctx);
    free(said);
    ny_options_free(command.options);
    FUZZ_CHECK(ny_memory_used(ctx) == 0);
    return 0;
}
