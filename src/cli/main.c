/* nystream: the command. Parses, runs one verb, reports; the exit code is the library's status. */
#include <stdlib.h>
#include <unistd.h>

#include "cli/cli.h"

/* Once more, where OpenBLAS has to be told which CPU this is; goes on where that fails. */
static void tell_openblas(char **argv)
{
    const char *core = ny_blas_coretype();

    if (core && setenv("OPENBLAS_CORETYPE", core, 1) == 0) execv("/proc/self/exe", argv);
}

int main(int argc, char **argv)
{
    const char *operands[argc + 1];
    struct command command = {.argc = argc, .argv = argv, .operands = operands};
    int status;

    tell_openblas(argv);
    cli_prepare_output();
    status = ny_context_new(&command.context);
    if (!status) status = ny_options_new(&command.options, command.context);
    if (status) {
        cli_fail_library(&command, status);
        goto done;
    }
    status = cli_parse(&command);
    if (!status) status = cli_remember_command(&command);
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
