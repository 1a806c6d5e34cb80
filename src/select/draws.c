#include "select/draws.h"

#include <string.h>

/* Orders draws by key, then by row, so that equal keys leave no choice. */
static bool before(struct ny_draw a, struct ny_draw b)
{
    return a.key < b.key || (a.key == b.key && a.row < b.row);
}

/* Moves the draw on top down until no child is larger, so that the largest one is on top. */
static void sift_down(struct ny_draws *draws)
{
    struct ny_draw *heap = draws->heap, moving = heap[0];
    size_t i = 0;

    for (size_t child; (child = 2 * i + 1) < draws->count; i = child) {
        if (child + 1 < draws->count && before(heap[child], heap[child + 1])) child++;
        if (!before(moving, heap[child])) break;
        heap[i] = heap[child];
    }
    heap[i] = moving;
}

/* Moves the draw at i up until its parent is not smaller. */
static void sift_up(struct ny_draws *draws, size_t i)
{
    struct ny_draw *heap = draws->heap, moving = heap[i];

    for (; i > 0 && before(heap[(i - 1) / 2], moving); i = (i - 1) / 2)
        heap[i] = heap[(i - 1) / 2];
    heap[i] = moving;
}

void ny_draws_offer(struct ny_draws *draws, struct ny_draw draw)
{
    if (draws->count < draws->m) {
        draws->heap[draws->count] = draw;
        sift_up(draws, draws->count++);
    } else if (before(draw, draws->heap[0])) {
        draws->heap[0] = draw;
        sift_down(draws);
    }
}

int ny_draws_of_all(struct ny_draws *draws, struct ny_peers *peers, struct ny_draw *room)
{
    struct ny_draw *own = room, *other = room ? room + draws->m : NULL;
    unsigned shards = ny_peers_shards(peers), self = ny_peers_shard(peers);
    const size_t kept = draws->count;
    int err = NY_OK;

    if (!peers) return NY_OK;
    memcpy(own, draws->heap, kept * sizeof(*own));
    for (unsigned k = 0; k < shards && !err; k++) {
        uint64_t count = kept;

        err = ny_peers_share_of(peers, k, &count, sizeof(count));
        if (!err)
            err = ny_peers_share_of(peers, k, k == self ? own : other,
                                    (size_t)count * sizeof(*other));
        for (size_t i = 0; i < count && !err && k != self; i++)
            ny_draws_offer(draws, other[i]);
    }
    return err;
}

void ny_draws_take(struct ny_draws *draws, uint64_t *rows)
{
    while (draws->count) {
        struct ny_draw last = draws->heap[--draws->count];

        rows[draws->count] = draws->count ? draws->heap[0].row : last.row;
        if (!draws->count) break;
        draws->heap[0] = last;
        sift_down(draws);
    }
}
