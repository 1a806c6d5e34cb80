/* Keys of both environments, as src/README.md describes the store format. */
#include <string.h>

#include "store/store_private.h"

static void put_number(char *out, uint64_t number)
{
    for (int i = 7; i >= 0; i--, number >>= 8)
        out[i] = (char)(number & 0xff);
}

struct ny_key ny_pulse_key(void)
{
    return (struct ny_key){.bytes = 1, .data = {0}};
}

struct ny_key ny_memory_key(void)
{
    return (struct ny_key){.bytes = 2, .data = {0, 1}};
}

struct ny_key ny_points_key(unsigned kind, uint64_t number)
{
    struct ny_key key = {.bytes = 9};

    key.data[0] = (char)kind;
    put_number(key.data + 1, number);
    return key;
}

struct ny_want ny_points_want(const struct ny_store *store, unsigned kind, uint64_t number,
                              uint64_t rows, size_t bytes)
{
    return (struct ny_want){.key = ny_points_key(kind, number),
                            .frame = {.store = store->id,
                                      .number = number,
                                      .rows = (uint32_t)rows,
                                      .raw_bytes = (uint32_t)bytes,
                                      .kind = (enum ny_kind)(kind & ~(unsigned)NY_STAGED)},
                            .exact = true,
                            .capacity = bytes};
}

bool ny_points_key_parse(const MDB_val *key, unsigned *kind, uint64_t *number)
{
    const unsigned char *data = key->mv_data;

    if (key->mv_size != 9) return false;
    *kind = data[0];
    *number = 0;
    for (int i = 1; i <= 8; i++)
        *number = *number << 8 | data[i];
    return true;
}

struct ny_key ny_chunk_key(const char *name, const char *part, uint64_t index)
{
    struct ny_key key = {.bytes = 0};
    size_t name_bytes = strnlen(name, NY_NAME_MAX), part_bytes = strnlen(part, NY_NAME_MAX);

    memcpy(key.data, name, name_bytes); /* the zeros are there */
    memcpy(key.data + name_bytes + 1, part, part_bytes);
    put_number(key.data + name_bytes + part_bytes + 2, index);
    key.bytes = name_bytes + part_bytes + 2 + 8;
    return key;
}

struct ny_key ny_voucher_key(const struct ny_key *chunk)
{
    struct ny_key key = *chunk;

    key.data[key.bytes++] = 1;
    return key;
}
