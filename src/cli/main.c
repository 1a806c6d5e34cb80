/* nystream: the command. Parses, runs one verb, reports; the exit code is the library's status. */
#include "cli/cli.h"

int main(int argc, char **argv)
{
    const char *operands[argc + 1];
    struct command command = {.argc = argc, .argv = argv, .operands = operands};
    int status;

    cli_prepare_output();
    status = ny_context_new(&command.context);
    if (!status) status = ny_options_new(&command.options, command.context);
    if (status) {
        cli_fail_library(&command, status);
        goto done;
    }
    status = cli_parse(&command);
    if (status) goto done;
    cli_display_start(&command);
    ny_guard_sigbus();
    cli_watch_signals(&command);
    status = command.verb->run(&command);
    cli_watch_signals(NULL);
    status = cli_finish_output(&command, status);
    cli_display_end(&command);
done:
    ny_options_free(command.options);
    ny_context_free(command.context);
    return status;
}
