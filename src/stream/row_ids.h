/* The names of the rows of a file, and the words of their labels, on their way past a pass: the
 * source adds those of each unit that is taken, and whoever writes the rows takes them in the same
 * order, from other threads. */
#ifndef NY_STREAM_ROW_IDS_H
#define NY_STREAM_ROW_IDS_H

#include "base/mutex.h"
#include "base/names.h"

struct ny_row_ids {
    struct ny_context *ctx;
    bool ids, labels;     /* which a row has, in this order; at least one of them */
    struct ny_mutex lock; /* guards what follows */
    struct ny_names names;
    size_t taken; /* bytes of them, at the front */
};

/* Begins without names, whose memory is charged to NY_MEM_IO. Release it. */
void ny_row_ids_begin(struct ny_row_ids *ids, struct ny_context *ctx, bool of_rows, bool labels);
void ny_row_ids_release(struct ny_row_ids *ids);
/* Returns how many texts a row has. */
static inline size_t ny_row_ids_width(const struct ny_row_ids *ids)
{
    return (size_t)ids->ids + ids->labels;
}
/* Adds the texts of the rows that come next. */
int ny_row_ids_add(struct ny_row_ids *ids, const struct ny_names *names);
/* Takes the texts of the next `count` rows, which were added before, in place of those in `names`.
 */
int ny_row_ids_take(struct ny_row_ids *ids, size_t count, struct ny_names *names);

#endif
