/* nystream: the command. Parses, runs one verb, reports; the exit code is the library's status. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/heap.h"
#include "cli/cli.h"

/* The exit code of --strict. */
static const int warned = 9;

/* Starts the process anew with the words that it was started with. argv lacks some of them where it
 * was started through the dynamic loader (ld.so ./nystream fit …), which /proc/self/exe then is. */
static void start_anew(FILE *words)
{
    size_t bytes = 0, count = 0;

    for (int c; (c = getc(words)) != EOF; bytes++)
        count += c == '\0';
    rewind(words);
    char text[bytes + 1], *argv[count + 1];

    if (!count || fread(text, 1, bytes, words) != bytes) return;
    argv[0] = text;
    for (size_t i = 1; i < count; i++)
        argv[i] = argv[i - 1] + strlen(argv[i - 1]) + 1;
    argv[count] = NULL;
    execv("/proc/self/exe", argv);
}

/* exit() would run the destructors of libraries and wait for their threads, which may never end:
 * those of OpenBLAS do not where they are refused memory (ulimit -v). By now all is written and
 * closed, and looked at. Builds with a sanitizer or for coverage report in exit(): NY_EXIT_BY is
 * that there, and else _exit(). */
static _Noreturn void end(int status)
{
    fflush(NULL);
    NY_EXIT_BY(status);
}

/* Starts again if OpenBLAS has to be told which CPU this is; goes on if that fails. */
static void tell_openblas(void)
{
    const char *core = ny_blas_coretype();
    FILE *words = core ? fopen("/proc/self/cmdline", "re") : NULL;

    if (!words) return;
    if (setenv("OPENBLAS_CORETYPE", core, 1) == 0) start_anew(words);
    fclose(words);
}

/* LMDB takes 2 MiB of zeroes for each table that it opens for writing, and touches few of them.
 * They are mapped, but once the first were freed malloc() would take blocks of this size from its
 * heap, and clear them. The other number is the one that malloc() would come to then. */
static void keep_zeroes_mapped(void)
{
    ny_heap_keep(2 << 20, 4 << 20);
}

/* Gives the process its CPUs back first, because tell_openblas() may start it anew and the new one
 * inherits the CPUs of this one. That in turn comes before any file is open. */
int main(int argc, char **argv)
{
    const char *operands[argc + 1];
    struct command command = {.verbs = cli_verbs, .argc = argc, .argv = argv, .operands = operands};
    int status;

    cli_use_all_cpus();
    tell_openblas();
    keep_zeroes_mapped();
    cli_prepare_output();
    status = ny_context_new(&command.context);
    if (!status) status = ny_options_new(&command.options, command.context);
    if (status) {
        cli_fail_library(&command, status);
        goto done;
    }
    status = cli_parse(&command);
    if (!status) cli_remember_command(&command);
    if (status) goto done;
    cli_display_start(&command);
    ny_guard_sigbus();
    cli_watch_signals(&command);
    status = command.verb->run(&command);
    cli_watch_signals(NULL);
    status = cli_finish_output(&command, status);
    cli_display_end(&command);
    if (!status && command.strict && command.display.warned) status = warned;
done:
    ny_options_free(command.options);
    ny_context_free(command.context);
    end(status);
}
