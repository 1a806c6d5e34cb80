/* Appends warn of rows that lie far outside those of the store, and of no others: many kinds of
 * values, each with nights of the same kind and with nights that are on another scale. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "nystream.h"
#include "support/store_folder.h"

enum { D = 20, BASE = 2000, NIGHT_MOST = 1000, SEEDS = 4 };

static int warnings;
static char said[512];

static void hear(void *user, int level, const char *message)
{
    (void)user;
    if (level != NY_LOG_WARNING) return;
    warnings++;
    snprintf(said, sizeof(said), "%s", message);
}

static uint64_t state_of_random;

/* In (0, 1), by splitmix64. */
static double uniform(void)
{
    uint64_t z = state_of_random += 0x9e3779b97f4a7c15u;

    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return ((double)((z ^ z >> 31) >> 11) + 0.5) / 9007199254740992.0;
}

static double gaussian(void)
{
    return sqrt(-2 * log(uniform())) * cos(6.283185307179586 * uniform());
}

static double shifted(void)
{
    return 1e4 + gaussian();
}

static double lognormal(void)
{
    return exp(2 * gaussian());
}

static double cauchy(void)
{
    return tan(3.141592653589793 * (uniform() - 0.5));
}

static double student3(void)
{
    double a = gaussian(), b = gaussian(), c = gaussian();

    return gaussian() / sqrt((a * a + b * b + c * c) / 3);
}

/* Counts of which nearly all are 0. */
static double rare(void)
{
    return uniform() < 1e-3 ? floor(1 / uniform()) : 0;
}

static double count(void)
{
    return uniform() < 0.1 ? floor(-5 * log(uniform())) : 0;
}

static const struct kind {
    const char *name;
    double (*draw)(void);
    bool scales; /* a hundredfold scale is seen */
    bool tails;  /* a few values are far larger than most */
    bool units;  /* another unit of one column is seen */
} kinds[] = {{"uniform", uniform, true, false, true},
             {"gaussian", gaussian, true, false, true},
             {"shifted", shifted, true, false, true},
             {"lognormal", lognormal, false, true, true},
             {"cauchy", cauchy, false, true, true},
             {"student", student3, true, true, true},
             {"rare counts", rare, false, true, false},
             {"counts", count, true, true, false}};

static float rows[BASE * D];

static void draw(const struct kind *kind, size_t count_rows)
{
    for (size_t i = 0; i < count_rows * D; i++)
        rows[i] = (float)kind->draw();
}

/* Warnings of an append of rows, to a store of its own with `BASE` rows of the kind. */
static int warned(const struct kind *kind, size_t night, size_t column, double factor, double plus)
{
    draw(kind, BASE);
    CHECK(ny_append_rows(ctx, path, rows, BASE, D, NULL));
    draw(kind, night);
    for (size_t i = 0; i < night * D; i++)
        if (column == D || i % D == column) rows[i] = (float)(rows[i] * factor + plus);
    warnings = 0;
    CHECK(ny_append_rows(ctx, path, rows, night, D, NULL));
    case_remove(path);
    return warnings;
}

static void rows_of_the_same_kind_are_let_in_silently(void **state)
{
    static const size_t nights[] = {1, 2, 30, 33, 100, NIGHT_MOST};

    (void)state;
    for (size_t k = 0; k < sizeof(kinds) / sizeof(kinds[0]); k++)
        for (uint64_t seed = 0; seed < SEEDS; seed++)
            for (size_t i = 0; i < sizeof(nights) / sizeof(nights[0]); i++) {
                state_of_random = 1000 * seed + k;
                if (warned(&kinds[k], nights[i], D, 1, 0))
                    fail_msg("%zu rows, %s, seed %d: %s", nights[i], kinds[k].name, (int)seed,
                             said);
                /* nor half or twice the size, as another night may have */
                if (warned(&kinds[k], nights[i], D, i % 2 ? 2 : 0.5, 0) && k != 2)
                    fail_msg("%zu rows, %s, seed %d: %s", nights[i], kinds[k].name, (int)seed,
                             said);
            }
}

static void another_scale_is_told(void **state)
{
    (void)state;
    for (size_t k = 0; k < sizeof(kinds) / sizeof(kinds[0]); k++)
        for (uint64_t seed = 0; kinds[k].scales && seed < SEEDS; seed++) {
            state_of_random = 1000 * seed + k;
            if (!warned(&kinds[k], kinds[k].tails ? BASE : 500, D, 100, 0))
                fail_msg("%s a hundredfold, seed %d", kinds[k].name, (int)seed);
            assert_non_null(strstr(said, kinds[k].tails ? "of 20 columns" : "in 20 of 20 columns"));
            assert_non_null(strstr(said, "--keep 2000"));
            if (kinds[k].tails) continue; /* in some columns, and not in each */
            if (!warned(&kinds[k], 500, 7, 100, 0))
                fail_msg("one column of %s, seed %d", kinds[k].name, (int)seed);
            assert_non_null(strstr(said, "in 1 of 20 columns, most of all in column 7 "));
        }
}

/* Also where a few values are so large that the standard deviation hides all others. */
static void another_unit_of_a_column_is_told(void **state)
{
    static const double units[] = {0.0254, 0.01, 100};

    (void)state;
    for (size_t k = 0; k < sizeof(kinds) / sizeof(kinds[0]); k++)
        for (uint64_t seed = 0; seed < SEEDS; seed++)
            for (size_t i = 0; kinds[k].units && i < sizeof(units) / sizeof(units[0]); i++) {
                state_of_random = 1000 * seed + k;
                if (warned(&kinds[k], 500, 7, units[i], 0) != 1)
                    fail_msg("%s times %g, seed %d: %d warnings", kinds[k].name, units[i],
                             (int)seed, warnings);
                assert_non_null(strstr(said, "column 7 "));
                assert_non_null(strstr(said, "--keep 2000"));
            }
}

static void an_offset_is_told(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        state_of_random = seed;
        assert_int_equal(warned(&kinds[1], 40, 3, 1, -25), 1);
        assert_non_null(strstr(said, "most of all in column 3 "));
        assert_non_null(strstr(said, "where they are 2")); /* 25 standard deviations, or nearly */
    }
}

static int begin(void **state)
{
    if (make_folder(state)) return -1;
    ny_context_set_log(ctx, hear, NULL);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_of_the_same_kind_are_let_in_silently),
        cmocka_unit_test(another_scale_is_told),
        cmocka_unit_test(another_unit_of_a_column_is_told),
        cmocka_unit_test(an_offset_is_told),
    };

    return cmocka_run_group_tests_name("rows far outside", tests, begin, remove_folder);
}
