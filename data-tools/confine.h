/* Limits of what a program that reads files of others for nystream may do, and for how long. */
#ifndef NY_DATA_TOOLS_CONFINE_H
#define NY_DATA_TOOLS_CONFINE_H

#include "base/context.h"

/* Ends this process with its parent, keeps it from leaving a core file, and limits its data to
 * `memory` bytes; 0: as much as there is. Takes the seconds of CPU time that it was given. */
void confine_begin(struct ny_context *ctx, uint64_t memory);
/* Gives up all calls of the system that reading open files does not need. Where the kernel has no
 * such filters, nothing is given up. */
void confine_calls(void);
/* Says that the process has come further: it may take the same seconds of CPU time again. */
void confine_renew(void);

#endif
