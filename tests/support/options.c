#include "support/options.h"

#include "support/test.h"

int options_set(struct ny_options *options, const char *words)
{
    char text[500], *left = text, *word;
    int err = NY_OK;

    assert_true((size_t)snprintf(text, sizeof(text), "%s", words) < sizeof(text));
    while (!err && (word = strtok_r(left, " ", &left))) {
        char *value = strchr(word, '=');

        assert_non_null(value);
        *value++ = '\0';
        err = ny_options_set(options, word, value);
    }
    return err;
}

struct ny_options *options_with(struct ny_context *ctx, const char *format, ...)
{
    struct ny_options *options;
    char words[500];
    va_list values;

    va_start(values, format);
    assert_true((size_t)vsnprintf(words, sizeof(words), format, values) < sizeof(words));
    va_end(values);
    assert_int_equal(ny_options_new(&options, ctx), NY_OK);
    if (options_set(options, words)) fail_msg("%s: %s", words, ny_context_message(ctx));
    return options;
}

struct ny_table dense_table(int dtype, uint64_t rows, uint64_t columns, const void *values)
{
    return (struct ny_table){.struct_bytes = sizeof(struct ny_table),
                             .dtype = dtype,
                             .rows = rows,
                             .columns = columns,
                             .values = values};
}
