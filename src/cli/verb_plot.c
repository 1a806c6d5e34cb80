/* plot: an embedding as a picture. */
#include "cli/cli.h"

int cli_run_plot(struct command *command)
{
    int status;

    if (!command->output)
        return cli_fail_usage(command, "plot needs -o OUT.png, OUT.svg or OUT.pdf");
    status = ny_plot(command->context, command->operands[0], command->operands[1], command->output,
                     command->options);
    return status ? cli_fail_library(command, status) : NY_OK;
}
