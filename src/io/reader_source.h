/* The rows of a file as the source of a pass. */
#ifndef NY_IO_READER_SOURCE_H
#define NY_IO_READER_SOURCE_H

#include "stream/source.h"

struct ny_reader;
/* Rows of a file through a reader, read once, in order, handed out in the type of `shape`: the
 * reader's own, or f32 or f64; and as records of its slots (0: dense, as the reader's then must
 * be). At most shape->n rows come; 0: that is not known. Memory: workers × a unit, or all of these
 * rows where they are fewer, NY_MEM_IO. */
int ny_source_of_reader(struct ny_source **out, struct ny_context *ctx, struct ny_reader *reader,
                        const struct ny_raw_shape *shape, unsigned workers);
/* Has the reader's source write down which rows of the file it leaves out; `list` is the caller's
 * and must outlive it. */
struct ny_left_out;
void ny_source_note_left_out(struct ny_source *source, struct ny_left_out *list);
/* Has it hand on the names of the rows, of which the reader has some, unit by unit; likewise. */
struct ny_row_ids;
void ny_source_note_ids(struct ny_source *source, struct ny_row_ids *ids);
/* Has the rows of a reader's source, whose dtype is f32 or f64 then, prepared before they are
 * handed out; NY_EDATA where one cannot be. */
void ny_source_prepare(struct ny_source *source, const struct ny_prepared *how);

#endif
