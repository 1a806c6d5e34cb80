/* export, transform: what leaves a store as a file. */
#include "cli/cli.h"

#include <sys/stat.h>

int cli_run_export(struct command *command)
{
    const char *part = command->part ? command->part : "embedding";
    const char *store = command->operands[0], *name = command->operands[1];
    int status;

    if (!command->output)
        return cli_fail_usage(command, "export needs -o OUT.npy, or -o OUT.csv, .csv.gz or .tsv");
    if (command->given & OWN_SKIP_DAMAGED)
        status = ny_export_undamaged(command->context, store, name, part, command->output, NULL);
    else
        status = ny_export(command->context, store, name, part, command->output);
    if (status) return cli_fail_library(command, status);
    cli_display_clear(&command->display);
    cli_print_written(command);
    return NY_OK;
}

/* A store is a folder, whatever its name ends with. */
static bool is_model(const char *path)
{
    struct stat there;

    return cli_ends_with(path, ".nym") && !(stat(path, &there) == 0 && S_ISDIR(there.st_mode));
}

int cli_run_transform(struct command *command)
{
    const char *source = command->operands[0];
    int status;

    if (command->operand_count == 1 && !cli_ends_with(source, ".nym"))
        return cli_fail_usage(command,
                              "transform needs NAME after the store, or a model MODEL.nym");
    if (command->operand_count == 2 && is_model(source))
        return cli_fail_usage(command, "%s is a model, which stands alone: leave '%s' out", source,
                              command->operands[1]);
    if (!command->input) return cli_fail_usage(command, "transform needs --input FILE");
    if (!command->output)
        return cli_fail_usage(command,
                              "transform needs -o OUT.npy, or -o OUT.csv, .csv.gz or .tsv");
    if (command->operand_count == 1)
        status = ny_transform_model(command->context, source, command->input, command->output,
                                    command->options);
    else
        status = ny_transform(command->context, source, command->operands[1], command->input,
                              command->output, command->options);
    if (status) return cli_fail_library(command, status);
    cli_display_clear(&command->display);
    cli_print_written(command);
    return NY_OK;
}
