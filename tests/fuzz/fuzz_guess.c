/* Files of any kind: the guess of the format, and gzip. */
#include "fuzz/fuzz_reader.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct ny_reader_options options[] = {
        {.nan_drop = true},
        {.dims = 2},
    };

    fuzz_reader(data, size, options, sizeof(options) / sizeof(*options));
    return 0;
}
