#include "base/checksum.h"

#include <xxhash.h>

uint64_t ny_checksum(const void *data, size_t bytes)
{
    return XXH3_64bits(data, bytes);
}
