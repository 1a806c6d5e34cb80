/* base/progress.h: one share for the whole job, which never goes back, whatever its passes do. */
#include "base/context.h"
#include "base/error.h"
#include "base/progress.h"
#include "support/api_case.h"
#include "support/files.h"
#include "support/options.h"

enum { ROWS = 6000, COLUMNS = 8 };

static float rows[ROWS * COLUMNS];

struct seen {
    double last, least_step, stage_ends, eta_s;
    int reports;
    const char *stage;
};

static void note(void *user, const struct ny_progress *progress)
{
    struct seen *seen = user;

    if (progress->job_fraction - seen->last < seen->least_step)
        seen->least_step = progress->job_fraction - seen->last;
    seen->last = progress->job_fraction;
    seen->eta_s = progress->job_eta_s;
    seen->stage_ends += progress->fraction == 1;
    seen->reports++;
    seen->stage = progress->stage;
}

static void begin(void)
{
    for (int i = 0; i < ROWS * COLUMNS; i++)
        rows[i] = (float)((i * 7919) % 10007) / 10007;
    api_case_begin("points.nys");
    assert_int_equal(ny_append_rows(in.ctx, in.store, rows, ROWS, COLUMNS, NULL), NY_OK);
}

TEST(passes_of_a_fit_are_one_job)
{
    struct seen seen = {0};

    ny_context_set_progress(in.ctx, note, &seen);
    assert_int_equal(ny_fit(in.ctx, in.store, "a", NULL, NULL), NY_OK);
    ny_context_set_progress(in.ctx, NULL, NULL);
    assert_true(seen.stage_ends >= 2); /* passes end, and the job goes on */
    assert_true(seen.least_step >= 0);
    assert_true(seen.last > 0.9 && seen.last < 1);
    assert_true(seen.eta_s >= 0);
}

/* Stages that were planned for 1, 3 and 6 seconds. */
TEST(shares_follow_the_plan)
{
    static const double planned_s[] = {1, 3, 6};
    struct seen seen = {0};
    struct ny_meter meter;

    ny_context_set_progress(in.ctx, note, &seen);
    ny_progress_begin(in.ctx, planned_s, 3);
    ny_progress_stage(in.ctx, 1, "middle");
    ny_meter_start(&meter, in.ctx, "middle", 0, 100); /* the first of several passes, as it ends */
    ny_meter_add(&meter, 100, 0, 0);
    ny_meter_finish(&meter);
    assert_true(seen.last > 0.09 && seen.last < 0.2);
    assert_true(seen.eta_s > 8 && seen.eta_s <= 9);
    ny_progress_stage(in.ctx, 2, "last"); /* is told as it begins: it may make no pass */
    assert_string_equal(seen.stage, "last");
    assert_true(seen.last > 0.39 && seen.last < 0.5);
    assert_true(seen.eta_s > 5 && seen.eta_s <= 6);
    ny_meter_start(&meter, in.ctx, "last", 0, 100);
    ny_meter_finish(&meter);
    assert_true(seen.last > 0.39 && seen.last < 0.5);
    ny_progress_end(in.ctx);
    ny_meter_start(&meter, in.ctx, "other", 0, 100); /* a call without a job */
    ny_meter_add(&meter, 50, 0, 0);
    ny_meter_finish(&meter);
    assert_true(seen.last == 0.5);
    ny_progress_begin(in.ctx, NULL, 0); /* a job without a plan */
    ny_meter_start(&meter, in.ctx, "other", 0, 100);
    ny_meter_finish(&meter);
    assert_true(seen.last < 0);
    ny_progress_end(in.ctx);
    ny_context_set_progress(in.ctx, NULL, NULL);
}

/* An interrupt, asked for and noticed, says this. */
static void stopped(int signal, const char *message)
{
    ny_context_interrupt(in.ctx, signal);
    assert_true(ny_is_interrupt(ny_check_interrupt(in.ctx)));
    assert_string_equal(ny_context_message(in.ctx), message);
    ny_context_interrupt(in.ctx, 0);
    ny_error_clear(in.ctx);
    assert_int_equal(ny_check_interrupt(in.ctx), NY_OK);
}

TEST(an_interrupt_names_its_stage)
{
    static const double planned_s[] = {1, 3, 6};
    struct ny_meter meter;

    ny_meter_start(&meter, in.ctx, "import", 0, 200); /* a call without a job */
    stopped(15, "terminated in stage import");
    meter.reported_s = 0;
    ny_meter_add(&meter, 50, 0, 0);
    stopped(2, "interrupted in stage import, at 25 %");
    ny_meter_finish(&meter);
    stopped(2, "interrupted");
    ny_progress_begin(in.ctx, planned_s, 3);
    ny_progress_stage(in.ctx, 1, "select");
    stopped(1, "hung up in stage select, at 10 %");
    ny_meter_start(&meter, in.ctx, "accumulate", 0, 100);
    ny_meter_add(&meter, 100, 0, 0);
    ny_meter_finish(&meter);
    stopped(2, "interrupted in stage accumulate, at 10 %");
    ny_progress_stage(in.ctx, 2, "solve"); /* which has no meter */
    stopped(2, "interrupted in stage solve, at 40 %");
    ny_progress_end(in.ctx);
    stopped(2, "interrupted");
}

AROUND_ALL(begin, api_case_end)
