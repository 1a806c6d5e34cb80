/*
 * The allocator of the library. A block is charged to the context's budget, in total and under its
 * purpose, before the system is asked for it; if either refuses, nothing stays charged and the
 * error says which purpose wanted how much and what holds the rest.
 *
 * A header of 64 bytes in front of every block keeps its size and its purpose, so that ny_free()
 * needs the pointer alone and all blocks are aligned to 64 bytes. Example: 100 bytes are charged as
 * 192, two units for the block and one for the header. Blocks of 256 KiB or more are mapped and go
 * back to the system when they are freed, and the end of one when it shrinks; smaller ones come
 * from the heap.
 *
 * All counters are atomic: workers allocate at the same time without a lock. The peak that tests
 * compare with the plan of a stage is raised by ny_reserve() alone.
 */
#include "base/memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/context_private.h"
#include "base/decimal.h"
#include "base/memory_private.h"

/* The header of every block says what to give back to which purpose. It is one unit long. */
enum { NY_ALIGNMENT = 64 };

/* Larger blocks are mapped, so that their memory goes back to the system when they are freed: a
 * heap would keep it, and the resident set would be above what is charged. AddressSanitizer sees
 * the ends of malloc's blocks only. */
#if defined(__SANITIZE_ADDRESS__)
static const size_t mapped_bytes_min = SIZE_MAX;
#else
static const size_t mapped_bytes_min = (size_t)256 << 10;
#endif

/* Blocks of this size are asked to have pages of 2 MiB, where the system grants them on demand:
 * what is read here and there in a large block waits for the places of small pages about as long as
 * for the memory. No more is resident than was charged. */
static const size_t huge_bytes_min = (size_t)4 << 20;

struct header {
    size_t bytes; /* charged, header included */
    enum ny_purpose purpose;
    void *link; /* its owner's */
};

const char *ny_purpose_name(enum ny_purpose purpose)
{
    static const char *const names[] = {
#define NY_PURPOSE_NAME(id, name) [id] = name,
        NY_PURPOSE_MAP(NY_PURPOSE_NAME)
#undef NY_PURPOSE_NAME
    };
    return names[purpose];
}

/* Lists the purposes that hold 1 MiB or more, for the message of a budget that is too small. */
static void largest_holders(struct ny_context *ctx, char *text, size_t size)
{
    size_t length = 0;

    text[0] = '\0';
    for (int p = 0; p < NY_PURPOSES && length < size; p++) {
        size_t held = atomic_load(&ctx->memory_by_purpose[p]);
        if (held >= 1024 * 1024)
            length += (size_t)ny_decimal_print(
                text + length, size - length, "%s%s %.1f MiB", length ? ", " : "",
                ny_purpose_name((enum ny_purpose)p), (double)held / 1048576.0);
    }
}

/* A budget to try where no plan has told the least: one that every verb but the fits keeps with
 * common rows, or what is known to be asked for and a quarter more. What would be asked for behind
 * it is not known, and each budget would be answered with one that is a little larger. */
static size_t least_mib(size_t used, size_t bytes)
{
    const size_t common = 32, mib = 1048576;
    size_t wanted = bytes > SIZE_MAX - used - mib ? SIZE_MAX / mib : (used + bytes + mib - 1) / mib;

    return wanted > common ? wanted + wanted / 4 : common;
}

int ny_reserve(struct ny_context *ctx, enum ny_purpose purpose, size_t bytes)
{
    size_t before = atomic_fetch_add(&ctx->memory_used, bytes);
    char holders[256], share[64] = "";
    size_t parts = 1, held = 0; /* held: MiB of the process, beside its shards */
    size_t most = ctx->memory_limit + ctx->memory_lent;

    if (bytes <= most && before <= most - bytes) {
        size_t peak = atomic_load(&ctx->memory_peak);

        while (before + bytes > peak &&
               !atomic_compare_exchange_weak(&ctx->memory_peak, &peak, before + bytes))
            continue;
        atomic_fetch_add(&ctx->memory_by_purpose[purpose], bytes);
        return NY_OK;
    }
    atomic_fetch_sub(&ctx->memory_used, bytes);
    largest_holders(ctx, holders, sizeof(holders));
    if (ctx->parent) {
        snprintf(share, sizeof(share), ", for one of %u shards,", ctx->parts);
        parts = ctx->parts;
        held = (ny_memory_used(ctx->parent) >> 20) + 1;
    }
    return ny_fail(ctx, NY_EBUDGET,
                   "the memory budget of %.1f MiB%s is too small: '%s' needs %.1f MiB more%s%s; "
                   "give --memory %zuM or more",
                   (double)ctx->memory_limit / 1048576.0, share, ny_purpose_name(purpose),
                   (double)bytes / 1048576.0, holders[0] ? " beside " : "", holders,
                   parts * least_mib(before, bytes) + held);
}

void ny_unreserve(struct ny_context *ctx, enum ny_purpose purpose, size_t bytes)
{
    atomic_fetch_sub(&ctx->memory_used, bytes);
    atomic_fetch_sub(&ctx->memory_by_purpose[purpose], bytes);
}

static struct header *header_of(void *ptr)
{
    return (struct header *)(void *)((char *)ptr - NY_ALIGNMENT);
}

/* Says that the system refused what the budget has room for, and names the limit of the process
 * that leaves less than that, where one does. */
static void fail_refused(struct ny_context *ctx, enum ny_purpose purpose, size_t total)
{
    struct ny_ulimit limit = ny_ulimit();
    char why[160] = "free memory or give a smaller --memory";

    if (limit.option && limit.left < total)
        ny_decimal_print(why, sizeof(why),
                         "the limit of this process (ulimit %s %zu) leaves %.1f MiB: raise it, or "
                         "give fewer --threads",
                         limit.option, limit.bytes >> 10, (double)limit.left / 1048576.0);
    ny_fail(ctx, NY_EBUDGET,
            "the system refused %.1f MiB for '%s', inside the budget of %.1f MiB; %s",
            (double)total / 1048576.0, ny_purpose_name(purpose),
            (double)ctx->memory_limit / 1048576.0, why);
}

/* NULL when the system refuses. */
static struct header *take(size_t total)
{
    void *at;

    if (total < mapped_bytes_min) return aligned_alloc(NY_ALIGNMENT, total);
    at = mmap(NULL, total, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (at == MAP_FAILED) return NULL;
    if (total >= huge_bytes_min) madvise(at, total, MADV_HUGEPAGE);
    return at;
}

/* Whole units, and one for the header. */
size_t ny_block_charge(size_t bytes)
{
    return (bytes + 2 * NY_ALIGNMENT - 1) / NY_ALIGNMENT * NY_ALIGNMENT;
}

void *ny_alloc(struct ny_context *ctx, enum ny_purpose purpose, size_t bytes)
{
    struct header *header;
    size_t total;

    if (bytes > SIZE_MAX - 2 * NY_ALIGNMENT) {
        ny_product(ctx, &total, bytes, NY_ALIGNMENT, 1);
        return NULL;
    }
    total = ny_block_charge(bytes);
    if (ny_reserve(ctx, purpose, total)) return NULL;
    header = take(total);
    if (!header) {
        ny_unreserve(ctx, purpose, total);
        fail_refused(ctx, purpose, total);
        return NULL;
    }
    header->bytes = total;
    header->purpose = purpose;
    return (char *)header + NY_ALIGNMENT;
}

void **ny_block_link(void *block)
{
    return &header_of(block)->link;
}

void *ny_calloc(struct ny_context *ctx, enum ny_purpose purpose, size_t count, size_t size)
{
    size_t bytes;
    void *ptr;

    if (ny_product(ctx, &bytes, count, size, 1)) return NULL;
    ptr = ny_alloc(ctx, purpose, bytes);
    if (ptr && header_of(ptr)->bytes < mapped_bytes_min) memset(ptr, 0, bytes);
    return ptr;
}

/* Gives back the pages behind the first `total` bytes of a mapped block that stays one. False where
 * it does not, or the system refuses. */
static bool shrink(struct ny_context *ctx, struct header *header, size_t total)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE), kept = (total + page - 1) / page * page;
    size_t old = header->bytes;

    if (total > old || total < mapped_bytes_min) return false;
    if (kept < old && munmap((char *)header + kept, old - kept)) return false;
    header->bytes = total;
    ny_unreserve(ctx, header->purpose, old - total);
    return true;
}

void *ny_resize(struct ny_context *ctx, enum ny_purpose purpose, void *ptr, size_t bytes)
{
    size_t old;
    void *moved;

    if (ptr && bytes < header_of(ptr)->bytes && header_of(ptr)->purpose == purpose &&
        shrink(ctx, header_of(ptr), ny_block_charge(bytes)))
        return ptr;
    moved = ny_alloc(ctx, purpose, bytes);
    if (!moved || !ptr) return moved;
    old = header_of(ptr)->bytes - NY_ALIGNMENT;
    memcpy(moved, ptr, old < bytes ? old : bytes);
    ny_free(ctx, ptr);
    return moved;
}

/* The pointer is copied as bytes, because arrays of several types are resized here. */
int ny_resize_array(struct ny_context *ctx, enum ny_purpose purpose, void *array, size_t count,
                    size_t size)
{
    void *before, *resized;
    size_t bytes;

    if (ny_product(ctx, &bytes, count, size, 1)) return NY_EBUDGET;
    memcpy(&before, array, sizeof(before));
    resized = ny_resize(ctx, purpose, before, bytes);
    if (!resized) return NY_EBUDGET;
    memcpy(array, &resized, sizeof(resized));
    return NY_OK;
}

void ny_free(struct ny_context *ctx, void *ptr)
{
    enum ny_purpose purpose;
    struct header *header;
    size_t total;

    if (!ptr) return;
    header = header_of(ptr);
    total = header->bytes;
    purpose = header->purpose;
    if (total < mapped_bytes_min)
        free(header);
    else
        munmap(header, total);
    ny_unreserve(ctx, purpose, total);
}

char *ny_strdup(struct ny_context *ctx, const char *text)
{
    size_t bytes = strlen(text) + 1;
    char *copy = ny_alloc(ctx, NY_MEM_OTHER, bytes);

    if (copy) memcpy(copy, text, bytes);
    return copy;
}

void ny_memory_advise(const void *at, size_t bytes, int advice)
{
    size_t within = (uintptr_t)at % (uintptr_t)sysconf(_SC_PAGESIZE);

    madvise((char *)(uintptr_t)at - within, bytes + within, advice); /* a hint may fail */
}

void ny_memory_lend(struct ny_context *ctx, size_t bytes)
{
    ctx->memory_lent = bytes;
}

size_t ny_memory_lent(const struct ny_context *ctx)
{
    return ctx->memory_lent;
}

void ny_memory_set_aside(struct ny_context *ctx, size_t bytes)
{
    ctx->memory_aside = bytes;
}

size_t ny_memory_aside(const struct ny_context *ctx)
{
    return ctx->memory_aside;
}

size_t ny_memory_whole(const struct ny_context *ctx)
{
    return ctx->memory_limit;
}

size_t ny_memory_limit(const struct ny_context *ctx)
{
    return ctx->memory_limit > ctx->memory_aside ? ctx->memory_limit - ctx->memory_aside : 0;
}

size_t ny_memory_of_process(const struct ny_context *ctx)
{
    return ctx->parent && ctx->parts > 1 ? NY_PROCESS_PART_BYTES : NY_PROCESS_BYTES;
}

size_t ny_memory_used(const struct ny_context *ctx)
{
    return atomic_load(&ctx->memory_used);
}

size_t ny_memory_peak(const struct ny_context *ctx)
{
    return atomic_load(&ctx->memory_peak);
}

void ny_memory_peak_reset(struct ny_context *ctx)
{
    atomic_store(&ctx->memory_peak, ny_memory_used(ctx));
}

size_t ny_memory_left(const struct ny_context *ctx)
{
    size_t used = ny_memory_used(ctx);

    return used < ny_memory_limit(ctx) ? ny_memory_limit(ctx) - used : 0;
}

int ny_product(struct ny_context *ctx, size_t *out, size_t a, size_t b, size_t c)
{
    if (__builtin_mul_overflow(a, b, out) || __builtin_mul_overflow(*out, c, out))
        return ny_fail(ctx, NY_EBUDGET, "%zu × %zu × %zu is larger than this machine can address",
                       a, b, c);
    return NY_OK;
}
