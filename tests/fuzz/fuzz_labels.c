/* Label files beside a table of four rows, of which one is dropped. */
#include "fuzz/fuzz_reader.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const uint8_t table[] = "1,2\n3,4\nnan,6\n7,8\n";
    struct ny_reader_options options = {.format = "csv", .nan_drop = true};
    char path[32], labels[32];
    int table_fd = fuzz_input(table, sizeof(table) - 1, false, path);
    int labels_fd = fuzz_input(data, size, false, labels);

    options.labels_file = labels;
    (void)fuzz_path(path, &options);
    close(table_fd);
    close(labels_fd);
    return 0;
}
