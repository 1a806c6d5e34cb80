/*
 * A fuzzer without libFuzzer: every file of tests/fuzz/corpus/NAME and tests/fuzz/regressions/NAME,
 * as it is and in some changed forms that are the same each time; NAME is that of the program. With
 * arguments: those files, as they are.
 */
#include <dirent.h>
#include <errno.h>
#include <limits.h>

#include "fuzz/fuzz.h"

enum { BYTES_MAX = 1 << 20, FLIPS = 24, CUTS = 8, FILES_MAX = 1024 };

static uint64_t next_random(uint64_t *state)
{
    *state = *state * 6364136223846793005ULL + 1442695040888963407ULL;
    return *state >> 33;
}

/* Exactly as long as the input, so that a byte too far is seen. */
static void run(const uint8_t *data, size_t size)
{
    uint8_t *copy = malloc(size ? size : 1);

    FUZZ_CHECK(copy);
    if (size) memcpy(copy, data, size);
    FUZZ_CHECK(LLVMFuzzerTestOneInput(copy, size) == 0);
    free(copy);
}

static void run_changed(uint8_t *data, size_t size)
{
    uint64_t state = size;

    for (size_t i = 0; size && i < CUTS; i++)
        run(data, (size_t)(next_random(&state) % size));
    for (size_t i = 0; size && i < FLIPS; i++) {
        size_t at = (size_t)(next_random(&state) % size);
        uint8_t was = data[at];

        data[at] = (uint8_t)(i % 3 ? was ^ 1u << next_random(&state) % 8 : i % 2 ? 0u : 255u);
        run(data, size);
        data[at] = was;
    }
}

static void replay(const char *path, bool changed)
{
    static uint8_t data[BYTES_MAX];
    FILE *file = fopen(path, "rb");
    size_t size;

    FUZZ_CHECK(file);
    size = fread(data, 1, sizeof(data), file);
    FUZZ_CHECK(!ferror(file) && size < sizeof(data));
    fclose(file);
    run(data, size);
    if (changed) run_changed(data, size);
}

static size_t list(const char *kind, char (*paths)[PATH_MAX], size_t count)
{
    char folder[PATH_MAX / 2];
    const struct dirent *entry;
    DIR *directory;

    snprintf(folder, sizeof(folder), "tests/fuzz/%s/%s", kind, program_invocation_short_name);
    directory = opendir(folder);
    while (directory && count < FILES_MAX && (entry = readdir(directory)))
        if (entry->d_name[0] != '.')
            snprintf(paths[count++], PATH_MAX, "%s/%s", folder, entry->d_name);
    if (directory) closedir(directory);
    return count;
}

int main(int argc, char **argv)
{
    static char paths[FILES_MAX][PATH_MAX];
    size_t count;

    for (int i = 1; i < argc; i++)
        replay(argv[i], false);
    if (argc > 1) return 0;
    count = list("regressions", paths, list("corpus", paths, 0));
    printf("1..%zu\n", count);
    for (size_t i = 0; i < count; i++) {
        replay(paths[i], true);
        printf("ok %zu - %s\n", i + 1, paths[i]);
        fflush(stdout);
    }
    return count == 0;
}
