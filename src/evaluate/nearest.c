#include "evaluate/nearest.h"

NY_CPU_FAMILIES(const struct ny_nearest_ops, ny_nearest_ops)

const struct ny_nearest_ops *ny_nearest_loops(void)
{
    return ny_nearest_ops_families[ny_cpu_family()];
}
