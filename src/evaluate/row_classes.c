#include "evaluate/row_classes.h"

#include <math.h>
#include <string.h>

#include "base/layout.h"

enum { ROWS = 65536 };

/* Distinct labels, ascending, each with its class. */
struct seen {
    size_t count;
    double value[NY_ROW_CLASSES_MAX];
    uint32_t class[NY_ROW_CLASSES_MAX];
};

/* The class of a label, a new one perhaps; NY_ROW_CLASSES_MAX when there is no room for it. */
static uint32_t class_of(struct seen *seen, double label)
{
    size_t low = 0, high = seen->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (seen->value[middle] < label)
            low = middle + 1;
        else
            high = middle;
    }
    if (low < seen->count && seen->value[low] == label) return seen->class[low];
    if (seen->count == NY_ROW_CLASSES_MAX) return NY_ROW_CLASSES_MAX;
    memmove(seen->value + low + 1, seen->value + low, (seen->count - low) * sizeof(double));
    memmove(seen->class + low + 1, seen->class + low, (seen->count - low) * sizeof(uint32_t));
    seen->value[low] = label;
    seen->class[low] = (uint32_t)seen->count;
    return (uint32_t)seen->count++;
}

/* Numbers the labels of a piece. Rows without a label, NaN, are in no class and are counted. */
static void take(struct ny_row_classes *classes, struct seen *seen, uint64_t first,
                 const double *labels, size_t count)
{
    for (size_t i = 0; i < count && !classes->too_many; i++) {
        uint32_t class = isnan(labels[i]) ? NY_NO_CLASS : class_of(seen, labels[i]);

        classes->of[first + i] = class;
        classes->missing += class == NY_NO_CLASS;
        classes->too_many = class == NY_ROW_CLASSES_MAX;
    }
}

int ny_row_classes_load(struct ny_row_classes *classes, struct ny_result *result)
{
    const struct ny_result_part *part = ny_part_find("labels");
    struct ny_context *ctx = result->ctx;
    struct ny_layout l = {.ctx = ctx};
    struct seen *seen;
    double *labels;
    size_t n = part->count(result);
    int err;

    *classes = (struct ny_row_classes){0};
    if (!n) return NY_OK;
    classes->of = ny_calloc(ctx, NY_MEM_DICTIONARY, n, sizeof(uint32_t));
    seen = ny_lay(&l, NY_MEM_OTHER, 1, sizeof(*seen));
    labels = ny_lay(&l, NY_MEM_IO, ROWS, sizeof(double));
    err = l.err || !classes->of ? NY_EBUDGET : ny_result_prepare(result, part, ROWS);
    for (uint64_t first = 0; err == NY_OK && first < n && !classes->too_many; first += ROWS) {
        size_t count = n - first < ROWS ? (size_t)(n - first) : ROWS;

        err = ny_check_interrupt(ctx);
        if (err == NY_OK) err = ny_part_fill(result, part, first, count, labels);
        if (err == NY_OK) take(classes, seen, first, labels, count);
    }
    if (!err && !classes->too_many) classes->count = seen->count;
    ny_layout_free(&l);
    return err;
}

void ny_row_classes_release(struct ny_row_classes *classes, struct ny_context *ctx)
{
    ny_free(ctx, classes->of);
    classes->of = NULL;
}
