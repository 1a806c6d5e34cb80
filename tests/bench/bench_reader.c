/*
 * Measures how fast files become rows, on one thread, from the page cache: megabytes of the file
 * per second of processor time, which other programs disturb less than wall time.
 *
 *   bench_reader          files made for it in TMPDIR, every format, MB/s
 *   bench_reader FILE…    those files
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "nystream.h"

#include "io/reader.h"

enum { BATCH = 4096, REPEATS = 3 };

static double processor_time(void)
{
    struct timespec t;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static double seconds(struct ny_context *ctx, const char *path, uint64_t *rows)
{
    double start = processor_time();
    struct ny_row_batch batch = {0};
    struct ny_reader *reader;
    int status = ny_reader_open(&reader, ctx, path, NULL);

    *rows = 0;
    if (status == NY_OK) {
        const struct ny_file_table *table = ny_reader_table(reader);

        batch.values = malloc(BATCH * (size_t)table->d * ny_dtype_size(table->dtype));
        while ((status = ny_reader_next(reader, BATCH, &batch)) == NY_OK)
            *rows += batch.count;
        free(batch.values);
        ny_reader_close(reader);
    }
    if (status == NY_END) return processor_time() - start;
    fprintf(stderr, "%s\n", ny_context_message(ctx));
    exit(status);
}

static void measure(struct ny_context *ctx, const char *path)
{
    struct stat info;
    double best = 1e30;
    uint64_t rows = 0;

    for (int i = 0; i < REPEATS; i++) {
        double took = seconds(ctx, path, &rows);

        if (took < best) best = took;
    }
    stat(path, &info);
    printf("%-40s %9llu rows %8.1f MB/s\n", path, (unsigned long long)rows,
           (double)info.st_size / 1e6 / best);
}

static FILE *create(const char *folder, const char *name, char path[256])
{
    FILE *file;

    snprintf(path, 256, "%s/%s", folder, name);
    file = fopen(path, "wb");
    if (!file) {
        perror(path);
        exit(4);
    }
    return file;
}

/* `digits` after the point; libsvm: with index and label. */
static void text(struct ny_context *ctx, const char *folder, const char *name, int digits)
{
    int libsvm = strstr(name, ".svm") != NULL;
    char path[256];
    FILE *file = create(folder, name, path);

    srand(1);
    for (int row = 0; row < 100000; row++) {
        if (libsvm) fprintf(file, "%d", row % 10);
        for (int column = 1; column <= 50; column++) {
            double value = ((double)rand() + (double)rand() / RAND_MAX) / RAND_MAX;

            if (libsvm) fprintf(file, " %d:", 7 * column);
            fprintf(file, "%.*f", digits, value);
            if (!libsvm && column < 50) fputc(',', file);
        }
        fputc('\n', file);
    }
    fclose(file);
    measure(ctx, path);
    unlink(path);
}

static void array(struct ny_context *ctx, const char *folder, const char *name, const char *descr)
{
    size_t size = (size_t)(descr[2] - '0'), rows = 400000;
    char path[256], header[128], *row = calloc(784, size);
    FILE *file = create(folder, name, path);

    memset(header, ' ', sizeof(header));
    memcpy(header, "\x93NUMPY\1\0v\0", 10);
    snprintf(header + 10, 100, "{'descr': '%s', 'fortran_order': False, 'shape': (%zu, 784), }",
             descr, rows);
    header[10 + strlen(header + 10)] = ' ';
    header[127] = '\n';
    fwrite(header, 1, sizeof(header), file);
    for (size_t r = 0; r < rows; r++)
        fwrite(row, size, 784, file);
    fclose(file);
    free(row);
    measure(ctx, path);
    unlink(path);
}

int main(int argc, char **argv)
{
    const char *temporary = getenv("TMPDIR");
    char folder[200];
    struct ny_context *ctx;

    if (ny_context_new(&ctx) != NY_OK) return 8;
    for (int i = 1; i < argc; i++)
        measure(ctx, argv[i]);
    if (argc == 1) {
        snprintf(folder, sizeof(folder), "%s/bench-reader-XXXXXX", temporary ? temporary : "/tmp");
        if (!mkdtemp(folder)) return 4;
        array(ctx, folder, "u8.npy", "|u1");
        array(ctx, folder, "f4.npy", "<f4");
        array(ctx, folder, "f4-big-endian.npy", ">f4");
        array(ctx, folder, "i4.npy", "<i4");
        text(ctx, folder, "7-digits.csv", 7);
        text(ctx, folder, "17-digits.csv", 17);
        text(ctx, folder, "7-digits.svm", 7);
        rmdir(folder);
    }
    ny_context_free(ctx);
    return 0;
}
