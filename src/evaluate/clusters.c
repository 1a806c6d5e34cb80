/*
 * Measure clusters: k-means of the embedding, how far its clusters are apart, and how they agree
 * with the classes (Talwalkar et al. 2013, section 4.4). Purity and the others are those of the
 * clustering of least inertia, which is stored; their means and deviations are over the
 * initialisations, as in the paper's table 2.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "evaluate/agreement.h"
#include "evaluate/evaluate.h"
#include "evaluate/kmeans.h"
#include "evaluate/matching.h"
#include "evaluate/silhouette.h"
#include "model/map.h"

/* Lloyd's iterations end as scikit-learn's do. */
enum { ITERATIONS = 300, LISTED_BYTES = 64 /* a number in a JSON list */ };
static const double tolerance = 1e-4;

static const char *const keys[] = {"clusters",
                                   "cluster_sizes",
                                   "clusters_tried",
                                   "silhouettes",
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
                                   "largest_class",
                                   "class_concentration",
                                   "class_concentration_mean",
                                   "class_concentration_sd",
                                   "nmi",
                                   "ari",
                                   "classes",
                                   NULL};
/* The keys from this one on need labels. */
enum { FIRST_BY_LABELS = 11 };

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

/* Returns the share of the rows that have a label which are in the largest class: the purity and
 * the accuracy of a single cluster. */
static double largest_class(const uint64_t *counts, size_t clusters, size_t classes)
{
    uint64_t all = 0, most = 0;

    for (size_t k = 0; k < classes; k++) {
        uint64_t rows = 0;

        for (size_t c = 0; c < clusters; c++)
            rows += counts[c * classes + k];
        all += rows;
        if (rows > most) most = rows;
    }
    return (double)most / (double)all;
}

/* Compares every initialisation; the best one comes last, so that its clusters stay. Its inertia is
 * that of these clusters from then on. */
static int compare(struct ny_evaluation *run, const struct ny_kmeans *how,
                   struct ny_centres *centres, size_t best)
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

        err = ny_kmeans_assign(how, centres->at + r * stride, run->cluster, &centres->inertia[r]);
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
    ny_field_set_number(run->report, "largest_class",
                        largest_class(counts, how->k, run->classes.count));
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
    ny_evaluate_inapplicable(run, "silhouette", "there is only one cluster");
    ny_evaluate_inapplicable(run, "silhouette_standard_error", "there is only one cluster");
    return NY_OK;
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
    ny_free(run->ctx, sizes);
    return NY_OK;
}

/* Finds k clusters by each initialisation: `best` is that of least inertia. Makes room for the
 * clusters of rows. */
static int find(struct ny_evaluation *run, const struct ny_kmeans *how, struct ny_centres *centres,
                size_t *best)
{
    int err = ny_kmeans_run(how, centres);

    if (err) return err;
    *best = 0;
    for (size_t r = 1; r < how->inits; r++)
        if (centres->inertia[r] < centres->inertia[*best]) *best = r;
    run->clusters = how->k;
    if (!run->cluster)
        run->cluster =
            ny_calloc(run->ctx, NY_MEM_DICTIONARY, (size_t)run->cloud.n, sizeof(uint32_t));
    return run->cluster ? NY_OK : NY_EBUDGET;
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
    int err = find(run, &how, &centres, &best);

    if (err) goto done;
    if (no_classes)
        err = ny_kmeans_assign(&how, centres.at + best * k * run->cloud.p, run->cluster,
                               &centres.inertia[best]);
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
    ny_centres_release(&centres);
    return err;
}

/* Finds k clusters, and how far they are apart. */
static int try_clusters(struct ny_evaluation *run, size_t k, double *silhouette)
{
    struct ny_kmeans how = settings_of(run, k);
    struct ny_centres centres = {0};
    struct ny_silhouette of = {0};
    size_t best;
    int err = find(run, &how, &centres, &best);

    if (!err)
        err = ny_kmeans_assign(&how, centres.at + best * k * run->cloud.p, run->cluster, NULL);
    if (!err) err = ny_silhouette_measure(run, &of);
    ny_centres_release(&centres);
    *silhouette = of.mean;
    return err;
}

/* Adds a number of clusters and its silhouette to the lists of the report. */
static void add_tried(struct ny_evaluation *run, size_t k, double silhouette)
{
    ny_field_append(json_object_get(run->report, "clusters_tried"), json_integer((json_int_t)k));
    ny_field_append_number(json_object_get(run->report, "silhouettes"), silhouette);
}

/* Tries each number of clusters from k on, and keeps those of the largest silhouette (Rousseeuw
 * 1987, section 4). */
static int choose(struct ny_evaluation *run, size_t k, size_t most)
{
    double largest = -2, silhouette = NAN;
    size_t best = k;
    int err = NY_OK;

    ny_field_set_json(run->report, "clusters_tried", json_array());
    ny_field_set_json(run->report, "silhouettes", json_array());
    for (bool several = most > k; several && !err && k <= most; k++) {
        err = try_clusters(run, k, &silhouette);
        if (!err) add_tried(run, k, silhouette);
        if (err || !(silhouette > largest)) continue;
        largest = silhouette;
        best = k;
    }
    if (!err) err = cluster(run, best);
    if (!err && !json_array_size(json_object_get(run->report, "clusters_tried")))
        add_tried(run, best, ny_field_number(run->report, "silhouette", NAN));
    return err;
}

/* Returns how many clusters to look for: --clusters, of several numbers that are tried the first,
 * else as many as the result has of an earlier evaluation, so that these are not lost, or as there
 * are classes. */
static size_t clusters_of(const struct ny_evaluation *run)
{
    if (run->settings->clusters) return run->settings->clusters;
    if (run->settings->clusters_to) return 2;
    return run->kept ? run->kept : run->classes.count;
}

/* Returns the largest number of clusters that is tried. */
static size_t most_clusters(const struct ny_evaluation *run)
{
    return run->settings->clusters_to ? run->settings->clusters_to : clusters_of(run);
}

/* Tells whether these are more clusters than rows, which is refused before anything is computed. */
static bool too_many(const struct ny_evaluation *run)
{
    return most_clusters(run) > run->n;
}

/* Tells whether labels are values rather than classes: more than a few, which are more than a third
 * of the rows that have one. */
static bool are_values(const struct ny_evaluation *run)
{
    const size_t few = 10;
    uint64_t labelled = run->cloud.n - run->classes.missing;

    return run->classes.count > few && 3 * run->classes.count > labelled;
}

static int run_clusters(struct ny_evaluation *run)
{
    const char *no_classes = ny_evaluate_no_classes(run);
    size_t k = clusters_of(run), most = most_clusters(run);
    bool given = run->settings->clusters || run->settings->clusters_to || run->kept;

    if (most < k)
        return ny_fail(run->ctx, NY_EUSAGE,
                       "--clusters-to %zu is less than --clusters %zu, the first number that is "
                       "tried; give at least as many",
                       most, k);
    if (!given && no_classes)
        ny_evaluate_inapplicable(run, NULL, "%s; --clusters K says how many to look for",
                                 no_classes);
    else if (!given && are_values(run))
        ny_evaluate_inapplicable(run, NULL,
                                 "the %zu different labels of %llu rows are values rather than "
                                 "classes; --clusters K says how many clusters to look for",
                                 run->classes.count,
                                 (unsigned long long)(run->cloud.n - run->classes.missing));
    else if (too_many(run))
        return ny_fail_most(run->ctx, "clusters", most, run->n, "rows");
    else if (!(run->cloud.squares > 0))
        ny_evaluate_inapplicable(run, NULL, "all rows of the embedding are equal");
    else
        return choose(run, k, most);
    return NY_OK;
}

static void count(struct ny_layout *l, const struct ny_evaluation *run)
{
    size_t k = most_clusters(run), n = (size_t)run->n, classes = run->classes.count;
    struct ny_kmeans how = {.k = k ? k : 1, .inits = run->settings->inits, .workers = run->workers};

    if (too_many(run)) return;
    ny_lay(l, NY_MEM_OTHER, k, 3 * LISTED_BYTES);
    ny_lay(l, NY_MEM_OTHER, k * classes + 3 * how.inits, sizeof(double)); /* as it compares */
    ny_lay(l, NY_MEM_DICTIONARY, n, sizeof(uint32_t));
    ny_kmeans_count(l, &how, n, ny_coordinates_count(&run->result.coordinates));
    ny_matching_count(l, k, classes);
    ny_silhouette_count(l, run, k);
    ny_lay_peak(l, NY_MEM_OTHER, k, sizeof(uint64_t));
}

static size_t order(const struct ny_evaluation *run)
{
    size_t k = most_clusters(run);

    return k > 256 && !too_many(run) ? k : 256;
}

const struct ny_measure ny_measure_clusters = {.name = "clusters",
                                               .keys = keys,
                                               .options = "clusters|clusters-to|n-init|sample|seed",
                                               .labels = true,
                                               .run = run_clusters,
                                               .count = count,
                                               .order = order};
