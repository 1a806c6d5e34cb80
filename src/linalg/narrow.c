#include "linalg/narrow.h"

#include "base/cpu.h"

#define DECLARE(variant, family) extern const struct ny_narrow_ops ny_narrow_ops_##variant;
NY_CPU_VARIANTS(DECLARE)
#undef DECLARE

const struct ny_narrow_ops *ny_narrow_loops(void)
{
    static const struct ny_narrow_ops *const families[NY_CPU_COUNT] = {
#define ENTRY(variant, family) [family] = &ny_narrow_ops_##variant,
        NY_CPU_VARIANTS(ENTRY)
#undef ENTRY
    };

    return families[ny_cpu_family()];
}
