/*
 * Measure clusters: k-means of the embedding, how far its clusters are apart, and how they agree
 * with the classes (Talwalkar et al. 2013, section 4.4). Purity and the others are those of the
 * clustering of least inertia, which is stored; their means and deviations are over the
 * initialisations, as in the paper's table 2.
 */
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "evaluate/agreement.h"
#include "evaluate/evaluate.h"
#include "evaluate/kmeans.h"
#include "evaluate/matching.h"
#include "evaluate/silhouette.h"

/* Lloyd's iterations end as scikit-learn's do. */
enum { ITERATIONS = 300, LISTED_BYTES = 64 /* a number in a JSON list */ };
static const double tolerance = 1e-4;

static const char *const keys[] = {"clusters",
                                   "cluster_sizes",
                                   "inertia",
                                   "inits",
                                   "iterations",
                                   "variance_between",
                                   "silhouette",
                                   "silhouette_standard_error",
                                   "silhouette_rows",
                                   "purity",
                                   "purity_mean",
                                   "purity_sd",
                                   "accuracy",
                                   "accuracy_mean",
                                   "accuracy_sd",
                                   "class_concentration",
                                   "class_concentration_mean",
                                   "class_concentration_sd",
                                   "nmi",
                                   "ari",
                                   "classes",
                                   NULL};
/* The keys from this one on need labels. */
enum { FIRST_BY_LABELS = 9 };

static struct ny_kmeans settings_of(struct ny_evaluation *run, size_t k)
{
    return (struct ny_kmeans){.ctx = run->ctx,
                              .cloud = &run->cloud,
                              .k = k,
                              .inits = run->settings->inits,
                              .workers = run->workers,
                              .iterations = ITERATIONS,
                              .tolerance = tolerance,
                              .seed = run->settings->seed};
}

/* Rows of each cluster and class that have a label. */
static void count_pairs(const struct ny_evaluation *run, uint64_t *counts)
{
    size_t classes = run->classes.count;

    memset(counts, 0, run->clusters * classes * sizeof(*counts));
    for (uint64_t i = 0; i < run->cloud.n; i++)
        if (run->classes.of[i] != NY_NO_CLASS)
            counts[run->cluster[i] * classes + run->classes.of[i]]++;
}

/* Compares every initialisation; the best one comes last, so that its clusters stay. */
static int compare(struct ny_evaluation *run, const struct ny_kmeans *how,
                   const struct ny_centres *centres, size_t best)
{
    size_t inits = how->inits, stride = how->k * run->cloud.p;
    uint64_t *counts =
        ny_calloc(run->ctx, NY_MEM_OTHER, how->k * run->classes.count, sizeof(*counts));
    double *purity = ny_calloc(run->ctx, NY_MEM_OTHER, 3 * inits, sizeof(*purity));
    double *accuracy = purity ? purity + inits : NULL;
    double *concentration = purity ? purity + 2 * inits : NULL;
    struct ny_agreement of = {0};
    int err = counts && purity ? NY_OK : NY_EBUDGET;

    for (size_t i = 1; i <= inits && err == NY_OK; i++) {
        size_t r = (best + i) % inits;

        err = ny_kmeans_assign(how, centres->at + r * stride, run->cluster, NULL);
        if (err) break;
        count_pairs(run, counts);
        err = ny_agreement_of(run->ctx, counts, how->k, run->classes.count, &of);
        purity[r] = of.purity;
        accuracy[r] = of.accuracy;
        concentration[r] = of.class_concentration;
    }
    if (err) goto done;
    ny_field_set_number(run->report, "purity", of.purity);
    ny_field_set_number(run->report, "accuracy", of.accuracy);
    ny_field_set_number(run->report, "class_concentration", of.class_concentration);
    ny_field_set_number(run->report, "nmi", of.nmi);
    ny_field_set_number(run->report, "ari", of.ari);
    ny_field_set_count(run->report, "classes", run->classes.count);
    ny_evaluate_spread(run->report, "purity_mean", "purity_sd", purity, inits);
    ny_evaluate_spread(run->report, "accuracy_mean", "accuracy_sd", accuracy, inits);
    ny_evaluate_spread(run->report, "class_concentration_mean", "class_concentration_sd",
                       concentration, inits);
done:
    ny_free(run->ctx, purity);
    ny_free(run->ctx, counts);
    return err;
}

/* Tells how far the clusters are apart, which takes no labels. */
static int separate(struct ny_evaluation *run, double inertia)
{
    struct ny_silhouette of;
    int err = ny_silhouette_measure(run, &of);

    if (err) return err;
    ny_field_set_number(run->report, "variance_between", 1 - inertia / run->cloud.squares);
    ny_field_set_count(run->report, "silhouette_rows", of.rows);
    if (of.mean == of.mean) {
        ny_field_set_number(run->report, "silhouette", of.mean);
        ny_field_set_number(run->report, "silhouette_standard_error", of.standard_error);
        return NY_OK;
    }
    ny_evaluate_inapplicable(run, "silhouette", "there is one cluster, and none beside it");
    ny_evaluate_inapplicable(run, "silhouette_standard_error",
                             "there is one cluster, and none beside it");
    return NY_OK;
}

/* Warns of clusters that hold less than a hundredth of the rows, and less than a tenth of what a
 * cluster holds on average: k-means of an embedding in which a few rows lie far from all others
 * finds these, and silhouettes praise it. */
static void warn_outliers(const struct ny_evaluation *run, const uint64_t *sizes, size_t k)
{
    double n = (double)run->cloud.n, few = n / (k > 10 ? 10 * (double)k : 100);
    size_t count = 0, least = 0;
    char others[64] = "";

    for (size_t c = 0; c < k; c++) {
        if (!sizes[c] || (double)sizes[c] >= few) continue;
        if (!count++ || sizes[c] < sizes[least]) least = c;
    }
    if (!count) return;
    if (count > 1) snprintf(others, sizeof(others), ", and %zu more have few", count - 1);
    ny_log(run->ctx, NY_LOG_WARNING,
           "cluster %zu (from 0) of '%s' has %llu of %llu rows%s: these may be outliers, and "
           "silhouettes praise clusters of them; --scale standard, a wider kernel (a smaller "
           "--gamma) or --map kpca may divide the rows better",
           least, run->result.name, (unsigned long long)sizes[least],
           (unsigned long long)run->cloud.n, others);
}

/* Reports how many rows each cluster has. */
static int count_rows(const struct ny_evaluation *run, size_t k)
{
    uint64_t *sizes = ny_calloc(run->ctx, NY_MEM_OTHER, k, sizeof(*sizes));
    json_t *list = json_array();

    if (!sizes) {
        json_decref(list);
        return NY_EBUDGET;
    }
    for (uint64_t i = 0; i < run->cloud.n; i++)
        sizes[run->cluster[i]]++;
    for (size_t c = 0; c < k; c++)
        ny_field_append(list, json_integer((json_int_t)sizes[c]));
    ny_field_set_json(run->report, "cluster_sizes", list);
    warn_outliers(run, sizes, k);
    ny_free(run->ctx, sizes);
    return NY_OK;
}

/* Finds k clusters, keeps those of least inertia for ny_evaluate_run() to store, and compares
 * them with the classes if there are labels. Inertia is told on the scale of the embedding, not
 * on that of the cloud. */
static int cluster(struct ny_evaluation *run, size_t k)
{
    struct ny_kmeans how = settings_of(run, k);
    struct ny_centres centres = {0};
    const char *no_classes = ny_evaluate_no_classes(run);
    double scale = run->cloud.scale;
    size_t best = 0;
    int err = ny_kmeans_run(&how, &centres);

    if (err) goto done;
    for (size_t r = 1; r < how.inits; r++)
        if (centres.inertia[r] < centres.inertia[best]) best = r;
    run->clusters = k;
    run->cluster = ny_calloc(run->ctx, NY_MEM_DICTIONARY, (size_t)run->cloud.n, sizeof(uint32_t));
    if (!run->cluster)
        err = NY_EBUDGET;
    else if (no_classes)
        err = ny_kmeans_assign(&how, centres.at + best * k * run->cloud.p, run->cluster, NULL);
    else
        err = compare(run, &how, &centres, best);
    if (!err) err = separate(run, centres.inertia[best]);
    if (!err) err = count_rows(run, k);
    if (err) goto done;
    ny_field_set_count(run->report, "clusters", k);
    ny_field_set_number(run->report, "inertia", centres.inertia[best] / (scale * scale));
    ny_field_set_count(run->report, "inits", how.inits);
    ny_field_set_count(run->report, "iterations", centres.steps[best]);
    for (size_t i = FIRST_BY_LABELS; no_classes && keys[i]; i++)
        ny_evaluate_inapplicable(run, keys[i], "%s", no_classes);
done:
    ny_centres_release(&centres, run->ctx);
    return err;
}

/* Returns how many clusters to look for: --clusters, else as many as there are classes. */
static size_t clusters_of(const struct ny_evaluation *run)
{
    return run->settings->clusters ? run->settings->clusters : run->classes.count;
}

static int run_clusters(struct ny_evaluation *run)
{
    const char *no_classes = ny_evaluate_no_classes(run);
    size_t k = clusters_of(run);

    if (!run->settings->clusters && no_classes)
        ny_evaluate_inapplicable(run, NULL, "%s; --clusters K says how many to look for",
                                 no_classes);
    else if (k > run->cloud.n)
        ny_evaluate_inapplicable(run, NULL, "%zu clusters are more than the %llu rows", k,
                                 (unsigned long long)run->cloud.n);
    else if (!(run->cloud.squares > 0))
        ny_evaluate_inapplicable(run, NULL, "all rows of the embedding are equal");
    else
        return cluster(run, k);
    return NY_OK;
}

static size_t bytes(const struct ny_evaluation *run)
{
    size_t k = clusters_of(run), n = (size_t)run->n;
    struct ny_kmeans how = {.k = k ? k : 1, .inits = run->settings->inits, .workers = run->workers};

    return ny_kmeans_bytes(&how, n, ny_coordinates_count(&run->result.coordinates)) +
           n * sizeof(uint32_t) + k * run->classes.count * sizeof(uint64_t) +
           ny_silhouette_bytes(run, k) + ny_matching_bytes(k, run->classes.count) +
           3 * how.inits * sizeof(double) + k * (sizeof(uint64_t) + LISTED_BYTES) + 4096;
}

static size_t order(const struct ny_evaluation *run)
{
    size_t k = clusters_of(run);

    return k > 256 ? k : 256;
}

const struct ny_measure ny_measure_clusters = {.name = "clusters",
                                               .keys = keys,
                                               .options = "clusters|n-init|sample|seed",
                                               .labels = true,
                                               .run = run_clusters,
                                               .bytes = bytes,
                                               .order = order};
