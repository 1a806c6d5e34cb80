/*
 * The stages of all jobs, by the names that records, reports and plans have of them.
 */
#ifndef NY_JOB_STAGE_H
#define NY_JOB_STAGE_H

#include "base/context.h"
#include "base/layout.h"

/* The stages in the order in which plans list them, each with its name and its rank in the order of
 * time. The two orders differ: neighbours and graph come before the selection, because a map of a
 * graph selects its landmarks on it. Records keep the names, so that a name never changes. A new
 * stage is a line here. */
#define NY_STAGES(X)                                                                               \
    X(NY_STAGE_STATS, "stats", 0)                                                                  \
    X(NY_STAGE_SELECT, "select", 3)                                                                \
    X(NY_STAGE_DEGREES, "degrees", 4)                                                              \
    X(NY_STAGE_ACCUMULATE, "accumulate", 5)                                                        \
    X(NY_STAGE_SOLVE, "solve", 6)                                                                  \
    X(NY_STAGE_PROJECT, "project", 7)                                                              \
    X(NY_STAGE_PROBE, "probe", 8)                                                                  \
    X(NY_STAGE_NEIGHBORS, "neighbors", 1)                                                          \
    X(NY_STAGE_GRAPH, "graph", 2)

#define NY_STAGE_ID(id, name, rank) id,
enum ny_stage_id { NY_STAGES(NY_STAGE_ID) NY_STAGE_DONE };

/* Returns the name of a stage in records, reports and plans. */
const char *ny_stage_name(enum ny_stage_id stage);
/* Finds a stage by its name; NY_STAGE_DONE for any other word. */
enum ny_stage_id ny_stage_parse(const char *name);

/* Returns the place of a stage in the order of time; NY_STAGE_DONE is behind all. */
size_t ny_stage_rank(enum ny_stage_id stage);

/* Begins the forecast of a job (base/progress.h) by the seconds that its plan has for each stage;
 * ny_progress_end() when it is over. */
void ny_stages_begin(struct ny_context *ctx, const double stage_s[NY_STAGE_DONE]);

struct ny_course;
struct ny_fit_settings;
struct ny_job;
struct ny_plan; /* job/plan.h */

/* A job is planned by these. A kind of job has a struct of sizes that begins with this one. */
struct ny_job_sizes {
    struct ny_context *ctx;
    const struct ny_course *course;
    const struct ny_job *job; /* the job that is planned; `skips` of its course asks it */
    unsigned threads;         /* threads that the job may have */
};

/* Counts what a stage holds with so many workers under a budget of `limit`, in a layout that
 * allocates nothing. */
typedef void ny_stage_count_fn(struct ny_layout *l, const struct ny_job_sizes *sizes,
                               unsigned workers, size_t limit);

/* Bytes that the stages of a course hold; 0 of those that it has not, or skips. */
struct ny_course_bytes {
    struct ny_charges before; /* held before the first stage */
    struct ny_charges of[NY_STAGE_DONE];
    size_t cache; /* columns that are kept in memory between passes, counted in `of` */
};

struct ny_stage {
    enum ny_stage_id id;
    /* Runs to the end of the stage, and commits what it has made together with a record that has
     * the stage after it, ny_job_next(). A record that still has this stage runs it again. */
    int (*run)(struct ny_job *job);
    ny_stage_count_fn *count; /* NULL: no more than the stages beside it */
    /* Adds passes, flops, seconds and disk to a plan that has m and the rates; NULL: other stages
     * have it with theirs. */
    void (*work)(const struct ny_job_sizes *sizes, struct ny_plan *plan);
};

/* The stages of a kind of job, in order. Kinds differ by their courses, so that no stage has to ask
 * which kind of job it is in. */
struct ny_course {
    const struct ny_stage *const *stages;                            /* NULL behind the last */
    bool (*skips)(const struct ny_job *job, enum ny_stage_id stage); /* NULL: it skips none */
    /* Returns the order of what stands in the place of landmarks, of n rows; NULL: it has these. */
    size_t (*order)(const struct ny_fit_settings *settings, uint64_t n);
    /* Fills in what all stages hold with so many workers, or more where a stage takes more; NULL:
     * what each of them tells. */
    void (*bytes)(const struct ny_job_sizes *sizes, unsigned workers, size_t limit,
                  struct ny_course_bytes *bytes);
};

#endif
