/*
 * Tests graph --knn exact against long-double distances of all pairs, for each metric, type and
 * number of columns, on rows where f32 tells little: normal noise far from the origin, whose
 * directions agree in six digits, and clouds far apart, whose products dwarf the distances within
 * each.
 */
#include "support/folder.h"

#include "base/random.h"
#include "support/files.h"
#include "support/options.h"
#include "support/results.h"

enum { NEIGHBORS = 5, COLUMNS_MAX = 600 };

enum shape { SHIFTED, APART, MULTIPLES };

struct rows {
    const char *dtype; /* of numpy */
    enum shape shape;
    size_t n, d;
    bool cosine, sparse;
    double *x; /* as stored */
};

/* SHIFTED: noise + 1,000 (of bytes: + 200); APART: two clouds around ±200; MULTIPLES: small whole
 * numbers, many of them multiples of one another. */
static double value_of(const struct rows *rows, size_t i, size_t k, double noise)
{
    bool bytes = rows->dtype[1] == 'u';

    if (rows->shape == MULTIPLES)
        return (double)(ny_hash64(3, NY_STREAM_DATA, i * rows->d + k) % 5);
    if (rows->shape == APART) return (i % 2 ? 200 : -200) + 1e-3 * noise;
    return bytes ? fmin(255, fmax(0, rint(200 + 15 * noise))) : 1000 + noise;
}

static void write_rows(struct rows *rows, const char *path)
{
    double noise[COLUMNS_MAX];

    rows->x = lend(rows->n * rows->d * sizeof(double));
    for (size_t i = 0; i < rows->n; i++) {
        ny_gaussian(11, NY_STREAM_DATA, i * COLUMNS_MAX, noise, rows->d);
        for (size_t k = 0; k < rows->d; k++) {
            double value = value_of(rows, i, k, noise[k]);

            rows->x[i * rows->d + k] = rows->dtype[2] == '4' ? (double)(float)value : value;
        }
    }
    write_npy(path, rows->dtype, rows->x, rows->n, rows->d);
}

/* Returns t row numbers a row, as the command finds and exports them. */
static size_t *found(const struct rows *rows, const char *input)
{
    const char *const files[] = {input};
    OWNED(ny_options) *layout = options_with(ctx, "%s", rows->sparse ? "layout=sparse" : "");
    OWNED(ny_options) *near =
        options_with(ctx, "neighbors=5 metric=%s", rows->cosine ? "cosine" : "euclidean");
    size_t *numbers;
    char *store = lend_text("%s/s.nys", directory);

    CHECK(ny_import(ctx, store, files, 1, layout, NULL));
    CHECK(ny_graph(ctx, store, "g", near, NULL));
    numbers = rows_of_result(ctx, store, "g", "neighbors", rows->n, NEIGHBORS);
    case_remove(store);
    return numbers;
}

/* ‖x − y‖², or half that of the directions, which is 1 − cos; 1 for a zero row. */
static long double apart(const struct rows *rows, size_t i, size_t j)
{
    const double *x = rows->x + i * rows->d, *y = rows->x + j * rows->d;
    long double xx = 0, yy = 0, sum = 0;

    for (size_t k = 0; k < rows->d; k++) {
        xx += (long double)x[k] * x[k];
        yy += (long double)y[k] * y[k];
    }
    if (rows->cosine && (xx == 0 || yy == 0)) return 1;
    xx = rows->cosine ? sqrtl(xx) : 1;
    yy = rows->cosine ? sqrtl(yy) : 1;
    for (size_t k = 0; k < rows->d; k++)
        sum += (x[k] / xx - y[k] / yy) * (x[k] / xx - y[k] / yy);
    return rows->cosine ? sum / 2 : sum;
}

/* The error that f64 may have in a distance: directions lose 1e-15 of their difference. */
static long double tolerance(long double want)
{
    return 1e-9L * want + 1e-14L * sqrtl(want) + 1e-29L;
}

static int ascending(const void *a, const void *b)
{
    const long double *x = a, *y = b;

    return (*x > *y) - (*x < *y);
}

/* The k-th neighbour of each row is as near as its k-th nearest row is, and named once. */
static void check_rows(struct rows rows)
{
    size_t *got;
    long double *all = lend(rows.n * sizeof(*all)), *sorted = lend(rows.n * sizeof(*sorted));
    char *input = lend_text("%s/in.npy", directory);

    write_rows(&rows, input);
    got = found(&rows, input);
    for (size_t i = 0; i < rows.n; i++) {
        for (size_t j = 0; j < rows.n; j++)
            sorted[j] = all[j] = j == i ? INFINITY : apart(&rows, i, j);
        qsort(sorted, rows.n, sizeof(*sorted), ascending);
        for (size_t k = 0; k < NEIGHBORS; k++) {
            size_t j = got[i * NEIGHBORS + k];

            if (j >= rows.n || !(all[j] <= sorted[k] + tolerance(sorted[k])))
                fail_msg("%s, %zu columns, %s%s: neighbour %zu of row %zu is at %Lg, not at %Lg",
                         rows.dtype, rows.d, rows.cosine ? "cosine" : "euclidean",
                         rows.sparse ? ", sparse" : "", k, i, j < rows.n ? all[j] : -1, sorted[k]);
            all[j] = INFINITY;
        }
    }
}

static const char *const dtypes[] = {"<f4", "<f8", "|u1"};

TEST(neighbours_are_exact_in_every_dimension)
{
    static const size_t wide[] = {40, 257};

    for (size_t t = 0; t < 3; t++)
        for (int cosine = 0; cosine < 2; cosine++) {
            for (size_t d = 1; d <= 12; d++)
                check_rows((struct rows){.dtype = dtypes[t], .n = 300, .d = d, .cosine = cosine});
            for (size_t w = 0; w < 2; w++)
                check_rows(
                    (struct rows){.dtype = dtypes[t], .n = 200, .d = wide[w], .cosine = cosine});
        }
}

TEST(sparse_neighbours_are_exact)
{
    static const size_t columns[] = {1, 5, 30};

    for (size_t t = 0; t < 3; t++)
        for (size_t c = 0; c < 3; c++)
            for (int cosine = 0; cosine < 2; cosine++)
                check_rows((struct rows){.dtype = dtypes[t],
                                         .n = 300,
                                         .d = columns[c],
                                         .cosine = cosine,
                                         .sparse = true});
}

TEST(clouds_apart_are_told_from_rounding)
{
    static const size_t columns[] = {8, 9, 250, 600};

    for (size_t t = 0; t < 2; t++)
        for (size_t c = 0; c < 4; c++)
            for (int cosine = 0; cosine < 2; cosine++)
                check_rows((struct rows){.dtype = dtypes[t],
                                         .shape = APART,
                                         .n = 120,
                                         .d = columns[c],
                                         .cosine = cosine});
}

/* cos² of whole numbers is a fraction: neighbours go by it, and by row number where it is equal. */
static int nearer(const double *x, const double *y, const double *z, size_t d)
{
    int64_t xy = 0, xz = 0, yy = 0, zz = 0, a, b;

    for (size_t k = 0; k < d; k++) {
        xy += (int64_t)(x[k] * y[k]);
        xz += (int64_t)(x[k] * z[k]);
        yy += (int64_t)(y[k] * y[k]);
        zz += (int64_t)(z[k] * z[k]);
    }
    a = yy ? xy * xy * (zz ? zz : 1) : 0;
    b = zz ? xz * xz * (yy ? yy : 1) : 0;
    return (a > b) - (a < b);
}

TEST(equal_angles_go_by_row_number)
{
    struct rows rows = {.dtype = "|u1", .shape = MULTIPLES, .n = 400, .cosine = true};
    char *input = lend_text("%s/in.npy", directory);

    for (rows.d = 1; rows.d <= 9; rows.d += 2)
        for (int sparse = 0; sparse < 2; sparse++) {
            size_t *got;

            rows.sparse = sparse;
            write_rows(&rows, input);
            got = found(&rows, input);
            for (size_t i = 0; i < rows.n; i++)
                for (size_t k = 0; k < NEIGHBORS; k++) {
                    const double *x = rows.x + i * rows.d;
                    size_t j = got[i * NEIGHBORS + k];
                    size_t before = 0; /* rows that come before this neighbour */

                    for (size_t l = 0; l < rows.n; l++) {
                        int side = nearer(x, rows.x + l * rows.d, rows.x + j * rows.d, rows.d);

                        before += l != i && (side > 0 || (side == 0 && l < j));
                    }
                    if (before != k)
                        fail_msg("%zu columns%s: %zu rows come before neighbour %zu of row %zu",
                                 rows.d, sparse ? ", sparse" : "", before, k, i);
                }
        }
}

AROUND_ALL(new_folder, remove_folder)
