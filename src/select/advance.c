#include "select/advance.h"

#include "base/cpu.h"

#define DECLARE(variant, family) extern ny_advance_fn ny_advance_##variant;
NY_CPU_VARIANTS(DECLARE)
#undef DECLARE

ny_advance_fn *ny_advance(void)
{
    static ny_advance_fn *const families[NY_CPU_COUNT] = {
#define ENTRY(variant, family) [family] = ny_advance_##variant,
        NY_CPU_VARIANTS(ENTRY)
#undef ENTRY
    };

    return families[ny_cpu_family()];
}

bool ny_advances(size_t rows, size_t columns)
{
    return ny_cpu_family() == NY_CPU_AVX512 && columns == NY_ADVANCE_COLUMNS &&
           rows >= NY_ADVANCE_ROWS;
}
