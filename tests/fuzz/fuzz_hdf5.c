/*
 * The reader's side of the stream of nystream-hdf5 (io/hdf5_stream.h): the bytes are what the child
 * writes. Instead of io/child.c, which starts one, this file stands in: the stream is a pipe that
 * holds the bytes, of a child that has ended well, or badly.
 */
#define FUZZ_READER_MEMORY (34 << 20) /* 32 MiB of it are the child's */
#define FUZZ_ASKS_FOR_DISK 1
#include "fuzz/fuzz_reader.h"
#include "io/child.h"

enum { PIPE_ROOM = 32 * 1024 };

struct ny_child {
    struct ny_context *ctx;
    const char *path;
};

static const uint8_t *stream;
static size_t stream_size;
static int child_status;

int ny_child_start(struct ny_child **out, struct ny_context *ctx, const struct ny_child_spec *spec,
                   int *output)
{
    static struct ny_child child;
    char path[32];

    child = (struct ny_child){ctx, spec->path};
    *out = &child;
    *output = fuzz_input(stream, stream_size, true, path);
    return NY_OK;
}

int ny_child_finish(struct ny_child *child)
{
    return child_status ? ny_fail_at(child->ctx, child_status, child->path, NY_NO_LINE, "It failed")
                        : NY_OK;
}

bool ny_child_failed(struct ny_child *child)
{
    (void)child;
    return child_status != NY_OK;
}

void ny_child_free(struct ny_child *child)
{
    (void)child;
}

/* Reads the stream by a file of the right signature. */
static int end_of(const struct ny_reader_options *options, int status)
{
    static const char signature[] = "\x89HDF\r\n\x1a\n";
    char path[32];
    int fd = fuzz_input((const uint8_t *)signature, sizeof(signature) - 1, false, path), end;

    child_status = status;
    end = fuzz_path(path, options);
    close(fd);
    return end;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct ny_reader_options options[] = {
        {.format = "h5", .label_column = "l", .names = true},
        {.format = "h5", .label_column = "l", .names = true, .nan_drop = true, .dtype = NY_I16},
        {.format = "h5", .names = true, .dtype = NY_F64},
        {.format = "h5"},
    };

    if (size > PIPE_ROOM) return 0;
    stream = data;
    stream_size = size;
    for (size_t i = 0; i < sizeof(options) / sizeof(*options); i++) {
        end_of(&options[i], NY_OK);
        /* No stream is good whose child was not. */
        FUZZ_CHECK(end_of(&options[i], NY_EDATA) != NY_END);
    }
    return 0;
}
