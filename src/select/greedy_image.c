/* Prefixes of the dictionary, and the image that a killed selection goes on from. */
#include "select/greedy.h"

#include <string.h>

#include "base/clock.h"

/* ---- prefixes ------------------------------------------------------------------------------- */

static void drop_tail(struct ny_context *ctx, struct ny_tail *tail)
{
    if (!tail || --tail->users) return;
    ny_columns_free(tail->columns);
    ny_free(ctx, tail);
}

static int new_tail(struct ny_tail **out, struct ny_greedy *greedy, size_t rank)
{
    struct ny_tail *tail;
    int err;

    *out = NULL;
    if (rank % NY_DICTIONARY_PANEL == 0) return NY_OK;
    tail = ny_calloc(greedy->ctx, NY_MEM_DICTIONARY, 1, sizeof(*tail));
    if (!tail) return NY_EBUDGET;
    err = ny_dictionary_tail(&tail->columns, greedy->dictionary, rank);
    if (err) {
        ny_free(greedy->ctx, tail);
        return err;
    }
    *out = tail;
    return NY_OK;
}

static int set_slot(struct ny_greedy *greedy, size_t slot, struct ny_prefix prefix, size_t like)
{
    struct ny_tail *tail = greedy->tails[like];
    int err = NY_OK;

    if (greedy->prefix[like].rank != prefix.rank) err = new_tail(&tail, greedy, prefix.rank);
    if (err) return err;
    if (tail) tail->users++;
    drop_tail(greedy->ctx, greedy->tails[slot]);
    greedy->tails[slot] = tail;
    prefix.tail = tail ? tail->columns : NULL;
    greedy->prefix[slot] = prefix;
    return NY_OK;
}

int ny_greedy_set_prefix(struct ny_greedy *greedy, uint64_t unit)
{
    return set_slot(greedy, (size_t)(unit % NY_GREEDY_AHEAD), ny_dictionary_now(greedy->dictionary),
                    (size_t)((unit + NY_GREEDY_AHEAD - 1) % NY_GREEDY_AHEAD));
}

void ny_greedy_drop_prefixes(struct ny_greedy *greedy)
{
    for (size_t i = 0; i < NY_GREEDY_AHEAD; i++) {
        drop_tail(greedy->ctx, greedy->tails[i]);
        greedy->tails[i] = NULL;
        greedy->prefix[i] = (struct ny_prefix){0};
    }
}

/* ---- image ---------------------------------------------------------------------------------- */

struct image_head {
    uint64_t magic, n, units_done, rows_done, kept_rows, dictionary_bytes, landmarks_max;
    uint64_t rows_read;
    double flops;
    struct ny_greedy_search search;
    struct {
        uint64_t rank, started;
        double largest;
    } prefix[NY_GREEDY_AHEAD];
};

#define IMAGE_MAGIC UINT64_C(0x32796465657247)

static uint64_t rows_of(uint64_t units, uint64_t n)
{
    uint64_t rows = units * NY_UNIT_ROWS;

    return rows < n ? rows : n;
}

static struct image_head head_of(const struct ny_greedy *greedy, uint64_t units_done)
{
    struct image_head head = {.magic = IMAGE_MAGIC,
                              .n = greedy->n,
                              .units_done = units_done,
                              .rows_done = rows_of(units_done, greedy->n),
                              .kept_rows = greedy->kept ? greedy->n : 0,
                              .dictionary_bytes = ny_dictionary_image_bytes(greedy->dictionary),
                              .landmarks_max = greedy->landmarks_max,
                              .rows_read = greedy->rows_read,
                              .flops = greedy->flops,
                              .search = greedy->search};

    for (size_t i = 0; i < NY_GREEDY_AHEAD; i++) {
        head.prefix[i].rank = greedy->prefix[i].rank;
        head.prefix[i].started = greedy->prefix[i].started;
        head.prefix[i].largest = greedy->prefix[i].largest;
    }
    return head;
}

/* head, dictionary, residual bounds of the rows done, and those against D. */
int ny_greedy_checkpoint(void *arg, uint64_t units_done)
{
    struct ny_greedy *greedy = arg;
    struct image_head head = head_of(greedy, units_done);
    size_t bytes =
        sizeof(head) + head.dictionary_bytes + (head.rows_done + head.kept_rows) * sizeof(float);
    char *image, *bounds;
    int err;

    greedy->checkpoint_s = ny_now();
    image = bytes <= ny_memory_left(greedy->ctx)
                ? ny_alloc(greedy->ctx, NY_MEM_DICTIONARY, bytes)
                : NULL;
    if (!image) {
        /* The selection itself still fits: it goes on, and a kill would cost more. */
        ny_log(greedy->ctx, NY_LOG_WARNING,
               "no checkpoint of the selection: its %zu bytes do not fit the memory budget", bytes);
        return NY_OK;
    }
    memcpy(image, &head, sizeof(head));
    ny_dictionary_save(greedy->dictionary, image + sizeof(head));
    bounds = image + sizeof(head) + head.dictionary_bytes;
    memcpy(bounds, greedy->residuals, head.rows_done * sizeof(float));
    if (greedy->kept)
        memcpy(bounds + head.rows_done * sizeof(float), greedy->kept,
               head.kept_rows * sizeof(float));
    err = greedy->request->checkpoint.save(greedy->request->checkpoint.arg, image, bytes);
    ny_free(greedy->ctx, image);
    return err;
}

int ny_greedy_not_ours(const struct ny_greedy *greedy)
{
    return ny_fail(greedy->ctx, NY_ESTORE,
                   "the saved state does not belong to this selection; run it anew");
}

static bool is_ours(const struct ny_greedy *greedy, const struct image_head *head, size_t bytes)
{
    uint64_t residuals = (head->rows_done + head->kept_rows) * sizeof(float);
    bool grows = greedy->request->greedy.follower != NULL; /* rows may have arrived since */

    return head->magic == IMAGE_MAGIC && (grows ? head->n <= greedy->n : head->n == greedy->n) &&
           head->units_done <= ny_units_of(head->n) &&
           head->rows_done == rows_of(head->units_done, head->n) &&
           head->kept_rows == (greedy->kept ? greedy->n : 0) &&
           head->landmarks_max == greedy->landmarks_max && residuals <= bytes - sizeof(*head) &&
           head->dictionary_bytes == bytes - sizeof(*head) - residuals;
}

int ny_greedy_restore(struct ny_greedy *greedy, uint64_t *first_unit)
{
    const char *image = greedy->request->checkpoint.image, *bounds;
    size_t bytes = greedy->request->checkpoint.image_bytes;
    struct image_head head = {0};
    int err;

    if (bytes >= sizeof(head)) memcpy(&head, image, sizeof(head));
    if (!is_ours(greedy, &head, bytes)) return ny_greedy_not_ours(greedy);
    err = ny_dictionary_restore(greedy->dictionary, image + sizeof(head), head.dictionary_bytes);
    if (err) return err;
    if (greedy->kept && head.search.landmarks > greedy->dictionary->count)
        return ny_greedy_not_ours(greedy);
    bounds = image + sizeof(head) + head.dictionary_bytes;
    if (greedy->kept) {
        memcpy(greedy->kept, bounds + head.rows_done * sizeof(float), greedy->n * sizeof(float));
        memcpy(greedy->residuals, greedy->kept, greedy->n * sizeof(float));
    }
    memcpy(greedy->residuals, bounds, head.rows_done * sizeof(float));
    greedy->search = head.search;
    greedy->rows_read = head.rows_read;
    greedy->flops = head.flops;
    *first_unit = head.units_done;
    for (size_t i = 0; i < NY_GREEDY_AHEAD; i++) {
        /* Oldest first, so that equal ones share their tail. */
        size_t slot = (size_t)((head.units_done + i) % NY_GREEDY_AHEAD);
        struct ny_prefix prefix = {.rank = head.prefix[slot].rank,
                                   .started = head.prefix[slot].started != 0,
                                   .largest = head.prefix[slot].largest};

        if (prefix.rank > greedy->dictionary->rank) return ny_greedy_not_ours(greedy);
        err = set_slot(greedy, slot, prefix, (slot + NY_GREEDY_AHEAD - 1) % NY_GREEDY_AHEAD);
        if (err) return err;
    }
    return NY_OK;
}
