/* Rows in the caller's memory, read as those of a file are. */
#ifndef NY_IO_MEMORY_H
#define NY_IO_MEMORY_H

#include "io/reader.h"

/* NY_EUSAGE where the description of a table is not one: unknown type, rows that overlap or
 * overflow, row_start that falls or leads beyond the entries; NY_EDATA where it has no rows. */
int ny_memory_check(struct ny_context *ctx, const struct ny_table *table);
/* Opens a reader of the table, which must stay as it is until ny_reader_close(); options as of a
 * file. NY_EUSAGE, NY_EDATA: ny_memory_check(). */
int ny_reader_open_memory(struct ny_reader **out, struct ny_context *ctx,
                          const struct ny_table *table, const struct ny_reader_options *options);
/* Returns what messages call the table. */
const char *ny_memory_name(const struct ny_table *table);
/* Returns a digest of a table that is checked: its shape, types, values, entries, labels and
 * names. */
uint64_t ny_memory_digest(const struct ny_table *table);

#endif
