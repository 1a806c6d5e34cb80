/* Progress of one stage: counts what is done, reports a few times a second. */
#ifndef NY_BASE_PROGRESS_H
#define NY_BASE_PROGRESS_H

#include "base/context.h"

struct ny_meter {
    struct ny_context *ctx;
    const char *stage;
    uint64_t rows_first, rows_done, rows_total; /* total 0: not known */
    double bytes_done, flops_done;
    double started_s, reported_s;
};

/* rows_first: rows that were done before (a resumed stage), so that rates and ETA are honest. */
void ny_meter_start(struct ny_meter *meter, struct ny_context *ctx, const char *stage,
                    uint64_t rows_first, uint64_t rows_total);
/* Adds; calls the progress callback at most ten times a second. One thread at a time. */
void ny_meter_add(struct ny_meter *meter, uint64_t rows, double bytes, double flops);
/* A last report, at 100 % when all rows are done. */
void ny_meter_finish(struct ny_meter *meter);

/* ---- the whole job --------------------------------------------------------------------------
 *
 * A job passes its rows several times, and each pass counts from 0 to its end. A forecast tells how
 * far the job is: stages that are over count with the seconds that they were planned for, the one
 * under way with what is left of its pass, or of its plan where several passes are planned.
 */

/* A job of `stages` stages begins, each planned for so many seconds, in the order in which they
 * run. NULL: there is no plan, and the share is not known. */
void ny_progress_begin(struct ny_context *ctx, const double *planned_s, size_t stages);
/* Stage number `stage` begins, with this name; those before it are over. This is reported at once:
 * a stage that makes no pass, such as solve, may take long and tell nothing more. */
void ny_progress_stage(struct ny_context *ctx, size_t stage, const char *name);
/* Ends the job: its share is not known any more. */
void ny_progress_end(struct ny_context *ctx);

#endif
