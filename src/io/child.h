/*
 * A program that reads a file for this process and writes what it finds to a pipe: started, and
 * judged when it ends. A file that makes it crash does no harm here. For io/ alone.
 */
#ifndef NY_IO_CHILD_H
#define NY_IO_CHILD_H

#include "base/context.h"

/* A program to start. */
struct ny_child_spec {
    const char *program;          /* its name, which is looked for (ny_child_start) */
    const char *variable;         /* environment variable with its path; NULL or not set: none */
    const char *const *arguments; /* arguments behind the name; ends with NULL */
    const char *path;             /* names the file in messages; stays valid */
    int input;                    /* its standard input */
    unsigned seconds;             /* of CPU time that it may take; it may renew them */
};

struct ny_child;

/* Starts the program: that which the variable names; else the one beside this executable, beside
 * the library, or in the folder bin beside that of the library; else the one on PATH. *output is
 * the end of a pipe to read from, which is the caller's. NY_EIO where there is none. */
int ny_child_start(struct ny_child **out, struct ny_context *ctx, const struct ny_child_spec *spec,
                   int *output);
/* Waits for the end of the child, which has closed its output, or is killed after some seconds.
 * NY_OK where it ended well; else an error with what it said, or how it died, and what to do. */
int ny_child_finish(struct ny_child *child);
/* Waits in the same way; tells whether the child did not end well. */
bool ny_child_failed(struct ny_child *child);
/* Kills the child if it still runs, and frees it; NULL is fine. No process is left behind. */
void ny_child_free(struct ny_child *child);

#endif
