/*
 * Stage select of a fit with option online, which sums up the rows as it goes: one pass selects
 * and accumulates, in batches of 16,384 rows (NY_ONLINE_ROWS).
 *
 * After each batch, its rows, which are in the page cache, are summed up against the landmarks
 * that there are then. A landmark that joins later gets its column over rows that are gone from
 * their projection, G_jD = b_jᵀG with b_j = W⁻¹w_j (spectral/accumulator_online.c): these are the
 * coefficients of Ouimet & Bengio's online algorithm, over the landmarks at a row's time. K̃ is
 * then a little below that of two passes, so that the trace error is an upper bound of theirs. W
 * is not known before the pass: tile Grams are f64, and the shift follows the landmarks, whose
 * column means come from W = LLᵀ. Trace errors, measured:
 *
 *    data                                ε      online             two passes
 *    60,000 MNIST digits                 0.4    0.4288, m = 602    0.4212, m = 612
 *    KDD 99, standardised                0.1    0.0818, m = 832    0.0735, m = 835
 *
 * So that nothing depends on rows to come, width and centre are those of the first 16,384 rows
 * (with --scale, and of sparse rows, those of all). `embed --online` therefore begins with them:
 * whenever the selection has decided a batch, it has the import read and commit the next one
 * (struct ny_arrivals, api/import.h), in one thread. The result has the bytes of `import`, then
 * `fit --online`. After a kill, the temporary store is such a store, and the same fit goes on
 * there with the rows that it then has. `--update full` goes on in the same way, from the sums of
 * the result: the landmarks are those of one pass over all rows, and only where batches end
 * differs.
 */
#ifndef NY_FIT_ONLINE_H
#define NY_FIT_ONLINE_H

#include "fit/sums.h"

struct ny_online {
    struct ny_fit *fit;
    uint64_t rows;                   /* that job->acc holds */
    double *a;                       /* its shift */
    const struct ny_decided *batch;  /* that is being added */
};

/* The sums as of the last checkpoint, or of the result that is updated, or none. */
int ny_online_begin(struct ny_online *online, struct ny_fit *fit);
/* Frees the shift and takes the struct away from its fit; the sums stay. */
void ny_online_release(struct ny_online *online);
/* The `follow` of a selection. */
int ny_online_follow(void *arg, const struct ny_decided *decided);
/* Puts the sums beside the image of the selection, into the checkpoint that comes next. */
int ny_online_put(struct ny_online *online);
/* Ends the selection: the sums take the shift of W and are saved; stage solve is next. */
int ny_online_finish(struct ny_online *online);

#endif
