/* Chooses the columns that count: by scores, by how many rows have a value there, or by a list. */
#include "columns/choice.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "columns/columns.h"
#include "columns/visit.h"

struct ranked {
    double score;
    size_t column;
};

/* The largest score first; of equal ones the lower column. */
static int by_score(const void *a, const void *b)
{
    const struct ranked *x = a, *y = b;

    if (x->score != y->score) return x->score < y->score ? 1 : -1;
    return x->column < y->column ? -1 : 1;
}

/* Chooses the `number` columns of the largest scores; fewer where the others have none, NaN. */
static int choose_top(struct ny_rows *X, const double *score, size_t d, size_t number,
                      unsigned char *chosen)
{
    struct ny_context *ctx = X->ctx;
    struct ranked *ranked = ny_alloc(ctx, NY_MEM_OTHER, d * sizeof(*ranked));
    size_t count = 0;

    if (!ranked) return NY_EBUDGET;
    for (size_t k = 0; k < d; k++)
        if (!isnan(score[k])) ranked[count++] = (struct ranked){score[k], k};
    qsort(ranked, count, sizeof(*ranked), by_score);
    for (size_t i = 0; i < count && i < number; i++)
        chosen[ranked[i].column] = 1;
    ny_free(ctx, ranked);
    if (!count)
        return ny_fail(ctx, NY_EDATA,
                       "no column of %s varies enough for --features variable: each has a single "
                       "value; give --features variance:N, or none",
                       X->name);
    if (count < number)
        ny_log(ctx, NY_LOG_WARNING,
               "%zu columns are kept instead of %zu: the others are constant, or alike in all that "
               "--features variable compares",
               count, number);
    return NY_OK;
}

/* Chooses by the dispersions, or for a plan that must not read all rows by the variances. */
static int choose_variable(const struct ny_column_choice *choice, struct ny_rows *X,
                           const struct ny_rows_stats *stats, unsigned workers,
                           unsigned char *chosen)
{
    struct ny_context *ctx = X->ctx;
    struct ny_rows_info points;
    double *score;
    int err = X->ops->info(X, &points);

    if (err) return err;
    if (!workers && ny_dispersion_visits(&points))
        return choose_top(X, stats->variance, stats->d, choice->number, chosen);
    score = ny_alloc(ctx, NY_MEM_OTHER, stats->d * sizeof(double));
    err = score ? ny_dispersion_scores(X, stats, score) : NY_EBUDGET;
    if (!err) err = choose_top(X, score, stats->d, choice->number, chosen);
    ny_free(ctx, score);
    return err;
}

/* Chooses the columns with values in so many rows; for a plan all that have a value. */
static int choose_common(const struct ny_column_choice *choice, struct ny_rows *X,
                         const struct ny_rows_stats *stats, unsigned workers, unsigned char *chosen)
{
    struct ny_context *ctx = X->ctx;
    double *rows = ny_calloc(ctx, NY_MEM_OTHER, stats->d, sizeof(double));
    double most = 0;
    bool any = !workers;
    int err = rows ? NY_OK : NY_EBUDGET;

    if (!err && workers) err = ny_frequency_measure(X, workers, rows);
    for (size_t k = 0; !err && k < stats->d; k++) {
        chosen[k] = workers ? rows[k] >= (double)choice->number
                            : stats->minimum[k] != 0 || stats->maximum[k] != 0;
        any |= chosen[k];
        if (rows[k] > most) most = rows[k];
    }
    ny_free(ctx, rows);
    if (err || any) return err;
    return ny_fail(ctx, NY_EDATA,
                   "no column of %s has values in %zu rows, which --features min-rows:%zu "
                   "requires: the fullest has them in %.0f; give a smaller number",
                   X->name, choice->number, choice->number, most);
}

/* Chooses variants by the frequency of their rarer allele, or by how often they are missing; for a
 * plan all. */
static int choose_variants(const struct ny_column_choice *choice, struct ny_rows *X,
                           const struct ny_rows_stats *stats, unsigned workers,
                           unsigned char *chosen)
{
    bool any = false;

    if (workers && !stats->missing)
        return ny_fail_only(X->ctx, "features maf or missing", "genotypes");
    for (size_t k = 0; k < stats->d; k++) {
        double p = stats->mean[k] / 2;

        chosen[k] = !workers || (choice->rule == NY_CHOOSE_MAF
                                     ? fmin(p, 1 - p) >= choice->share
                                     : stats->missing[k] <= choice->share * (double)stats->n);
        any |= chosen[k];
    }
    if (any) return NY_OK;
    return ny_fail(X->ctx, NY_EDATA, "no variant of %s is left by --features; give another share",
                   X->name);
}

/* Refuses to choose more columns than there are. */
static int check_number(const struct ny_column_choice *choice, struct ny_rows *X, size_t d)
{
    bool counts = choice->rule == NY_CHOOSE_VARIABLE || choice->rule == NY_CHOOSE_VARIANCE;

    if (!counts || choice->number <= d) return NY_OK;
    return ny_fail_most(X->ctx, "features", choice->number, d, "columns");
}

static int choose(const struct ny_column_choice *choice, struct ny_rows *X,
                  const struct ny_rows_stats *stats, unsigned workers, unsigned char *chosen)
{
    switch (choice->rule) {
    case NY_CHOOSE_VARIABLE:
        return choose_variable(choice, X, stats, workers, chosen);
    case NY_CHOOSE_VARIANCE:
        return choose_top(X, stats->variance, stats->d, choice->number, chosen);
    case NY_CHOOSE_MIN_ROWS:
        return choose_common(choice, X, stats, workers, chosen);
    case NY_CHOOSE_MAF:
    case NY_CHOOSE_MISSING:
        return choose_variants(choice, X, stats, workers, chosen);
    case NY_CHOOSE_LISTED:
        for (size_t i = 0; i < choice->number; i++)
            chosen[choice->listed[i]] = 1;
        return NY_OK;
    case NY_CHOOSE_ALL:
        break;
    }
    return NY_OK;
}

/* Refuses columns in which all rows are equal. */
static int check_varies(struct ny_rows *X, const struct ny_rows_stats *stats,
                        const unsigned char *chosen)
{
    for (size_t k = 0; k < stats->d; k++)
        if (chosen[k] && stats->minimum[k] < stats->maximum[k]) return NY_OK;
    return ny_fail(X->ctx, NY_EDATA,
                   "all %llu rows of %s are equal in the columns that --features keeps: nothing to "
                   "fit",
                   (unsigned long long)stats->n, X->name);
}

int ny_choose_columns(const struct ny_column_choice *choice, struct ny_rows *X,
                      const struct ny_rows_stats *stats, unsigned workers, unsigned char *chosen)
{
    bool all = choice->rule == NY_CHOOSE_ALL;
    int err = check_number(choice, X, stats->d);

    if (err) return err;
    memset(chosen, all, stats->d);
    err = choose(choice, X, stats, workers, chosen);
    return err || all ? err : check_varies(X, stats, chosen);
}

bool ny_choice_visits(const struct ny_column_choice *choice, const struct ny_rows_info *points)
{
    if (choice->rule == NY_CHOOSE_VARIABLE) return ny_dispersion_visits(points);
    return choice->rule == NY_CHOOSE_MIN_ROWS;
}

void ny_choice_count(struct ny_layout *l, const struct ny_column_choice *choice,
                     const struct ny_rows_info *points, unsigned workers)
{
    struct ny_layout_mark mark;
    size_t d = (size_t)points->d;

    if (choice->rule == NY_CHOOSE_MIN_ROWS) ny_frequency_count(l, points, workers);
    if (choice->rule != NY_CHOOSE_VARIABLE && choice->rule != NY_CHOOSE_VARIANCE) return;
    ny_lay(l, NY_MEM_OTHER, d, sizeof(double)); /* scores */
    mark = ny_layout_mark(l);
    if (choice->rule == NY_CHOOSE_VARIABLE) ny_dispersion_count(l, points);
    ny_layout_back(l, &mark);
    ny_lay(l, NY_MEM_OTHER, d, sizeof(struct ranked));
}
