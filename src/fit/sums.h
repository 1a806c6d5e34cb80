/* A pass that sums up the points: stages degrees and accumulate. */
#ifndef NY_FIT_SUMS_H
#define NY_FIT_SUMS_H

#include "update/sums.h"
#include "spectral/krylov.h"

struct ny_accumulate {
    struct ny_accumulator *acc;  /* s′, G′, t, ω; NULL: they are known */
    enum ny_gram_precision gram; /* of G′; NONE: sums alone */
    struct ny_krylov *krylov;    /* H += C′ᵀC′U, in the job's precision; or NULL */
    uint64_t first_row, end_row; /* of those that count; end 0: n */
    const struct ny_matched *late; /* the sums are those of these columns alone; NULL: of all */
    uint64_t first_unit;
    int (*save)(struct ny_fit *fit, enum ny_stage next, uint64_t units_done);
};

/* job->acc as `part`: the checkpoint of `next` after so many units; of stage select, beside it. */
int ny_fit_save_sums(struct ny_fit *fit, const char *part, enum ny_stage next, uint64_t units);
/* A new job->acc, of parts "sums" or "gram": as the last checkpoint has it, or zero. */
int ny_fit_load_sums(struct ny_fit *fit, const char *part, uint64_t *units);
int ny_accumulate_pass(struct ny_fit *fit, const struct ny_accumulate *pass);

/* The sums so far are f32, of an earlier release, where they have to be f64 now. */
bool ny_fit_sums_outdated(const struct ny_fit *fit);
/* Forgets the checkpoint of such sums, with a note. */
void ny_fit_drop_outdated(struct ny_fit *fit);

/* Runs all passes of stage accumulate, one a block, for projected with its randomized solver. */
int ny_krylov_accumulate(struct ny_fit *fit);
/* P, q. */
struct ny_solution;
int ny_krylov_finish(struct ny_fit *fit, struct ny_solution *solution);
void ny_krylov_close(struct ny_fit *fit);
/* Stage project comes next, and no state any more. */
int ny_krylov_leave(struct ny_fit *fit);

#endif
