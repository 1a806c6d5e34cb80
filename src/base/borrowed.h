/* Rows of callers, which are read where they are. */
#ifndef NY_BASE_BORROWED_H
#define NY_BASE_BORROWED_H

#include "base/context.h"
#include "base/guard.h"

struct ny_borrowed_rows {
    const char *at; /* dense, one after another; NULL: none */
    size_t bytes;
    bool mapped; /* they are a file's, which is read from a disk */
    bool shared; /* and their pages can be given back (ny_memory_is_shared()) */
};

/* Describes rows of a caller. A few MiB count as memory, wherever they are: to find out costs as
 * much as to read them. */
struct ny_borrowed_rows ny_borrowed_of(const void *rows, size_t bytes);
/* Describes rows in a file that this process has mapped as others see it. */
struct ny_borrowed_rows ny_borrowed_mapped(const void *rows, size_t bytes);
/* Gives pages of rows that have been read back to the system, where they are shared: else all of a
 * file that is read counts as resident in this process. They stay in the page cache, from which
 * whoever reads them again gets them. */
void ny_borrowed_done(const struct ny_borrowed_rows *rows, const void *at, size_t bytes);

/* Runs work(arg), which reads rows of a caller, under the guard of base/guard.h: NY_EIO, told,
 * where the file that they are mapped from was cut short. */
int ny_borrowed_guard(struct ny_context *ctx, ny_guarded_fn *work, void *arg);
/* Copies rows of a caller in this way. */
int ny_borrowed_copy(struct ny_context *ctx, void *to, const void *from, size_t bytes);

#endif
