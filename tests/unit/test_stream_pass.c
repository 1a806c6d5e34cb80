/* stream/pass.h over rows in memory: what a pass promises whatever the number of workers and
 * wherever it stops. Violations seen by workers are counted and asserted afterwards:
 * an assertion of cmocka must not jump out of a thread. */
#include "unit/stream_case.h"

OWNS_POINTER(ny_source, ny_source_free)

/* ---- a pass that is watched ----------------------------------------------------------------- */

enum event { NEVER, IN_UNIT, IN_FOLD, IN_CHECKPOINT };

/* The sums, in double so that another order gives other bits; checkpoints copy them. */
struct sums {
    double column[D], chain;
    uint64_t rows, units, bytes_hash;
};

struct watch {
    struct sums sums, saved;
    uint64_t saved_units, checkpoints;
    struct {
        double column[D];
        uint64_t hash;
    } part[WORKERS_MAX];
    /* settings */
    unsigned workers;
    uint64_t first_unit, ahead_max;
    double checkpoint_s, slow_s; /* slow_s: of unit first_unit */
    uint64_t until_ahead;        /* how far ahead of it another has to begin */
    enum event event;            /* where something happens, and at which unit */
    uint64_t at;
    int status; /* the error to return; NY_OK: interrupt with `signal` */
    int signal;
    /* observations */
    atomic_int folding, violations;
    atomic_uint_fast64_t started, folded; /* units begun; first unit not folded */
    atomic_uint_fast64_t ahead;           /* largest distance of a beginning unit */
    uint64_t progress_calls, rows_done;
    double fraction;
    char stage[32];
};

static void violation(struct watch *watch, bool broken)
{
    if (broken) atomic_fetch_add(&watch->violations, 1);
}

static int happen(struct watch *watch, enum event event, uint64_t unit)
{
    if (watch->event != event || watch->at != unit) return NY_OK;
    if (watch->status)
        return ny_fail(ctx, watch->status, "unit %llu went wrong", (unsigned long long)unit);
    ny_context_interrupt(ctx, watch->signal);
    return NY_OK;
}

static void note_start(struct watch *watch, uint64_t unit)
{
    uint64_t ahead = unit - atomic_load(&watch->folded), seen = atomic_load(&watch->ahead);

    atomic_fetch_add(&watch->started, 1);
    while (ahead < UNITS && ahead > seen &&
           !atomic_compare_exchange_weak(&watch->ahead, &seen, ahead)) {
    }
}

/* Units take different times, so that workers overtake one another. */
static void linger(struct watch *watch, uint64_t unit)
{
    const double patience_s = 20;

    if (unit != watch->first_unit) {
        sleep_s(1e-6 * (double)(ny_hash64(1, 1, unit) % 200));
        return;
    }
    for (double began = ny_now(); atomic_load(&watch->ahead) < watch->until_ahead;)
        if (ny_now() - began > patience_s)
            return;
        else
            sleep_s(1e-4);
    sleep_s(watch->slow_s);
}

static int unit(void *arg, const struct ny_tile *tile)
{
    struct watch *watch = arg;
    float strip[NY_STRIP_ROWS * D];
    double column[D] = {0};
    uint64_t hash = 14695981039346656037u;

    note_start(watch, tile->unit);
    violation(watch, tile->worker >= watch->workers);
    violation(watch, tile->first_row != tile->unit * NY_UNIT_ROWS);
    linger(watch, tile->unit);
    for (size_t first = 0; first < tile->rows; first += NY_STRIP_ROWS) {
        size_t count = tile->rows - first < NY_STRIP_ROWS ? tile->rows - first : NY_STRIP_ROWS;
        int err = ny_tile_strip(tile, first, count, strip);

        if (err) return err;
        for (size_t i = 0; i < count * D; i++) {
            uint32_t bits;

            memcpy(&bits, &strip[i], sizeof(bits));
            hash = (hash ^ bits) * 1099511628211u;
            column[i % D] += sin((double)strip[i]);
        }
    }
    memcpy(watch->part[tile->worker].column, column, sizeof(column));
    watch->part[tile->worker].hash = hash;
    return happen(watch, IN_UNIT, tile->unit);
}

static int fold(void *arg, const struct ny_tile *tile)
{
    struct watch *watch = arg;
    struct sums *sums = &watch->sums;
    int err;

    violation(watch, atomic_fetch_add(&watch->folding, 1) != 0);
    violation(watch, tile->unit != sums->units);
    err = happen(watch, IN_FOLD, tile->unit);
    if (err == NY_OK) {
        for (size_t j = 0; j < D; j++)
            sums->column[j] += watch->part[tile->worker].column[j];
        sums->chain = 0.7 * sums->chain + watch->part[tile->worker].column[0];
        sums->bytes_hash = sums->bytes_hash * 31 + watch->part[tile->worker].hash;
        sums->rows += tile->rows;
        sums->units++;
        atomic_store(&watch->folded, tile->unit + 1);
    }
    atomic_fetch_sub(&watch->folding, 1);
    return err;
}

static int checkpoint(void *arg, uint64_t units_done)
{
    struct watch *watch = arg;

    violation(watch, atomic_fetch_add(&watch->folding, 1) != 0);
    violation(watch, units_done != watch->sums.units);
    watch->saved = watch->sums;
    watch->saved_units = units_done;
    watch->checkpoints++;
    atomic_fetch_sub(&watch->folding, 1);
    return happen(watch, IN_CHECKPOINT, units_done);
}

static void progress(void *user, const struct ny_progress *report)
{
    struct watch *watch = user;

    violation(watch, report->fraction > 1 || report->rows_done < watch->rows_done);
    violation(watch, report->rows_total && report->rows_done > report->rows_total);
    violation(watch,
              report->rows_total ? report->fraction < watch->fraction : report->fraction >= 0);
    violation(watch, report->rows_per_s < 0 || !isfinite(report->rows_per_s));
    watch->fraction = report->fraction;
    watch->rows_done = report->rows_done;
    watch->progress_calls++;
    snprintf(watch->stage, sizeof(watch->stage), "%s", report->stage);
}

static int run_on(struct watch *watch, struct ny_source *source)
{
    static const struct ny_pass_work work = {unit, fold, checkpoint};
    struct ny_pass pass = {.source = source,
                           .stage = "accumulate",
                           .workers = watch->workers,
                           .first_unit = watch->first_unit,
                           .ahead_max = watch->ahead_max,
                           .flops_per_row = 7};
    int err;

    atomic_store(&watch->folded, watch->first_unit);
    ny_context_set_checkpoint(ctx, watch->checkpoint_s == 0  ? 1e9
                                   : watch->checkpoint_s < 0 ? 0
                                                             : watch->checkpoint_s);
    ny_context_set_progress(ctx, progress, watch);
    err = ny_pass_run(&pass, &work, watch);
    ny_context_set_progress(ctx, NULL, NULL);
    assert_int_equal(atomic_load(&watch->violations), 0);
    return err;
}

static int run(struct watch *watch)
{
    OWNED(ny_source) *source = NULL;
    int err;

    assert_int_equal(ny_source_of_memory(&source, ctx, rows, NY_F32, N, D), NY_OK);
    err = run_on(watch, source);
    return err;
}

/* Computes the sums by plain loops: columns per unit, then unit after unit. */
static struct sums expected(void)
{
    struct sums sums = {0};

    for (size_t first = 0; first < N; first += NY_UNIT_ROWS) {
        size_t count = N - first < NY_UNIT_ROWS ? N - first : NY_UNIT_ROWS;
        uint64_t hash = 14695981039346656037u;
        double column[D] = {0};

        for (size_t i = first * D; i < (first + count) * D; i++) {
            uint32_t bits;

            memcpy(&bits, &rows[i], sizeof(bits));
            hash = (hash ^ bits) * 1099511628211u;
            column[i % D] += sin((double)rows[i]);
        }
        for (size_t j = 0; j < D; j++)
            sums.column[j] += column[j];
        sums.chain = 0.7 * sums.chain + column[0];
        sums.bytes_hash = sums.bytes_hash * 31 + hash;
        sums.rows += count;
        sums.units++;
    }
    return sums;
}

static void assert_expected(const struct watch *watch)
{
    struct sums sums = expected();

    assert_memory_equal(&watch->sums, &sums, sizeof(sums));
}

static const unsigned crews[] = {1, 2, WORKERS_MAX};

/* ---- tests ---------------------------------------------------------------------------------- */

TEST(any_number_of_workers_gives_the_same_bits)
{
    for (size_t c = 0; c < 3; c++)
        for (uint64_t ahead_max = 0; ahead_max < 4; ahead_max++) {
            struct watch watch = {.workers = crews[c], .ahead_max = ahead_max};

            assert_int_equal(run(&watch), NY_OK);
            assert_expected(&watch);
            assert_int_equal(watch.started, UNITS);
            assert_int_equal(watch.checkpoints, 0);
        }
}

/* While unit 0 is slow, the others run ahead as far as they may, and no further. */
TEST(units_start_no_further_ahead_than_allowed)
{
    for (uint64_t ahead_max = 0; ahead_max < 4; ahead_max++) {
        uint64_t allowed = ahead_max ? ahead_max - 1 : WORKERS_MAX - 1;
        struct watch watch = {
            .workers = WORKERS_MAX, .ahead_max = ahead_max, .slow_s = 0.02, .until_ahead = allowed};

        assert_int_equal(run(&watch), NY_OK);
        assert_int_equal(watch.ahead, allowed);
    }
}

TEST(an_error_stops_the_pass_and_surfaces)
{
    static const enum event events[] = {IN_UNIT, IN_FOLD, IN_CHECKPOINT};

    for (size_t c = 0; c < 3; c++)
        for (size_t e = 0; e < 3; e++)
            for (uint64_t at = 0; at < UNITS; at += 11) {
                struct watch watch = {.workers = crews[c],
                                      .checkpoint_s = -1,
                                      .event = events[e],
                                      .at = events[e] == IN_CHECKPOINT ? at + 1 : at,
                                      .status = NY_EDATA};
                char *sentence = lend_text("unit %llu went wrong", (unsigned long long)watch.at);

                assert_int_equal(run(&watch), NY_EDATA);
                assert_string_equal(ny_context_message(ctx), sentence);
                ny_error_clear(ctx);
                if (events[e] == IN_UNIT)
                    assert_true(watch.sums.units <= at);
                else
                    assert_int_equal(watch.sums.units, watch.at);
                assert_true(watch.started <= at + 1 + crews[c]);
                if (events[e] != IN_CHECKPOINT)
                    assert_int_equal(watch.checkpoints, watch.sums.units);
            }
}

/* A source that ends in an error, in take or in a strip, after `good` units. */
struct bad_source {
    struct ny_source base;
    struct ny_source *memory;
    uint64_t good;
    bool in_strip;
};

static int bad_take(struct ny_source *base, struct ny_tile *tile)
{
    struct bad_source *bad = (struct bad_source *)base;

    if (!bad->in_strip && tile->unit >= bad->good)
        return ny_fail(ctx, NY_ESTORE, "block %llu is damaged", (unsigned long long)tile->unit);
    return bad->memory->ops->take(bad->memory, tile);
}

static int bad_strip(struct ny_source *base, const struct ny_tile *tile, size_t first, size_t count,
                     void *out)
{
    struct bad_source *bad = (struct bad_source *)base;

    if (bad->in_strip && tile->unit >= bad->good && first > 0)
        return ny_fail(ctx, NY_ESTORE, "block %llu is damaged", (unsigned long long)tile->unit);
    return bad->memory->ops->strip(bad->memory, tile, first, count, out);
}

TEST(an_error_of_the_source_surfaces)
{
    static const struct ny_source_ops ops = {.take = bad_take, .strip = bad_strip};

    for (size_t c = 0; c < 3; c++)
        for (uint64_t good = 0; good < UNITS - 1; good += 7)
            for (int in_strip = 0; in_strip < 2; in_strip++) {
                struct bad_source bad = {.good = good, .in_strip = in_strip};
                struct watch watch = {.workers = crews[c]};

                assert_int_equal(ny_source_of_memory(&bad.memory, ctx, rows, NY_F32, N, D), NY_OK);
                bad.base = *bad.memory;
                bad.base.ops = &ops;
                REFUSED(run_on(&watch, &bad.base), NY_ESTORE);
                assert_true(watch.sums.units <= good);
                ny_source_free(bad.memory);
            }
}

TEST(checkpoints_come_between_folds_and_resume)
{
    for (size_t c = 0; c < 3; c++)
        for (uint64_t stop_at = 1; stop_at < UNITS; stop_at += 7) {
            struct watch first = {.workers = crews[c],
                                  .checkpoint_s = -1,
                                  .event = IN_FOLD,
                                  .at = stop_at,
                                  .status = NY_EIO};
            struct watch second = {.workers = crews[2 - c], .checkpoint_s = -1};

            REFUSED(run(&first), NY_EIO);
            assert_int_equal(first.checkpoints, stop_at);
            assert_int_equal(first.saved_units, stop_at);
            second.sums = first.saved;
            second.first_unit = first.saved_units;
            assert_int_equal(run(&second), NY_OK);
            assert_expected(&second);
            assert_int_equal(second.checkpoints, UNITS - stop_at);
        }
}

/* Checkpoints come at least every checkpoint_s seconds, but not at every fold. */
TEST(checkpoints_keep_their_interval)
{
    struct watch watch = {.workers = 2, .checkpoint_s = 0.02, .slow_s = 0.05};
    double began = ny_now(), seconds;

    assert_int_equal(run(&watch), NY_OK);
    seconds = ny_now() - began;
    assert_in_range(watch.checkpoints, 1, (uint64_t)(seconds / 0.02) + 1);
}

TEST(an_interrupt_leaves_a_checkpoint)
{
    static const struct {
        int signal, status;
    } signals[] = {{2, NY_EINTERRUPTED}, {15, NY_ETERMINATED}};

    for (size_t c = 0; c < 3; c++)
        for (size_t s = 0; s < 2; s++)
            for (int event = IN_UNIT; event <= IN_FOLD; event++) {
                struct watch first = {.workers = crews[c],
                                      .event = (enum event)event,
                                      .at = 9,
                                      .signal = signals[s].signal};
                struct watch second = {.workers = 2};

                assert_int_equal(run(&first), signals[s].status);
                ny_context_interrupt(ctx, 0);
                ny_error_clear(ctx);
                assert_int_equal(first.checkpoints, 1);
                assert_int_equal(first.saved_units, first.sums.units);
                assert_in_range(first.saved_units, 9 - WORKERS_MAX, 10);
                if (event == IN_FOLD) assert_int_equal(first.saved_units, 10);
                second.sums = first.saved;
                second.first_unit = first.saved_units;
                assert_int_equal(run(&second), NY_OK);
                assert_expected(&second);
            }
}

/* Many reports a second in a slow pass, the last at 100 %; a resumed one begins where it was. */
TEST(progress_ends_at_one)
{
    struct watch slow = {.workers = 2, .slow_s = 0.35}, rest, none;
    double began = ny_now();

    assert_int_equal(run(&slow), NY_OK);
    assert_in_range(slow.progress_calls, 2, (uint64_t)((ny_now() - began) / 0.1) + 2);
    assert_true(slow.fraction == 1);
    assert_int_equal(slow.rows_done, N);
    assert_string_equal(slow.stage, "accumulate");

    rest = (struct watch){.workers = 2, .first_unit = 20, .sums = {.units = 20}};
    rest.rows_done = 20 * NY_UNIT_ROWS;
    assert_int_equal(run(&rest), NY_OK);
    assert_int_equal(rest.rows_done, N);
    assert_int_equal(rest.started, UNITS - 20);

    /* With nothing left to do, no more than all is done, though the last unit was short. */
    none = (struct watch){.workers = 2, .first_unit = UNITS, .sums = {.units = UNITS}};
    assert_int_equal(run(&none), NY_OK);
    assert_int_equal(none.started, 0);
    assert_int_equal(none.rows_done, N);
    assert_true(none.fraction == 1);
}

TEST(no_fold_and_no_checkpoint_are_fine)
{
    struct ny_pass_work work = {.unit = unit};
    struct watch watch = {.workers = 3};
    OWNED(ny_source) *source = NULL;

    assert_int_equal(ny_source_of_memory(&source, ctx, rows, NY_F32, N, D), NY_OK);
    CHECK(ny_pass_run(&(struct ny_pass){.source = source, .stage = "project", .workers = 3}, &work,
                      &watch));
    assert_int_equal(watch.started, UNITS);
    ny_context_interrupt(ctx, 2);
    assert_int_equal(
        ny_pass_run(&(struct ny_pass){.source = source, .stage = "project", .workers = 3}, &work,
                    &watch),
        NY_EINTERRUPTED);
    ny_context_interrupt(ctx, 0);
    ny_error_clear(ctx);
}

TEST(a_source_without_rows_ends_at_once)
{
    struct watch watch = {.workers = 2};
    OWNED(ny_source) *source = NULL;

    assert_int_equal(ny_source_of_memory(&source, ctx, rows, NY_F32, 0, D), NY_OK);
    assert_int_equal(run_on(&watch, source), NY_OK);
    assert_int_equal(watch.started, 0);
    assert_int_equal(watch.sums.units, 0);
}

AROUND_ALL(start, stop)
