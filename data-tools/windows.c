/*
 * Delay windows of a recording (Takens 1981): the values of one lead at `length` successive times
 * become one point. A file may hold several recordings of equal length, one after the other; no
 * window crosses from one into the next.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "io/reader.h"
#include "tool.h"

static const char usage[] =
    "windows SERIES [-o OUT.npy] [options]\n"
    "\n"
    "Writes the windows of SERIES (a table, one row a time, one column a lead; - is standard\n"
    "input) as N x LENGTH npy of the type that SERIES has.\n"
    "\n"
    "  -o OUT.npy   where to; standard output without it\n"
    "  --lead L     column, from 0 (0)\n"
    "  --length W   values of a window (64)\n"
    "  --stride S   times from one window to the next (1)\n"
    "  --record R   times of a recording (all)\n";

struct windows {
    struct ny_context *ctx;
    struct ny_reader *reader;
    const struct ny_table *table;
    uint64_t length, stride, record;
    size_t element;
    FILE *out;
};

/* Windows of a recording of so many times. */
static uint64_t windows_of(const struct windows *w, uint64_t times)
{
    return times < w->length ? 0 : (times - w->length) / w->stride + 1;
}

static uint64_t count_windows(const struct windows *w)
{
    uint64_t times = w->table->rows;

    return times / w->record * windows_of(w, w->record) + windows_of(w, times % w->record);
}

static void open_series(struct windows *w, const char *path, uint64_t lead)
{
    char column[24];
    const struct ny_reader_options options = {.columns = column};

    snprintf(column, sizeof column, "%llu", (unsigned long long)lead + 1);
    tool_check(w->ctx, ny_reader_open(&w->reader, w->ctx, path, &options));
    w->table = ny_reader_table(w->reader);
    if (w->table->rows == NY_ROWS_UNKNOWN)
        tool_fail(NY_EUSAGE, "%s does not say how many rows it has: give it as npy.", path);
    if (!w->record || w->record > w->table->rows) w->record = w->table->rows;
    w->element = ny_dtype_size(w->table->dtype);
}

static void write_bytes(const struct windows *w, const void *bytes, size_t count)
{
    if (fwrite(bytes, 1, count, w->out) != count) tool_fail(NY_EIO, "Cannot write the output.");
}

/* The next `times` values; fewer are left at the end of the series. */
static size_t read_values(const struct windows *w, unsigned char *values, size_t times)
{
    size_t have = 0;

    while (have < times) {
        struct ny_row_batch batch = {.values = values + have * w->element};
        int err = ny_reader_next(w->reader, times - have, &batch);

        if (err == NY_END) break;
        tool_check(w->ctx, err);
        have += batch.count;
    }
    return have;
}

/* Recording by recording: windows are pieces of it, which overlap. */
static void write_windows(const struct windows *w)
{
    unsigned char *values = tool_alloc(w->ctx, (size_t)w->record, w->element);
    size_t times;

    while ((times = read_values(w, values, (size_t)w->record)) > 0)
        for (uint64_t i = 0; i < windows_of(w, times); i++)
            write_bytes(w, values + i * w->stride * w->element, (size_t)w->length * w->element);
}

int main(int argc, char **argv)
{
    struct windows w = {.length = 64, .stride = 1, .out = stdout};
    const char *path = NULL, *out = NULL;
    uint64_t lead = 0;
    const struct tool_option options[] = {
        {"-o", TOOL_TEXT, &out},           {"--lead", TOOL_COUNT, &lead},
        {"--length", TOOL_COUNT, &w.length}, {"--stride", TOOL_COUNT, &w.stride},
        {"--record", TOOL_COUNT, &w.record}, {NULL, TOOL_TEXT, NULL}};

    tool_arguments(argc, argv, usage, options, (struct tool_positional){&path, 1, 0});
    if (!w.length || !w.stride) tool_fail(NY_EUSAGE, "--length and --stride must be positive.");
    w.ctx = tool_start();
    open_series(&w, path, lead);
    if (!count_windows(&w))
        tool_fail(NY_EDATA, "%s has no recording of %llu times.", path,
                  (unsigned long long)w.length);
    if (out) w.out = fopen(out, "wb");
    if (!w.out) tool_fail(NY_EIO, "Cannot create %s.", out);
    if (isatty(fileno(w.out))) tool_fail(NY_EUSAGE, "Points are not for a terminal: give -o OUT.");
    tool_write_npy_head(w.out, w.table->dtype, count_windows(&w), w.length);
    write_windows(&w);
    if (fclose(w.out)) tool_fail(NY_EIO, "Cannot write the output.");
    ny_reader_close(w.reader);
    tool_end(w.ctx);
    return 0;
}
