/* A pass that sums up the points: stages degrees and accumulate. */
#ifndef NY_FIT_SUMS_H
#define NY_FIT_SUMS_H

#include "fit/fit.h"
#include "spectral/krylov.h"

struct ny_matched;

struct ny_accumulate {
    struct ny_accumulator *acc;       /* takes s′, G′, t and ω; NULL: they are known */
    enum ny_gram_precision gram;      /* precision of G′; NONE: there is no G′ */
    struct ny_krylov *krylov;         /* takes H += C′ᵀC′U; NULL: no product */
    uint64_t first_row, end_row;      /* the rows that are summed; end 0: up to n */
    uint64_t rows;                    /* how many these are, of all shards; 0: up to the end */
    const struct ny_matched *matched; /* only the columns that joined are summed; NULL: all are */
    uint64_t first_unit;
    int (*save)(struct ny_fit *fit, enum ny_stage_id next, uint64_t units_done);
};

/* Saves fit->acc as `part`: the checkpoint of stage `next` after so many units. In stage select it
 * is put beside the image of the selection. */
int ny_fit_save_sums(struct ny_fit *fit, const char *part, enum ny_stage_id next, uint64_t units);
/* Makes fit->acc for `part`, "sums" or "gram", as the last checkpoint has it, or zero. */
int ny_fit_load_sums(struct ny_fit *fit, const char *part, uint64_t *units);
/* Loads fit->acc from the last checkpoint, if it has that part. */
int ny_fit_restore_sums(struct ny_fit *fit, const char *part, uint64_t *units, bool *found);
/* Runs the pass over the rows that count, from its first unit on, and saves it at checkpoints. */
int ny_accumulate_pass(struct ny_fit *fit, const struct ny_accumulate *pass);
/* Runs a stage that sums up: prepares the landmarks, has `choose` decide the precision of the Gram
 * (NULL: it is decided), makes fit->acc with `sum` and saves it. A fit without pass 1 goes on to
 * the next stage. */
int ny_fit_run_sums(struct ny_fit *fit, int (*choose)(struct ny_fit *fit),
                    int (*sum)(struct ny_fit *fit));
/* Sums up all rows, from the last checkpoint on. */
int ny_fit_sum_all(struct ny_fit *fit);

/* Keeps the image that the checkpoint holds with the model. */
void ny_fit_keep_sums(struct ny_fit *fit);

/* Tells whether the sums so far are f32, made by an earlier release, and have to be f64 now. */
bool ny_fit_sums_outdated(const struct ny_fit *fit);
/* Forgets the checkpoint of such sums, with a note. */
void ny_fit_drop_outdated(struct ny_fit *fit);

/* Tells the bytes that pass 1 holds, in whichever stage it is made. */
ny_stage_count_fn ny_accumulate_count;
/* Adds what pass 1 takes to a plan. */
void ny_accumulate_work(const struct ny_job_sizes *sizes, struct ny_plan *plan);

#endif
