/* Files that tests compare. */
#ifndef TESTS_SUPPORT_FILES_H
#define TESTS_SUPPORT_FILES_H

#include <stddef.h>

/* The bytes of a file, and a 0 behind them, to be freed; the test fails where there is none. */
char *file_content(const char *path, size_t *bytes);
/* The test fails, naming `what`, where two files differ. */
void same_files(const char *a, const char *b, const char *what);

#endif
