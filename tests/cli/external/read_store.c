/* Reads a store by what src/README.md says of its format, without a line of nystream: every entry
 * is checked; rows of points go to the standard output, and those of an embedding behind them. */
#include <lmdb.h>
#include <lz4frame.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

enum { HEADER = 32, POINTS = 1, MANIFEST = 5, CHUNK = 6, KEY_BYTES = 9 };

static void need(int holds, const char *what)
{
    if (holds) return;
    fprintf(stderr, "%s\n", what);
    exit(1);
}

static uint64_t u64(const void *at)
{
    uint64_t value;

    memcpy(&value, at, sizeof(value));
    return value;
}

static uint32_t u32(const void *at)
{
    uint32_t value;

    memcpy(&value, at, sizeof(value));
    return value;
}

static uint64_t big_endian(const unsigned char *at)
{
    uint64_t value = 0;

    for (int i = 0; i < 8; i++)
        value = value << 8 | at[i];
    return value;
}

/* Checks the frame and unpacks it; free() what it returns. */
static unsigned char *unpack(const MDB_val *key, const MDB_val *value, uint64_t store,
                             uint32_t kind)
{
    unsigned char sealed[HEADER + 8], *raw;
    const unsigned char *frame = value->mv_data, *name = key->mv_data;
    size_t stored = value->mv_size - HEADER, bytes = u32(frame + 16), taken = stored;
    uint64_t sum = XXH3_64bits(frame + HEADER, stored);
    uint64_t number = kind == CHUNK ? XXH3_64bits(name, key->mv_size) : big_endian(name + 1);
    LZ4F_dctx *lz4;

    memcpy(sealed, frame, HEADER - 8);
    memset(sealed + HEADER - 8, 0, 8);
    memcpy(sealed + HEADER, &sum, 8);
    need(XXH3_64bits(sealed, sizeof(sealed)) == u64(frame + 24), "checksum");
    need(u64(frame) == store && u64(frame + 8) == number, "another place");
    need(u32(frame + 20) >> 28 == kind, "another kind");
    raw = malloc(bytes ? bytes : 1);
    need(raw != NULL, "memory");
    if (u32(frame + 20) >> 24 & 15) {
        need(!LZ4F_isError(LZ4F_createDecompressionContext(&lz4, LZ4F_VERSION)), "lz4");
        need(LZ4F_decompress(lz4, raw, &bytes, frame + HEADER, &taken, NULL) == 0, "lz4 data");
        LZ4F_freeDecompressionContext(lz4);
    } else {
        memcpy(raw, frame + HEADER, bytes);
    }
    return raw;
}

static void print_rows(const unsigned char *raw, uint64_t rows, uint64_t d)
{
    float x;

    for (uint64_t i = 0; i < rows * d; i++) {
        memcpy(&x, raw + 4 * i, 4);
        printf("%.9g%c", (double)x, (i + 1) % d ? ',' : '\n');
    }
}

/* Blocks of rows come before the manifest, which says how many there are: two walks. */
static void print_points(MDB_cursor *cursor, uint64_t store)
{
    MDB_val key, value;
    uint64_t n = 0, d = 0, block_rows = 0;

    for (int walk = 0; walk < 2; walk++)
        for (int end = mdb_cursor_get(cursor, &key, &value, MDB_FIRST); !end;
             end = mdb_cursor_get(cursor, &key, &value, MDB_NEXT)) {
            const unsigned char *at = key.mv_data;
            unsigned char *raw;

            if (key.mv_size != KEY_BYTES || at[0] & 0x40) continue; /* the pulse; staged */
            raw = unpack(&key, &value, store, at[0]);
            if (at[0] == MANIFEST) {
                need(u32(raw) == 3 && u32(raw + 4) == 0, "dense rows of f32 are wanted");
                n = u64(raw + 16), d = u64(raw + 24), block_rows = u64(raw + 32);
            } else if (at[0] == POINTS && walk == 1) {
                uint64_t first = big_endian(at + 1) * block_rows;

                if (first < n) print_rows(raw, n - first < block_rows ? n - first : block_rows, d);
            }
            free(raw);
        }
}

/* The part is float32, p columns; chunks come in the order of their rows. */
static void print_embedding(MDB_cursor *cursor, uint64_t store, const char *name, uint64_t p)
{
    char prefix[100];
    size_t bytes = (size_t)snprintf(prefix, sizeof(prefix), "%s%cembedding", name, 0) + 1;
    MDB_val key, value;

    for (int end = mdb_cursor_get(cursor, &key, &value, MDB_FIRST); !end;
         end = mdb_cursor_get(cursor, &key, &value, MDB_NEXT)) {
        unsigned char *raw;

        if (key.mv_size == 1) continue;
        raw = unpack(&key, &value, store, CHUNK);
        if (key.mv_size == bytes + 8 && memcmp(key.mv_data, prefix, bytes) == 0)
            print_rows(raw, u32((char *)value.mv_data + 16) / (4 * p), p);
        free(raw);
    }
}

int main(int argc, char **argv)
{
    need(argc == 4, "usage: read_store STORE NAME COMPONENTS");
    for (int table = 0; table < 2; table++) {
        MDB_val key = {1, "\0"}, value;
        MDB_cursor *cursor;
        char path[4096], *pulse;
        uint64_t store;
        MDB_env *env;
        MDB_txn *txn;
        MDB_dbi dbi;

        snprintf(path, sizeof(path), "%s/%s", argv[1], table ? "results" : "points");
        need(!mdb_env_create(&env) && !mdb_env_open(env, path, MDB_RDONLY, 0), path);
        need(!mdb_txn_begin(env, NULL, MDB_RDONLY, &txn) && !mdb_dbi_open(txn, NULL, 0, &dbi),
             path);
        need(!mdb_get(txn, dbi, &key, &value), "no pulse");
        pulse = (char *)value.mv_data + HEADER;
        need(memcmp(pulse, "nystream", 8) == 0, "not a store");
        need(u32(pulse + 8) <= 3, "a later format");
        store = u64(pulse + 16);
        need(!mdb_cursor_open(txn, dbi, &cursor), path);
        if (table)
            print_embedding(cursor, store, argv[2], strtoull(argv[3], NULL, 10));
        else
            print_points(cursor, store);
        mdb_cursor_close(cursor);
        mdb_txn_abort(txn);
        mdb_env_close(env);
    }
    return 0;
}
