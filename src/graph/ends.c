/*
 * The file of graph/ends.h, which graph/pages_build.c fills. Each range has a place of its own in
 * it, as large as all its ends, and a buffer, from which it is written and through which it is
 * read.
 */
#include "graph/ends.h"

#include "base/scratch.h"

/* Bytes of all buffers together, and the least of one. */
enum { BUFFERS_BYTES = 2 << 20, BUFFER_LEAST = 4 << 10 };

struct range {
    uint32_t begin; /* its first node */
    uint64_t at;    /* where it is in the file, in ends */
    uint64_t filed; /* ends that are in the file … */
    size_t waiting; /* … and those in the buffer */
};

struct ny_ends {
    struct ny_scratch file;
    uint32_t ranges;
    size_t room; /* ends of a buffer */
    struct range *range;
    struct ny_end *buffer; /* ranges × room */
};

static size_t room_of(size_t ranges)
{
    size_t bytes = BUFFERS_BYTES / ranges;

    return (bytes > BUFFER_LEAST ? bytes : BUFFER_LEAST) / sizeof(struct ny_end);
}

struct ny_ends *ny_ends_lay(struct ny_layout *l, uint32_t ranges)
{
    struct ny_ends spare, *ends = ny_lay_struct(l, NY_MEM_DICTIONARY, sizeof(spare), &spare);

    *ends = (struct ny_ends){.ranges = ranges, .room = room_of(ranges)};
    ends->range = ny_lay(l, NY_MEM_DICTIONARY, ranges, sizeof(*ends->range));
    ends->buffer = ny_lay(l, NY_MEM_DICTIONARY, ranges * ends->room, sizeof(*ends->buffer));
    return ny_laid(l, ends);
}

int ny_ends_open(struct ny_ends *ends, struct ny_context *ctx, const char *folder,
                 const uint32_t *begin, const uint64_t *count)
{
    uint64_t at = 0;

    for (uint32_t r = 0; r < ends->ranges; r++) {
        ends->range[r] = (struct range){.begin = begin[r], .at = at};
        at += count[r];
    }
    ends->file = (struct ny_scratch){ctx, folder, "the edges of a graph", -1};
    return ny_scratch_open(&ends->file);
}

void ny_ends_close(struct ny_ends *ends)
{
    if (ends) ny_scratch_close(&ends->file);
}

/* Returns the range of a node: the last that begins before it. */
static uint32_t range_of(const struct ny_ends *ends, uint32_t node)
{
    uint32_t low = 0, high = ends->ranges;

    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;

        if (ends->range[middle].begin <= node)
            low = middle;
        else
            high = middle;
    }
    return low;
}

static int write_buffer(struct ny_ends *ends, uint32_t r)
{
    struct range *range = &ends->range[r];
    int err = ny_scratch_put(&ends->file, ends->buffer + r * ends->room,
                             range->waiting * sizeof(struct ny_end),
                             (range->at + range->filed) * sizeof(struct ny_end));

    range->filed += range->waiting;
    range->waiting = 0;
    return err;
}

int ny_ends_put(struct ny_ends *ends, const struct ny_end *end)
{
    uint32_t r = range_of(ends, end->at);
    struct range *range = &ends->range[r];

    ends->buffer[r * ends->room + range->waiting++] = *end;
    return range->waiting == ends->room ? write_buffer(ends, r) : NY_OK;
}

int ny_ends_walk(struct ny_ends *ends, uint32_t r,
                 void (*each)(void *arg, const struct ny_end *end), void *arg)
{
    const struct range *range = &ends->range[r];
    struct ny_end *buffer = ends->buffer + r * ends->room;
    int err = range->waiting ? write_buffer(ends, r) : NY_OK;

    for (uint64_t done = 0; done < range->filed && err == NY_OK;) {
        uint64_t left = range->filed - done;
        size_t some = left < ends->room ? (size_t)left : ends->room;

        err = ny_check_interrupt(ends->file.ctx);
        if (err == NY_OK)
            err = ny_scratch_get(&ends->file, buffer, some * sizeof(*buffer),
                                 (range->at + done) * sizeof(*buffer));
        for (size_t i = 0; i < some && err == NY_OK; i++)
            each(arg, &buffer[i]);
        done += some;
    }
    return err;
}
