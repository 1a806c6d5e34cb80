/*
 * The image that a killed selection goes on from.
 *
 * Over shards each has its own, of other moments. All take up that of the shard that leads, whose
 * state is that of all but for the rows of a pass that is under way. A shard whose own image is of
 * this pass goes on with its own rows; another one makes the pass anew.
 */
#include "select/rpcholesky.h"

#include <string.h>

#include "base/clock.h"
#include "base/peers.h"
#include "select/rules_private.h"

struct image_head {
    uint64_t magic, n, m, units_done, dictionary_bytes;
    struct ny_pivot_progress now;
};

#define IMAGE_MAGIC UINT64_C(0x32746f766950594e)

/* Bytes of the window's candidates. */
enum { WINDOW = NY_PIVOT_WINDOW * (sizeof(uint64_t) + sizeof(float)) };

/* Returns the bytes of an image without its end. */
static size_t bytes_of(const struct ny_rpcholesky *rp, size_t dictionary_bytes)
{
    return sizeof(struct image_head) + WINDOW + dictionary_bytes + rp->n * sizeof(float);
}

size_t ny_rpcholesky_image_bytes(const struct ny_selection_request *request, size_t m)
{
    const struct ny_columns_spec *spec = request->spec;
    size_t heads = 1024;

    return heads + WINDOW + request->n * sizeof(float) + ny_dictionary_image_most(spec, m);
}

/* head, the window's candidates that are judged, dictionary, bounds: where a pass is under way,
 * those of the rows that are not done are still the old ones. At the end, what had been read when
 * it began; earlier versions have left that out. */
int ny_pivot_checkpoint(void *arg, uint64_t units_done)
{
    struct ny_rpcholesky *rp = arg;
    struct image_head head = {.magic = IMAGE_MAGIC, .n = rp->n, .m = rp->m, .now = rp->now};
    size_t bytes, judged = (size_t)rp->now.judged;
    char *image, *at;
    int err;

    head.units_done = rp->now.measuring ? units_done : 0;
    head.dictionary_bytes = ny_dictionary_save(rp->dictionary, NULL);
    bytes = bytes_of(rp, head.dictionary_bytes) + sizeof(rp->start);
    rp->saved_s = ny_now();
    image = bytes <= ny_memory_left(rp->ctx) ? ny_alloc(rp->ctx, NY_MEM_DICTIONARY, bytes) : NULL;
    /* The selection itself still fits: it goes on, and a kill would cost more. */
    if (!image) return NY_OK;
    memcpy(image, &head, sizeof(head));
    at = image + sizeof(head);
    memset(at, 0, WINDOW);
    memcpy(at, rp->window_row, judged * sizeof(*rp->window_row));
    memcpy(at + sizeof(rp->window_row), rp->window_bound, judged * sizeof(*rp->window_bound));
    at += WINDOW;
    ny_dictionary_save(rp->dictionary, at);
    memcpy(at + head.dictionary_bytes, rp->bounds, rp->n * sizeof(float));
    memcpy(image + bytes - sizeof(rp->start), &rp->start, sizeof(rp->start));
    err = rp->request->checkpoint.save(rp->request->checkpoint.arg, image, bytes);
    ny_free(rp->ctx, image);
    rp->saved_s = ny_now();
    return err;
}

static bool is_ours(const struct ny_rpcholesky *rp, const struct image_head *head, size_t bytes)
{
    size_t size = head->dictionary_bytes <= bytes ? bytes_of(rp, head->dictionary_bytes) : 0;

    return head->magic == IMAGE_MAGIC && head->n == rp->n && head->m == rp->m &&
           head->units_done <= ny_units_of(rp->n) && head->now.judged <= NY_PIVOT_WINDOW &&
           (size == bytes || size + sizeof(rp->start) == bytes);
}

/* The pass that a shard was in, as its own image tells; its bounds of the rows that are here are in
 * rp->bounds already. */
struct own_pass {
    bool under_way;
    uint64_t units_done;
    struct ny_pivot_progress now;
};

/* Tells whether a pass is that of the shard that leads, whose state this is. */
static bool is_same_pass(const struct own_pass *own, const struct ny_pivot_progress *now)
{
    return own && own->under_way && now->measuring && own->now.drawn == now->drawn &&
           own->now.passes == now->passes && own->now.measured == now->measured &&
           own->now.certified == now->certified;
}

/* Takes the bounds of all rows; `same`: but for those that are here. */
static void take_bounds(struct ny_rpcholesky *rp, const char *bounds, bool same)
{
    struct ny_row_range kept = same ? rp->here : (struct ny_row_range){rp->n, rp->n};

    memcpy(rp->bounds, bounds, (size_t)kept.first * sizeof(float));
    memcpy(rp->bounds + kept.end, bounds + kept.end * sizeof(float),
           (size_t)(rp->n - kept.end) * sizeof(float));
}

/* Takes up an image; `own`: it is that of another shard, and this one was in this pass. NULL: it is
 * its own. */
static int restore(struct ny_rpcholesky *rp, const char *image, size_t bytes,
                   const struct own_pass *own, uint64_t *first_unit)
{
    struct image_head head = {0};
    const char *at = image;
    bool same;
    int err;

    if (bytes >= sizeof(head)) memcpy(&head, at, sizeof(head));
    if (!is_ours(rp, &head, bytes)) return ny_fail_damaged(rp->request->ctx, NULL, NULL);
    at += sizeof(head);
    memcpy(rp->window_row, at, sizeof(rp->window_row));
    memcpy(rp->window_bound, at + sizeof(rp->window_row), sizeof(rp->window_bound));
    for (size_t i = 0; i < head.now.judged; i++)
        if (rp->window_row[i] >= rp->n) return ny_fail_damaged(rp->request->ctx, NULL, NULL);
    at += WINDOW;
    err = ny_dictionary_restore(rp->dictionary, at, head.dictionary_bytes);
    if (err) return err;
    rp->now = head.now;
    rp->resumed = head.now.measuring && bytes > bytes_of(rp, head.dictionary_bytes);
    if (rp->resumed) memcpy(&rp->start, image + bytes - sizeof(rp->start), sizeof(rp->start));
    same = rp->resumed && is_same_pass(own, &rp->now);
    take_bounds(rp, at + head.dictionary_bytes, same);
    *first_unit = same ? own->units_done : own ? 0 : head.units_done;
    if (own && rp->resumed) { /* the other one has counted its own rows */
        rp->now.rows_read = same ? own->now.rows_read : rp->start.rows_read;
        rp->now.flops = same ? own->now.flops : rp->start.flops;
    }
    return NY_OK;
}

/* ---- over shards ---------------------------------------------------------------------------- */

/* Keeps of a shard's own image what no other has, if a pass was under way. */
static void keep_own(struct ny_rpcholesky *rp, struct own_pass *own)
{
    const char *image = rp->request->checkpoint.image;
    size_t bytes = rp->request->checkpoint.image_bytes;
    struct image_head head;

    if (!image || bytes < sizeof(head)) return;
    memcpy(&head, image, sizeof(head));
    if (!is_ours(rp, &head, bytes) || !head.now.measuring) return;
    *own = (struct own_pass){true, head.units_done, head.now};
    memcpy(rp->bounds + rp->here.first,
           image + sizeof(head) + WINDOW + head.dictionary_bytes + rp->here.first * sizeof(float),
           (size_t)(rp->here.end - rp->here.first) * sizeof(float));
}

/* Takes up the image of the shard that leads, in one that does not. */
static int follow(struct ny_rpcholesky *rp, struct ny_peers *peers, uint64_t *first_unit)
{
    struct own_pass own = {.under_way = false};
    uint64_t bytes = 0;
    char *image;
    int err;

    keep_own(rp, &own);
    ny_selection_drop_image(rp->request);
    err = ny_peers_share(peers, &bytes, sizeof(bytes));
    if (err || !bytes) return err; /* all begin */
    image = ny_alloc(rp->ctx, NY_MEM_OTHER, (size_t)bytes);
    err = image ? ny_peers_share(peers, image, (size_t)bytes) : NY_EBUDGET;
    if (!err) err = restore(rp, image, (size_t)bytes, &own, first_unit);
    ny_free(rp->ctx, image);
    return err;
}

int ny_pivot_take_up(struct ny_rpcholesky *rp, uint64_t *first_unit)
{
    const struct ny_selection_checkpoint *own = &rp->request->checkpoint;
    struct ny_peers *peers = ny_context_peers(rp->ctx);
    uint64_t bytes = own->image ? own->image_bytes : 0;
    int err;

    *first_unit = 0;
    if (!ny_peers_leads(peers)) return follow(rp, peers, first_unit);
    err = ny_peers_share(peers, &bytes, sizeof(bytes));
    if (err || !bytes) return err;
    err = ny_peers_share(peers, (void *)(uintptr_t)own->image, (size_t)bytes);
    if (!err) err = restore(rp, own->image, (size_t)bytes, NULL, first_unit);
    ny_selection_drop_image(rp->request);
    return err;
}
