#include "columns/vector.h"

#include <stdatomic.h>

#define DECLARE(variant, family)                                                                   \
    extern const struct ny_pointwise_ops ny_pointwise_ops_##variant;                               \
    extern const struct ny_prepare_ops ny_prepare_ops_##variant;                                   \
    extern const struct ny_direct_ops ny_direct_ops_##variant;                                     \
    extern const struct ny_byte_ops ny_byte_ops_##variant;                                         \
    extern const struct ny_scan_ops ny_scan_ops_##variant;                                         \
    extern const struct ny_sparse_row_ops ny_sparse_row_ops_##variant;                             \
    extern const struct ny_sparse_product_ops ny_sparse_product_ops_##variant;
NY_CPU_VARIANTS(DECLARE)
#undef DECLARE
extern const struct ny_byte_ops ny_byte_ops_dot;

static const struct ny_vector families[NY_CPU_COUNT] = {
#define ENTRY(variant, family)                                                                     \
    [family] = {&ny_pointwise_ops_##variant,     &ny_prepare_ops_##variant,                        \
                &ny_direct_ops_##variant,        &ny_byte_ops_##variant,                           \
                &ny_scan_ops_##variant,          &ny_sparse_row_ops_##variant,                     \
                &ny_sparse_product_ops_##variant},
    NY_CPU_VARIANTS(ENTRY)
#undef ENTRY
};

static atomic_int forced = NY_CPU_COUNT;

enum ny_cpu ny_vector_family(void)
{
    int family = atomic_load_explicit(&forced, memory_order_relaxed);

    return family == NY_CPU_COUNT ? ny_cpu_family() : (enum ny_cpu)family;
}

const struct ny_vector *ny_vector(void)
{
    return &families[ny_vector_family()];
}

const struct ny_byte_ops *ny_vector_bytes(void)
{
    bool free = atomic_load_explicit(&forced, memory_order_relaxed) == NY_CPU_COUNT;

    return free && ny_cpu_has_dot() ? &ny_byte_ops_dot : ny_vector()->bytes;
}

bool ny_vector_force(enum ny_cpu family)
{
    if (family != NY_CPU_COUNT && family > ny_cpu_family()) return false;
    atomic_store(&forced, (int)family);
    return true;
}
