/*
 * Fuzzes the reader of files of edges: any bytes are MatrixMarket, an .npz or text. Beyond "no
 * crash": entries are nodes that are there, with weights that f32 holds; a second reading gives as
 * many entries and ends alike; and all memory is given back.
 */
#include <float.h>

#include "fuzz/fuzz_reader.h"
#include "io/edge_file.h"

/* Reads to the end, and returns the status there; *entries: how many there were. */
static int read_all(const char *path, uint64_t nodes, uint64_t *entries)
{
    struct ny_context *ctx = fuzz_context(FUZZ_READER_MEMORY);
    struct ny_edge_entry entry;
    struct ny_edge_source *file;
    int status = ny_edge_file_open(&file, ctx, path, nodes);

    *entries = 0;
    FUZZ_CHECK((status == NY_OK) == (file != NULL));
    while (file && (status = file->next(file, &entry)) == NY_OK) {
        uint64_t most = file->nodes;

        FUZZ_CHECK(!nodes || most == nodes);
        FUZZ_CHECK(!most || (entry.from < most && entry.to < most));
        FUZZ_CHECK(entry.weight >= 0 && entry.weight <= (double)FLT_MAX);
        ++*entries;
    }
    if (file) file->close(file);
    FUZZ_CHECK(status == NY_END || status == NY_EDATA || status == NY_EUSAGE ||
               status == NY_EBUDGET);
    FUZZ_CHECK(status == NY_END || ny_context_error(ctx)->status == status);
    FUZZ_CHECK(ny_memory_used(ctx) == 0);
    return status;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const uint64_t given[] = {0, 3};

    for (size_t i = 0; i < sizeof(given) / sizeof(*given); i++) {
        uint64_t once, twice;
        char path[32];
        int fd = fuzz_input(data, size, false, path);
        int status = read_all(path, given[i], &once);

        FUZZ_CHECK(read_all(path, given[i], &twice) == status && once == twice);
        close(fd);
    }
    return 0;
}
