/* The causes for which several readers refuse a file: one sentence for each. NY_EDATA, unless said.
 */
#ifndef NY_IO_REFUSE_H
#define NY_IO_REFUSE_H

#include "base/error.h"

/* The file is not what it says, or ends too early; at a row from 0, unless NY_NO_LINE. */
int ny_refuse_damaged(struct ny_context *ctx, const char *path, uint64_t row);
/* The file does not begin as one of its format. */
int ny_refuse_format(struct ny_context *ctx, const char *path, const char *format);
/* Its numbers are of a type that no reader knows. */
int ny_refuse_dtype(struct ny_context *ctx, const char *path);
/* There is not one row, or not one column. */
int ny_refuse_empty(struct ny_context *ctx, const char *path);
/* There are more columns than a store takes. */
int ny_refuse_wide(struct ny_context *ctx, const char *path, uint64_t columns);
/* The file is a pipe or packed, and its format is not read from front to back. */
int ny_refuse_pipe(struct ny_context *ctx, int status, const char *path);
/* Labels or names are not as many as the rows or columns of file `of`. */
int ny_refuse_count(struct ny_context *ctx, const char *path, const char *of);
/* A list is a table of one column, whose rows are numbers of rows or columns, from 0. */
int ny_refuse_list(struct ny_context *ctx, const char *path);
int ny_refuse_index(struct ny_context *ctx, const char *path, uint64_t row);
/* A line of text; `word` is what is wrong there, with so many bytes. NY_NO_LINE: it has no line. */
int ny_refuse_line(struct ny_context *ctx, const char *path, uint64_t line, const char *what);
int ny_refuse_word(struct ny_context *ctx, const char *path, uint64_t line, const char *word,
                   size_t bytes, const char *what);
/* The name of a row or column, which `wrong` says what is wrong with (ny_name_wrong()); `number` is
 * that of its line, or from 0. */
int ny_refuse_name(struct ny_context *ctx, const char *path, uint64_t number, const char *wrong);

#endif
