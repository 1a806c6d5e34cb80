/* The image that a killed greedy selection goes on from. */
#include "select/greedy.h"

#include <string.h>

#include "base/clock.h"
#include "select/rules_private.h"

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
                              .landmarks_max = greedy->request->landmarks,
                              .rows_read = greedy->rows_read,
                              .flops = greedy->flops,
                              .search = greedy->search};

    for (size_t i = 0; i < NY_GREEDY_AHEAD; i++) {
        head.prefix[i].rank = greedy->prefixes.prefix[i].rank;
        head.prefix[i].started = greedy->prefixes.prefix[i].started;
        head.prefix[i].largest = greedy->prefixes.prefix[i].largest;
    }
    return head;
}

size_t ny_greedy_image_bytes(const struct ny_selection_request *request, size_t m)
{
    const struct ny_columns_spec *spec = request->spec;
    size_t heads = 1024;

    return heads + ny_greedy_bounds_bytes(request) + ny_dictionary_image_most(spec, m);
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
    /* The selection itself still fits: it goes on, and a kill would cost more. */
    if (!image) return NY_OK;
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

static bool is_ours(const struct ny_greedy *greedy, const struct image_head *head, size_t bytes)
{
    uint64_t residuals = (head->rows_done + head->kept_rows) * sizeof(float);

    return head->magic == IMAGE_MAGIC && head->n == greedy->n &&
           head->units_done <= ny_units_of(head->n) &&
           head->rows_done == rows_of(head->units_done, head->n) &&
           head->kept_rows == (greedy->kept ? greedy->n : 0) &&
           head->landmarks_max == greedy->request->landmarks &&
           residuals <= bytes - sizeof(*head) &&
           head->dictionary_bytes == bytes - sizeof(*head) - residuals;
}

/* Returns how many rows the earlier selection has decided: none where its dictionary was not taken
 * up, so that the landmarks do not begin with its own. */
static uint64_t decided_rows(const struct ny_greedy *greedy)
{
    const struct ny_selected *earlier = greedy->request->greedy.earlier;
    bool taken_up = earlier && ny_dictionary_count(greedy->dictionary) >= earlier->m &&
                    memcmp(ny_dictionary_rows(greedy->dictionary), earlier->rows,
                           earlier->m * sizeof(*earlier->rows)) == 0;

    return taken_up ? earlier->n : 0;
}

int ny_greedy_restore(struct ny_greedy *greedy, uint64_t *first_unit)
{
    const char *image = greedy->request->checkpoint.image, *bounds;
    size_t bytes = greedy->request->checkpoint.image_bytes;
    struct image_head head = {0};
    int err;

    if (bytes >= sizeof(head)) memcpy(&head, image, sizeof(head));
    if (!is_ours(greedy, &head, bytes)) return ny_fail_damaged(greedy->request->ctx, NULL, NULL);
    err = ny_dictionary_restore(greedy->dictionary, image + sizeof(head), head.dictionary_bytes);
    if (err) return err;
    if (greedy->kept && head.search.landmarks > greedy->dictionary->count)
        return ny_fail_damaged(greedy->request->ctx, NULL, NULL);
    bounds = image + sizeof(head) + head.dictionary_bytes;
    if (greedy->kept) {
        memcpy(greedy->kept, bounds + head.rows_done * sizeof(float), greedy->n * sizeof(float));
        memcpy(greedy->residuals, greedy->kept, greedy->n * sizeof(float));
    }
    memcpy(greedy->residuals, bounds, head.rows_done * sizeof(float));
    greedy->search = head.search;
    greedy->rows_read = head.rows_read;
    greedy->flops = head.flops;
    greedy->decided = decided_rows(greedy);
    *first_unit = head.units_done;
    for (size_t i = 0; i < NY_GREEDY_AHEAD; i++) {
        /* Oldest first, so that equal ones share their tail. */
        uint64_t unit = head.units_done + i, slot = unit % NY_GREEDY_AHEAD;
        struct ny_prefix prefix = {.rank = head.prefix[slot].rank,
                                   .started = head.prefix[slot].started != 0,
                                   .largest = head.prefix[slot].largest};

        if (prefix.rank > greedy->dictionary->rank)
            return ny_fail_damaged(greedy->request->ctx, NULL, NULL);
        err = ny_prefixes_restore(&greedy->prefixes, greedy->dictionary, unit, prefix);
        if (err) return err;
    }
    return NY_OK;
}
