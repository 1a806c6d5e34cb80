/*
 * Every allocation, and every read, write, sync and map, fails in turn while the public interface
 * works: each failure gives a status with a message, nothing leaks, what was there before is intact
 * and the same call without the fault goes through.
 *
 * The functions are interposed in this program and count only while armed, and only calls of our
 * library and of LMDB, LZ4, zlib and jansson. OpenBLAS is left out: its own answer to a refused
 * buffer is to end the process, and to a refused work array a crash. So is jansson's reader: it goes
 * on after a refused realloc with half a token, and fails an assertion of its own (load.c, lex_save).
 * Nothing of ours can change either; jansson's writers and setters are not left out.
 */
#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cmocka.h>
#include <jansson.h>

#include "base/context.h"
#include "base/memory.h"
#include "nystream.h"
#include "support/store_case.h"

enum { ROWS = 2500, D = 4, POINTS_MAX = 6000 };

/* ---- faults -------------------------------------------------------------------------------- */

enum kind { NONE, ALLOCATION, READING, WRITING, FULL_DISK, SYNCING, MAPPING, KINDS };

static const char *const kind_names[KINDS] = {"none",       "allocation", "read", "write",
                                              "full disk", "sync",       "map"};

static _Atomic(enum kind) armed;
static atomic_long countdown; /* calls of the kind before the one that fails */
static atomic_bool hit;
static uintptr_t blas_from, blas_to;
static _Thread_local bool reading_json;

static int find_blas(struct dl_phdr_info *info, size_t size, void *unused)
{
    (void)size;
    (void)unused;
    if (!info->dlpi_name || !strstr(info->dlpi_name, "openblas")) return 0;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        uintptr_t from = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;
        uintptr_t to = from + info->dlpi_phdr[i].p_memsz;

        if (info->dlpi_phdr[i].p_type != PT_LOAD) continue;
        if (!blas_from || from < blas_from) blas_from = from;
        if (to > blas_to) blas_to = to;
    }
    return 0;
}

/* True for the one call that is to fail. On a full disk all later writes fail as well. */
static bool fails(enum kind kind, const void *caller)
{
    uintptr_t at = (uintptr_t)caller;

    if (armed != kind || reading_json || (at >= blas_from && at < blas_to)) return false;
    if (kind == FULL_DISK) {
        if (atomic_fetch_sub(&countdown, 1) > 0) return false;
        hit = true;
        return true;
    }
    if (atomic_fetch_sub(&countdown, 1) != 0) return false;
    hit = true;
    return true;
}

#define CALLER __builtin_return_address(0)

#pragma GCC visibility push(default) /* the libraries find these too */

#if !defined(__SANITIZE_ADDRESS__)
void *__libc_malloc(size_t bytes);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *at, size_t bytes);
void *__libc_memalign(size_t alignment, size_t bytes);

void *malloc(size_t bytes)
{
    if (!fails(ALLOCATION, CALLER)) return __libc_malloc(bytes);
    errno = ENOMEM;
    return NULL;
}

void *calloc(size_t count, size_t size)
{
    if (!fails(ALLOCATION, CALLER)) return __libc_calloc(count, size);
    errno = ENOMEM;
    return NULL;
}

void *realloc(void *at, size_t bytes)
{
    if (!fails(ALLOCATION, CALLER)) return __libc_realloc(at, bytes);
    errno = ENOMEM;
    return NULL;
}

void *aligned_alloc(size_t alignment, size_t bytes)
{
    if (!fails(ALLOCATION, CALLER)) return __libc_memalign(alignment, bytes);
    errno = ENOMEM;
    return NULL;
}

int posix_memalign(void **at, size_t alignment, size_t bytes)
{
    if (fails(ALLOCATION, CALLER)) return ENOMEM;
    *at = __libc_memalign(alignment, bytes);
    return *at ? 0 : ENOMEM;
}
#endif

/* The function that this program hides. */
static void *real(const char *name)
{
    return dlsym(RTLD_NEXT, name);
}

ssize_t read(int fd, void *data, size_t bytes)
{
    static __typeof__(&read) next;

    if (!next) *(void **)&next = real("read");
    if (!fails(READING, CALLER)) return next(fd, data, bytes);
    errno = EIO;
    return -1;
}

ssize_t pread(int fd, void *data, size_t bytes, off_t at)
{
    static __typeof__(&pread) next;

    if (!next) *(void **)&next = real("pread");
    if (!fails(READING, CALLER)) return next(fd, data, bytes, at);
    errno = EIO;
    return -1;
}

static bool write_fails(const void *caller)
{
    if (fails(WRITING, caller)) errno = EIO;
    else if (fails(FULL_DISK, caller)) errno = ENOSPC;
    else return false;
    return true;
}

ssize_t write(int fd, const void *data, size_t bytes)
{
    static __typeof__(&write) next;

    if (!next) *(void **)&next = real("write");
    return write_fails(CALLER) ? -1 : next(fd, data, bytes);
}

ssize_t pwrite(int fd, const void *data, size_t bytes, off_t at)
{
    static __typeof__(&pwrite) next;

    if (!next) *(void **)&next = real("pwrite");
    return write_fails(CALLER) ? -1 : next(fd, data, bytes, at);
}

ssize_t writev(int fd, const struct iovec *pieces, int count)
{
    static __typeof__(&writev) next;

    if (!next) *(void **)&next = real("writev");
    return write_fails(CALLER) ? -1 : next(fd, pieces, count);
}

int fsync(int fd)
{
    static __typeof__(&fsync) next;

    if (!next) *(void **)&next = real("fsync");
    if (!fails(SYNCING, CALLER)) return next(fd);
    errno = EIO;
    return -1;
}

int fdatasync(int fd)
{
    static __typeof__(&fdatasync) next;

    if (!next) *(void **)&next = real("fdatasync");
    if (!fails(SYNCING, CALLER)) return next(fd);
    errno = EIO;
    return -1;
}

void *mmap(void *at, size_t bytes, int protection, int flags, int fd, off_t offset)
{
    static __typeof__(&mmap) next;

    if (!next) *(void **)&next = real("mmap");
    if (!fails(MAPPING, CALLER)) return next(at, bytes, protection, flags, fd, offset);
    errno = ENOMEM;
    return MAP_FAILED;
}

json_t *json_loadb(const char *text, size_t bytes, size_t flags, json_error_t *error)
{
    static __typeof__(&json_loadb) next;
    json_t *json;

    if (!next) *(void **)&next = real("json_loadb");
    reading_json = true;
    json = next(text, bytes, flags, error);
    reading_json = false;
    return json;
}

#pragma GCC visibility pop

/* ---- what is done -------------------------------------------------------------------------- */

static char directory[128], table[160], store[160], fresh[160], output[160];
static char *whole, *placed; /* embedding, and the table transformed */
static size_t whole_bytes, placed_bytes;

struct work {
    const char *name;
    int (*run)(struct ny_context *ctx);
    /* What it leaves is right: called after a run that returned NY_OK. */
    void (*check)(void);
    /* Undoes it. */
    void (*undo)(void);
};

static char *content(const char *path, size_t *bytes)
{
    FILE *file = fopen(path, "rb");
    char *data;

    if (!file) fail_msg("there is no %s", path);
    fseek(file, 0, SEEK_END);
    *bytes = (size_t)ftell(file);
    rewind(file);
    data = malloc(*bytes + 1);
    assert_non_null(data);
    assert_int_equal(fread(data, 1, *bytes, file), *bytes);
    fclose(file);
    return data;
}

static void check_output(const char *want, size_t want_bytes)
{
    size_t bytes;
    char *data = content(output, &bytes);

    assert_int_equal(bytes, want_bytes);
    assert_memory_equal(data, want, bytes);
    free(data);
}

static struct ny_context *new_context(void)
{
    struct ny_context *ctx;

    assert_int_equal(ny_context_new(&ctx), NY_OK);
    ny_context_set_threads(ctx, 1);
    ny_context_set_checkpoint(ctx, 0);
    return ctx;
}

static int fit_as(struct ny_context *ctx, const char *name)
{
    static const char *const set[][2] = {{"select", "greedy"},  {"tolerance", "0.05"},
                                         {"landmarks", "40"},   {"approx", "projected"},
                                         {"components", "3"},   {"probe", "9"},
                                         {"memory", "200M"}};
    struct ny_options *options = NULL;
    int err = ny_options_new(&options, ctx);

    for (size_t i = 0; err == NY_OK && i < sizeof(set) / sizeof(set[0]); i++)
        err = ny_options_set(options, set[i][0], set[i][1]);
    if (err == NY_OK) err = ny_fit(ctx, store, name, options, NULL);
    ny_options_free(options);
    return err;
}

static int import_as(struct ny_context *ctx, const char *path)
{
    const char *files[] = {table};
    struct ny_options *options = NULL;
    int err = ny_options_new(&options, ctx);

    if (err == NY_OK) err = ny_options_set(options, "label-column", "class");
    if (err == NY_OK) err = ny_import(ctx, path, files, 1, options, NULL);
    ny_options_free(options);
    return err;
}

static int export_as(struct ny_context *ctx, const char *path, const char *name)
{
    return ny_export(ctx, path, name, "embedding", output);
}

static int import_fresh(struct ny_context *ctx)
{
    return import_as(ctx, fresh);
}

/* Two stores with the same rows give the same bytes of labels, at least. */
static void check_fresh(void)
{
    struct ny_context *ctx = new_context();
    struct ny_report *report;
    double n = 0;

    if (ny_verify(ctx, fresh, &report)) fail_msg("%s", ny_context_message(ctx));
    ny_report_free(report);
    assert_int_equal(ny_store_report(ctx, fresh, &report), NY_OK);
    assert_true(ny_report_number(report, "n", &n) && n == ROWS);
    ny_report_free(report);
    ny_context_free(ctx);
}

static void undo_fresh(void)
{
    case_remove(fresh);
}

static int fit_new(struct ny_context *ctx)
{
    return fit_as(ctx, "new");
}

static void check_new(void)
{
    struct ny_context *ctx = new_context();

    if (export_as(ctx, store, "new")) fail_msg("%s", ny_context_message(ctx));
    check_output(whole, whole_bytes);
    ny_context_free(ctx);
}

static void undo_new(void)
{
    struct ny_context *ctx = new_context();
    int err = ny_remove(ctx, store, "new");

    if (err && err != NY_EUSAGE) fail_msg("%s", ny_context_message(ctx));
    ny_context_free(ctx);
}

static int transform_table(struct ny_context *ctx)
{
    struct ny_options *options = NULL;
    int err = ny_options_new(&options, ctx);

    if (err == NY_OK) err = ny_options_set(options, "label-column", "class");
    if (err == NY_OK) err = ny_transform(ctx, store, "old", table, output, options);
    ny_options_free(options);
    return err;
}

static void check_placed(void)
{
    check_output(placed, placed_bytes);
}

static int export_old(struct ny_context *ctx)
{
    return export_as(ctx, store, "old");
}

static void check_old(void)
{
    check_output(whole, whole_bytes);
}

static void undo_output(void)
{
    unlink(output);
}

static int report_all(struct ny_context *ctx)
{
    struct ny_report *report = NULL;
    int err = ny_store_report(ctx, store, &report);

    ny_report_free(report);
    if (err) return err;
    err = ny_result_report(ctx, store, "old", &report);
    if (err == NY_OK && !ny_report_json(report))
        err = ny_fail(ctx, NY_EBUDGET, "no text of the report"); /* which is how it says so */
    ny_report_free(report);
    return err;
}

static void nothing(void)
{
}

static const struct work works[] = {
    {"import", import_fresh, check_fresh, undo_fresh},
    {"fit", fit_new, check_new, undo_new},
    {"transform", transform_table, check_placed, undo_output},
    {"export", export_old, check_old, undo_output},
    {"report", report_all, nothing, nothing},
};

/* ---- the loop ------------------------------------------------------------------------------ */

/* The result that was there before is as it was. */
static void check_intact(void)
{
    struct ny_context *ctx = new_context();
    char keep[200];

    if (export_as(ctx, store, "old")) fail_msg("%s", ny_context_message(ctx));
    check_output(whole, whole_bytes);
    snprintf(keep, sizeof(keep), "%s.kept", output);
    unlink(output);
    ny_context_free(ctx);
}

static bool is_clean(enum kind kind, int err)
{
    if (kind == ALLOCATION || kind == MAPPING) return err == NY_EBUDGET || err == NY_EIO;
    return err == NY_EIO || err == NY_ESTORE;
}

/* Runs the work with its k-th call of the kind failing. False: it has no k-th. */
static bool run_with_fault(const struct work *work, enum kind kind, long k, int *survived)
{
    struct ny_context *ctx = new_context();
    int err;

    hit = false;
    countdown = k;
    armed = kind;
    err = work->run(ctx);
    armed = NONE;
    if (ny_memory_used(ctx) != 0)
        fail_msg("%s, %s %ld: %zu bytes stay charged", work->name, kind_names[kind], k,
                 ny_memory_used(ctx));
    if (err && !hit) fail_msg("%s: %s", work->name, ny_context_message(ctx));
    if (err && !(is_clean(kind, err) && strlen(ny_context_message(ctx)) > 10))
        fail_msg("%s, %s %ld: status %d, '%s'", work->name, kind_names[kind], k, err,
                 ny_context_message(ctx));
    ny_context_free(ctx);
    if (err == NY_OK) work->check();
    if (err == NY_OK && hit) ++*survived;
    return hit;
}

static void run_all(enum kind kind)
{
    for (size_t w = 0; w < sizeof(works) / sizeof(works[0]); w++) {
        const struct work *work = &works[w];
        int survived = 0;
        long k = 0;

        while (run_with_fault(work, kind, k, &survived)) {
            if (k % 8 == 0) check_intact();
            if (k % 16 == 0) { /* where it was left it goes on */
                struct ny_context *ctx = new_context();

                if (work->run(ctx) && !(work->run == import_fresh && survived))
                    fail_msg("%s after %s %ld: %s", work->name, kind_names[kind], k,
                             ny_context_message(ctx));
                ny_context_free(ctx);
                work->check();
            }
            work->undo();
            assert_true(++k < POINTS_MAX);
        }
        work->undo();
        check_intact();
        print_message("%s: %ld points of %s, %d of them survived\n", work->name, k,
                      kind_names[kind], survived);
    }
}

/* ---- tests --------------------------------------------------------------------------------- */

static void write_table(void)
{
    FILE *file = fopen(table, "w");

    assert_non_null(file);
    fputs("a,b,c,d,class\n", file);
    for (int i = 0; i < ROWS; i++)
        fprintf(file, "%d,%d,%.3f,%d,%s\n", i % 7, i * i % 11, (double)(i % 97) / 10, i * 31 % 17,
                i % 2 ? "odd" : "even");
    fclose(file);
}

static int start(void **state)
{
    struct ny_context *ctx;
    struct ny_report *report;
    int err;

    (void)state;
    dl_iterate_phdr(find_blas, NULL);
    case_directory(directory);
    snprintf(table, sizeof(table), "%s/table.csv", directory);
    snprintf(store, sizeof(store), "%s/a.nys", directory);
    snprintf(fresh, sizeof(fresh), "%s/fresh.nys", directory);
    snprintf(output, sizeof(output), "%s/out.npy", directory);
    setenv("XDG_CACHE_HOME", directory, 1);
    write_table();
    ctx = new_context();
    err = ny_calibrate(ctx, &report);
    ny_report_free(err ? NULL : report);
    if (err == NY_OK) err = import_as(ctx, store);
    if (err == NY_OK) err = fit_as(ctx, "old");
    if (err == NY_OK) err = transform_table(ctx);
    if (err == NY_OK) placed = content(output, &placed_bytes);
    if (err == NY_OK) err = export_as(ctx, store, "old");
    if (err == NY_OK) whole = content(output, &whole_bytes);
    if (err) fprintf(stderr, "%s\n", ny_context_message(ctx));
    ny_context_free(ctx);
    return err;
}

static int stop(void **state)
{
    (void)state;
    free(whole);
    free(placed);
    case_remove(directory);
    return 0;
}

static bool allocations_are_ours(void)
{
    char *text;

    hit = false;
    countdown = 0;
    armed = ALLOCATION;
    text = strdup("x");
    armed = NONE;
    free(text);
    return hit;
}

static void allocations_fail(void **state)
{
    (void)state;
    if (!blas_to || !allocations_are_ours()) {
        print_message("no allocation can be made to fail: OpenBLAS is linked statically, or a "
                      "sanitizer has its own\n");
        skip();
    }
    run_all(ALLOCATION);
}

static void kind_fails(void **state)
{
    run_all(*(const enum kind *)*state);
}

int main(void)
{
    static enum kind kinds[] = {READING, WRITING, SYNCING, FULL_DISK, MAPPING};
    const struct CMUnitTest tests[] = {
        {"reads_fail", kind_fails, NULL, NULL, &kinds[0]},
        {"writes_fail", kind_fails, NULL, NULL, &kinds[1]},
        {"syncs_fail", kind_fails, NULL, NULL, &kinds[2]},
        {"the_disk_is_full", kind_fails, NULL, NULL, &kinds[3]},
        {"maps_fail", kind_fails, NULL, NULL, &kinds[4]},
        cmocka_unit_test(allocations_fail),
    };

    return cmocka_run_group_tests_name("faults below the public interface", tests, start, stop);
}
