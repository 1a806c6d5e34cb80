/*
 * Takes a sample of the rows of a result (report/sample.h), from which pictures and reports find
 * the ranges of axes. It is made of groups of 1,024 consecutive rows, one at a random place of each
 * equal part of the rows. A result with no more rows than the sample is taken whole.
 */
#include "report/sample.h"

#include <string.h>

#include "base/memory.h"
#include "base/random.h"

enum { GROUP_ROWS = 1024, GROUPS = NY_PLOT_SAMPLE_ROWS / GROUP_ROWS };

/* Reads `count` rows from `first` on to the sample's place `at`, piece by piece. */
static int take(struct ny_plot_sample *sample, struct ny_data_frame *frame, uint64_t first,
                size_t at, size_t count)
{
    int err = ny_check_interrupt(frame->ctx);

    for (size_t done = 0, piece; err == NY_OK && done < count; done += piece) {
        piece = count - done < frame->piece ? count - done : frame->piece;
        err = ny_data_frame_read(frame, first + done, piece);
        for (size_t k = 0; err == NY_OK && k < frame->count; k++)
            memcpy(ny_plot_sample_column(sample, k) + at + done, frame->column[k].values,
                   piece * sizeof(double));
    }
    return err;
}

int ny_plot_sample_new(struct ny_plot_sample *sample, struct ny_data_frame *frame)
{
    bool all = frame->n <= NY_PLOT_SAMPLE_ROWS;
    int err = NY_OK;

    *sample = (struct ny_plot_sample){.ctx = frame->ctx,
                                      .count = all ? (size_t)frame->n : NY_PLOT_SAMPLE_ROWS,
                                      .columns = frame->count};
    sample->values =
        ny_calloc(frame->ctx, NY_MEM_OTHER, sample->count * frame->count, sizeof(double));
    if (!sample->values) return NY_EBUDGET;
    if (all) return take(sample, frame, 0, 0, sample->count);
    for (uint64_t g = 0; err == NY_OK && g < GROUPS; g++) {
        uint64_t begin = frame->n / GROUPS * g, room = frame->n / GROUPS - GROUP_ROWS + 1;

        begin += ny_hash64(0, NY_STREAM_SAMPLE, g) % room;
        err = take(sample, frame, begin, (size_t)g * GROUP_ROWS, GROUP_ROWS);
    }
    return err;
}

void ny_plot_sample_release(struct ny_plot_sample *sample)
{
    if (sample->ctx) ny_free(sample->ctx, sample->values);
    sample->ctx = NULL;
}
