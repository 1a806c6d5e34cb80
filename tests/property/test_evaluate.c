/* Measures of pairs of rows, through the public interface, against their definitions by plain loops
 * over all pairs. */
#include "judged_case.h"

/* Rank of j from i, the first row nearer of those that are as far: a sorted list is not needed. */
static size_t rank_from(const float *rows, size_t d, size_t i, size_t j)
{
    double far = distance(rows + i * d, rows + j * d, d);
    size_t rank = 1;

    for (size_t l = 0; l < N; l++) {
        double other = distance(rows + i * d, rows + l * d, d);

        rank += l != i && l != j && (other < far || (other == far && l < j));
    }
    return rank;
}

/* 1 − 2/(n t (2n − 3t − 1)) Σ (r − t) over neighbours in `of` that are none in `by`. */
static double trust(const float *of, size_t of_d, const float *by, size_t by_d, size_t t)
{
    double sum = 0;

    for (size_t i = 0; i < N; i++)
        for (size_t j = 0; j < N; j++) {
            size_t rank;

            if (j == i || rank_from(of, of_d, i, j) > t) continue;
            rank = rank_from(by, by_d, i, j);
            if (rank > t) sum += (double)(rank - t);
        }
    return 1 - 2 * sum / ((double)(N * t) * (double)(2 * N - 3 * t - 1));
}

static const char *const fits[] = {
    "kernel=rbf gamma=0.8 landmarks=60",
    "map=svd kernel=polynomial degree=2",
    "map=pca approx=exact",
};

TEST(ranks)
{
    for (size_t f = 0; f < 3; f++) {
        struct judged of = {.report = NULL};

        make(&of, 0, fits[f]);
        judge(&of, "neighbors=7");
        near(&of, "trustworthiness", trust(of.y, P, of.x, D, 7), 1e-4);
        near(&of, "continuity", trust(of.x, D, of.y, P, 7), 1e-4);
        forget(&of);
    }
}

/* k(x,x) + k(x′,x′) − 2k(x,x′) */
static double kernel_distance(size_t fit, const float *a, const float *b)
{
    double aa = distance(a, (float[D]){0}, D), bb = distance(b, (float[D]){0}, D);
    double square = distance(a, b, D), ab = (aa + bb - square) / 2;

    if (fit == 0) return 2 - 2 * exp(-0.8 * square);
    if (fit == 1) return pow(aa / D + 1, 2) + pow(bb / D + 1, 2) - 2 * pow(ab / D + 1, 2);
    return square;
}

TEST(distances)
{
    for (size_t f = 0; f < 3; f++) {
        struct judged of = {.report = NULL};
        double e = 0, d2 = 0, x = 0, y = 0, xx = 0, yy = 0, xy = 0, pairs = N * (N - 1) / 2.0;

        make(&of, 0, fits[f]);
        judge(&of, "");
        for (size_t i = 0; i < N; i++)
            for (size_t j = 0; j < i; j++) {
                double wanted = kernel_distance(f, of.x + i * D, of.x + j * D);
                double a = sqrt(distance(of.x + i * D, of.x + j * D, D));
                double b = sqrt(distance(of.y + i * P, of.y + j * P, P));

                e += pow(wanted - b * b, 2);
                d2 += wanted * wanted;
                x += a;
                y += b;
                xx += a * a;
                yy += b * b;
                xy += a * b;
            }
        near(&of, "distance_error", sqrt(e / d2), 1e-5);
        near(&of, "distance_standard_error", 0, 0);
        near(&of, "residual_variance",
             1 - pow(xy - x * y / pairs, 2) / ((xx - x * x / pairs) * (yy - y * y / pairs)), 1e-5);
        forget(&of);
    }
}

/* Tells whether the split learns from the row: the one thing that is taken from the code. */
static bool learns(size_t row, unsigned split)
{
    return ny_hash01(0, NY_STREAM_SPLITS, row * 10 + split) < 0.5;
}

static double classes_of(const struct judged *of, size_t i, unsigned split, size_t t)
{
    size_t votes[CLASSES] = {0}, first[CLASSES] = {N, N, N}, best = 0;

    for (size_t rank = 0; rank < t; rank++) { /* the next nearest each time */
        static bool taken[N];
        size_t nearest = N;

        if (rank == 0) memset(taken, 0, sizeof(taken));
        for (size_t j = 0; j < N; j++) {
            if (j == i || taken[j] || !learns(j, split)) continue;
            if (nearest == N || distance(of->y + i * P, of->y + j * P, P) <
                                    distance(of->y + i * P, of->y + nearest * P, P))
                nearest = j;
        }
        taken[nearest] = true;
        if (first[(size_t)of->label[nearest]] == N) first[(size_t)of->label[nearest]] = rank;
        votes[(size_t)of->label[nearest]]++;
    }
    for (size_t c = 1; c < CLASSES; c++)
        if (votes[c] > votes[best] || (votes[c] == votes[best] && first[c] < first[best])) best = c;
    return (double)best;
}

TEST(classification)
{
    static const size_t votes[] = {1, 4, 55};

    for (int kind = 0; kind < 3; kind++) {
        struct judged of = {.report = NULL};

        make(&of, kind, fits[kind == 2 ? 2 : 0]);
        for (size_t v = 0; v < 3; v++) {
            double error[10], mean = 0, squares = 0;
            char *text = lend_text("knn-neighbors=%zu", votes[v]);

            judge(&of, text);
            for (unsigned split = 0; split < 10; split++) {
                double tested = 0, wrong = 0;

                for (size_t i = 0; i < N; i++) {
                    if (learns(i, split)) continue;
                    tested++;
                    wrong += classes_of(&of, i, split, votes[v]) != of.label[i];
                }
                error[split] = wrong / tested;
                mean += error[split] / 10;
            }
            for (unsigned split = 0; split < 10; split++)
                squares += pow(error[split] - mean, 2);
            near(&of, "knn_error", mean, 1e-12);
            near(&of, "knn_error_sd", sqrt(squares / 9), 1e-12);
            near(&of, "knn_rows", N, 0);
        }
        forget(&of);
    }
}

/* A sample's figures are near those of all rows, and its standard error says how near. */
TEST(samples)
{
    struct judged of = {.report = NULL};
    double all, part, error, sum = 0;

    make(&of, 0, fits[0]);
    judge(&of, "");
    all = number_of(of.report, "distance_error");
    for (unsigned seed = 0; seed < 30; seed++) {
        char *text = lend_text("sample=80 seed=%u", seed);

        judge(&of, text);
        part = number_of(of.report, "distance_error");
        error = number_of(of.report, "distance_standard_error");
        assert_true(error > 0 && fabs(part - all) < 5 * error);
        sum += pow((part - all) / error, 2);
    }
    assert_true(sum / 30 > 0.3 && sum / 30 < 3);
    forget(&of);
}

AROUND_ALL(start, stop)
