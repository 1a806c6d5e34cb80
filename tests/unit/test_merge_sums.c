/*
 * merge/sums.h: what is written about merged sums, which nobody sees before they are solved, and
 * images whose checksums are right but which say what cannot be.
 */
#include "base/checksum.h"
#include "base/memory.h"
#include "merge/sums.h"
#include "unit/sums_case.h"

/* The image of sums of so many rows, from row `first` on; free() it. */
static char *image_of(uint64_t first, uint64_t rows, size_t *bytes)
{
    struct ny_table table = dense(NY_F32, 0), part = part_of(&table, first, first + rows);
    OWNED(ny_options) *o = options_of(NULL);
    OWNED(ny_sums) *sums = NULL;
    const void *image;
    char *copy;

    ok(ny_sums_new(&sums, in.ctx, o));
    ok(ny_sums_add(sums, &part));
    ok(ny_sums_image(sums, &image, bytes));
    copy = lend(*bytes);
    memcpy(copy, image, *bytes);
    return copy;
}

/* Sums with a Gram of this precision and noise ("a": 0.5, …), NULL: none. */
static struct ny_summed *sums_of(uint64_t first, const char *gram, const char *noise)
{
    struct ny_summed *sums;
    size_t bytes;
    char *image = image_of(first, 60, &bytes);

    ok(ny_summed_load(&sums, in.ctx, image, bytes, "x"));
    ok(json_object_set_new(sums->about, "gram", json_string(gram)));
    json_object_del(sums->about, "noise");
    if (noise) ok(json_object_set_new(sums->about, "noise", json_loads(noise, 0, NULL)));
    return sums;
}

/* ---- what is kept of both -------------------------------------------------------------------- */

static void check_kept(const char *const grams[2], const char *const noises[2], const char *gram,
                       const char *noise)
{
    for (int turned = 0; turned < 2; turned++) {
        struct ny_summed *a = sums_of(0, grams[turned], noises[turned]);
        struct ny_summed *b = sums_of(60, grams[!turned], noises[!turned]);
        OWNED(json_t) *wanted = noise ? json_loads(noise, 0, NULL) : NULL;

        ok(ny_summed_add(a, "a", b, "b", NULL));
        assert_string_equal(json_string_value(json_object_get(a->about, "gram")), gram);
        assert_true(wanted ? json_equal(json_object_get(a->about, "noise"), wanted)
                           : !json_object_get(a->about, "noise"));
        assert_int_equal(a->acc->rows, 120);
        ny_summed_free(a);
        ny_summed_free(b);
    }
}

/* f32 sums in one part are f32 sums in all, with the largest noise in each respect. */
TEST(the_coarser_of_both_is_kept)
{
    const char *small = "{\"trace\": 0.5, \"others\": 3.0}";
    const char *large = "{\"trace\": 2.0, \"others\": 0.25, \"residual\": 1.0}";
    const char *most = "{\"trace\": 2.0, \"others\": 3.0, \"residual\": 1.0}";

    check_kept((const char *[]){"f64", "f64"}, (const char *[]){NULL, NULL}, "f64", NULL);
    check_kept((const char *[]){"f32", "f32"}, (const char *[]){small, large}, "f32", most);
    check_kept((const char *[]){"f32", "f64"}, (const char *[]){small, NULL}, "f32", small);
    check_kept((const char *[]){"f64", "f32"}, (const char *[]){NULL, NULL}, "f32", NULL);
}

/* The shift of the tiles follows from the landmarks, and is off in its last bits where another
 * machine has computed it; each part has a centre of its own. What else the base has, has to agree.
 */
TEST(shifts_and_centres_may_differ)
{
    struct ny_summed *a = sums_of(0, "f32", NULL), *b = sums_of(60, "f32", NULL);
    double *factor;

    for (size_t j = 0; j < b->base->m; j++)
        b->base->a[j] *= 1 + 0x1p-50;
    for (size_t j = 0; j < b->base->d; j++)
        b->base->spec.geometry->centre[j] += 1;
    ok(ny_summed_add(a, "a", b, "b", NULL));
    ny_summed_free(b);
    b = sums_of(120, "f32", NULL);
    b->base->spec.preparation.values = NY_VALUES_SQRT;
    fails(NY_EDATA, ny_summed_add(a, "a", b, "b", NULL));
    ny_error_clear(in.ctx);
    b->base->spec.preparation.values = a->base->spec.preparation.values;
    factor = b->base->spec.geometry->factor;
    factor[COLUMNS - 1] *= 1 + 0x1p-50;
    fails(NY_EUSAGE, ny_summed_add(a, "a", b, "b", NULL));
    assert_int_equal(a->acc->rows, 120);
    ny_summed_free(a);
    ny_summed_free(b);
}

/* Solves sums whose f32 Grams have this noise. */
static int solve_with(const char *noise)
{
    struct ny_summed *sums = sums_of(0, "f32", noise);
    OWNED(ny_sums) *loaded = NULL;
    struct ny_model *model;
    size_t bytes;
    void *image;
    int err;

    ny_error_clear(in.ctx);
    ok(ny_summed_image(sums, &image, &bytes));
    ok(ny_sums_load(&loaded, in.ctx, image, bytes));
    err = ny_sums_solve(loaded, &model, NULL);
    if (!err) ny_model_free(model);
    ny_free(in.ctx, image);
    ny_summed_free(sums);
    return err;
}

/* Sums that have lost what the result needs cannot be made anew here. */
TEST(sums_too_coarse_are_refused)
{
    static const char none[] = "{\"trace\": 0.0, \"diagonal\": 0.0, \"others\": 0.0, "
                               "\"coherent\": 0.0, \"residual\": 0.0}";
    static const char much[] = "{\"trace\": 1e9, \"diagonal\": 0.0, \"others\": 0.0, "
                               "\"coherent\": 0.0, \"residual\": 0.0}";

    ok(solve_with(none));
    fails(NY_ENUMERIC, solve_with(much));
}

/* ---- images ---------------------------------------------------------------------------------- */

enum { ABOUT_BYTES = 24, BASE_BYTES = 32, SUMS_BYTES = 40, HEADER_BYTES = 48 };

/* Refuses the image with its checksum made right. */
static void refuses(char *image, size_t bytes)
{
    uint64_t checksum = ny_checksum(image, bytes - sizeof(checksum));
    struct ny_summed *sums;

    memcpy(image + bytes - sizeof(checksum), &checksum, sizeof(checksum));
    fails(NY_ESTORE, ny_summed_load(&sums, in.ctx, image, bytes, "x"));
    assert_null(sums);
    ny_error_clear(in.ctx);
    assert_int_equal(ny_memory_used(in.ctx), 0);
}

static uint64_t size_at(const char *image, size_t at)
{
    uint64_t size;

    memcpy(&size, image + at, sizeof(size));
    return size;
}

/* Sums of fewer landmarks, or of more, than the base has, all sizes of which add up. */
TEST(sums_of_other_landmarks_are_refused)
{
    size_t bytes;
    char *image = image_of(0, 60, &bytes), *other = lend(bytes + 800);

    for (int more = -800; more <= 800; more += 8) {
        uint64_t size = (uint64_t)((int64_t)size_at(image, SUMS_BYTES) + more);

        if (!more) continue;
        memset(other, 0, bytes + 800);
        memcpy(other, image, more < 0 ? bytes - 800 : bytes);
        memcpy(other + SUMS_BYTES, &size, sizeof(size));
        refuses(other, (size_t)((int64_t)bytes + more));
    }
}

TEST(bytes_that_no_size_counts_are_refused)
{
    size_t bytes;
    char *image = image_of(0, 60, &bytes), *longer = lend(bytes + 8);

    memset(longer, 0, bytes + 8);
    memcpy(longer, image, bytes);
    refuses(longer, bytes + 8);
}

/* Parts whose rows are not those that were summed up, and sums of other rows than parts have. */
TEST(parts_of_other_rows_are_refused)
{
    static const char *const rows[] = {",59]", ",61]", ",-1]", ",0] "};
    size_t bytes, about, base;
    char *image = image_of(0, 60, &bytes), *at = strstr(image + HEADER_BYTES, ",60]");

    assert_non_null(at);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        memcpy(at, rows[i], 4);
        refuses(image, bytes);
    }
    memcpy(at, ",60]", 4);
    about = ny_padded(size_at(image, ABOUT_BYTES));
    base = ny_padded(size_at(image, BASE_BYTES));
    at = image + HEADER_BYTES + about + base; /* the first number of an accumulator: its rows */
    assert_int_equal(size_at(at, 0), 60);
    at[0] = 61;
    refuses(image, bytes);
}

AROUND_EACH(setup, api_case_end)
