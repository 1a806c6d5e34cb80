/*
 * Memory: every allocation is charged to the context's budget, under the purpose it serves.
 *
 * Memory that others allocate for us (BLAS buffers, dirty pages of LMDB, mapped pages, a library's
 * workspace) is charged with ny_reserve(). A charge above the budget fails with NY_EBUDGET and a
 * message that says what was asked, for what, and what holds the rest.
 *
 * The budget is a promise: the resident set of the process stays below it. Plans rely on it before
 * anything runs (job/plan.h). Two rules make what is charged the same as what is resident. Blocks
 * of 256 KiB and more are mapped, since a heap would keep their memory after they are freed
 * (base/memory.c). Mapped pages of the store are given back as soon as a value has been copied out
 * of them (store/residency.c). tests/cli/memory.bats compares the resident set with the budget, in
 * a cgroup.
 */
#ifndef NY_BASE_MEMORY_H
#define NY_BASE_MEMORY_H

#include <sys/mman.h>

#include "base/context.h"

/* purpose, name in plans and messages */
#define NY_PURPOSE_MAP(X)                                                                          \
    X(NY_MEM_PROCESS, "process")       /* code, libraries, stacks, BLAS buffers */                 \
    X(NY_MEM_STORE, "store")           /* block cache, mapped pages, dirty pages */                \
    X(NY_MEM_IO, "io")                 /* readers, writers, parsers */                             \
    X(NY_MEM_TILES, "tiles")           /* C tiles and their inputs, one set a worker */            \
    X(NY_MEM_GRAM, "gram")             /* G and the tile Grams */                                  \
    X(NY_MEM_DICTIONARY, "dictionary") /* landmarks, L, residual bounds */                         \
    X(NY_MEM_SOLVE, "solve")           /* the small dense problem */                               \
    X(NY_MEM_MODEL, "model")           /* P, q, a: what transform needs */                         \
    X(NY_MEM_OTHER, "other")

/* Bytes that the process occupies before anything is charged: code and libraries (12 MiB), the
 * heap's small blocks and LMDB's pages (4), the mapped pages of the tree and of one value (2).
 * Measured, rounded up; charged by the calls of the public interface while they run. */
enum { NY_PROCESS_BYTES = 18 << 20 };
/* Each of several parts of a process takes this share of them, and the process the whole, once. */
enum { NY_PROCESS_PART_BYTES = 2 << 20 };
/* A budget below this is lent nothing: it is told at once that it is too small. */
enum { NY_LOAN_BYTES_MIN = 1 << 20 };

enum ny_purpose {
#define NY_PURPOSE_ENUM(id, name) id,
    NY_PURPOSE_MAP(NY_PURPOSE_ENUM)
#undef NY_PURPOSE_ENUM
        NY_PURPOSES
};

/* Returns the name of a purpose as plans and messages give it. */
const char *ny_purpose_name(enum ny_purpose purpose);

/* Returns what a call charges for the process: NY_PROCESS_PART_BYTES where it is one of several
 * parts. */
size_t ny_memory_of_process(const struct ny_context *ctx);

/* 64-byte aligned, uninitialised; NULL with the error set when it does not fit the budget or the
 * system refuses. bytes = 0 gives a valid pointer. */
void *ny_alloc(struct ny_context *ctx, enum ny_purpose purpose, size_t bytes);
/* Returns count × size zeroed bytes, after checking that the product does not overflow. */
void *ny_calloc(struct ny_context *ctx, enum ny_purpose purpose, size_t count, size_t size);
/* Grows or shrinks a block; the old one stays valid on failure. ptr may be NULL. A large block is
 * shrunk in its place, others are copied. */
void *ny_resize(struct ny_context *ctx, enum ny_purpose purpose, void *ptr, size_t bytes);
/* Resizes the array whose pointer, of any type, `array` points to; NY_EBUDGET: it stays. */
int ny_resize_array(struct ny_context *ctx, enum ny_purpose purpose, void *array, size_t count,
                    size_t size);
/* Gives a block back to the system and to its purpose; NULL is allowed. */
void ny_free(struct ny_context *ctx, void *ptr);
/* A copy of a string, charged to NY_MEM_OTHER. */
char *ny_strdup(struct ny_context *ctx, const char *text);

/* Returns the bytes up to the next multiple of 8, where numbers of any type may follow. */
static inline size_t ny_padded(size_t bytes)
{
    return (bytes + 7) / 8 * 8;
}

/* Charges bytes that somebody else allocates; NY_EBUDGET when they do not fit. */
int ny_reserve(struct ny_context *ctx, enum ny_purpose purpose, size_t bytes);
/* Takes a charge of ny_reserve() back. */
void ny_unreserve(struct ny_context *ctx, enum ny_purpose purpose, size_t bytes);

/* Lets charges exceed the budget by so many bytes, until it is called with 0: what is read for a
 * plan, which then says the least budget. The budget itself, and what plans see of it, stays. */
void ny_memory_lend(struct ny_context *ctx, size_t bytes);
/* Returns what is lent. */
size_t ny_memory_lent(const struct ny_context *ctx);

/* Sets so many bytes of the budget aside for what a job will keep in memory: plans and jobs see the
 * rest as the budget, until it is called with 0. */
void ny_memory_set_aside(struct ny_context *ctx, size_t bytes);
/* Returns the bytes that are set aside. */
size_t ny_memory_aside(const struct ny_context *ctx);
/* Returns the budget in bytes, with those. */
size_t ny_memory_whole(const struct ny_context *ctx);

/* Returns the budget in bytes, without what is set aside. */
size_t ny_memory_limit(const struct ny_context *ctx);
/* Returns the bytes that are charged now. */
size_t ny_memory_used(const struct ny_context *ctx);
/* The most that was charged at one time since the context began, or since the last reset. */
size_t ny_memory_peak(const struct ny_context *ctx);
/* Begins a new measurement: the peak becomes what is charged now. */
void ny_memory_peak_reset(struct ny_context *ctx);
/* Returns limit − used, or 0 when more than the limit is used. */
size_t ny_memory_left(const struct ny_context *ctx);

/* *out = a·b·c, or NY_EBUDGET "… is larger than this machine can address". */
int ny_product(struct ny_context *ctx, size_t *out, size_t a, size_t b, size_t c);

/* Peak of the resident set of the process in bytes; 0 where the system does not tell. */
size_t ny_rss_peak_bytes(void);
/* Start and length of the memory mapping that holds `at`; NULL where the system does not tell. */
char *ny_mapping_of(const void *at, size_t *bytes);
/* Tells whether memory is that of a mapped file; false where the system does not tell. */
bool ny_memory_is_file(const void *at);
/* Tells whether all of this memory is of one file that is mapped as others see it: what is written
 * there is in the file, so that its pages may go and come again. */
bool ny_memory_is_shared(const void *at, size_t bytes);
/* Gives the system a hint, as madvise() does, for the pages of a mapped file with these bytes. */
void ny_memory_advise(const void *at, size_t bytes, int advice);
/* A limit of the process on what it maps: on all of it, or on its own data alone. */
struct ny_ulimit {
    const char *option; /* "-v" or "-d", by which ulimit sets it; NULL: there is none */
    size_t bytes, left;
};
/* Returns the limit that leaves least. */
struct ny_ulimit ny_ulimit(void);
/* NY_EUSAGE on a big-endian machine, which stores are not for. */
int ny_check_byte_order(struct ny_context *ctx);
/* Returns the least of MemAvailable, the limit of the cgroup, and a share of what a limit of the
 * process leaves. */
size_t ny_memory_available(void);

#endif
