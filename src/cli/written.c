/* The last line of verbs that write a file, or their object of JSON: its name and what it holds. */
#include <string.h>
#include <sys/stat.h>

#include "cli/cli.h"

/* Writes a size in decimal units, as file managers show it: 51.6 kB. */
static struct words size_words(double bytes)
{
    struct words words;

    if (bytes >= 1000) return cli_scaled(bytes, "B");
    snprintf(words.text, sizeof(words.text), "%.0f bytes", bytes);
    return words;
}

/* Prints the value of --size as " 1,600 x 1,200 pixels"; nothing if it is none. */
static void print_pixels(const char *size)
{
    unsigned width, height;

    if (size && sscanf(size, "%6ux%6u", &width, &height) == 2)
        fprintf(stderr, " %s x %s pixels", cli_count(width).text, cli_count(height).text);
}

/* Prints what the file holds: "2 numbers", "8 x 2 f32" of an npy, the pixels of a png, else the
 * part or the verb. */
static void print_shape(const struct command *command)
{
    const struct ny_written *written = ny_context_written(command->context);

    if (written && written->type) {
        fprintf(stderr, " %s", cli_count((double)written->rows).text);
        if (written->columns) fprintf(stderr, " x %s", cli_count((double)written->columns).text);
        if (ny_ends_with(command->output, ".npy"))
            fprintf(stderr, " %s", written->type);
        else if (!written->columns)
            fprintf(stderr, " %s%s", strcmp(written->type, "text") == 0 ? "name" : "number",
                    written->rows == 1 ? "" : "s");
    } else if (ny_ends_with(command->output, ".png")) {
        print_pixels(ny_options_get(command->options, "size"));
    } else {
        fprintf(stderr, " %s",
                command->part                           ? command->part
                : ny_ends_with(command->output, ".nym") ? "model"
                                                        : command->verb->name);
    }
}

/* Begins the line of a file that was written, with its name; false where it has none. */
static bool begin_line(const struct command *command, const char *path, struct stat *there)
{
    if (command->quiet || command->json || stat(path, there) || !S_ISREG(there->st_mode) ||
        strcmp(path, "-") == 0)
        return false;
    fputs("nystream: ", stderr);
    cli_print_text(stderr, path);
    fputc(':', stderr);
    return true;
}

void cli_print_written(const struct command *command)
{
    struct stat there;

    if (!begin_line(command, command->output, &there)) return;
    print_shape(command);
    fprintf(stderr, " (%s)\n", size_words((double)there.st_size).text);
}

void cli_print_second(const struct command *command, const char *path, const char *what)
{
    const struct ny_written *written = ny_context_written(command->context);
    struct stat there;

    if (!path || !written || !begin_line(command, path, &there)) return;
    fprintf(stderr, " %s of %s (%s)\n", what,
            cli_counted((double)written->rows, "row", "rows").text,
            size_words((double)there.st_size).text);
}

/* Prints "key": N, or null for 0, which a file without a table has. */
static void print_count(const char *key, uint64_t count)
{
    if (count)
        printf(", \"%s\": %llu", key, (unsigned long long)count);
    else
        printf(", \"%s\": null", key);
}

/* Prints {"file":…,"bytes":…,"rows":…,"columns":…,"type":…}, with null for what does not apply. */
static void print_object(const struct command *command)
{
    const struct ny_written *written = ny_context_written(command->context);
    bool table = written && written->type;
    struct stat there;

    if (stat(command->output, &there)) return;
    fputs("{\"file\": ", stdout);
    cli_write_json_string(stdout, command->output);
    print_count("bytes", S_ISREG(there.st_mode) ? (uint64_t)there.st_size : 0);
    print_count("rows", table ? written->rows : 0);
    print_count("columns", table ? written->columns : 0);
    fputs(", \"type\": ", stdout);
    cli_write_json_string(stdout, table ? written->type : NULL);
    puts("}");
}

void cli_print_output(const struct command *command)
{
    if (!command->json)
        cli_print_written(command);
    else if (!cli_writes_to_stdout(command))
        print_object(command);
}
