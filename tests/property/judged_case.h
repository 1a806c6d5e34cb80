/* A small result and what is judged of it, through the public interface. */
#ifndef TESTS_PROPERTY_JUDGED_CASE_H
#define TESTS_PROPERTY_JUDGED_CASE_H

#include "support/context.h"

#include "base/random.h"
#include "support/options.h"
#include "support/results.h"
#include "support/store_case.h"

enum { N = 240, D = 5, P = 3, CLASSES = 3 };

struct judged {
    char directory[128], path[160];
    float x[N * D];
    double label[N];
    float y[N * P];
    struct ny_report *report;
};

static void fit(const struct judged *of, const char *name, const char *set)
{
    must_fit(ctx, of->path, name, NULL, "components=3 %s", set);
}

/* The result "f". kind 1: every point twice, so that distances tie; 2: two groups, which lie some
 * thousand times as far apart as they are wide. */
static void make(struct judged *of, int kind, const char *set)
{
    case_directory(of->directory);
    snprintf(of->path, sizeof(of->path), "%s/store", of->directory);
    for (size_t i = 0; i < N; i++) {
        size_t point = kind == 1 ? i / 2 : i;

        of->label[i] = (double)(i % CLASSES);
        for (size_t j = 0; j < D; j++)
            of->x[i * D + j] = (float)ny_hash01(3, NY_STREAM_DATA, point * D + j) +
                               (j == i % CLASSES && kind != 1 ? 0.7f : 0);
        if (kind == 2) of->x[i * D] += 4000 * (float)(i % 2);
    }
    assert_int_equal(ny_append_rows(ctx, of->path, of->x, N, D, of->label), NY_OK);
    fit(of, "f", set);
    assert_int_equal(ny_embedding_read(ctx, of->path, "f", 0, N, of->y), NY_OK);
}

static inline void judge(struct judged *of, const char *set)
{
    OWNED(ny_options) *options = options_with(ctx, "%s", set);

    ny_report_free(of->report);
    assert_int_equal(ny_evaluate(ctx, of->path, "f", options, &of->report), NY_OK);
}

static inline void forget(struct judged *of)
{
    ny_report_free(of->report);
    case_remove(of->directory);
}

static inline void near(const struct judged *of, const char *key, double wanted, double within)
{
    double value = NAN;

    if (!ny_report_number(of->report, key, &value) || !(fabs(value - wanted) <= within))
        fail_msg("%s is %.12g, not %.12g", key, value, wanted);
}

static inline double distance(const float *a, const float *b, size_t d)
{
    double sum = 0;

    for (size_t j = 0; j < d; j++)
        sum += ((double)a[j] - (double)b[j]) * ((double)a[j] - (double)b[j]);
    return sum;
}

#endif
