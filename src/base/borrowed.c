/* Rows of a caller: pages of a mapped file among them are given back when they have been read. */
#include "base/borrowed.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/error.h"
#include "base/memory.h"

/* Rows of fewer bytes count as memory. */
enum { FEW_BYTES = 4 << 20 };

/* A fault maps more pages than the one that is read: those of an aligned window, or of a large
 * folio of the page cache. All of them are given back. */
enum { WINDOW_BYTES = 2 << 20 };

struct ny_borrowed_rows ny_borrowed_of(const void *rows, size_t bytes)
{
    struct ny_borrowed_rows of = {rows, bytes, false, false};

    if (bytes < FEW_BYTES) return of;
    of.mapped = ny_memory_is_file(rows);
    of.shared = of.mapped && ny_memory_is_shared(rows, bytes);
    return of;
}

struct ny_borrowed_rows ny_borrowed_mapped(const void *rows, size_t bytes)
{
    bool many = bytes >= FEW_BYTES;

    return (struct ny_borrowed_rows){rows, bytes, many, many};
}

/* Pages are given back whole, the first and the last one of the rows included: they are of the same
 * file. No page beyond these is touched, as the next mapping may be anything. */
void ny_borrowed_done(const struct ny_borrowed_rows *rows, const void *at, size_t bytes)
{
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), begin = (uintptr_t)rows->at;
    uintptr_t first = (uintptr_t)at, end = first + bytes, last = begin + rows->bytes;

    if (!rows->shared || !bytes) return;
    first -= first % WINDOW_BYTES;
    end = (end + WINDOW_BYTES - 1) / WINDOW_BYTES * WINDOW_BYTES;
    begin -= begin % page;
    last = (last + page - 1) / page * page;
    if (first < begin) first = begin;
    if (end > last) end = last;
    madvise((void *)first, end - first, MADV_DONTNEED); /* which may fail: the pages then stay */
}

int ny_borrowed_guard(struct ny_context *ctx, ny_guarded_fn *work, void *arg)
{
    int err = ny_guarded(work, arg);

    if (err != NY_EIO) return err;
    return ny_fail(ctx, err,
                   "the rows cannot be read: the file that they are mapped from was cut short, or "
                   "its disk fails; map it again");
}

struct copy {
    void *to;
    const void *from;
    size_t bytes;
};

static int copy_bytes(void *arg)
{
    const struct copy *copy = arg;

    memcpy(copy->to, copy->from, copy->bytes);
    return NY_OK;
}

int ny_borrowed_copy(struct ny_context *ctx, void *to, const void *from, size_t bytes)
{
    struct copy copy = {to, from, bytes};

    return ny_borrowed_guard(ctx, copy_bytes, &copy);
}
