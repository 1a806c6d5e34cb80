/*
 * Rows of a table that stands in its file column after column (io/turned.h).
 *
 * A block of as many rows as the budget allows is in memory at a time. It takes one piece of each
 * column, which are the longer the more rows it has: 8,192 values of each of 1,000 columns of f32
 * in 31 MiB. So the file is read once, piece by piece, and the table need not fit in memory. Pieces
 * longer than 1 MiB would be no faster. Columns go into the rows 16 at a time, by 64 rows, which
 * stay in the cache while they are written.
 */
#include "io/turned.h"

#include <string.h>

#include "base/memory.h"

enum { SHARE = 8, PIECE_BYTES = 1 << 20, STRIP = 16, TILE = 64 };

struct ny_turned {
    struct ny_bytes *bytes;
    struct ny_turned_shape shape;
    uint64_t base;          /* place of the table in the file */
    uint64_t at;            /* next byte of the table by rows */
    uint64_t first, loaded; /* rows of the block */
    size_t block_rows;
    char *block; /* rows × d */
    char *strip; /* pieces of STRIP columns */
};

int ny_turned_lay(struct ny_turned **out, struct ny_layout *l, struct ny_bytes *bytes,
                  const struct ny_turned_shape *shape)
{
    struct ny_turned *turned = ny_lay(l, NY_MEM_IO, 1, sizeof(*turned));
    uint64_t row_bytes = shape->d * shape->size + STRIP * shape->size;
    uint64_t rows = ny_memory_left(bytes->ctx) / SHARE / row_bytes;

    *out = turned;
    if (!turned) return NY_EBUDGET;
    if (rows > PIECE_BYTES / shape->size) rows = PIECE_BYTES / shape->size;
    if (rows > shape->rows) rows = shape->rows;
    if (rows == 0) rows = 1;
    *turned = (struct ny_turned){
        .bytes = bytes, .shape = *shape, .base = ny_bytes_place(bytes), .block_rows = (size_t)rows};
    turned->block = ny_lay(l, NY_MEM_IO, turned->block_rows, (size_t)shape->d * shape->size);
    turned->strip = ny_lay(l, NY_MEM_IO, turned->block_rows, STRIP * shape->size);
    return l->err;
}

/* Copies values of `size` bytes, which is known where this is called, to every `stride` bytes. */
static inline void spread(char *to, size_t stride, const char *from, size_t rows, size_t size)
{
    for (size_t r = 0; r < rows; r++)
        memcpy(to + r * stride, from + r * size, size);
}

/* Puts a piece of a column into the rows. */
static void put_piece(char *to, size_t stride, const char *from, size_t rows, size_t size)
{
    switch (size) {
    case 1:
        spread(to, stride, from, rows, 1);
        break;
    case 2:
        spread(to, stride, from, rows, 2);
        break;
    case 4:
        spread(to, stride, from, rows, 4);
        break;
    default:
        spread(to, stride, from, rows, 8);
    }
}

/* Puts the pieces of the strip, columns `column` and those behind it, into the rows. */
static void put_strip(struct ny_turned *turned, uint64_t column, size_t columns, size_t rows)
{
    const bool *keep = turned->shape.keep;
    size_t size = turned->shape.size, stride = (size_t)turned->shape.d * size;

    for (size_t r = 0; r < rows; r += TILE)
        for (size_t k = 0; k < columns; k++)
            if (!keep || keep[column + k])
                put_piece(turned->block + r * stride + (column + k) * size, stride,
                          turned->strip + (k * turned->block_rows + r) * size,
                          rows - r < TILE ? rows - r : TILE, size);
}

/* Reads the pieces of some columns; *whole: the file has all of them. */
static int read_strip(struct ny_turned *turned, uint64_t column, size_t columns, size_t rows,
                      bool *whole)
{
    const struct ny_turned_shape *shape = &turned->shape;
    size_t wanted = rows * shape->size, got = 0;
    int err = NY_OK;

    for (size_t k = 0; !err && *whole && k < columns; k++) {
        uint64_t place = (column + k) * shape->rows + turned->first;

        if (shape->keep && !shape->keep[column + k]) continue;
        err = ny_bytes_read_at(turned->bytes, turned->base + place * shape->size,
                               turned->strip + k * turned->block_rows * shape->size, wanted, &got);
        *whole = got == wanted;
    }
    return err;
}

/* Loads the block that begins with row `first`. None of it is loaded where the file is shorter. */
static int load(struct ny_turned *turned, uint64_t first)
{
    const struct ny_turned_shape *shape = &turned->shape;
    uint64_t left = shape->rows - first;
    size_t rows = left < turned->block_rows ? (size_t)left : turned->block_rows;
    bool whole = true;
    int err = NY_OK;

    turned->first = first;
    turned->loaded = 0;
    for (uint64_t column = 0; !err && whole && column < shape->d; column += STRIP) {
        size_t columns = shape->d - column < STRIP ? (size_t)(shape->d - column) : STRIP;

        err = ny_check_interrupt(turned->bytes->ctx);
        if (!err) err = read_strip(turned, column, columns, rows, &whole);
        if (!err && whole) put_strip(turned, column, columns, rows);
    }
    if (!err && whole) turned->loaded = rows;
    return err;
}

int ny_turned_read(struct ny_turned *turned, void *to, size_t wanted, size_t *got)
{
    uint64_t row_bytes = turned->shape.d * turned->shape.size;
    uint64_t end = turned->shape.rows * row_bytes;

    *got = 0;
    while (*got < wanted && turned->at < end) {
        uint64_t row = turned->at / row_bytes, here;

        if (row < turned->first || row - turned->first >= turned->loaded) {
            int err = load(turned, row);

            if (err) return err;
            if (!turned->loaded) return NY_OK;
        }
        here = (turned->first + turned->loaded) * row_bytes - turned->at;
        if (here > wanted - *got) here = wanted - *got;
        memcpy((char *)to + *got, turned->block + (turned->at - turned->first * row_bytes),
               (size_t)here);
        turned->at += here;
        *got += (size_t)here;
    }
    return NY_OK;
}

void ny_turned_pass(struct ny_turned *turned, uint64_t count, uint64_t *passed)
{
    uint64_t end = turned->shape.rows * turned->shape.d * turned->shape.size;

    *passed = count < end - turned->at ? count : end - turned->at;
    turned->at += *passed;
}
