/* The image that a killed selection goes on from. */
#include "select/rpcholesky.h"

#include <string.h>

#include "base/clock.h"
#include "select/rules_private.h"

struct image_head {
    uint64_t magic, n, m, units_done, dictionary_bytes;
    struct ny_pivot_progress now;
};

#define IMAGE_MAGIC UINT64_C(0x32746f766950594e)

static size_t window_bytes(const struct ny_rpcholesky *rp)
{
    return sizeof(rp->window_row) + sizeof(rp->window_bound);
}

size_t ny_rpcholesky_image_bytes(const struct ny_selection_request *request, size_t m)
{
    const struct ny_columns_spec *spec = request->spec;
    size_t heads = 1024;

    return heads + NY_PIVOT_WINDOW * (sizeof(uint64_t) + sizeof(float)) +
           request->n * sizeof(float) + ny_dictionary_image_most(spec, m);
}

/* head, candidates of the window, dictionary, bounds: where a pass is under way, those of the rows
 * that are not done are still the old ones. */
int ny_pivot_checkpoint(void *arg, uint64_t units_done)
{
    struct ny_rpcholesky *rp = arg;
    struct image_head head = {.magic = IMAGE_MAGIC, .n = rp->n, .m = rp->m, .now = rp->now};
    size_t bytes;
    char *image, *at;
    int err;

    head.units_done = rp->now.measuring ? units_done : 0;
    head.dictionary_bytes = ny_dictionary_image_bytes(rp->dictionary);
    bytes = sizeof(head) + window_bytes(rp) + head.dictionary_bytes + rp->n * sizeof(float);
    rp->saved_s = ny_now();
    image = bytes <= ny_memory_left(rp->ctx) ? ny_alloc(rp->ctx, NY_MEM_DICTIONARY, bytes) : NULL;
    if (!image) {
        /* The selection itself still fits: it goes on, and a kill would cost more. */
        ny_log(rp->ctx, NY_LOG_WARNING,
               "no checkpoint of the selection: its %zu bytes do not fit the memory budget", bytes);
        return NY_OK;
    }
    memcpy(image, &head, sizeof(head));
    at = image + sizeof(head);
    memcpy(at, rp->window_row, sizeof(rp->window_row));
    memcpy(at + sizeof(rp->window_row), rp->window_bound, sizeof(rp->window_bound));
    at += window_bytes(rp);
    ny_dictionary_save(rp->dictionary, at);
    memcpy(at + head.dictionary_bytes, rp->bounds, rp->n * sizeof(float));
    err = rp->request->checkpoint.save(rp->request->checkpoint.arg, image, bytes);
    ny_free(rp->ctx, image);
    rp->saved_s = ny_now();
    return err;
}

static bool is_ours(const struct ny_rpcholesky *rp, const struct image_head *head, size_t bytes)
{
    return head->magic == IMAGE_MAGIC && head->n == rp->n && head->m == rp->m &&
           head->units_done <= ny_units_of(rp->n) && head->now.judged <= NY_PIVOT_WINDOW &&
           head->dictionary_bytes <= bytes &&
           sizeof(*head) + window_bytes(rp) + head->dictionary_bytes + rp->n * sizeof(float) ==
               bytes;
}

int ny_pivot_restore(struct ny_rpcholesky *rp, uint64_t *first_unit)
{
    const char *at = rp->request->checkpoint.image;
    size_t bytes = rp->request->checkpoint.image_bytes;
    struct image_head head = {0};
    int err;

    if (bytes >= sizeof(head)) memcpy(&head, at, sizeof(head));
    if (!is_ours(rp, &head, bytes)) return ny_selection_not_ours(rp->request);
    at += sizeof(head);
    memcpy(rp->window_row, at, sizeof(rp->window_row));
    memcpy(rp->window_bound, at + sizeof(rp->window_row), sizeof(rp->window_bound));
    for (size_t i = 0; i < head.now.judged; i++)
        if (rp->window_row[i] >= rp->n) return ny_selection_not_ours(rp->request);
    at += window_bytes(rp);
    err = ny_dictionary_restore(rp->dictionary, at, head.dictionary_bytes);
    if (err) return err;
    memcpy(rp->bounds, at + head.dictionary_bytes, rp->n * sizeof(float));
    rp->now = head.now;
    *first_unit = head.units_done;
    return NY_OK;
}
