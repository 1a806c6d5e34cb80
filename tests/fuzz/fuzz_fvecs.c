/* Fuzzes the reader of fvecs and bvecs files. */
#include "fuzz/fuzz_reader.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct ny_reader_options options[] = {
        {.format = "fvecs"},
        {.format = "fvecs", .nan_drop = true, .dtype = NY_F64},
        {.format = "bvecs", .columns = "1"},
    };

    fuzz_reader(data, size, options, sizeof(options) / sizeof(*options));
    return 0;
}
