/* evaluate/agreement.h against hand-made tables, and against the definitions row by row. */
#include "support/context.h"

#include "base/random.h"
#include "evaluate/agreement.h"

static void near(double value, double wanted, double within)
{
    if (!(fabs(value - wanted) <= within)) fail_msg("%.17g is not %.17g", value, wanted);
}

static struct ny_agreement agreement(const uint64_t *counts, size_t clusters, size_t classes)
{
    struct ny_agreement of;

    assert_int_equal(ny_agreement_of(ctx, counts, clusters, classes, &of), NY_OK);
    return of;
}

TEST(a_table_by_hand)
{
    /* clusters of 4, 3 and 3 rows; classes of 5 and 5 */
    const uint64_t counts[] = {3, 1, 0, 3, 2, 1};
    struct ny_agreement of = agreement(counts, 3, 2);

    near(of.purity, (3 + 3 + 2) / 10.0, 1e-15);
    near(of.class_concentration, (3 + 3) / 10.0, 1e-15);
    near(of.accuracy, (3 + 3) / 10.0, 1e-15); /* the first with the first, the second the other */
    /* pairs together in both: 3 + 3 + 1; in clusters 6 + 3 + 3, in classes 10 + 10, of 45 */
    near(of.ari, (7 - 12 * 20 / 45.0) / ((12 + 20) / 2.0 - 12 * 20 / 45.0), 1e-14);
}

TEST(extremes)
{
    const uint64_t same[] = {0, 4, 6, 0}, one_cluster[] = {5, 5}, spread[] = {5, 5, 5, 5};
    const uint64_t empty_cluster[] = {0, 0, 4, 0, 0, 6};
    struct ny_agreement of = agreement(same, 2, 2);

    near(of.purity, 1, 0);
    near(of.accuracy, 1, 0);
    near(of.class_concentration, 1, 0);
    near(of.nmi, 1, 1e-15);
    near(of.ari, 1, 1e-15);
    of = agreement(one_cluster, 1, 2);
    near(of.class_concentration, 1, 0); /* Talwalkar et al. 2013, 4.4: all in one cluster */
    near(of.accuracy, 0.5, 0);
    near(of.purity, 0.5, 0);
    near(of.nmi, 0, 1e-15);
    near(of.ari, 0, 1e-15);
    of = agreement(spread, 2, 2);
    near(of.nmi, 0, 1e-15);
    assert_true(of.ari < 0);
    of = agreement(empty_cluster, 3, 2);
    near(of.nmi, 1, 1e-15);
    near(of.ari, 1, 1e-15);
}

enum { N = 90, CLUSTERS = 5, CLASSES = 4 };

static unsigned most(const unsigned *count, size_t lines)
{
    unsigned largest = 0;

    for (size_t i = 0; i < lines; i++)
        if (count[i] > largest) largest = count[i];
    return largest;
}

/* Σ over the groups of `a` of the most rows that share one group of `b`, over n. */
static double share(const unsigned *a, const unsigned *b)
{
    double sum = 0;

    for (unsigned g = 0; g < CLUSTERS; g++) {
        unsigned count[CLUSTERS] = {0};

        for (size_t i = 0; i < N; i++)
            if (a[i] == g) count[b[i]]++;
        sum += most(count, CLUSTERS);
    }
    return sum / N;
}

/* Σ over rows of −ln of the share of rows that agree in `a`, and in `b`, over n. */
static double entropy(const unsigned *a, const unsigned *b)
{
    double sum = 0;

    for (size_t i = 0; i < N; i++) {
        unsigned same = 0;

        for (size_t j = 0; j < N; j++)
            same += a[i] == a[j] && b[i] == b[j];
        sum -= log((double)same / N);
    }
    return sum / N;
}

/* Counts over all pairs of rows those together in a, in b, and in both. */
static double adjusted(const unsigned *a, const unsigned *b)
{
    double in_a = 0, in_b = 0, in_both = 0, pairs = N * (N - 1) / 2.0;

    for (size_t i = 0; i < N; i++)
        for (size_t j = 0; j < i; j++) {
            in_a += a[i] == a[j];
            in_b += b[i] == b[j];
            in_both += a[i] == a[j] && b[i] == b[j];
        }
    return (in_both - in_a * in_b / pairs) / ((in_a + in_b) / 2 - in_a * in_b / pairs);
}

/* The most rows of all ways to give clusters c … a class each that is not in `taken`, or none. */
static uint64_t best_of_all(const uint64_t *counts, size_t clusters, size_t classes, size_t c,
                            unsigned taken)
{
    uint64_t best;

    if (c == clusters) return 0;
    best = best_of_all(counts, clusters, classes, c + 1, taken);
    for (size_t k = 0; k < classes; k++) {
        uint64_t with = counts[c * classes + k];

        if (taken >> k & 1) continue;
        with += best_of_all(counts, clusters, classes, c + 1, taken | 1u << k);
        if (with > best) best = with;
    }
    return best;
}

/* Tables of every shape, with many equal counts. */
TEST(accuracy_is_that_of_the_best_matching)
{
    for (size_t clusters = 1; clusters <= 7; clusters++)
        for (size_t classes = 1; classes <= 7; classes++)
            for (uint64_t seed = 0; seed < 30; seed++) {
                uint64_t counts[49] = {0}, n = 0;

                for (size_t i = 0; i < clusters * classes; i++) {
                    double u = ny_hash01(seed, NY_STREAM_DATA, 100 * classes + i);

                    counts[i] = (uint64_t)(u * (seed % 3 ? 5 : 1000));
                    n += counts[i];
                }
                counts[0] += n == 0;
                n += n == 0;
                near(agreement(counts, clusters, classes).accuracy,
                     (double)best_of_all(counts, clusters, classes, 0, 0) / (double)n, 1e-15);
            }
}

/* Class i is cluster π(i), and a few rows of each went astray; the clusters are more. */
TEST(a_large_matching_is_found)
{
    enum { K = 400, MORE = 450 };
    uint64_t *counts = lend_zeros(MORE * K * sizeof(*counts));

    for (size_t i = 0; i < K; i++)
        for (size_t j = 0; j < MORE; j++)
            counts[j * K + i] = j == (i * 7 + 3) % MORE ? 100 : (i + j) % 3;
    assert_true(agreement(counts, MORE, K).accuracy >
                100.0 * K / (100.0 * K + 1.0 * K * MORE) - 1e-9);
}

TEST(row_by_row)
{
    for (uint64_t seed = 0; seed < 50; seed++) {
        uint64_t counts[CLUSTERS * CLASSES] = {0};
        unsigned cluster[N], class[N];
        struct ny_agreement of;

        for (size_t i = 0; i < N; i++) {
            class[i] = (unsigned)(CLASSES * ny_hash01(seed, NY_STREAM_DATA, 2 * i));
            cluster[i] = ny_hash01(seed, NY_STREAM_DATA, 2 * i + 1) < (double)seed / 50
                             ? class[i]
                             : (unsigned)(CLUSTERS * ny_hash01(seed, NY_STREAM_DATA, 1000 + i));
            counts[cluster[i] * CLASSES + class[i]]++;
        }
        of = agreement(counts, CLUSTERS, CLASSES);
        near(of.purity, share(cluster, class), 1e-12);
        near(of.class_concentration, share(class, cluster), 1e-12);
        near(of.accuracy, (double)best_of_all(counts, CLUSTERS, CLASSES, 0, 0) / (double)N, 1e-12);
        near(of.ari, adjusted(cluster, class), 1e-12);
        near(of.nmi,
             2 * (entropy(cluster, cluster) + entropy(class, class) - entropy(cluster, class)) /
                 (entropy(cluster, cluster) + entropy(class, class)),
             1e-10);
    }
}

AROUND_ALL(start, stop)
