/*
 * The course of fits whose landmarks are the columns of the points: `pca` by `exact`, which sums up
 * the scatter matrix XᵀX, d × d, in one pass and solves it whole (spectral/scatter.c). Landmark j
 * is the unit vector e_j: none is selected, and the kernel between a row and a landmark is the
 * row's j-th number.
 *
 * Eigenvectors of d numbers say nothing of rows. Their signs are fixed over the rows of smallest
 * hash (fit/signs.h), where other fits go by their landmarks.
 */
#include "fit/courses.h"
#include "fit/plan.h"
#include "fit/signs.h"

static int run(struct ny_job *job)
{
    return ny_fit_run_solve(ny_fit_of(job), ny_signs_fix);
}

static void count(struct ny_layout *l, const struct ny_job_sizes *sizes, unsigned workers,
                  size_t limit)
{
    const struct ny_sizes *f = ny_sizes_of(sizes);

    ny_solve_count(l, sizes, workers, limit);
    ny_layout_add(l, NY_MEM_SOLVE, ny_sizes_gather(f, NY_SIGN_ROWS));
    ny_signs_count(l, &f->spec, f->m, ny_settings_pairs(f->settings));
}

const struct ny_stage ny_stage_solve_scatter = {NY_STAGE_SOLVE, run, count, ny_solve_work};

static const struct ny_stage *const stages[] = {
    &ny_stage_stats,         &ny_stage_select,  &ny_stage_degrees, &ny_stage_accumulate,
    &ny_stage_solve_scatter, &ny_stage_project, &ny_stage_probe,   NULL};

size_t ny_fit_order_of_columns(const struct ny_fit_settings *settings, uint64_t n)
{
    (void)n;
    return settings->landmarks; /* d */
}

const struct ny_course ny_course_scatter = {.stages = stages,
                                            .skips = ny_fit_skips,
                                            .order = ny_fit_order_of_columns,
                                            .bytes = ny_fit_course_bytes};
