/*
 * The colours of a column: classes (labels, clusters, components of a graph) or a quantity. Classes
 * are known before points are drawn, so that colours do not depend on the order of rows.
 */
#ifndef NY_REPORT_TINT_H
#define NY_REPORT_TINT_H

#include "report/axis.h"
#include "report/frame.h"
#include "report/raster.h"

enum { NY_CLASSES_MAX = 256, NY_CLASS_NAME_BYTES = 64 };

struct ny_tint_class {
    double value;
    uint64_t rows;
    char name[NY_CLASS_NAME_BYTES]; /* UTF-8, without control characters, cut with … */
};

struct ny_tint {
    struct ny_context *ctx;
    enum ny_raster_kind kind;
    const char *name; /* of the column; NULL: amounts of points */
    size_t column;    /* of the frame */
    size_t count;
    uint64_t nameless; /* rows of no class, or of one beyond the most that are told apart */
    struct ny_tint_class *classes; /* in the order of their values */
    struct ny_axis range;          /* of quantities */
};

/* `name`: of a column, "density", or "auto": labels, else density. Reads that
 * column of all rows, where it may be classes. */
int ny_tint_new(struct ny_tint *tint, struct ny_data_frame *frame, const char *name);
/* Frees the classes; a zeroed tint is left alone. */
void ny_tint_release(struct ny_tint *tint);
/* The tint for ny_raster_add(): the class of a value, −1 for none, or its place in the range, NaN
 * for none. */
double ny_tint_of(const struct ny_tint *tint, double value);

#endif
