/*
 * Holds rows of the points in memory (nearest/held.h). Wanted rows are a bit each, and lie in
 * memory in ascending order: the place of a row is the number of wanted rows before it, of which
 * every 64th is kept and the rest are counted in a word. Pieces of 16,384 rows are read by the
 * workers in turn.
 */
#include "nearest/held.h"

#include <string.h>

#include "base/memory.h"
#include "base/random.h"
#include "base/thread.h"
#include "stream/rows.h"

static size_t words_of(uint64_t n)
{
    return (size_t)((n + 63) / 64);
}

/* ---- reading -------------------------------------------------------------------------------- */

/* Rows first … of all of them. */
static int read_piece(struct ny_held *held, uint64_t first, size_t count)
{
    return held->X->ops->read(held->X, held->slots, first, count,
                              held->rows + first * held->row_bytes);
}

/* Reads the wanted rows of a piece to their places, which follow one another. */
static int gather_piece(struct ny_held *held, uint64_t first, size_t count, uint64_t *list)
{
    size_t found = 0;

    for (uint64_t w = first / 64; w < words_of(first + count); w++)
        for (uint64_t bits = held->wanted[w]; bits; bits &= bits - 1)
            list[found++] = w * 64 + (uint64_t)__builtin_ctzll(bits);
    if (!found) return NY_OK;
    return held->X->ops->gather(held->X, held->slots, list, found,
                                held->rows + held->before[first / 64] * held->row_bytes);
}

static int read_pieces(void *arg, unsigned worker)
{
    struct ny_held *held = arg;
    const uint64_t step = (uint64_t)held->workers * NY_HELD_PIECE;
    uint64_t *list = ny_alloc(held->own.ctx, NY_MEM_STORE, NY_HELD_PIECE * sizeof(uint64_t));
    int err = list ? NY_OK : NY_EBUDGET;

    for (uint64_t row = (uint64_t)worker * NY_HELD_PIECE; row < held->n && err == NY_OK;
         row += step) {
        uint64_t left = held->n - row;
        size_t rows = left < NY_HELD_PIECE ? (size_t)left : NY_HELD_PIECE;

        err = ny_check_interrupt(held->own.ctx);
        if (err) break;
        err = ny_held_all(held) ? read_piece(held, row, rows) : gather_piece(held, row, rows, list);
    }
    ny_free(held->own.ctx, list);
    return err;
}

/* ---- what is wanted ------------------------------------------------------------------------- */

void ny_held_clear(struct ny_held *held)
{
    if (ny_held_all(held)) return;
    memset(held->wanted, 0, words_of(held->n) * sizeof(uint64_t));
    held->count = 0;
}

bool ny_held_want(struct ny_held *held, uint64_t row)
{
    uint64_t bit = (uint64_t)1 << row % 64;

    if (ny_held_all(held) || (held->wanted[row / 64] & bit)) return true;
    if (held->count == held->room) return false;
    held->wanted[row / 64] |= bit;
    held->count++;
    return true;
}

int ny_held_load(struct ny_held *held)
{
    uint32_t before = 0;

    if (ny_held_all(held)) return NY_OK;
    for (size_t w = 0; w < words_of(held->n); w++) {
        held->before[w] = before;
        before += (uint32_t)__builtin_popcountll(held->wanted[w]);
    }
    return ny_parallel(held->own.ctx, held->workers, read_pieces, held);
}

/* ---- a sample ------------------------------------------------------------------------------- */

int ny_held_draw(const struct ny_held *held, uint64_t seed, uint64_t stream, size_t count,
                 uint64_t *row, char *raw)
{
    for (size_t i = 0; i < count; i++) {
        uint64_t begin = held->n * i / count, length = held->n * (i + 1) / count - begin;

        row[i] = begin + ny_hash64(seed, stream, i) % length;
        if (ny_held_all(held))
            memcpy(raw + i * held->row_bytes, ny_held_row(held, row[i]), held->row_bytes);
    }
    return ny_held_all(held) ? NY_OK : held->X->ops->gather(held->X, held->slots, row, count, raw);
}

/* ---- the whole ------------------------------------------------------------------------------ */

static void lay(struct ny_layout *l, struct ny_held *held)
{
    held->rows = ny_lay(l, NY_MEM_TILES, held->room, held->row_bytes);
    if (ny_held_all(held)) return;
    held->wanted = ny_lay(l, NY_MEM_TILES, words_of(held->n), sizeof(uint64_t));
    held->before = ny_lay(l, NY_MEM_TILES, words_of(held->n), sizeof(uint32_t));
}

void ny_held_count(struct ny_layout *l, const struct ny_columns_spec *spec, uint64_t n, size_t room,
                   unsigned workers)
{
    const size_t wishes = NY_HELD_PIECE * 3 * sizeof(uint64_t);
    struct ny_held held = {
        .n = n, .room = room < n ? room : (size_t)n, .row_bytes = ny_raw_bytes(spec)};

    lay(l, &held);
    ny_layout_add(l, NY_MEM_STORE, workers * wishes);
}

int ny_held_new(struct ny_held *held, struct ny_rows *X, const struct ny_columns_spec *spec,
                uint64_t n, size_t room, unsigned workers)
{
    *held = (struct ny_held){.own.ctx = spec->ctx,
                             .X = X,
                             .n = n,
                             .slots = spec->slots,
                             .row_bytes = ny_raw_bytes(spec),
                             .room = room < n ? room : (size_t)n,
                             .workers = workers};
    lay(&held->own, held);
    if (held->own.err || !ny_held_all(held)) return held->own.err;
    return ny_parallel(held->own.ctx, held->workers, read_pieces, held);
}

void ny_held_release(struct ny_held *held)
{
    ny_layout_free(&held->own);
    *held = (struct ny_held){0};
}
