/* Fuzzes the reader of csv and tsv files. */
#include "fuzz/fuzz_reader.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct ny_reader_options options[] = {
        {.format = "csv"},
        {.format = "csv", .label_column = "1", .nan_drop = true, .dtype = NY_U8},
        {.format = "csv", .id_column = "2", .names = true},
        {.format = "csv", .header = NY_HEADER_YES, .columns = "2-2,x", .dtype = NY_F64},
        {.format = "csv", .decimal = NY_DECIMAL_COMMA, .label_column = "1"},
        {.format = "tsv", .nan_drop = true},
    };

    fuzz_reader(data, size, options, sizeof(options) / sizeof(*options));
    return 0;
}
