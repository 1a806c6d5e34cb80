/* The rows of a file that a source leaves out, since they hold NaN: their numbers in the file, in
 * order. The source writes them down while units are taken, and whoever gives all rows of the file
 * a place in an output looks them up, from other threads. */
#ifndef NY_STREAM_LEFT_OUT_H
#define NY_STREAM_LEFT_OUT_H

#include "base/context.h"
#include "base/mutex.h"

struct ny_left_out {
    struct ny_context *ctx;
    struct ny_mutex lock; /* guards what follows */
    uint64_t *row;
    size_t count, room;
    uint64_t seen; /* rows of the file so far */
};

/* Begins a list without rows. Release it; its memory, 8 bytes a row, is charged to NY_MEM_IO. */
void ny_left_out_begin(struct ny_left_out *list, struct ny_context *ctx);
void ny_left_out_release(struct ny_left_out *list);
/* Notes that row `row` of the file is next: those between it and the one before are left out. Also
 * called with the number of rows at the end. */
int ny_left_out_reach(struct ny_left_out *list, uint64_t row);
/* Returns the number of the k-th row that is left out; UINT64_MAX where there are fewer so far. */
uint64_t ny_left_out_at(struct ny_left_out *list, size_t k);

#endif
