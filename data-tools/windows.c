/*
 * Delay windows of a recording (Takens 1981): the values of one lead at `length` successive times
 * become one point. A file may hold several recordings of equal length, one after the other; no
 * window crosses from one into the next.
 */
#include <stdio.h>
#include <string.h>

#include "io/reader.h"
#include "tool.h"

static const char usage[] =
    "windows SERIES [-o OUT.npy] [options]\n"
    "\n"
    "Writes the windows of SERIES (any format that nystream imports: one row a time, one column a\n"
    "lead; - is standard input) as N x LENGTH npy of the type that SERIES has.\n"
    "\n"
    "  -o OUT.npy   where to; standard output without it\n"
    "  --lead L     column, from 0 (0)\n"
    "  --length W   values of a window (64)\n"
    "  --stride S   times from one window to the next (1)\n"
    "  --record R   times of a recording (all)\n"
    "\n"
    "Text does not say how many rows it has: a file is read twice, a pipe must be npy.\n";

struct windows {
    struct ny_context *ctx;
    const char *path;
    struct ny_reader *reader;
    uint64_t lead, length, stride, record;
    uint64_t times; /* of the series */
    enum ny_dtype dtype;
    size_t element;
    struct ny_writer *out;
};

/* Windows of a recording of so many times. */
static uint64_t windows_of(const struct windows *w, uint64_t times)
{
    return times < w->length ? 0 : (times - w->length) / w->stride + 1;
}

static uint64_t count_windows(const struct windows *w)
{
    return w->times / w->record * windows_of(w, w->record) + windows_of(w, w->times % w->record);
}

/* The next `count` values; fewer are left at the end of the series. */
static size_t read_values(const struct windows *w, unsigned char *values, size_t count)
{
    size_t have = 0;

    while (have < count) {
        struct ny_row_batch batch = {.values = values + have * w->element};
        int err = ny_reader_next(w->reader, count - have, &batch);

        if (err == NY_END) break;
        tool_check(w->ctx, err);
        have += batch.count;
    }
    return have;
}

static void open_series(struct windows *w)
{
    char column[24];
    const struct ny_reader_options options = {.columns = column};
    const struct ny_file_table *table;
    int err;

    snprintf(column, sizeof column, "%llu", (unsigned long long)w->lead + 1);
    err = ny_reader_open(&w->reader, w->ctx, w->path, &options);
    if (err == NY_EUSAGE)
        tool_fail(err, "--lead %llu is column %s of %s. %s", (unsigned long long)w->lead, column,
                  w->path, ny_context_error(w->ctx)->message);
    tool_check(w->ctx, err);
    table = ny_reader_table(w->reader);
    w->times = table->rows;
    w->dtype = table->dtype;
    w->element = ny_dtype_size(w->dtype);
}

/* Reads all of a text; it is then open again. */
static void count_times(struct windows *w)
{
    enum { BATCH = 65536 };
    unsigned char *values;
    uint64_t times = 0;
    size_t have;

    if (!strcmp(w->path, "-"))
        tool_fail(NY_EUSAGE, "A pipe of text does not say how many rows it has: give a file, or "
                             "npy.");
    values = tool_alloc(w->ctx, BATCH, w->element);
    while ((have = read_values(w, values, BATCH)) > 0)
        times += have;
    ny_reader_close(w->reader);
    open_series(w);
    w->times = times;
}

/* At most `count` of the values that are still to come. */
static size_t read_some(const struct windows *w, unsigned char *values, size_t count, uint64_t left)
{
    size_t have = read_values(w, values, left < count ? (size_t)left : count);

    if (!have) tool_fail(NY_EDATA, "%s has become shorter while it was read.", w->path);
    return have;
}

/* A recording of `times` values. A buffer slides over it that begins with the value number `at`. */
static void write_recording(const struct windows *w, unsigned char *buffer, size_t room,
                            uint64_t times)
{
    uint64_t at = 0, have = 0;

    for (uint64_t i = 0; i < windows_of(w, times); i++) {
        uint64_t first = i * w->stride;

        while (at + have < first + w->length) {
            uint64_t gone = first - at < have ? first - at : have;

            memmove(buffer, buffer + gone * w->element, (have - gone) * w->element);
            at += gone;
            have -= gone;
            have += read_some(w, buffer + have * w->element, room - have, times - at - have);
        }
        tool_write(w->out, buffer + (first - at) * w->element, w->length * w->element);
    }
    for (at += have; at < times; at += have) /* what no window takes */
        have = read_some(w, buffer, room, times - at);
}

static void write_windows(const struct windows *w)
{
    size_t room = w->length < 65536 ? 2 * 65536 : 2 * (size_t)w->length;
    unsigned char *buffer = tool_alloc(w->ctx, room, w->element);

    for (uint64_t at = 0; at < w->times; at += w->record)
        write_recording(w, buffer, room, w->times - at < w->record ? w->times - at : w->record);
}

int main(int argc, char **argv)
{
    struct windows w = {.length = 64, .stride = 1};
    const char *out = NULL;
    const struct tool_option options[] = {{"-o", TOOL_TEXT, &out},
                                          {"--lead", TOOL_COUNT, &w.lead},
                                          {"--length", TOOL_COUNT, &w.length},
                                          {"--stride", TOOL_COUNT, &w.stride},
                                          {"--record", TOOL_COUNT, &w.record},
                                          {NULL, TOOL_TEXT, NULL}};

    tool_arguments(argc, argv, usage, options, (struct tool_positional){&w.path, 1, 0});
    if (!w.length || !w.stride) tool_fail(NY_EUSAGE, "--length and --stride must be positive.");
    w.ctx = tool_start();
    open_series(&w);
    if (w.times == NY_ROWS_UNKNOWN) count_times(&w);
    if (!w.record || w.record > w.times) w.record = w.times;
    if (!w.times || !count_windows(&w))
        tool_fail(NY_EDATA, "%s has no recording of %llu times.", w.path,
                  (unsigned long long)w.length);
    w.out = tool_create(w.ctx, out);
    tool_write_npy_head(w.out, w.dtype, count_windows(&w), w.length);
    write_windows(&w);
    tool_close(w.out);
    ny_reader_close(w.reader);
    tool_end(w.ctx);
    return 0;
}
