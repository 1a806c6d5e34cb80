#include "graph/relax.h"

#define DECLARE(variant, family) extern ny_relax_fn ny_relax_##variant;
NY_CPU_VARIANTS(DECLARE)
#undef DECLARE

ny_relax_fn *ny_relax(void)
{
    static ny_relax_fn *const families[NY_CPU_COUNT] = {
#define ENTRY(variant, family) [family] = ny_relax_##variant,
        NY_CPU_VARIANTS(ENTRY)
#undef ENTRY
    };

    return families[ny_cpu_family()];
}
