#include "base/checksum.h"

#include <stdbool.h>
#include <xxhash.h>

uint64_t ny_checksum(const void *data, size_t bytes)
{
    return XXH3_64bits(data, bytes);
}

/* All is one piece where there is no memory for the few bytes of a state. */
uint64_t ny_checksum_by_pieces(const void *data, size_t bytes, ny_checked_fn *done, const void *arg)
{
    const size_t piece_bytes = (size_t)8 << 20;
    XXH3_state_t *state = XXH3_createState();
    bool begun = state && XXH3_64bits_reset(state) == XXH_OK;
    size_t piece;
    uint64_t sum;

    for (size_t at = 0; begun && at < bytes; at += piece) {
        piece = bytes - at < piece_bytes ? bytes - at : piece_bytes;
        begun = XXH3_64bits_update(state, (const char *)data + at, piece) == XXH_OK;
        done(arg, (const char *)data + at, piece);
    }
    sum = begun ? XXH3_64bits_digest(state) : ny_checksum(data, bytes);
    XXH3_freeState(state);
    return sum;
}
