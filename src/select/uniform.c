/* uniform: the m rows with the smallest hash, so that a smaller m is a prefix, and nothing depends
 * on the order in which rows are seen. */
#include "select/rules_private.h"

#include "base/memory.h"
#include "base/random.h"

struct draw {
    double hash;
    uint64_t row;
};

static bool before(struct draw a, struct draw b)
{
    return a.hash < b.hash || (a.hash == b.hash && a.row < b.row);
}

/* A heap with the last of the kept draws on top. */
static void sift_down(struct draw *heap, size_t count, size_t i)
{
    struct draw moving = heap[i];

    for (size_t child; (child = 2 * i + 1) < count; i = child) {
        if (child + 1 < count && before(heap[child], heap[child + 1])) child++;
        if (!before(moving, heap[child])) break;
        heap[i] = heap[child];
    }
    heap[i] = moving;
}

static int keep_smallest(const struct ny_selection_request *request, struct draw *heap, size_t m)
{
    enum { CHECK_ROWS = 1 << 20 };

    for (uint64_t row = 0; row < m; row++)
        heap[row] = (struct draw){ny_hash01(request->seed, NY_STREAM_LANDMARKS, row), row};
    for (size_t i = m / 2; i-- > 0;)
        sift_down(heap, m, i);
    for (uint64_t row = m; row < request->n; row++) {
        struct draw draw = {ny_hash01(request->seed, NY_STREAM_LANDMARKS, row), row};

        if (before(draw, heap[0])) {
            heap[0] = draw;
            sift_down(heap, m, 0);
        }
        if (row % CHECK_ROWS == 0) {
            int err = ny_check_interrupt(request->ctx);
            if (err) return err;
        }
    }
    return NY_OK;
}

int ny_select_uniform(const struct ny_selection_request *request, struct ny_selection *selection)
{
    size_t m = request->landmarks < request->n ? request->landmarks : (size_t)request->n;
    struct draw *heap;
    size_t bytes;
    int err;

    ny_selection_clear(selection);
    if (!m)
        return ny_fail(request->ctx, NY_EUSAGE, "%s", request->n
                       ? "--landmarks 0: at least one is needed"
                       : "the store has no rows to select landmarks from; import some first");
    err = ny_product(request->ctx, &bytes, m, sizeof(*heap), 1);
    if (err) return err;
    heap = ny_alloc(request->ctx, NY_MEM_DICTIONARY, bytes);
    if (!heap) return NY_EBUDGET;
    err = keep_smallest(request, heap, m);
    if (!err) err = ny_selection_rows(selection, request->ctx, m);
    /* The largest goes to the end, and the rest is a heap again. */
    for (size_t count = m; !err && count > 0; count--) {
        selection->rows[count - 1] = heap[0].row;
        heap[0] = heap[count - 1];
        if (count > 1) sift_down(heap, count - 1, 0);
    }
    ny_free(request->ctx, heap);
    return err;
}
