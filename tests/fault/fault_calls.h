/*
 * Calls of the system and of the C library that fail, one at a time, in this program and the
 * libraries it uses. They count only while armed, and only calls of our library and of LMDB, LZ4,
 * zlib and jansson. OpenBLAS is left out: its own answer to a refused buffer is to end the process,
 * and to a refused work array a crash. So is jansson's reader: it goes on after a refused realloc
 * with half a token, and fails an assertion of its own (load.c, lex_save). Nothing of ours can change
 * either; jansson's writers and setters are not left out.
 */
#ifndef NY_TESTS_FAULT_CALLS_H
#define NY_TESTS_FAULT_CALLS_H

#include <errno.h>
#include <link.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

#include <jansson.h>

#include "fault/next.h"

/* INTERRUPTED: a read or write that a signal cut off before it did anything; SHORT: one that did
 * half of it. */
enum kind {
    NONE,
    ALLOCATION,
    READING,
    WRITING,
    FULL_DISK,
    SYNCING,
    MAPPING,
    INTERRUPTED,
    SHORT,
    KINDS
};

static const char *const kind_names[KINDS] = {"none", "allocation", "read",        "write",
                                              "full disk", "sync",  "map", "interruption",
                                              "short count"};

static _Atomic(enum kind) armed;
static atomic_long countdown; /* calls of the kind before the one that fails */
static atomic_long made[KINDS]; /* calls while one was armed */
static atomic_bool hit;
static atomic_bool hit_lmdb;  /* it was a call of LMDB's */
static _Thread_local bool reading_json;

static struct library {
    const char *name;
    uintptr_t from, to;
} blas = {"openblas", 0, 0}, lmdb = {"liblmdb", 0, 0};

static int find_library(struct dl_phdr_info *info, size_t size, void *which)
{
    struct library *library = which;

    (void)size;
    if (!info->dlpi_name || !strstr(info->dlpi_name, library->name)) return 0;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        uintptr_t from = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;
        uintptr_t to = from + info->dlpi_phdr[i].p_memsz;

        if (info->dlpi_phdr[i].p_type != PT_LOAD) continue;
        if (!library->from || from < library->from) library->from = from;
        if (to > library->to) library->to = to;
    }
    return 0;
}

static void find_libraries(void)
{
    dl_iterate_phdr(find_library, &blas);
    dl_iterate_phdr(find_library, &lmdb);
}

static bool is_in(const struct library *library, const void *caller)
{
    return (uintptr_t)caller >= library->from && (uintptr_t)caller < library->to;
}

/* True for the one call that is to fail. On a full disk all later writes fail as well. */
static bool fails(enum kind kind, const void *caller)
{
    long left;

    if (armed == NONE || reading_json || is_in(&blas, caller)) return false;
    atomic_fetch_add(&made[kind], 1);
    if (armed != kind) return false;
    left = atomic_fetch_sub(&countdown, 1);
    if (left > 0 || (left < 0 && kind != FULL_DISK)) return false;
    hit = true;
    hit_lmdb = is_in(&lmdb, caller);
    return true;
}

#define CALLER __builtin_return_address(0)

#pragma GCC visibility push(default) /* the libraries find these too */

static atomic_long live; /* allocations that were not freed */

#if !defined(__SANITIZE_ADDRESS__)
void *__libc_malloc(size_t bytes);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *at, size_t bytes);
void *__libc_memalign(size_t alignment, size_t bytes);
void __libc_free(void *at);

static void *alive(void *at)
{
    if (at) live++;
    return at;
}

void free(void *at)
{
    if (at) live--;
    __libc_free(at);
}

void *malloc(size_t bytes)
{
    if (!fails(ALLOCATION, CALLER)) return alive(__libc_malloc(bytes));
    errno = ENOMEM;
    return NULL;
}

void *calloc(size_t count, size_t size)
{
    if (!fails(ALLOCATION, CALLER)) return alive(__libc_calloc(count, size));
    errno = ENOMEM;
    return NULL;
}

void *realloc(void *at, size_t bytes)
{
    if (!fails(ALLOCATION, CALLER))
        return at ? __libc_realloc(at, bytes) : alive(__libc_realloc(at, bytes));
    errno = ENOMEM;
    return NULL;
}

void *aligned_alloc(size_t alignment, size_t bytes)
{
    if (!fails(ALLOCATION, CALLER)) return alive(__libc_memalign(alignment, bytes));
    errno = ENOMEM;
    return NULL;
}

int posix_memalign(void **at, size_t alignment, size_t bytes)
{
    if (fails(ALLOCATION, CALLER)) return ENOMEM;
    *at = alive(__libc_memalign(alignment, bytes));
    return *at ? 0 : ENOMEM;
}
#endif

/* Sets errno when a call that moves *bytes fails; else *bytes may be fewer. */
static bool moving_fails(enum kind kind, const void *caller, size_t *bytes)
{
    if (fails(kind, caller)) errno = EIO;
    else if (kind == WRITING && fails(FULL_DISK, caller)) errno = ENOSPC;
    else if (fails(INTERRUPTED, caller)) errno = EINTR;
    else {
        if (*bytes > 1 && fails(SHORT, caller)) *bytes /= 2;
        return false;
    }
    return true;
}

ssize_t read(int fd, void *data, size_t bytes)
{
    NEXT(read);
    return moving_fails(READING, CALLER, &bytes) ? -1 : next(fd, data, bytes);
}

ssize_t pread(int fd, void *data, size_t bytes, off_t at)
{
    NEXT(pread);
    return moving_fails(READING, CALLER, &bytes) ? -1 : next(fd, data, bytes, at);
}

ssize_t write(int fd, const void *data, size_t bytes)
{
    NEXT(write);
    return moving_fails(WRITING, CALLER, &bytes) ? -1 : next(fd, data, bytes);
}

ssize_t pwrite(int fd, const void *data, size_t bytes, off_t at)
{
    NEXT(pwrite);
    return moving_fails(WRITING, CALLER, &bytes) ? -1 : next(fd, data, bytes, at);
}

ssize_t writev(int fd, const struct iovec *pieces, int count)
{
    NEXT(writev);
    size_t whole = (size_t)count;

    return moving_fails(WRITING, CALLER, &whole) ? -1 : next(fd, pieces, (int)whole);
}

int fsync(int fd)
{
    NEXT(fsync);
    if (!fails(SYNCING, CALLER)) return next(fd);
    errno = EIO;
    return -1;
}

int fdatasync(int fd)
{
    NEXT(fdatasync);
    if (!fails(SYNCING, CALLER)) return next(fd);
    errno = EIO;
    return -1;
}

void *mmap(void *at, size_t bytes, int protection, int flags, int fd, off_t offset)
{
    NEXT(mmap);
    if (!fails(MAPPING, CALLER)) return next(at, bytes, protection, flags, fd, offset);
    errno = ENOMEM;
    return MAP_FAILED;
}

json_t *json_loadb(const char *text, size_t bytes, size_t flags, json_error_t *error)
{
    NEXT(json_loadb);
    json_t *json;

    reading_json = true;
    json = next(text, bytes, flags, error);
    reading_json = false;
    return json;
}

#pragma GCC visibility pop

#endif
