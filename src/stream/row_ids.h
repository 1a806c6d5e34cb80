/* The names of the rows of a file on their way past a pass: the source adds those of each unit that
 * is taken, and whoever writes the rows takes them in the same order, from other threads. */
#ifndef NY_STREAM_ROW_IDS_H
#define NY_STREAM_ROW_IDS_H

#include "base/mutex.h"
#include "base/names.h"

struct ny_row_ids {
    struct ny_context *ctx;
    struct ny_mutex lock; /* guards what follows */
    struct ny_names names;
    size_t taken; /* bytes of them, at the front */
};

/* Begins without names, whose memory is charged to NY_MEM_IO. Release it. */
void ny_row_ids_begin(struct ny_row_ids *ids, struct ny_context *ctx);
void ny_row_ids_release(struct ny_row_ids *ids);
/* Adds the names of the rows that come next. */
int ny_row_ids_add(struct ny_row_ids *ids, const struct ny_names *names);
/* Takes the next `count` names, which were added before, in place of those in `names`. */
int ny_row_ids_take(struct ny_row_ids *ids, size_t count, struct ny_names *names);

#endif
