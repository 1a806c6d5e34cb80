#include "api/call.h"

#include <stddef.h>
#include <string.h>

#include "base/memory.h"
#include "linalg/matrix.h"
#include "records/fields.h"

int ny_call_begin(struct ny_context *ctx)
{
    int err;

    ny_fields_begin();
    err = ny_reserve(ctx, NY_MEM_PROCESS, ny_memory_of_process(ctx));
    if (!err) ny_blas_borrow();
    return err;
}

void ny_call_end(struct ny_context *ctx)
{
    ny_blas_return();
    ny_unreserve(ctx, NY_MEM_PROCESS, ny_memory_of_process(ctx));
}

int ny_call_open(struct ny_store **store, struct ny_context *ctx, const char *path,
                 const char *name)
{
    int err = ny_call_begin(ctx);

    *store = NULL;
    if (err) return err;
    err = ny_shards_open(store, ctx, path, name, NY_SHARDS_ALL);
    if (err) ny_call_end(ctx);
    return err;
}

void ny_call_close(struct ny_store *store)
{
    struct ny_context *ctx = store ? ny_store_context(store) : NULL;

    ny_store_close(store);
    if (ctx) ny_call_end(ctx);
}

int ny_given(struct ny_context *ctx, const char *function, const char *names,
             const void *const *pointers, size_t count)
{
    if (!ctx) return NY_EUSAGE;
    ny_error_clear(ctx);
    for (size_t i = 0; i < count; i++) {
        size_t length = strcspn(names, ",");

        if (!pointers[i])
            return ny_fail(ctx, NY_EUSAGE, "%s() was given NULL as its %.*s, which it needs",
                           function, (int)length, names);
        names += length;
        names += strspn(names, ", ");
    }
    return NY_OK;
}

int ny_given_rows(struct ny_context *context, uint64_t rows, uint64_t columns)
{
    uint64_t bytes;

    /* No array in memory is larger than this, so larger counts are a mistake of the caller. */
    if (!__builtin_mul_overflow(rows, columns ? columns : 1, &bytes) &&
        bytes <= PTRDIFF_MAX / sizeof(double))
        return NY_OK;
    return ny_fail(context, NY_EUSAGE, "%llu rows of %llu columns are too many",
                   (unsigned long long)rows, (unsigned long long)columns);
}

int ny_given_table(struct ny_context *ctx, const struct ny_table *given, struct ny_table *table)
{
    const size_t least = offsetof(struct ny_table, labels) + sizeof(given->labels);

    *table = (struct ny_table){0};
    if (given->struct_bytes < least)
        return ny_fail(ctx, NY_EUSAGE,
                       "the struct_bytes of a table is %zu; set it to sizeof(struct ny_table)",
                       given->struct_bytes);
    memcpy(table, given,
           sizeof(*table) < given->struct_bytes ? sizeof(*table) : given->struct_bytes);
    return NY_OK;
}
