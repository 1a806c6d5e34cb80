/*
 * The transposition of snp_major.h in bounded memory. Samples are divided into blocks of rows. One
 * reading of the file deals the piece that each record has for a block out to the block's stream in
 * a temporary file (base/spool.h), so that the file is read once, front to back. Then a block is
 * loaded at a time, and 64 rows by 64 variants of it are turned in the cache.
 */
#include "io/snp_major.h"

#include <string.h>

#include "base/dtype.h"
#include "base/memory.h"
#include "base/spool.h"
#include "io/format.h"
#include "io/refuse.h"

enum { SHARE = 8, BLOCK_MOST = 1 << 25, CODES = 4, TILE = 64, CHUNK_BYTES = 1 << 20 };
enum { PIECE_LEAST = 1 << 14, PIECE_MOST = 1 << 20 };

struct ny_snp_major {
    struct ny_bytes *bytes;
    struct ny_snp_major_shape shape;
    size_t record_bytes;      /* of a variant in the file */
    size_t block_rows;        /* a multiple of TILE */
    uint64_t blocks, loaded;  /* loaded: the block in memory; `blocks`: none */
    struct ny_spool *spool;   /* NULL: the file was not read yet */
    uint8_t *block;           /* variants × bytes of a block's rows */
    uint32_t alleles[2][256]; /* four counts of a byte of the file; [1]: of the other allele */
};

/* The codes of PLINK: 0 both alleles are of the first kind, 1 missing, 2 one of each, 3 none. */
static void make_alleles(struct ny_snp_major *table)
{
    static const uint8_t counts[2][CODES] = {{2, NY_GENOTYPE_MISSING, 1, 0},
                                             {0, NY_GENOTYPE_MISSING, 1, 2}};

    for (unsigned flip = 0; flip < 2; flip++)
        for (unsigned byte = 0; byte < 256; byte++) {
            uint8_t four[CODES];

            for (unsigned k = 0; k < CODES; k++)
                four[k] = counts[flip][byte >> 2 * k & 3];
            memcpy(&table->alleles[flip][byte], four, sizeof(four));
        }
}

int ny_snp_major_new(struct ny_snp_major **out, struct ny_bytes *bytes,
                     const struct ny_snp_major_shape *shape)
{
    struct ny_snp_major *table = ny_calloc(bytes->ctx, NY_MEM_IO, 1, sizeof(*table));
    uint64_t tile_bytes = shape->variants * (TILE / CODES), tiles, all;

    *out = table;
    if (!table) return NY_EBUDGET;
    table->bytes = bytes;
    table->shape = *shape;
    table->record_bytes = (size_t)((shape->samples + CODES - 1) / CODES);
    tiles = ny_memory_left(bytes->ctx) / SHARE;
    if (tiles > BLOCK_MOST) tiles = BLOCK_MOST; /* larger ones take longer to turn */
    tiles /= tile_bytes;
    all = (shape->samples + TILE - 1) / TILE;
    if (tiles > all) tiles = all;
    if (tiles == 0) tiles = 1;
    table->block_rows = (size_t)tiles * TILE;
    table->blocks = table->loaded = (all + tiles - 1) / tiles;
    make_alleles(table);
    table->block = ny_alloc(bytes->ctx, NY_MEM_IO, (size_t)(tiles * tile_bytes));
    return table->block ? NY_OK : NY_EBUDGET;
}

void ny_snp_major_free(struct ny_snp_major *table)
{
    struct ny_context *ctx;

    if (!table) return;
    ctx = table->bytes->ctx;
    ny_spool_free(table->spool);
    ny_free(ctx, table->block);
    ny_free(ctx, table);
}

/* ---- reading the file ----------------------------------------------------------------------- */

/* Returns the bytes that a variant has for the rows of a block. */
static size_t piece_bytes_of(const struct ny_snp_major *table, uint64_t block)
{
    size_t whole = table->block_rows / CODES, before = (size_t)block * whole;

    return table->record_bytes - before < whole ? table->record_bytes - before : whole;
}

/* Returns what the last bytes of records have at the last sample and behind it. PLINK writes 0
 * behind it, which is a genotype, too. */
static unsigned ends_of(const struct ny_snp_major *table, const char *records, size_t count)
{
    unsigned before = 2 * ((table->shape.samples - 1) % CODES), codes = 0;

    for (size_t i = 1; i <= count; i++)
        codes |= (unsigned char)records[i * table->record_bytes - 1] >> before;
    return codes;
}

/* Refuses a list of samples that is too short for these codes, in as many bytes, and warns of one
 * that may be too long: its last sample has A1 alone, as a reference genome may have, too. */
static int check_ends(const struct ny_snp_major *table, unsigned codes)
{
    bool last = codes % CODES || table->shape.samples % CODES == 1 || table->shape.variants < TILE;

    if (codes >= CODES)
        return ny_fail_at(table->bytes->ctx, NY_EDATA, table->bytes->path, NY_NO_LINE,
                          "%s has genotypes of more than %llu samples (.fam): a list is that of "
                          "another file",
                          table->bytes->path, (unsigned long long)table->shape.samples);
    if (!last)
        ny_log(table->bytes->ctx, NY_LOG_WARNING,
               "%s: the last of %llu samples (.fam) has A1 alone at all variants, as where the "
               "list is that of another file",
               table->bytes->path, (unsigned long long)table->shape.samples);
    return NY_OK;
}

/* Deals some records out to the blocks, from one on; `piece` has room for what a block gets. */
static int deal(struct ny_snp_major *table, const char *records, size_t count, uint64_t from,
                char *piece)
{
    int err = NY_OK;

    for (uint64_t b = from; b < table->blocks && !err; b++) {
        size_t bytes = piece_bytes_of(table, b);
        const char *at = records + (size_t)b * (table->block_rows / CODES);

        for (size_t i = 0; i < count; i++)
            memcpy(piece + i * bytes, at + i * table->record_bytes, bytes);
        err = ny_spool_put(table->spool, (size_t)b, piece, count * bytes);
    }
    return err;
}

static int make_spool(struct ny_snp_major *table)
{
    size_t piece = ny_memory_left(table->bytes->ctx) / SHARE / (size_t)table->blocks;
    struct ny_spool_spec spec = {.folder = table->shape.scratch,
                                 .what = "the genotypes by samples",
                                 .streams = (size_t)table->blocks};

    if (piece > PIECE_MOST) piece = PIECE_MOST;
    if (piece < PIECE_LEAST) piece = PIECE_LEAST;
    spec.piece_bytes = piece;
    return ny_spool_new(&table->spool, table->bytes->ctx, &spec);
}

/* Reads the file and deals it out to the blocks, from one on. */
static int read_file(struct ny_snp_major *table, uint64_t from)
{
    struct ny_context *ctx = table->bytes->ctx;
    size_t most = CHUNK_BYTES / table->record_bytes, got;
    uint64_t left = table->shape.variants;
    unsigned codes = 0;
    char *records, *piece;
    int err = make_spool(table);

    if (most == 0) most = 1;
    records = ny_alloc(ctx, NY_MEM_IO, most * table->record_bytes);
    piece = ny_alloc(ctx, NY_MEM_IO, most * (table->block_rows / CODES));
    if (!err && (!records || !piece)) err = NY_EBUDGET;
    while (!err && left > 0) {
        size_t count = left < most ? (size_t)left : most, wanted = count * table->record_bytes;

        err = ny_check_interrupt(ctx);
        if (!err) err = ny_bytes_read(table->bytes, records, wanted, &got);
        if (!err && got < wanted) err = ny_refuse_damaged(ctx, table->bytes->path, NY_NO_LINE);
        if (!err) codes |= ends_of(table, records, count);
        if (!err) err = deal(table, records, count, from, piece);
        left -= count;
    }
    if (!err) err = ny_bytes_read(table->bytes, records, 1, &got);
    if (!err && got) err = ny_refuse_damaged(ctx, table->bytes->path, NY_NO_LINE);
    if (!err) err = check_ends(table, codes);
    ny_free(ctx, piece);
    ny_free(ctx, records);
    return err;
}

/* ---- rows ----------------------------------------------------------------------------------- */

/* Loads the block of a row, and reads the file before the first. */
static int load(struct ny_snp_major *table, uint64_t block)
{
    int err = table->spool ? NY_OK : read_file(table, block);

    if (!err) err = ny_spool_load(table->spool, (size_t)block, (char *)table->block);
    if (!err) table->loaded = block;
    return err;
}

/* Rows of a block that are turned: begin … end−1 of the TILE rows from byte `at` of it on. */
struct tile {
    size_t at, begin, end;
    uint8_t counts[TILE][TILE]; /* of some variants */
};

/* Unpacks the counts of some variants from `first` on, as far as the rows of the tile go. */
static void unpack(const struct ny_snp_major *table, uint64_t first, size_t count,
                   struct tile *tile)
{
    size_t stride = piece_bytes_of(table, table->loaded), bytes = (tile->end + CODES - 1) / CODES;

    for (size_t j = 0; j < count; j++) {
        bool flip = table->shape.flipped && table->shape.flipped[first + j];
        const uint8_t *from = table->block + (first + j) * stride + tile->at;

        for (size_t k = 0; k < bytes; k++)
            memcpy(&tile->counts[j][CODES * k], &table->alleles[flip][from[k]], CODES);
    }
}

/* Turns a tile of variants into rows of `out`, the first of which is that of `begin`. */
static void turn(const struct ny_snp_major *table, const struct tile *tile, uint64_t first,
                 size_t count, uint8_t *out)
{
    const uint32_t *place = table->shape.place;

    for (size_t r = tile->begin; r < tile->end; r++, out += table->shape.columns)
        for (size_t j = 0; j < count; j++)
            if (!place)
                out[first + j] = tile->counts[j][r];
            else if (place[first + j] != NY_NO_PLACE)
                out[place[first + j]] = tile->counts[j][r];
}

/* Unpacks the rows of a tile and turns them. */
static void tile_rows(const struct ny_snp_major *table, struct tile *tile, uint8_t *out)
{
    for (uint64_t j = 0; j < table->shape.variants; j += TILE) {
        uint64_t left = table->shape.variants - j;
        size_t count = left < TILE ? (size_t)left : TILE;

        unpack(table, j, count, tile);
        turn(table, tile, j, count, out);
    }
}

int ny_snp_major_rows(struct ny_snp_major *table, uint64_t first, size_t count, uint8_t *out)
{
    struct tile tile;

    while (count > 0) {
        uint64_t block = first / table->block_rows;
        size_t row = (size_t)(first % table->block_rows), begin = row % TILE, some = TILE - begin;
        int err = block == table->loaded ? NY_OK : load(table, block);

        if (err) return err;
        if (some > count) some = count;
        if (table->shape.place)
            memset(out, NY_GENOTYPE_MISSING, some * table->shape.columns); /* what the file lacks */
        tile.at = (row - begin) / CODES;
        tile.begin = begin;
        tile.end = begin + some;
        tile_rows(table, &tile, out);
        out += some * table->shape.columns;
        first += some;
        count -= some;
    }
    return NY_OK;
}
