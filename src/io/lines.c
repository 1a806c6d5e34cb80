#include "io/lines.h"

#include "io/bytes.h"

static int read_all(struct ny_bytes *bytes, ny_line_fn *line, void *arg)
{
    const char *first, *last, *newline;
    int err;

    for (uint64_t number = 1;; number++) {
        err = ny_bytes_trimmed_line(bytes, &first, &last, &newline);
        if (!err && first < last) err = line(arg, number, first, (size_t)(last - first));
        if (err || !newline) return err; /* the last one has no newline */
        bytes->at = newline + 1;
    }
}

int ny_lines_read(struct ny_context *ctx, const char *path, ny_line_fn *line, void *arg)
{
    struct ny_bytes *bytes = NULL;
    int err = ny_bytes_open(&bytes, ctx, path);

    if (!err) err = read_all(bytes, line, arg);
    ny_bytes_close(bytes);
    return err;
}
