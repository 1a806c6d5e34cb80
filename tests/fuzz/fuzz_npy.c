/* Fuzzes the reader of npy files. */
#include "fuzz/fuzz_reader.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct ny_reader_options options[] = {
        {.format = "npy"},
        {.format = "npy", .nan_drop = true, .dtype = NY_I16},
        {.format = "npy", .columns = "1-2", .dtype = NY_F64, .nan_drop = true},
    };

    fuzz_reader(data, size, options, sizeof(options) / sizeof(*options));
    return 0;
}
