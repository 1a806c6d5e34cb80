/* Files that tests write, read and compare. */
#ifndef TESTS_SUPPORT_FILES_H
#define TESTS_SUPPORT_FILES_H

#include <stddef.h>

/* The bytes of a file, and a 0 behind them, to be freed; the test fails where there is none. */
char *file_content(const char *path, size_t *bytes);
/* The test fails, naming `what`, where two files differ. */
void same_files(const char *a, const char *b, const char *what);

void write_file(const char *path, const void *content, size_t bytes);
void write_text(const char *path, const char *text);
/* Lines of numbers, with all their digits. */
void write_csv(const char *path, const double *values, size_t rows, size_t columns);
void write_csv32(const char *path, const float *values, size_t rows, size_t columns);
/* A matrix of elements "|u1", "<i8", "<f4" or "<f8"; columns 0: a list. */
void write_npy(const char *path, const char *element, const double *values, size_t rows,
               size_t columns);

#endif
