/* export, transform: what leaves a store as a file. */
#include "cli/cli.h"

int cli_run_export(struct command *command)
{
    const char *part = command->part ? command->part : "embedding";
    const char *store = command->operands[0], *name = command->operands[1];
    int status;

    if (!command->output) return cli_fail_usage(command, "export needs -o OUT.npy or -o OUT.csv");
    if (command->given & OWN_SKIP_DAMAGED)
        status = ny_export_undamaged(command->context, store, name, part, command->output, NULL);
    else
        status = ny_export(command->context, store, name, part, command->output);
    return status ? cli_fail_library(command, status) : NY_OK;
}

int cli_run_transform(struct command *command)
{
    const char *source = command->operands[0];
    int status;

    if (command->operand_count == 1 && !cli_ends_with(source, ".nym"))
        return cli_fail_usage(command,
                              "transform needs NAME after the store, or a model MODEL.nym");
    if (!command->input) return cli_fail_usage(command, "transform needs --input FILE");
    if (!command->output)
        return cli_fail_usage(command, "transform needs -o OUT.npy or -o OUT.csv");
    if (command->operand_count == 1)
        status = ny_transform_model(command->context, source, command->input, command->output,
                                    command->options);
    else
        status = ny_transform(command->context, source, command->operands[1], command->input,
                              command->output, command->options);
    return status ? cli_fail_library(command, status) : NY_OK;
}
