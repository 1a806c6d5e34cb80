/* A sample of rows, spread over all of a frame: groups of neighbours at hashed places. */
#ifndef NY_REPORT_SAMPLE_H
#define NY_REPORT_SAMPLE_H

#include "report/frame.h"

enum { NY_PLOT_SAMPLE_ROWS = 65536 };

struct ny_plot_sample {
    struct ny_context *ctx;
    size_t count, columns;
    double *values; /* columns × count */
};

/* All columns of at most NY_PLOT_SAMPLE_ROWS rows; of all where there are no more. */
int ny_plot_sample_new(struct ny_plot_sample *sample, struct ny_data_frame *frame);
/* Frees the sample. */
void ny_plot_sample_release(struct ny_plot_sample *sample);

/* Returns the `count` values of a column of the frame. */
static inline double *ny_plot_sample_column(const struct ny_plot_sample *sample, size_t column)
{
    return sample->values + column * sample->count;
}

#endif
