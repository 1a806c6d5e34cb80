/*
 * Fuzzes the reader of PLINK's three files. The input holds the list of samples, that of variants
 * and the table, each of the first two ended by a line "%%".
 */
#include <sys/stat.h>

#include "fuzz/fuzz_reader.h"

static char folder[] = "/tmp/nystream-fuzz-bed-XXXXXX";

static void remove_folder(void)
{
    static const char *const endings[] = {"fam", "bim", "bed"};
    char path[64];

    for (size_t i = 0; i < 3; i++) {
        snprintf(path, sizeof(path), "%s/x.%s", folder, endings[i]);
        unlink(path);
    }
    rmdir(folder);
}

static void put(const char *ending, const uint8_t *data, size_t size)
{
    char path[64];
    FILE *file;

    snprintf(path, sizeof(path), "%s/x.%s", folder, ending);
    file = fopen(path, "wb");
    FUZZ_CHECK(file && fwrite(data, 1, size, file) == size && fclose(file) == 0);
}

/* Puts the bytes up to the next mark, or all that are left, into a file. */
static void put_list(const char *ending, const uint8_t **data, size_t *size)
{
    const uint8_t *mark = memmem(*data, *size, "%%\n", 3);
    size_t bytes = mark ? (size_t)(mark - *data) : *size, step = mark ? bytes + 3 : bytes;

    put(ending, *data, bytes);
    *data += step;
    *size -= step;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct ny_reader_options options[] = {{.names = true}, {.format = "bed"}};
    static bool made;
    char path[64];

    if (!made) {
        FUZZ_CHECK(mkdtemp(folder) && atexit(remove_folder) == 0);
        made = true;
    }
    put_list("fam", &data, &size);
    put_list("bim", &data, &size);
    put("bed", data, size);
    snprintf(path, sizeof(path), "%s/x.bed", folder);
    for (size_t i = 0; i < sizeof(options) / sizeof(*options); i++)
        fuzz_path(path, &options[i]);
    return 0;
}
