#include "evaluate/agreement.h"

#include <math.h>

#include "evaluate/matching.h"

/* Sums over what is left when the table is added up along one side. */
struct margin {
    double most;    /* Σ of the largest count */
    double entropy; /* −Σ (a/n) ln(a/n) */
    double pairs;   /* Σ a(a − 1)/2 */
};

/* Returns the number of pairs among `a` things. */
static double pairs_of(double a)
{
    return a * (a - 1) / 2;
}

/* `lines` lines of `length` counts, `along` apart in a line and `across` from line to line. */
static struct margin add_up(const uint64_t *counts, size_t lines, size_t across, size_t length,
                            size_t along, double n)
{
    struct margin margin = {0};

    for (size_t i = 0; i < lines; i++) {
        double sum = 0, most = 0;

        for (size_t j = 0; j < length; j++) {
            double count = (double)counts[i * across + j * along];

            sum += count;
            if (count > most) most = count;
        }
        margin.most += most;
        margin.pairs += pairs_of(sum);
        if (sum > 0) margin.entropy -= sum / n * log(sum / n);
    }
    return margin;
}

int ny_agreement_of(struct ny_context *ctx, const uint64_t *counts, size_t clusters, size_t classes,
                    struct ny_agreement *out)
{
    double n = 0, joint = 0, pairs = 0, expected, mean, information;
    struct margin by_cluster, by_class;
    uint64_t matched;
    int err = ny_matching_most(ctx, counts, clusters, classes, &matched);

    if (err) return err;
    for (size_t i = 0; i < clusters * classes; i++)
        n += (double)counts[i];
    for (size_t i = 0; i < clusters * classes; i++) {
        double count = (double)counts[i];

        pairs += pairs_of(count);
        if (count > 0) joint -= count / n * log(count / n);
    }
    by_cluster = add_up(counts, clusters, classes, classes, 1, n);
    by_class = add_up(counts, classes, 1, clusters, classes, n);
    information = by_cluster.entropy + by_class.entropy - joint;
    mean = (by_cluster.entropy + by_class.entropy) / 2;
    expected = n > 1 ? by_cluster.pairs * by_class.pairs / pairs_of(n) : 0;
    *out = (struct ny_agreement){
        .purity = by_cluster.most / n,
        .accuracy = (double)matched / n,
        .class_concentration = by_class.most / n,
        .nmi = mean > 0 ? fmax(information, 0) / mean : 1,
        .ari = by_cluster.pairs + by_class.pairs > 2 * expected
                   ? (pairs - expected) / ((by_cluster.pairs + by_class.pairs) / 2 - expected)
                   : 1};
    return NY_OK;
}
