/*
 * Column sampling in isomap: C = −½Δ², nodes × m, is kept in the store as Δ, so that G = C′ᵀC′ can
 * be summed by rows and Y = C′P be added up without finding the paths again. Part "paths": of each
 * batch of sources its pieces of nodes one after the other, PIECE_NODES × NY_LANES f32 each.
 */
#include "embed/isomap_private.h"

#include <string.h>

#include "base/memory.h"
#include "spectral/accumulator.h"

enum { NODE_BYTES = NY_LANES * sizeof(float), PIECE_NODES = NY_CHUNK_BYTES / NODE_BYTES };

static uint64_t pieces_of(uint64_t nodes)
{
    return (nodes + PIECE_NODES - 1) / PIECE_NODES;
}

static size_t nodes_of(const struct ny_isomap *map, uint64_t piece)
{
    uint64_t left = map->fit->edges.n - piece * PIECE_NODES;

    return left < PIECE_NODES ? (size_t)left : PIECE_NODES;
}

uint64_t ny_isomap_columns_bytes(uint64_t nodes, size_t m)
{
    return ny_sweep_batches(m) * nodes * NODE_BYTES;
}

bool ny_isomap_keeps_columns(const struct ny_fit_settings *settings)
{
    return settings->method->needs_gram;
}

int ny_isomap_check_room(const struct ny_isomap *map)
{
    const struct ny_job *job = &map->fit->job;
    uint64_t needed = ny_isomap_columns_bytes(map->fit->edges.n, map->m);
    uint64_t room = ny_results_room(job->store);

    if (needed <= room) return NY_OK;
    return ny_fail(job->ctx, NY_EBUDGET,
                   "--approx column keeps %llu bytes (%.1f MiB) of path lengths in %s, whose disk "
                   "has room for %.1f MiB; make space, take fewer landmarks, or --approx nystrom",
                   (unsigned long long)needed, (double)needed / 1048576.0,
                   ny_store_path(job->store), (double)room / 1048576.0);
}

int ny_isomap_keep(const struct ny_isomap *map, uint64_t batch, const float *distances)
{
    const struct ny_job *job = &map->fit->job;
    uint64_t pieces = pieces_of(map->fit->edges.n), piece = 0;
    int err = NY_OK;

    while (piece < pieces && err == NY_OK) {
        size_t most = ny_batch_bytes_max(job->store) / NY_CHUNK_BYTES, put = 0;
        struct ny_batch *commit;

        err = ny_batch_begin(&commit, job->store);
        if (err) break;
        do {
            err = ny_batch_put(commit, job->name, "paths", batch * pieces + piece,
                               distances + piece * PIECE_NODES * NY_LANES,
                               nodes_of(map, piece) * NODE_BYTES);
            piece++;
        } while (err == NY_OK && ++put < most && piece < pieces);
        if (err)
            ny_batch_abort(commit);
        else
            err = ny_batch_commit(commit);
    }
    return err;
}

static int load_piece(const struct ny_isomap *map, uint64_t batch, uint64_t piece, float *out)
{
    const struct ny_job *job = &map->fit->job;
    struct ny_chunk chunk = {.data = out, .capacity = nodes_of(map, piece) * NODE_BYTES};
    uint64_t index = batch * pieces_of(map->fit->edges.n) + piece;
    int err = ny_chunk_get(job->store, job->name, "paths", index, &chunk);

    if (err != NY_END && (err || chunk.bytes == chunk.capacity)) return err;
    return ny_fail(job->ctx, NY_ESTORE,
                   "chunk %llu of part paths of '%s' in %s is missing or short; fit it again with "
                   "--restart",
                   (unsigned long long)index, job->name, ny_store_path(job->store));
}

int ny_isomap_replay(struct ny_isomap *map, int (*fold)(void *, size_t, size_t, const float *))
{
    struct ny_context *ctx = map->fit->job.ctx;
    float *distances = ny_calloc(ctx, NY_MEM_TILES, map->fit->edges.n, NODE_BYTES);
    int err = distances ? NY_OK : NY_EBUDGET;

    for (size_t first = 0; first < map->m && err == NY_OK; first += NY_LANES) {
        size_t count = map->m - first < NY_LANES ? map->m - first : NY_LANES;

        for (uint64_t piece = 0; piece < pieces_of(map->fit->edges.n) && err == NY_OK; piece++)
            err = load_piece(map, first / NY_LANES, piece,
                             distances + piece * PIECE_NODES * NY_LANES);
        if (err == NY_OK) err = ny_check_interrupt(ctx);
        if (err == NY_OK) err = fold(map, first, count, distances);
    }
    ny_free(ctx, distances);
    return err;
}

/* ---- G ------------------------------------------------------------------------------------- */

size_t ny_isomap_gram_bytes(uint64_t nodes, size_t m)
{
    size_t rows = nodes < PIECE_NODES ? (size_t)nodes : PIECE_NODES;

    return (size_t)ny_sweep_batches(m) * rows * NODE_BYTES + NY_UNIT_ROWS * m * sizeof(double) +
           ny_accumulator_bytes(m) + ny_partial_bytes(m, NY_GRAM_F64);
}

/* Rows of C′ of a unit in the piece, in order of selection; zero rows up to NY_UNIT_ROWS. */
static void fill_tile(const struct ny_isomap *map, const float *piece, size_t nodes, size_t first,
                      double *tile)
{
    const double *a = map->fit->job.a;
    size_t m = map->m;

    memset(tile, 0, NY_UNIT_ROWS * m * sizeof(double));
    for (size_t j = 0; j < m; j++) {
        const float *lane = piece + j / NY_LANES * nodes * NY_LANES + j % NY_LANES;
        size_t landmark = map->source[j].landmark;

        for (size_t i = 0; i < NY_UNIT_ROWS && first + i < nodes; i++) {
            double d = (double)lane[(first + i) * NY_LANES];

            tile[i * m + landmark] = -0.5 * d * d - a[landmark];
        }
    }
}

struct gram {
    float *piece; /* batches × nodes × NY_LANES */
    double *tile;
    struct ny_partial *partial;
    struct ny_accumulator *acc;
};

static int add_piece(const struct ny_isomap *map, struct gram *gram, uint64_t piece)
{
    size_t nodes = nodes_of(map, piece), m = map->m;
    int err = ny_check_interrupt(map->fit->job.ctx);

    for (uint64_t batch = 0; batch < ny_sweep_batches(m) && err == NY_OK; batch++)
        err = load_piece(map, batch, piece, gram->piece + batch * nodes * NY_LANES);
    for (size_t first = 0; first < nodes && err == NY_OK; first += NY_UNIT_ROWS) {
        size_t left = nodes - first;
        const struct ny_tile_rows rows = {.count = left < NY_UNIT_ROWS ? left : NY_UNIT_ROWS};

        fill_tile(map, gram->piece, nodes, first, gram->tile);
        ny_partial_set64(gram->partial, ny_matrix(gram->tile, NY_UNIT_ROWS, m), &rows);
        ny_accumulator_fold(gram->acc, gram->partial);
    }
    return err;
}

int ny_isomap_gram(const struct ny_isomap *map)
{
    struct ny_job *job = &map->fit->job;
    size_t m = map->m, nodes = nodes_of(map, 0);
    struct gram gram = {
        .piece = ny_calloc(job->ctx, NY_MEM_TILES, (size_t)ny_sweep_batches(m) * nodes, NODE_BYTES),
        .tile = ny_calloc(job->ctx, NY_MEM_TILES, NY_UNIT_ROWS, m * sizeof(double))};
    int err = gram.piece && gram.tile
                  ? ny_partial_new(&gram.partial, job->ctx, m, NY_GRAM_F64)
                  : NY_EBUDGET;

    if (err == NY_OK) err = ny_accumulator_new(&job->acc, job->ctx, m);
    gram.acc = job->acc;
    ny_blas_serial();
    for (uint64_t piece = 0; piece < pieces_of(map->fit->edges.n) && err == NY_OK; piece++)
        err = add_piece(map, &gram, piece);
    ny_partial_free(gram.partial);
    ny_free(job->ctx, gram.tile);
    ny_free(job->ctx, gram.piece);
    return err;
}
