/* The labels of a result's rows, as classes. */
#ifndef NY_EVALUATE_ROW_CLASSES_H
#define NY_EVALUATE_ROW_CLASSES_H

#include "results/shards.h"

/* Labels are taken as values, and not as classes, if more than this many differ. */
enum { NY_ROW_CLASSES_MAX = 4096 };
#define NY_NO_CLASS UINT32_MAX

struct ny_row_classes {
    size_t count;     /* in order of their first row */
    uint64_t missing; /* rows without a label */
    bool too_many;    /* count is then 0 */
    uint32_t *of;     /* of each row, NY_NO_CLASS where the label is missing; NULL: no labels */
};

/* Released also after a failure. */
int ny_row_classes_load(struct ny_row_classes *classes, struct ny_result *result);
/* Frees the classes. */
void ny_row_classes_release(struct ny_row_classes *classes, struct ny_context *ctx);

#endif
