#include "stream/wishes.h"

#include <stdlib.h>

#include "base/memory.h"

static int by_row(const void *a, const void *b)
{
    uint64_t x = ((const struct ny_wish *)a)->row, y = ((const struct ny_wish *)b)->row;

    return x < y ? -1 : x > y;
}

void ny_wishes_sort(struct ny_wish *wishes, size_t count)
{
    qsort(wishes, count, sizeof(*wishes), by_row);
}

void ny_wishes_ahead(const struct ny_borrowed_rows *rows, size_t row_bytes,
                     const struct ny_wish *wishes, size_t count, size_t next)
{
    enum { AHEAD = 256 };
    size_t first = next ? next + AHEAD - 1 : 0, end = next + AHEAD;

    for (size_t i = first; rows->mapped && i < end && i < count; i++)
        ny_memory_advise(rows->at + wishes[i].row * row_bytes, row_bytes, MADV_WILLNEED);
}
