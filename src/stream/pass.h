/*
 * The pass: one streaming read of all points, in bounded memory, by several workers, whose result
 * does not depend on how many there are.
 *
 * Rows are cut in *units* of NY_UNIT_ROWS. Workers take units in order; `unit` computes what the
 * rows of one unit say (in the worker's own buffers), `fold` adds that to the whole, strictly in
 * unit order and never two at a time. So a sum is a left fold over units, whatever the budget and
 * the threads are, and wherever an earlier run was interrupted.
 *
 * Results do not depend on threads, budget or kills. A worker computes its unit (2,048 rows) with
 * one-threaded BLAS calls of one fixed shape, padded with zero rows; where others wait they do some
 * of its strips and blocks (stream/share.h); the budget decides only how many units are in flight;
 * random numbers are a function of (seed, stream, index). Eigenproblems and Cholesky factors are
 * cut in parts by their order alone (linalg/parts.h). The other products of a small problem of up
 * to 2,048 landmarks (NY_BLAS_SERIAL_ORDER) have one BLAS thread as well. Above,
 * OpenBLAS uses all threads, so there the last bits may depend on their number. Another CPU family
 * or BLAS gives other bits too; a resumed job warns of it.
 */
#ifndef NY_STREAM_PASS_H
#define NY_STREAM_PASS_H

#include "stream/source.h"

struct ny_pass_work {
    /* Runs in parallel: reads the tile with ny_tile_strip(), fills buffers of tile->worker. */
    int (*unit)(void *arg, const struct ny_tile *tile);
    /* Runs in unit order, one at a time, on the worker that did the unit; NY_END: the pass has seen
     * enough. May be NULL. */
    int (*fold)(void *arg, const struct ny_tile *tile);
    /* Runs between two folds, at least every ny_context_checkpoint_s() seconds and before an
     * interrupt is obeyed: units < units_done are folded. May be NULL. */
    int (*checkpoint)(void *arg, uint64_t units_done);
};

struct ny_pass {
    struct ny_source *source;
    const char *stage;    /* for the progress */
    unsigned workers;     /* ≥ 1; each has its own buffers in `arg` */
    uint64_t first_unit;  /* where a resumed pass goes on */
    uint64_t ahead_max;   /* unit u starts only when unit u − ahead_max is folded; 0: no bound */
    double flops_per_row; /* for the progress */
    uint64_t rows_total;  /* for the progress, where the source is a part of them; 0: its n */
    /* Tells whether nothing has to be read of a unit: it goes to `fold` at once, tile->skipped.
     * Asked in unit order, before any row of the unit is read. May be NULL. */
    bool (*skip)(void *arg, uint64_t unit);
};

/* Runs to the end of the source, or until a fold says NY_END. On an error the pass stops, and what
 * is folded stays folded. NY_EINTERRUPTED / NY_ETERMINATED after a checkpoint when the context was
 * interrupted. */
int ny_pass_run(const struct ny_pass *pass, const struct ny_pass_work *work, void *arg);

#endif
