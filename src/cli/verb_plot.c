/*
 * The verbs plot, which draws an embedding in a file or on the terminal, and report, which writes
 * results as a page. The size of the terminal is found out here, so that
 * the library needs to know of no terminal.
 */
#include "cli/cli.h"

#include <stdlib.h>
#include <string.h>

/* Writes a piece of the picture. A failure is reported when the output ends
 * (cli_finish_output()). */
static int print_text(void *user, const char *text, size_t bytes)
{
    struct command *command = user;

    cli_display_clear(&command->display);
    fwrite(text, 1, bytes, stdout);
    return NY_OK;
}

int cli_run_plot(struct command *command)
{
    const struct ny_screen screen = {.columns = (unsigned)cli_terminal_width(),
                                     .lines = (unsigned)cli_terminal_lines(),
                                     .write = print_text,
                                     .user = command};
    bool terminal = command->typed & OWN_TERMINAL;
    int status;

    if (terminal == (command->output != NULL)) return cli_needs(command, "either -o or --terminal");
    status = terminal ? ny_plot_text(command->context, command->operands[0], command->operands[1],
                                     command->options, &screen)
                      : ny_plot(command->context, command->operands[0], command->operands[1],
                                command->output, command->options);
    cli_display_clear(&command->display);
    if (status) return cli_fail_library(command, status);
    if (command->output) cli_print_output(command);
    return NY_OK;
}

int cli_run_report(struct command *command)
{
    int status;

    if (!command->output) return cli_needs(command, "-o");
    status = ny_write_report(command->context, command->operands[0], command->operands + 1,
                             command->operand_count - 1, command->output, command->options);
    cli_display_clear(&command->display);
    if (status) return cli_fail_library(command, status);
    if (command->output) cli_print_output(command);
    return NY_OK;
}
