/*
 * A plan says what a job will take, before anything of it runs: passes, flops, memory by purpose,
 * disk and seconds. Each kind of job makes its own: fit/plan.h, neighbors/job.h, maps/graph_map.h,
 * update/update.h.
 *
 * The budget is a promise (base/memory.h), and the plan is where it is given. job/plan.c asks each
 * stage of a course what it holds. The answers are three things at once: the plan that is shown;
 * the refusal, NY_EBUDGET (exit 8), which names the smallest budget that works; and the choice of
 * the number of workers (base/budget.c). tests/property/test_footprint.c compares the answers,
 * stage by stage, with the most that was charged while the stage ran, field "stage_memory_bytes"
 * of the report.
 */
#ifndef NY_JOB_PLAN_H
#define NY_JOB_PLAN_H

#include "base/memory.h"
#include "job/calibration.h"
#include "job/stage.h"

struct ny_plan {
    bool selects; /* the landmarks alone are wanted */
    bool whole;   /* all points are used: no landmarks */
    size_t m; /* landmarks, known or estimated for greedy; the order of products with all of K */
    bool m_estimated;
    bool loose;       /* the time depends much on the data */
    bool gram_f64;    /* pass 1 sums up in f64 */
    unsigned workers; /* workers that fit the budget, at least 1 */
    bool fits;
    size_t memory_bytes;            /* peak over the stages, with `workers` */
    size_t memory_min_bytes;        /* the smallest budget that works: one worker */
    size_t by_purpose[NY_PURPOSES]; /* memory of the stage with the peak */
    size_t cache_bytes;             /* columns that are kept in memory between passes; 0: none */
    uint64_t disk_bytes;
    uint64_t result_bytes;  /* part of them that is certain to be there when the job ends */
    uint64_t scratch_bytes; /* likewise beside these, in the folder of the store, at some time */
    unsigned passes;
    bool passes_vary;            /* the data decide about those that select landmarks: */
    unsigned selection_passes;   /* how many of `passes` are likely to */
    const char *knn;             /* how neighbours are found; NULL: none are looked for */
    const char *knn_may_be[2];   /* ways that some rows may show to be less work; NULL: none */
    struct ny_calibration rates; /* rates of this machine */
    double flops, seconds, stage_s[NY_STAGE_DONE];
    double seconds_low, seconds_high; /* a fit is likely to take between them */
    double unsettled_s;               /* seconds more where an iteration goes on to its limit */
    size_t stage_bytes[NY_STAGE_DONE];
};

/* Returns a stage of the course; NULL where the course has not got it. */
const struct ny_stage *ny_plan_stage(const struct ny_job_sizes *sizes, enum ny_stage_id id);
/* Tells whether the course has a stage and does not skip it. */
bool ny_plan_runs(const struct ny_job_sizes *sizes, enum ny_stage_id id);
/* Returns the most that a stage holds at one time. */
struct ny_charges ny_stage_most(ny_stage_count_fn *count, const struct ny_job_sizes *sizes,
                                unsigned workers, size_t limit);
/* Fills in what each stage tells that it holds. */
void ny_plan_stage_bytes(const struct ny_job_sizes *sizes, unsigned workers, size_t limit,
                         struct ny_course_bytes *bytes);
/* Counts the stage that holds most; `sizes` is a struct ny_job_sizes. A function of base/budget.h.
 */
void ny_plan_peak(struct ny_layout *l, const void *sizes, unsigned workers, size_t limit);
/* Decides the workers of a plan, the most with which all stages fit the budget, and fills in its
 * memory. */
void ny_plan_memory(const struct ny_job_sizes *sizes, struct ny_plan *plan);
/* Returns the least budget under which all stages fit. */
size_t ny_plan_memory_least(const struct ny_job_sizes *sizes);
/* Adds what each stage of the course takes. */
void ny_plan_work(const struct ny_job_sizes *sizes, struct ny_plan *plan);

/* Sets plan->seconds from the seconds of the stages, and the range that they are likely to be in.
 */
void ny_plan_sum_up(struct ny_plan *plan);
/* Returns by how much a stage takes longer in a process with so many shards and threads than the
 * plan of one of the shards says: a shard has a thread at least. The small problem, of order m, is
 * solved once, by all threads where it is large. */
double ny_plan_shards_factor(enum ny_stage_id stage, double m, unsigned shards, unsigned threads);

#endif
