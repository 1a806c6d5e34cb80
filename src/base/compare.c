#include "base/compare.h"

int ny_compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

int ny_compare_rows(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return (x > y) - (x < y);
}

int ny_compare_nodes(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

    return (x > y) - (x < y);
}

size_t ny_run_of_rows(const uint64_t *rows, size_t count)
{
    size_t run = 1;

    while (run < count && rows[run] == rows[0] + run)
        run++;
    return run;
}
