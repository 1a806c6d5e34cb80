#include "io/lines.h"

#include <string.h>

#include "io/bytes.h"

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

/* Gets the whole of the next line into the window, and returns where it ends in *end. */
static int whole_line(struct ny_bytes *bytes, const char **end)
{
    int err = NY_OK;

    do {
        *end = memchr(bytes->at, '\n', (size_t)(bytes->end - bytes->at));
        if (*end) return NY_OK;
        *end = bytes->end;
        if (bytes->ended) return NY_OK;
        err = ny_bytes_more(bytes);
    } while (!err);
    return err;
}

static int read_all(struct ny_bytes *bytes, ny_line_fn *line, void *arg)
{
    uint64_t number = 0;
    int err = NY_OK;

    while (!err) {
        const char *first, *last, *end;

        err = whole_line(bytes, &end);
        if (err) return err;
        for (first = bytes->at; first < end && is_blank(*first); first++)
            continue;
        for (last = end; last > first && is_blank(last[-1]); last--)
            continue;
        number++;
        if (first < last) err = line(arg, number, first, (size_t)(last - first));
        if (end == bytes->end) return err; /* the last one has no newline */
        bytes->at = end + 1;
    }
    return err;
}

int ny_lines_read(struct ny_context *ctx, const char *path, ny_line_fn *line, void *arg)
{
    struct ny_bytes *bytes = NULL;
    int err = ny_bytes_open(&bytes, ctx, path);

    if (!err) err = read_all(bytes, line, arg);
    ny_bytes_close(bytes);
    return err;
}
