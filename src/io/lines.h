/* The lines of a text file, for lists that are no tables: one entry a line. */
#ifndef NY_IO_LINES_H
#define NY_IO_LINES_H

#include "base/context.h"

/* Takes the text of a line, without blanks at its ends: `length` bytes, a NUL after them only by
 * chance. `number`: of the line, from 1. */
typedef int ny_line_fn(void *arg, uint64_t number, const char *text, size_t length);

/* Gives all lines that are not empty, in order, until one is refused. Packed by gzip or not; "-" is
 * standard input. NY_EIO: missing, unreadable. */
int ny_lines_read(struct ny_context *ctx, const char *path, ny_line_fn *line, void *arg);

#endif
