/* The sums of pass 1 over all shards: those of each shard, added in the order of the shards. The
 * shard that leads gets G, as it solves for all. */
#include <string.h>

#include "base/peers.h"
#include "spectral/accumulator.h"

/* Numbers of G that travel together: so many, or as many as an eighth of it has. */
enum { PIECE = 1 << 19, PIECES = 8 };

/* Copies rows first … end−1 of the lower triangle to `packed`, or back from there. */
static void copy_rows(struct ny_matrix G, size_t first, size_t end, double *packed, bool back)
{
    for (size_t i = first; i < end; packed += ++i) {
        double *row = G.at + i * G.stride;

        if (back)
            memcpy(row, packed, (i + 1) * sizeof(double));
        else
            memcpy(packed, row, (i + 1) * sizeof(double));
    }
}

/* Returns how many numbers travel together: a row of G at least, and no more than there are. */
static size_t room_of(size_t m)
{
    size_t all = m * (m + 1) / 2, piece = all / PIECES;

    if (piece < PIECE) piece = all < PIECE ? all : PIECE;
    return m > piece ? m : piece;
}

void ny_accumulator_fold_count(struct ny_layout *l, size_t m)
{
    ny_lay_peak(l, NY_MEM_GRAM, room_of(m), sizeof(double));
}

static int fold_gram(struct ny_accumulator *acc, struct ny_peers *peers)
{
    size_t m = acc->m, room = room_of(m);
    double *packed = ny_calloc(acc->ctx, NY_MEM_GRAM, room, sizeof(double));
    int err = packed ? NY_OK : NY_EBUDGET;

    for (size_t first = 0, end; first < m && !err; first = end) {
        size_t count = 0;

        for (end = first; end < m && count + end + 1 <= room; end++)
            count += end + 1;
        copy_rows(acc->G, first, end, packed, false);
        err = ny_peers_reduce(peers, packed, count);
        if (!err && ny_peers_leads(peers)) copy_rows(acc->G, first, end, packed, true);
    }
    ny_free(acc->ctx, packed);
    return err;
}

int ny_accumulator_fold_peers(struct ny_accumulator *acc, struct ny_peers *peers)
{
    double totals[] = {acc->t, acc->omega, (double)acc->rows, acc->rounded};
    int err;

    if (!peers) return NY_OK;
    err = ny_peers_fold(peers, totals, 4);
    if (!err) err = ny_peers_fold(peers, acc->s, acc->m);
    if (!err && acc->G.at) err = fold_gram(acc, peers);
    acc->t = totals[0];
    acc->omega = totals[1];
    acc->rows = (uint64_t)totals[2];
    acc->rounded = totals[3] > 0;
    return err;
}
