/* Statistics of genotypes that are imported (stream/statistics.h), beside plain loops. */
#include "base/random.h"
#include "stream/statistics.h"
#include "support/context.h"

enum { ROWS = 700, COLUMNS = 300 }; /* more than are summed up at once */

/* The first columns have one value each, and then each other one has no zero and nothing missing;
 * what is missing counts as 0. */
static uint8_t *make_rows(void)
{
    uint8_t *rows = lend(ROWS * COLUMNS);

    for (size_t i = 0; i < ROWS; i++)
        for (size_t j = 0; j < COLUMNS; j++)
            rows[i * COLUMNS + j] = j < 4   ? (uint8_t)j
                                    : j % 2 ? (uint8_t)(1 + 2 * ny_hash01(1, i, j))
                                            : (uint8_t)(4 * ny_hash01(1, i, j));
    return rows;
}

TEST(moments_and_norms_are_those_of_counts)
{
    const uint8_t *rows = make_rows();
    double *cells = lend_zeros(4 * COLUMNS * sizeof(double)), norms = 0, wanted = 0;
    struct ny_moments moments = {.d = COLUMNS, .cells = cells};

    assert_true(ny_moments_add(&moments, NY_GENOTYPE, rows, ROWS, 0, COLUMNS));
    ny_norms_add(&norms, NY_GENOTYPE, rows, ROWS, COLUMNS);
    for (size_t j = 0; j < COLUMNS; j++) {
        double sum = 0, square = 0, least = 2, most = 0;

        for (size_t i = 0; i < ROWS; i++) {
            double x = rows[i * COLUMNS + j] % NY_GENOTYPE_MISSING;

            sum += x;
            square += x * x;
            least = fmin(least, x);
            most = fmax(most, x);
        }
        assert_true(cells[j] == sum / ROWS);
        assert_true(fabs(cells[COLUMNS + j] - (square - sum * sum / ROWS)) < 1e-9);
        assert_true(cells[2 * COLUMNS + j] == least && cells[3 * COLUMNS + j] == most);
    }
    for (size_t i = 0; i < ROWS; i++) {
        double square = 0;

        for (size_t j = 0; j < COLUMNS; j++)
            square += pow(rows[i * COLUMNS + j] % NY_GENOTYPE_MISSING, 2);
        wanted += sqrt(square);
    }
    assert_true(fabs(norms - wanted) < 1e-9 * wanted);
}

AROUND_EACH(start, stop)
