/* evaluate/agreement.h against hand-made tables, and against the definitions row by row. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "support/context.h"

#include "base/random.h"
#include "evaluate/agreement.h"

static void near(double value, double wanted, double within)
{
    if (!(fabs(value - wanted) <= within)) fail_msg("%.17g is not %.17g", value, wanted);
}

static void a_table_by_hand(void **state)
{
    /* clusters of 4, 3 and 3 rows; classes of 5 and 5 */
    const uint64_t counts[] = {3, 1, 0, 3, 2, 1};
    struct ny_agreement of = ny_agreement_of(counts, 3, 2);

    (void)state;
    near(of.purity, (3 + 3 + 2) / 10.0, 1e-15);
    near(of.accuracy, (3 + 3) / 10.0, 1e-15);
    /* pairs together in both: 3 + 3 + 1; in clusters 6 + 3 + 3, in classes 10 + 10, of 45 */
    near(of.ari, (7 - 12 * 20 / 45.0) / ((12 + 20) / 2.0 - 12 * 20 / 45.0), 1e-14);
}

static void extremes(void **state)
{
    const uint64_t same[] = {0, 4, 6, 0}, one_cluster[] = {5, 5}, spread[] = {5, 5, 5, 5};
    const uint64_t empty_cluster[] = {0, 0, 4, 0, 0, 6};
    struct ny_agreement of = ny_agreement_of(same, 2, 2);

    (void)state;
    near(of.purity, 1, 0);
    near(of.accuracy, 1, 0);
    near(of.nmi, 1, 1e-15);
    near(of.ari, 1, 1e-15);
    of = ny_agreement_of(one_cluster, 1, 2);
    near(of.accuracy, 1, 0); /* Talwalkar et al. 2013, 4.4: all points in one cluster */
    near(of.purity, 0.5, 0);
    near(of.nmi, 0, 1e-15);
    near(of.ari, 0, 1e-15);
    of = ny_agreement_of(spread, 2, 2);
    near(of.nmi, 0, 1e-15);
    assert_true(of.ari < 0);
    of = ny_agreement_of(empty_cluster, 3, 2);
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

/* Over all pairs of rows: a together, b together, both. */
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

static void row_by_row(void **state)
{
    (void)state;
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
        of = ny_agreement_of(counts, CLUSTERS, CLASSES);
        near(of.purity, share(cluster, class), 1e-12);
        near(of.accuracy, share(class, cluster), 1e-12);
        near(of.ari, adjusted(cluster, class), 1e-12);
        near(of.nmi,
                            2 *
                                (entropy(cluster, cluster) + entropy(class, class) -
                                 entropy(cluster, class)) /
                                (entropy(cluster, cluster) + entropy(class, class)),
                            1e-10);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_table_by_hand),
        cmocka_unit_test(extremes),
        cmocka_unit_test(row_by_row),
    };

    return cmocka_run_group_tests(tests, start, stop);
}
