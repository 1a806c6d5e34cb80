#include "support/files.h"

#include "support/test.h"

char *file_content(const char *path, size_t *bytes)
{
    FILE *file = fopen(path, "rb");
    char *data;

    if (!file) fail_msg("there is no %s", path);
    fseek(file, 0, SEEK_END);
    *bytes = (size_t)ftell(file);
    rewind(file);
    data = malloc(*bytes + 1);
    assert_non_null(data);
    assert_int_equal(fread(data, 1, *bytes, file), *bytes);
    fclose(file);
    data[*bytes] = '\0';
    return data;
}

void same_files(const char *a, const char *b, const char *what)
{
    size_t bytes_a, bytes_b;
    char *data_a = file_content(a, &bytes_a), *data_b = file_content(b, &bytes_b);

    if (bytes_a != bytes_b || memcmp(data_a, data_b, bytes_a) != 0) fail_msg("%s differs", what);
    free(data_a);
    free(data_b);
}
