#include "evaluate/nearest.h"

#define DECLARE(variant, family) extern const struct ny_nearest_ops ny_nearest_ops_##variant;
NY_CPU_VARIANTS(DECLARE)
#undef DECLARE

const struct ny_nearest_ops *ny_nearest_loops(void)
{
    static const struct ny_nearest_ops *const families[NY_CPU_COUNT] = {
#define ENTRY(variant, family) [family] = &ny_nearest_ops_##variant,
        NY_CPU_VARIANTS(ENTRY)
#undef ENTRY
    };

    return families[ny_cpu_family()];
}
