/* LIBSVM files. */
#include "fuzz/fuzz_reader.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct ny_reader_options options[] = {
        {.format = "libsvm"},
        {.format = "libsvm", .dims = 9, .nan_drop = true},
        {.format = "libsvm", .dims = 4, .dtype = NY_I16},
    };

    fuzz_reader(data, size, options, sizeof(options) / sizeof(*options));
    return 0;
}
