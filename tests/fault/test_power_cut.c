/*
 * Power cuts. A store is made, filled, fitted, added to, cleared of a result and compacted, while
 * all that reaches its disk is recorded; then thousands of images of that disk are opened, as a
 * loss of power at any moment may leave it. What a call had acknowledged before the cut is there;
 * what it had not is there as a whole or not at all; nothing is damaged; and the call that was cut
 * off goes through when it is made again, to the same bytes.
 *
 * NYSTREAM_POWER_CUTS: how many images (400).
 */
#include <sys/wait.h>

#include "base/context.h"
#include "base/random.h"
#include "fault/disk_record.h"
#include "store/store.h"
#include "support/options.h"
#include "support/store_case.h"
#include "support/test.h"

/* The second import is committed in several batches. */
enum { D = 64, FIRST = 20000, SECOND = 64000, GROUP = 50, GROUP_SECONDS = 300, REPEAT_EVERY = 8 };
static const uint64_t memory = 34 << 20;

static char directory[128], files[2][160];
static unsigned images_wanted = 400;

static uint64_t draws;
static uint64_t draw(uint64_t below)
{
    return ny_hash64(30, NY_STREAM_DATA, draws++) % below;
}

/* ---- what is done -------------------------------------------------------------------------- */

static uint8_t value_of(uint64_t row, uint64_t column)
{
    return (uint8_t)ny_hash64(31, NY_STREAM_DATA, row * D + column);
}

static void write_npy(const char *path, uint64_t first, uint64_t rows)
{
    FILE *file = fopen(path, "wb");
    char header[100];

    assert_non_null(file);
    fwrite("\x93NUMPY\1\0\x76\0", 1, 10, file);
    snprintf(header, sizeof(header), "{'descr': '|u1', 'fortran_order': False, 'shape': (%llu, %d), }",
             (unsigned long long)rows, D);
    fprintf(file, "%-117s\n", header);
    assert_int_equal(ftell(file), 128);
    for (uint64_t i = first; i < first + rows; i++)
        for (uint64_t j = 0; j < D; j++)
            putc(value_of(i, j), file);
    assert_int_equal(fclose(file), 0);
}

static int import_file(struct ny_context *ctx, const char *path, int which)
{
    const char *input = files[which];
    OWNED(ny_options) *options = NULL;
    int err = ny_options_new(&options, ctx);

    if (err == NY_OK && which) err = options_set(options, "append=yes");
    if (err == NY_OK) err = ny_import(ctx, path, &input, 1, options, NULL);
    return err;
}

static int fit(struct ny_context *ctx, const char *path, const char *name)
{
    OWNED(ny_options) *options = NULL;
    int err = ny_options_new(&options, ctx);

    if (err == NY_OK)
        err = options_set(options, "approx=projected select=uniform landmarks=24 components=3");
    if (err == NY_OK) err = ny_fit(ctx, path, name, options, NULL);
    return err;
}

/* The calls, in order, and what is there when so many of them have returned. */
enum { STEPS = 6 };

static int step(struct ny_context *ctx, const char *path, unsigned number)
{
    switch (number) {
    case 0: return import_file(ctx, path, 0);
    case 1: return fit(ctx, path, "a");
    case 2: return import_file(ctx, path, 1);
    case 3: return fit(ctx, path, "b");
    case 4: return ny_remove(ctx, path, "a");
    default: return ny_compact(ctx, path, NULL);
    }
}

enum { RESULTS = 2 };
static const char *const names[RESULTS] = {"a", "b"};
static const struct state {
    uint64_t n;
    bool done[RESULTS];
} states[STEPS + 1] = {{0, {false, false}},
                       {FIRST, {false, false}},
                       {FIRST, {true, false}},
                       {FIRST + SECOND, {true, false}},
                       {FIRST + SECOND, {true, true}},
                       {FIRST + SECOND, {false, true}},
                       {FIRST + SECOND, {false, true}}};

static struct ny_context *new_context(void)
{
    struct ny_context *ctx;

    if (ny_context_new(&ctx)) abort();
    ny_context_set_memory(ctx, memory);
    ny_context_set_threads(ctx, 1);
    ny_context_set_checkpoint(ctx, 0);
    return ctx;
}

static void wanted_path(char path[192], unsigned result)
{
    snprintf(path, 192, "%s/wanted-%s.npy", directory, names[result]);
}

/* All calls, recorded, in a process of its own: BLAS and LMDB want no forks behind them. */
static int perform(const char *path)
{
    struct ny_context *ctx = new_context();
    char wanted[192];
    int err = NY_OK;

    record->on = true;
    for (unsigned i = 0; err == NY_OK && i < STEPS; i++) {
        err = step(ctx, path, i);
        record_return();
        for (unsigned r = 0; err == NY_OK && r < RESULTS; r++) {
            if (!states[i + 1].done[r] || states[i].done[r]) continue;
            wanted_path(wanted, r);
            err = ny_export(ctx, path, names[r], "embedding", wanted);
        }
    }
    record->on = false;
    if (err) fprintf(stderr, "%s\n", ny_context_message(ctx));
    ny_context_free(ctx);
    return err;
}

/* ---- what may be found --------------------------------------------------------------------- */

static struct ny_context *ctx;
static char trial[160]; /* the store of an image */

/* Counts of the children, read by the parent. */
static struct tally {
    unsigned images, absent, newer, repeated;
} *tally;

static void bad(const char *format, ...) __attribute__((format(printf, 1, 2), noreturn));
static void bad(const char *format, ...)
{
    va_list args;

    va_start(args, format);
    vfprintf(stderr, format, args);
    va_end(args);
    fprintf(stderr, " (%s)\n", ny_context_message(ctx));
    _exit(4);
}

static int report_damage(void *user, const struct ny_damage *damage)
{
    (void)user;
    bad("damage: %s", damage->what);
}

static void check_rows(struct ny_store *store, uint64_t n)
{
    static uint8_t *want, *got;

    if (!want) {
        want = malloc((size_t)(FIRST + SECOND) * D);
        got = malloc((size_t)(FIRST + SECOND) * D);
        for (uint64_t i = 0; i < (uint64_t)(FIRST + SECOND) * D; i++)
            want[i] = value_of(i / D, i % D);
    }
    if (n == 0) return;
    if (ROWS_OF(store, read, 0, 0, (size_t)n, got)) bad("rows cannot be read");
    if (memcmp(got, want, (size_t)n * D) != 0) bad("silently wrong rows");
}

static bool same_files(const char *a, const char *b)
{
    FILE *one = fopen(a, "rb"), *other = fopen(b, "rb");
    int x = 0, y = one && other ? 0 : 1;

    while (x == y && x != EOF) {
        x = getc(one);
        y = getc(other);
    }
    if (one) fclose(one);
    if (other) fclose(other);
    return x == y;
}

static void check_embedding(unsigned result)
{
    char wanted[192], found[192];

    wanted_path(wanted, result);
    snprintf(found, sizeof(found), "%s/found.npy", directory);
    if (ny_export(ctx, trial, names[result], "embedding", found))
        bad("result %s is lost", names[result]);
    if (!same_files(wanted, found)) bad("result %s is silently wrong", names[result]);
}

static bool is_done(unsigned result)
{
    OWNED(ny_report) *report = NULL;
    int err = ny_result_report(ctx, trial, names[result], &report);
    const char *status = err ? "" : ny_report_text(report, "status");
    bool done = strcmp(status, "done") == 0;

    if (err && err != NY_EUSAGE) bad("result %s: status %d", names[result], err);
    return done;
}

/* Checks the results after `returned` calls and within the next one. */
static void check_results(unsigned returned)
{
    const struct state *before = &states[returned];
    const struct state *after = &states[returned < STEPS ? returned + 1 : STEPS];

    for (unsigned r = 0; r < RESULTS; r++) {
        bool done = is_done(r);

        if (before->done[r] && after->done[r] && !done) bad("result %s is lost", names[r]);
        if (!before->done[r] && !after->done[r] && done) bad("result %s is back", names[r]);
        if (done) check_embedding(r);
    }
}

/* Rows that are there; 0 as well where there is no store yet. */
static uint64_t check_store(unsigned returned)
{
    uint64_t before = states[returned].n, after = states[returned < STEPS ? returned + 1 : STEPS].n;
    struct ny_rows_info info;
    struct ny_store *store;
    int err = ny_store_open(&store, ctx, trial);

    if (err && returned == 0 && (err == NY_EIO || err == NY_ESTORE)) {
        tally->absent++;
        return 0;
    }
    if (err) bad("it cannot be opened: status %d", err);
    if (ny_points_info(store, &info)) bad("its manifest cannot be read");
    if (info.n != before && info.n != after) bad("%llu rows", (unsigned long long)info.n);
    check_rows(store, info.n);
    if (ny_store_verify(store, report_damage, NULL)) bad("it cannot be verified");
    ny_store_close(store);
    check_results(returned);
    if (info.n != before) tally->newer++;
    return info.n;
}

/* The call that was cut off, made again, unless it had come to its end. */
static void repeat_call(unsigned returned, uint64_t n)
{
    const struct state *before = &states[returned], *after = &states[returned + 1];

    if (before->n != after->n && n == after->n) return;
    if (before->done[0] && !after->done[0] && !is_done(0)) return;
    if (step(ctx, trial, returned)) bad("call %u cannot be made again", returned + 1);
    tally->repeated++;
    if (check_store(returned + 1) != after->n) bad("rows are missing");
}

static unsigned returned_before(size_t cut)
{
    unsigned returned = 0;

    for (size_t i = 0; i < cut; i++)
        returned += record->event[i].kind == RETURNED;
    return returned;
}

/* The first event of the compaction, the last call. */
static size_t compaction(void)
{
    size_t i = record->events - 1;

    while (record->event[i - 1].kind != RETURNED)
        i--;
    return i;
}

/* Image `number` of `count`: the first half cuts the record at equal steps, one after another, a
 * quarter the compaction, of few events. */
static struct image image_of(unsigned number, unsigned count, enum disk disk)
{
    size_t cuts = record->events + 1, steps = count / 2 ? count / 2 : 1;
    size_t least = number % 2 ? compaction() : 0;
    struct image image = {.draw = draw, .sector = draw(2) ? SECTOR : PAGE, .disk = disk};

    draws = (uint64_t)number << 32;
    image.cut = number < steps ? (size_t)number * cuts / steps
                               : least + (size_t)draw(cuts - least);
    if (disk == DISKS) image.disk = number < steps ? number % 2 : (number % 4 ? SHUFFLED : TORN_LAST);
    image.sector = draw(2) ? SECTOR : PAGE;
    return image;
}

static void examine(unsigned number, unsigned count, enum disk disk)
{
    struct image image = image_of(number, count, disk);
    unsigned returned = returned_before(image.cut);
    char root[160];
    uint64_t n;

    snprintf(root, sizeof(root), "%s/image", directory);
    case_remove(root);
    if (mkdir(root, 0777)) abort();
    build_image(&image, root);
    ny_error_clear(ctx);
    n = check_store(returned);
    if (number % REPEAT_EVERY == 0 && returned < STEPS) repeat_call(returned, n);
    tally->images++;
}

/* ---- tests --------------------------------------------------------------------------------- */

static void start(void)
{
    const char *wanted = getenv("NYSTREAM_POWER_CUTS");
    char root[160], path[192];
    pid_t child;
    int status;

    if (wanted) images_wanted = (unsigned)atoi(wanted);
    case_directory(directory);
    for (int i = 0; i < 2; i++)
        snprintf(files[i], sizeof(files[i]), "%s/%d.npy", directory, i);
    write_npy(files[0], 0, FIRST);
    write_npy(files[1], FIRST, SECOND);
    tally = mmap(NULL, sizeof(*tally), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    snprintf(root, sizeof(root), "%s/disk", directory);
    record_new(root);
    assert_int_equal(mkdir(root, 0777), 0);
    snprintf(path, sizeof(path), "%s/a.nys", root);
    snprintf(trial, sizeof(trial), "%s/image/a.nys", directory);
    child = fork();
    if (child == 0) _exit(perform(path));
    waitpid(child, &status, 0);
    case_remove(root);
    assert_int_equal(status, 0);
}

static void stop(void)
{
    record_free();
    munmap(tally, sizeof(*tally));
    case_remove(directory);
}

/* Images first … end−1 of `count` in a process of its own; its exit status. */
static int run_group(unsigned first, unsigned end, unsigned count, enum disk disk)
{
    pid_t child;
    int status;

    fflush(NULL);
    child = fork();
    if (child == 0) {
        alarm(GROUP_SECONDS);
        ctx = new_context();
        for (unsigned i = first; i < end; i++)
            examine(i, count, disk);
        _exit(0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    return status;
}

TEST(no_cut_loses_or_damages_anything)
{
    unsigned writes = 0, syncs = 0, exchanges = 0;

    for (size_t i = 0; i < record->events; i++) {
        writes += record->event[i].kind == WRITE;
        syncs += record->event[i].kind == SYNC;
        exchanges += record->event[i].kind == ENTRY && record->event[i].entry == EXCHANGE;
    }
    print_message("%zu events: %u writes of %zu bytes, %u syncs\n", record->events, writes,
                  record->bytes, syncs);
    assert_true(writes > 100 && syncs > 20 && exchanges > 0);
    assert_int_equal(returned_before(record->events), STEPS);
    for (unsigned first = 0; first < images_wanted; first += GROUP) {
        unsigned end = first + GROUP < images_wanted ? first + GROUP : images_wanted;
        int status = run_group(first, end, images_wanted, DISKS);

        if (status)
            fail_msg("image %u: %s %d", tally->images, WIFSIGNALED(status) ? "signal" : "exit status",
                     WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
    }
    print_message("%u images without a store yet, %u with what was not acknowledged yet\n",
                  tally->absent, tally->newer);
    print_message("counted: %u power cuts (%u calls made again)\n", tally->images, tally->repeated);
    assert_true(tally->repeated > images_wanted / REPEAT_EVERY / 4);
}

/* The images can tell: on a disk that forgets its syncs some of them lose what was acknowledged. */
TEST(a_disk_that_lies_is_found_out)
{
    enum { IMAGES = 40 };
    unsigned found = 0;

    for (unsigned i = 0; i < IMAGES; i++) {
        int status = run_group(i, i + 1, IMAGES, LYING);

        assert_true(WIFEXITED(status)); /* no crash even there */
        found += status != 0;
    }
    print_message("%u of %d lost writes after a sync\n", found, IMAGES);
    assert_true(found > IMAGES / 4);
}

AROUND_ALL(start, stop)
