/*
 * Writers: npy and text, chosen by the end of the file name (io/output.h): .csv, .csv.gz and .tsv
 * are text, all else is npy. A regular file is written under a temporary name in the same folder
 * and renamed at commit, so that a failed export leaves nothing behind.
 */
#ifndef NY_IO_WRITER_H
#define NY_IO_WRITER_H

#include "base/context.h"

/* NY_OUT_I64: numbers from 0, or -1 for none, which is UINT64_MAX in memory. NY_OUT_BYTES: a file
 * as it is given, with no header, whatever its name. NY_OUT_TEXT: likewise, but packed by gzip
 * where the name says so. A row of both is a byte. */
enum ny_element { NY_OUT_F32, NY_OUT_F64, NY_OUT_U64, NY_OUT_I64, NY_OUT_BYTES, NY_OUT_TEXT };

/* Bytes of an element. */
size_t ny_output_bytes(enum ny_element element);

struct ny_writer;

/* Its buffer, which is nearly all that it takes unless it packs. */
#define NY_WRITER_BYTES ((size_t)256 * 1024)

#define NY_ROWS_COUNTED UINT64_MAX

/* cols = 0 writes a 1-D npy of `rows`. NY_ROWS_COUNTED: as many as come (a pipe cannot tell
 * before); an npy file gets its header at the commit, one on standard output is NY_EUSAGE.
 * path "-": standard output, not seekable, no rename. text: no header, %.9g / %.17g / %llu. */
int ny_writer_open(struct ny_writer **out, struct ny_context *ctx, const char *path,
                   enum ny_element element, uint64_t rows, uint64_t cols);
/* NY_EIO where the file cannot fit on its disk, beside the one that it replaces. */
int ny_writer_fits(struct ny_writer *writer);
/* Tells whether an npy there needs its number of rows first, as it cannot go back to its header. */
bool ny_writer_needs_rows(const char *path);
/* Checks that a file can be written there by beginning one and removing it. */
int ny_writer_check(struct ny_context *ctx, const char *path);
/* NY_EUSAGE where a file written there would take the place of the one that is read. */
int ny_writer_apart(struct ny_context *ctx, const char *path, const char *input);
/* `count` rows, packed, in the writer's element type. */
int ny_writer_rows(struct ny_writer *writer, const void *values, size_t count);
/* Adds bytes before the next row of a text table: fields with their delimiters. */
int ny_writer_text(struct ny_writer *writer, const char *text, size_t bytes);
/* Adds such a field: a word, with quotes where it needs them, and what ends it, the delimiter of
 * the table or a line's end. */
int ny_writer_field(struct ny_writer *writer, const char *word, char delimiter, char behind);
/* Adds the name of a row as such a field, or NULL for the word above the names: two fields of a
 * table of samples, of which each name has two parts. */
int ny_writer_name(struct ny_writer *writer, const char *name, char delimiter);
/* Adds the word above a component's column, "part_1" or PC1. */
int ny_writer_component(struct ny_writer *writer, const char *part, size_t number, char delimiter,
                        char behind);
/* Writes the last bytes, after which a commit hardly fails: of files that go together all are
 * finished before the first gets its name. Does nothing to NULL. */
int ny_writer_finish(struct ny_writer *writer);
/* Ends what an `err` of NY_OK says was written as a whole: fsync, rename; NY_EINTERNAL when fewer
 * rows were written than announced. Else drops it, and returns `err`. Frees the writer either way;
 * NULL is fine. */
int ny_writer_commit(struct ny_writer *writer, int err);
/* Drops what was written to a draft and frees the writer; the path is as it was. NULL is fine. */
void ny_writer_abort(struct ny_writer *writer);

#endif
