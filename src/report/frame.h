/*
 * The rows of a result as a picture wants them: some columns of numbers, read in pieces. A column
 * is named as on the command line:
 *
 *   3           the third component of the embedding
 *   row         the row number in the store
 *   label cluster component residual      that part of the result
 *   cluster:B   that part of result B of the same store, which covers all of these rows
 *   column:NAME the column of the store's points of that name; NAME alone, where it is no other
 */
#ifndef NY_REPORT_FRAME_H
#define NY_REPORT_FRAME_H

#include "report/points_column.h"
#include "results/shards.h"

enum { NY_FRAME_COLUMNS = 16 };

struct ny_frame_column {
    size_t component;                  /* counted from 1; 0: none */
    const struct ny_result_part *part; /* NULL and no component: the row number */
    bool classes;                      /* its values are numbers of classes, not quantities */
    size_t other;                      /* 1 + the result that has it; 0: the frame's own */
    struct ny_points_column *points;   /* NULL: the result has it, or another one */
    double *values;                    /* of the piece that was read */
};

struct ny_data_frame {
    struct ny_context *ctx;
    struct ny_layout own;
    struct ny_result result;
    uint64_t n;        /* rows of the embedding */
    size_t components; /* of it */
    size_t piece;      /* the most rows that are read at a time */
    size_t count, others;
    struct ny_frame_column column[NY_FRAME_COLUMNS];
    struct ny_result other[NY_FRAME_COLUMNS];
    char *other_name[NY_FRAME_COLUMNS];
    bool rows_wanted;
    uint64_t *rows; /* of the piece, where some column wants them */
    void *room;
};

/* NY_EUSAGE where NAME is not done or has no embedding. Close it after a failure, too. */
int ny_data_frame_open(struct ny_data_frame *frame, struct ny_store *store, const char *name);
/* Closes all results of the frame and frees its columns. */
void ny_data_frame_close(struct ny_data_frame *frame);
/* *column: its place. NY_EUSAGE where there is no such column. */
int ny_data_frame_add(struct ny_data_frame *frame, const char *name, size_t *column);
/* Tells whether the result has such a part itself. */
bool ny_data_frame_has(const struct ny_data_frame *frame, const char *name);
/* Rows first … first + count − 1 of all columns; count ≤ piece. */
int ny_data_frame_read(struct ny_data_frame *frame, uint64_t first, size_t count);
/* Like ny_data_frame_read(), for one column alone. */
int ny_data_frame_read_column(struct ny_data_frame *frame, size_t column, uint64_t first,
                              size_t count);

/* Reads the rows of the store that are landmarks: of the first `most` that were selected, without
 * those of other shards. *count: how many they are. */
int ny_data_frame_landmarks(struct ny_data_frame *frame, size_t most, uint64_t *rows,
                            size_t *count);

/* Returns the place of a row of the store in the piece of `count` rows that was read, or `count`;
 * rows_wanted is set. */
size_t ny_data_frame_place(const struct ny_data_frame *frame, size_t count, uint64_t row);

/* Is called for pieces of all rows, in order: `count` rows of the result from `first` on. */
typedef void ny_data_frame_fn(void *user, uint64_t first, size_t count);
/* Walks over all rows in one pass, with progress under the name `stage`. */
int ny_data_frame_walk(struct ny_data_frame *frame, const char *stage, ny_data_frame_fn *each,
                       void *user);

#endif
