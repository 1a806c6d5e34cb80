/* The fields of a context; for base/ alone. */
#ifndef NY_BASE_CONTEXT_PRIVATE_H
#define NY_BASE_CONTEXT_PRIVATE_H

#include <stdatomic.h>

#include "base/context.h"
#include "base/memory.h"
#include "base/mutex.h"

/* The longest path that the system takes is whole, and words beside it, which say what to do. */
enum { NY_PATH_BYTES = 4096, NY_MESSAGE_BYTES = NY_PATH_BYTES + 1024 };

enum { NY_COURSE_STAGES = 16 };

/* The progress of a job through its stages (base/progress.h). */
struct ny_forecast {
    bool on, planned;                   /* a job runs; its plan is known */
    double planned_s[NY_COURSE_STAGES]; /* in the order of time */
    size_t stage, stages;
    double begun_s; /* the clock when the stage began */
    double share;   /* the most that was reported */
};

struct ny_context {
    struct ny_mutex lock; /* guards error, message, file, stage and the callbacks */
    struct ny_error error;
    char message[NY_MESSAGE_BYTES];
    char file[NY_PATH_BYTES];
    char option[32]; /* that the message names */
    ny_log_fn *log;
    void *log_user;
    ny_progress_fn *progress;
    void *progress_user;
    bool silent; /* ny_context_set_silent() */
    ny_plan_fn *plan;
    void *plan_user;
    struct ny_forecast forecast;
    const char *stage; /* under way, NULL: none; */
    double reached;    /* and the share of the job, or of a call without one; negative: not known */
    struct ny_written written;
    bool has_written;
    char *command;        /* as ny_context_set_command() quoted it, or NULL */
    size_t command_store; /* where the store's word begins in it; 0: it has none */
    atomic_int interrupt;
    struct ny_context *parent; /* NULL: it is nobody's part */
    unsigned parts;            /* parts of the parent, at the same time */
    struct ny_peers *peers;
    unsigned threads, crew;
    double checkpoint_s;
    enum ny_kept kept;
    void *held; /* ny_context_hold(), and what frees it */
    void (*let_go)(void *held);
    size_t memory_budget, memory_limit; /* as it was set; and as the call that runs may use it */
    size_t memory_lent, memory_aside;   /* ny_memory_lend(), ny_memory_set_aside() */
    bool memory_default;                /* the budget is a share of what was free */
    atomic_size_t memory_used, memory_peak;
    atomic_size_t memory_by_purpose[NY_PURPOSES];
};

#endif
