/* Fuzzes the reader of MatrixMarket files, streamed and by way of the external sort. */
#include "fuzz/fuzz_reader.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct ny_reader_options options[] = {
        {.format = "mtx"},
        {.format = "mtx", .nan_drop = true, .dtype = NY_I16},
        {.format = "mtx", .transpose = true, .dtype = NY_F64},
    };

    fuzz_reader(data, size, options, sizeof(options) / sizeof(*options));
    return 0;
}
