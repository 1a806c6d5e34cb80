/* Keeps what a verification finds until all threads have read, and tells it to the caller. */
#include <stdio.h>

#include "base/memory.h"
#include "store/verify_private.h"

int ny_verify_tell(struct ny_verifying *v, struct ny_damage damage)
{
    return v->damaged(v->user, &damage);
}

int ny_verify_tell_wrong(struct ny_verifying *v, enum ny_damaged kind, const char *thing,
                         const char *wrong)
{
    char what[NY_WHY_BYTES + PATH_MAX + 64];

    snprintf(what, sizeof(what), "%s: %s", thing, wrong);
    return ny_verify_tell(v, (struct ny_damage){.kind = kind, .what = what});
}

int ny_verify_note(struct ny_verifying *v, struct ny_finding finding)
{
    int err = NY_OK;

    ny_mutex_lock(&v->lock);
    if (v->findings == v->room) {
        size_t room = v->room ? 2 * v->room : 16;

        err = ny_resize_array(v->store->ctx, NY_MEM_STORE, &v->finding, room, sizeof(finding));
        if (!err) v->room = room;
    }
    if (!err) v->finding[v->findings++] = finding;
    ny_mutex_unlock(&v->lock);
    return err;
}

unsigned ny_verify_workers(const struct ny_verifying *v, size_t bytes)
{
    struct ny_context *ctx = v->store->ctx;
    size_t fit = ny_memory_left(ctx) / 2 / (bytes + NY_READING_BYTES);
    unsigned threads = ny_context_threads(ctx);

    if (fit < 1) return 1;
    return fit < threads ? (unsigned)fit : threads;
}
