#include "linalg/strip.h"

#include "base/cpu.h"

#define DECLARE(variant, family) extern ny_strip_fn ny_strip_##variant;
NY_CPU_VARIANTS(DECLARE)
#undef DECLARE

ny_strip_fn *ny_strip_loop(void)
{
    static ny_strip_fn *const families[NY_CPU_COUNT] = {
#define ENTRY(variant, family) [family] = ny_strip_##variant,
        NY_CPU_VARIANTS(ENTRY)
#undef ENTRY
    };

    return families[ny_cpu_family()];
}
