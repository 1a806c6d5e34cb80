#include "support/files.h"

#include "support/npy.h"
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

static FILE *new_file(const char *path)
{
    FILE *file = fopen(path, "wb");

    if (!file) fail_msg("%s cannot be written", path);
    return file;
}

void write_file(const char *path, const void *content, size_t bytes)
{
    FILE *file = new_file(path);

    assert_int_equal(fwrite(content, 1, bytes, file), bytes);
    assert_int_equal(fclose(file), 0);
}

void write_text(const char *path, const char *text)
{
    write_file(path, text, strlen(text));
}

void write_csv(const char *path, const double *values, size_t rows, size_t columns)
{
    FILE *file = new_file(path);

    for (size_t i = 0; i < rows * columns; i++)
        fprintf(file, "%.17g%c", values[i], (i + 1) % columns ? ',' : '\n');
    assert_int_equal(fclose(file), 0);
}

void write_csv32(const char *path, const float *values, size_t rows, size_t columns)
{
    double *wide = lend(rows * columns * sizeof(*wide));

    for (size_t i = 0; i < rows * columns; i++)
        wide[i] = (double)values[i];
    write_csv(path, wide, rows, columns);
}

void write_npy(const char *path, const char *element, const double *values, size_t rows,
               size_t columns)
{
    size_t count = rows * (columns ? columns : 1), size = (size_t)(element[2] - '0');
    unsigned char *data = lend(count * size), *file = lend(count * size + 256);
    char header[128], width[24] = "";

    for (size_t i = 0; i < count; i++) {
        uint8_t byte = (uint8_t)values[i];
        int64_t whole = (int64_t)values[i];
        float single = (float)values[i];
        const void *from = size == 1           ? (void *)&byte
                           : size == 4         ? (void *)&single
                           : element[1] == 'i' ? (const void *)&whole
                                               : &values[i];

        memcpy(data + i * size, from, size);
    }
    if (columns) snprintf(width, sizeof(width), " %zu", columns);
    snprintf(header, sizeof(header), "{'descr': '%s', 'fortran_order': False, 'shape': (%zu,%s), }",
             element, rows, width);
    write_file(path, file, support_npy(file, header, data, count * size));
}
