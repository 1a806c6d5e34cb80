/*
 * The image that a killed greedy selection goes on from.
 *
 * Over shards (greedy_shards.c), the bounds of an image are of the rows of its shard, and it ends
 * with the number of the shard whose turn it was. Bounds that a shard has kept hold against any
 * dictionary that has grown since: it goes on with them, whatever image the others have.
 */
#include "select/greedy.h"

#include <string.h>

#include "base/clock.h"
#include "base/peers.h"
#include "select/rules_private.h"

struct image_head {
    uint64_t magic, n, units_done, rows_done, kept_rows, dictionary_bytes, landmarks_max;
    uint64_t rows_read;
    double flops;
    struct ny_greedy_search search;
    struct ny_prefix_note prefix[NY_GREEDY_AHEAD];
};

#define IMAGE_MAGIC UINT64_C(0x32796465657247)

static uint64_t rows_of(uint64_t units, uint64_t n)
{
    uint64_t rows = units * NY_UNIT_ROWS;

    return rows < n ? rows : n;
}

/* Returns how many rows are here. */
static uint64_t rows_here(const struct ny_greedy *greedy)
{
    return greedy->here.end - greedy->here.first;
}

static struct image_head head_of(const struct ny_greedy *greedy, uint64_t units_done)
{
    struct image_head head = {.magic = IMAGE_MAGIC,
                              .n = greedy->n,
                              .units_done = units_done,
                              .rows_done = rows_of(units_done, rows_here(greedy)),
                              .kept_rows = greedy->kept ? rows_here(greedy) : 0,
                              .dictionary_bytes = ny_dictionary_save(greedy->dictionary, NULL),
                              .landmarks_max = greedy->request->landmarks,
                              .rows_read = greedy->rows_read,
                              .flops = greedy->flops,
                              .search = greedy->search};

    ny_prefixes_note(&greedy->prefixes, head.prefix);
    return head;
}

size_t ny_greedy_image_bytes(const struct ny_selection_request *request, size_t m)
{
    const struct ny_columns_spec *spec = request->spec;
    size_t heads = 1024;

    return heads + ny_greedy_bounds(request) * sizeof(float) + ny_dictionary_image_most(spec, m);
}

/* head, dictionary, residual bounds of the rows done, and those against D; turn. */
int ny_greedy_checkpoint(void *arg, uint64_t units_done)
{
    struct ny_greedy *greedy = arg;
    struct image_head head = head_of(greedy, units_done);
    size_t turned = ny_context_peers(greedy->ctx) ? sizeof(uint64_t) : 0;
    size_t bytes = sizeof(head) + head.dictionary_bytes +
                   (head.rows_done + head.kept_rows) * sizeof(float) + turned;
    const uint64_t turn = greedy->turn;
    char *image, *bounds;
    int err;

    greedy->checkpoint_s = ny_now();
    image = bytes <= ny_memory_left(greedy->ctx) ? ny_alloc(greedy->ctx, NY_MEM_DICTIONARY, bytes)
                                                 : NULL;
    /* The selection itself still fits: it goes on, and a kill would cost more. */
    if (!image) return NY_OK;
    memcpy(image, &head, sizeof(head));
    ny_dictionary_save(greedy->dictionary, image + sizeof(head));
    bounds = image + sizeof(head) + head.dictionary_bytes;
    memcpy(bounds, greedy->residuals + greedy->here.first, head.rows_done * sizeof(float));
    if (greedy->kept)
        memcpy(bounds + head.rows_done * sizeof(float), greedy->kept + greedy->here.first,
               head.kept_rows * sizeof(float));
    memcpy(image + bytes - turned, &turn, turned);
    err = greedy->request->checkpoint.save(greedy->request->checkpoint.arg, image, bytes);
    ny_free(greedy->ctx, image);
    return err;
}

/* Tells whether an image is one of this selection, of a shard with so many rows. */
static bool is_ours(const struct ny_greedy *greedy, const struct image_head *head, size_t bytes,
                    uint64_t rows)
{
    uint64_t residuals = (head->rows_done + head->kept_rows) * sizeof(float);
    size_t least = sizeof(*head) + (ny_context_peers(greedy->ctx) ? sizeof(uint64_t) : 0);

    return head->magic == IMAGE_MAGIC && head->n == greedy->n &&
           head->units_done <= ny_units_of(rows) &&
           head->rows_done == rows_of(head->units_done, rows) &&
           head->kept_rows == (greedy->kept ? rows : 0) &&
           head->landmarks_max == greedy->request->landmarks && bytes >= least &&
           residuals <= bytes - least && head->dictionary_bytes == bytes - least - residuals;
}

/* Reads the head of an image, and its turn; false: it is none. */
static bool read_head(const struct ny_selection_request *request, const char *image, size_t bytes,
                      struct image_head *head, uint64_t *turn)
{
    size_t turned = ny_context_peers(request->ctx) ? sizeof(*turn) : 0;

    *turn = 0;
    if (!image || bytes < sizeof(*head) + turned) return false;
    memcpy(head, image, sizeof(*head));
    memcpy(turn, image + bytes - turned, turned);
    return true;
}

/* Returns how many rows the earlier selection has decided: none where its dictionary was not taken
 * up, so that the landmarks do not begin with its own. */
static uint64_t decided_rows(const struct ny_greedy *greedy)
{
    const struct ny_selected *earlier = greedy->request->greedy.earlier;
    bool taken_up = earlier && ny_dictionary_size(greedy->dictionary) >= earlier->m &&
                    memcmp(ny_dictionary_rows(greedy->dictionary), earlier->rows,
                           earlier->m * sizeof(*earlier->rows)) == 0;

    return taken_up ? earlier->n : 0;
}

/* Takes up the bounds of an image, those against D and, with `run`, those of the run that it is of;
 * and what it has counted. */
static void take_bounds(struct ny_greedy *greedy, const struct image_head *head, const char *bounds,
                        bool run)
{
    float *residuals = greedy->residuals + greedy->here.first;
    size_t kept = (size_t)head->kept_rows * sizeof(float);

    if (greedy->kept) {
        memcpy(greedy->kept + greedy->here.first, bounds + head->rows_done * sizeof(float), kept);
        memcpy(residuals, greedy->kept + greedy->here.first, kept);
    }
    if (run) memcpy(residuals, bounds, head->rows_done * sizeof(float));
    greedy->rows_read = head->rows_read;
    greedy->flops = head->flops;
}

int ny_greedy_restore(struct ny_greedy *greedy, uint64_t *first_unit)
{
    const char *image = greedy->request->checkpoint.image, *bounds;
    size_t bytes = greedy->request->checkpoint.image_bytes;
    struct image_head head = {0};
    uint64_t turn;
    int err;

    if (!read_head(greedy->request, image, bytes, &head, &turn) ||
        turn >= ny_peers_shards(ny_context_peers(greedy->ctx)) ||
        !is_ours(greedy, &head, bytes, rows_here(greedy)))
        return ny_fail_damaged(greedy->request->ctx, NULL, NULL);
    err = ny_dictionary_restore(greedy->dictionary, image + sizeof(head), head.dictionary_bytes);
    if (err) return err;
    if (greedy->kept && head.search.landmarks > greedy->dictionary->count)
        return ny_fail_damaged(greedy->request->ctx, NULL, NULL);
    bounds = image + sizeof(head) + head.dictionary_bytes;
    take_bounds(greedy, &head, bounds, true);
    greedy->search = head.search;
    greedy->turn = (unsigned)turn;
    greedy->decided = decided_rows(greedy);
    *first_unit = head.units_done;
    return ny_prefixes_recall(&greedy->prefixes, greedy->dictionary, head.prefix, head.units_done,
                              head.units_done);
}

/* ---- over shards ---------------------------------------------------------------------------- */

uint64_t ny_greedy_progress(const struct ny_selection_request *request)
{
    uint64_t shards = ny_peers_shards(ny_context_peers(request->ctx)), turn, most_units = 1u << 24;
    const struct ny_selection_checkpoint *own = &request->checkpoint;
    struct image_head head;

    if (!own->image) return 0;
    if (!read_head(request, own->image, own->image_bytes, &head, &turn)) return 1;
    return (head.search.runs * shards + turn) * most_units + head.units_done % most_units + 1;
}

int ny_greedy_follow(struct ny_greedy *greedy, const void *image, size_t bytes)
{
    const struct ny_selection_checkpoint *own = &greedy->request->checkpoint;
    struct image_head head, mine;
    uint64_t turn, at;
    bool read = read_head(greedy->request, image, bytes, &head, &turn);
    int err = NY_OK;

    if (read && own->image &&
        read_head(greedy->request, own->image, own->image_bytes, &mine, &at)) {
        if (!is_ours(greedy, &mine, own->image_bytes, rows_here(greedy))) read = false;
        if (read)
            take_bounds(greedy, &mine,
                        (const char *)own->image + sizeof(mine) + mine.dictionary_bytes,
                        !greedy->kept || mine.search.runs == head.search.runs);
    }
    if (!read || head.magic != IMAGE_MAGIC || head.n != greedy->n ||
        head.dictionary_bytes > bytes - sizeof(head) ||
        turn >= ny_peers_shards(ny_context_peers(greedy->ctx)))
        return ny_fail_damaged(greedy->request->ctx, NULL, NULL);
    err = ny_dictionary_restore(greedy->dictionary, (const char *)image + sizeof(head),
                                head.dictionary_bytes);
    greedy->search = head.search;
    greedy->turn = (unsigned)turn;
    if (!err && greedy->kept && head.search.landmarks > ny_dictionary_size(greedy->dictionary))
        err = ny_fail_damaged(greedy->request->ctx, NULL, NULL);
    return err ? err : ny_prefixes_begin(&greedy->prefixes, greedy->dictionary);
}
