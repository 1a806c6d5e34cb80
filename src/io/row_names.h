/*
 * Names of the rows of a file, read in step with its rows: lines of a table beside it (10x
 * Genomics' barcodes.tsv), or names that came before the rows and wait in a temporary file.
 * io/reader.c joins them with rows, by the numbers of these in the file. For io/ alone.
 */
#ifndef NY_IO_ROW_NAMES_H
#define NY_IO_ROW_NAMES_H

#include "base/names.h"
#include "io/bytes.h"
#include "io/format.h"

struct ny_row_names;

/* Names that are the lines of a file, by a field of theirs (ny_line_name()). Takes `lines` over,
 * also on failure. */
int ny_row_names_of_lines(struct ny_row_names **out, struct ny_reader *reader,
                          struct ny_bytes *lines, unsigned field);
/* Names that reader->bytes has before the rows, one for each of table.rows: a u32 length and so
 * many bytes. They are read now, into a temporary file where they are many. */
int ny_row_names_of_stream(struct ny_row_names **out, struct ny_reader *reader);
/* Frees the names with their file; NULL is fine. */
void ny_row_names_close(struct ny_row_names *names);
/* Passes over `skip` names and adds the next `count` to `to`. NY_EDATA where there are fewer. */
int ny_row_names_next(struct ny_row_names *names, uint64_t skip, size_t count, struct ny_names *to);

/* Reads the next name of a stream, a u32 length and so many bytes. `number` tells it in messages.
 * NY_EDATA for one that is too long, or has a line end or a zero byte in it;
 * NY_END where the stream ends. */
int ny_stream_name(struct ny_reader *reader, uint64_t number, struct ny_names *to);
/* Adds field `field` (from 0) of the next line, or the first where the line has fewer, to `to`.
 * NY_END behind the last line. */
int ny_line_name(struct ny_bytes *lines, unsigned field, struct ny_names *to);
/* Counts the names that a file has, one a line, up to the last that is not empty, and adds them to
 * `to`, which is empty, unless that is NULL. */
int ny_lines_names(struct ny_context *ctx, const char *path, unsigned field, struct ny_names *to,
                   uint64_t *count);

#endif
