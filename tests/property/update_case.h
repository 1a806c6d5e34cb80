/*
 * A store that grows and a result that follows it, through the public header: what the tests of
 * full and of frozen updates share.
 */
#ifndef NY_TESTS_UPDATE_CASE_H
#define NY_TESTS_UPDATE_CASE_H

#include "base/random.h"
#include "support/files.h"
#include "support/options.h"
#include "support/folder.h"
#include "support/results.h"

/* None of these row counts is a multiple of a unit of 2,048 rows, nor of a block. */
enum { D = 6, FIRST = 3000, SECOND = 4500, THIRD = 7300 };

static const uint64_t ends[] = {FIRST, SECOND, THIRD};

/* ---- the points ---------------------------------------------------------------------------- */

static double turned = 1; /* −1: all rows are those of 1, negated */

/* Clusters; one of them, and a direction in all, comes with the rows that are appended. */
static float value_of(uint64_t row, uint64_t column)
{
    uint64_t cluster = row < FIRST || row % 13 ? row % 5 : 7;
    double noise = ny_hash01(3, NY_STREAM_DATA, row * D + column) - 0.5;
    double later = row < FIRST ? 0 : 0.3 * (double)(column == 2);

    return (float)(turned *
                   (3 * ny_hash01(4, NY_STREAM_DATA, cluster * D + column) + noise + later));
}

static void append(const char *store, uint64_t first, uint64_t end)
{
    float *values = lend((size_t)(end - first) * D * sizeof(float));

    for (uint64_t i = first; i < end; i++)
        for (uint64_t j = 0; j < D; j++)
            values[(i - first) * D + j] = value_of(i, j);
    CHECK(ny_append_rows(ctx, store, values, end - first, D, NULL));
}

/* Appends the same rows as LIBSVM text, without values below the middle. */
static void append_sparse(const char *store, uint64_t first, uint64_t end)
{
    char path[200];
    const char *const files[] = {path};
    OWNED(ny_options) *options = NULL;
    FILE *file;

    snprintf(path, sizeof(path), "%s/rows.svm", directory);
    file = fopen(path, "w");
    assert_non_null(file);
    for (uint64_t i = first; i < end; i++) {
        fputs("0", file);
        for (uint64_t j = 0; j < D; j++)
            if (value_of(i, j) > 1.5F) fprintf(file, " %d:%.9g", (int)j + 1, (double)value_of(i, j));
        fputc('\n', file);
    }
    fclose(file);
    options = options_with(ctx, "dims=6 layout=sparse");
    if (first) assert_int_equal(ny_options_set(options, "append", "yes"), NY_OK);
    CHECK(ny_import(ctx, store, files, 1, options, NULL));
}

/* A file of row numbers among the first, `step` apart. */
static inline void write_numbers(const char *path, size_t count, int step, int first)
{
    double *rows = lend(count * sizeof(*rows));

    for (size_t i = 0; i < count; i++)
        rows[i] = ((int)i * step + first) % FIRST;
    write_csv(path, rows, count, 1);
}

/* ---- cases --------------------------------------------------------------------------------- */

struct update_case {
    const char *name;
    const char *options; /* "name=value …" */
    double tolerance;    /* of the embedding, relative to the largest entry of a column */
    double gamma;        /* 0: the kernel has none */
    bool sparse, grows;  /* grows: landmarks join */
};

static char *path_of(const char *name)
{
    return lend_text("%s/%s", directory, name);
}

static int fit(const struct update_case *test, const char *store, const char *update,
               struct ny_report **report)
{
    OWNED(ny_options) *options = NULL;
    int err;

    if (update)
        options = options_with(ctx, "update=%s", update);
    else if (test->gamma > 0)
        options = options_with(ctx, "%s gamma=%.17g", test->options, test->gamma);
    else
        options = options_with(ctx, "%s", test->options);
    err = ny_fit(ctx, store, "fit", options, report);
    return err;
}

static struct ny_report *fit_well(const struct update_case *test, const char *store,
                                  const char *update)
{
    struct ny_report *report;

    if (fit(test, store, update, &report))
        fail_msg("%s, %s: %s", test->name, update ? update : "fit", ny_context_message(ctx));
    return report;
}

static float *embedding_of(const char *store, uint64_t *rows, uint64_t *p)
{
    float *values;

    assert_int_equal(ny_embedding_shape(ctx, store, "fit", rows, p), NY_OK);
    values = lend((size_t)(*rows * *p) * sizeof(float));
    CHECK(ny_embedding_read(ctx, store, "fit", 0, *rows, values));
    return values;
}

/* A part of two stores' results: the same bytes. */
static void same_part(const char *part, const char *one, const char *other)
{
    const char *a = path_of("a.npy"), *b = path_of("b.npy");
    int err = ny_export(ctx, one, "fit", part, a);

    assert_int_equal(ny_export(ctx, other, "fit", part, b), err);
    if (!err) same_files(a, b, part);
}

static void same_embedding(const struct update_case *test, const char *one, const char *other,
                           double tolerance)
{
    uint64_t n, p, n_other, p_other;
    float *a = embedding_of(one, &n, &p), *b = embedding_of(other, &n_other, &p_other);

    assert_int_equal(n, n_other);
    assert_int_equal(p, p_other);
    for (uint64_t k = 0; k < p; k++) {
        double largest = 0, off = 0;

        for (uint64_t i = 0; i < n; i++) {
            largest = fmax(largest, fabs((double)b[i * p + k]));
            off = fmax(off, fabs((double)a[i * p + k] - (double)b[i * p + k]));
        }
        if (!(off <= tolerance * largest))
            fail_msg("%s, %llu rows: component %llu is off by %.3g of %.3g", test->name,
                     (unsigned long long)n, (unsigned long long)k, off, largest);
    }
}

static void same_numbers(const struct update_case *test, const struct ny_report *one,
                         const struct ny_report *other)
{
    static const char *const keys[] = {"landmarks", "rank",  "rank_effective", "trace_error",
                                       "trace",     "gamma", "probe_error",    "n"};

    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
        double a = number_of(one, keys[i]), b = number_of(other, keys[i]);

        if (isnan(a) && isnan(b)) continue;
        /* a trace error is a share of the trace */
        if (!(fabs(a - b) <= test->tolerance * (fmax(fabs(a), fabs(b)) + (i == 3) * 0.1)))
            fail_msg("%s: %s is %.17g, and from scratch %.17g", test->name, keys[i], a, b);
    }
}

static void add_rows(const struct update_case *test, const char *store, uint64_t first,
                     uint64_t end)
{
    if (test->sparse)
        append_sparse(store, first, end);
    else
        append(store, first, end);
}

static inline void check_from_scratch(struct update_case *test, const char *store,
                               const struct ny_report *report, uint64_t n)
{
    const char *fresh = path_of("fresh.nys");
    OWNED(ny_report) *scratch = NULL;
    double typed = test->gamma;

    add_rows(test, fresh, 0, n);
    test->gamma = isnan(number_of(report, "gamma")) ? 0 : number_of(report, "gamma");
    scratch = fit_well(test, fresh, NULL);
    same_numbers(test, report, scratch);
    same_part("landmarks", store, fresh);
    same_embedding(test, store, fresh, test->tolerance);
    test->gamma = typed;
    case_remove(fresh);
}

#endif
