/* select/dictionary.c: what is computed from L, images, and memory. tests/property/test_greedy.c
 * has its numbers. */
#include "base/random.h"
#include "select/dictionary_private.h"
#include "support/test.h"

enum { D = 5, ROWS = 600 };

static struct ny_context *ctx;

OWNS_POINTER(ny_dictionary, ny_dictionary_free)

static struct ny_geometry *geometry;
static struct ny_columns_spec spec;
static float *x;
static char *records; /* records of them for specs of sparse ones */

static void start(void)
{
    double centre[D] = {0}, factor[D], *noise = lend(sizeof(double) * ROWS * D);

    for (size_t k = 0; k < D; k++)
        factor[k] = 1;
    assert_int_equal(ny_context_new(&ctx), NY_OK);
    assert_int_equal(ny_geometry_copy(&geometry, ctx, centre, factor, D), NY_OK);
    spec = (struct ny_columns_spec){.ctx = ctx,
                                    .kernel = ny_kernel_find("rbf"),
                                    .params = {.gamma = 0.5},
                                    .geometry = geometry,
                                    .dtype = NY_F32};
    x = lend(sizeof(float) * ROWS * D);
    ny_gaussian(1, NY_STREAM_DATA, 0, noise, ROWS * D);
    for (size_t i = 0; i < ROWS * D; i++)
        x[i] = (float)(3 * noise[i]);
    records = lend(ROWS * ny_row_bytes(NY_F32, D, D));
    for (size_t i = 0; i < ROWS; i++)
        assert_true(ny_sparse_from_dense(x + i * D, D, NY_F32,
                                         records + i * ny_row_bytes(NY_F32, D, D), D));
}

static void stop(void)
{
    ny_geometry_free(geometry, ctx);
    assert_int_equal(ny_memory_used(ctx), 0);
    ny_context_free(ctx);
}

/* The rows from row i on, in the layout of the spec. */
static struct ny_raw_rows rows_from(size_t i)
{
    return ny_raw_rows_from(&spec, spec.slots ? ny_raw_rows(records) : ny_raw_rows(x), i);
}

/* Adds rows 0 … of x, two at a time, as a rule does, with any numbers in L. */
static void grow(struct ny_dictionary *dictionary, size_t last, bool affine)
{
    double *row = lend(sizeof(double) * ROWS), k0[2];

    assert_int_equal(ny_dictionary_start(dictionary, 1000, rows_from(0), 1), NY_OK);
    for (size_t i = 1; i < last; i += 2) {
        size_t two = i + 1 < last ? 2 : 1;

        for (size_t t = 0; t < two; t++) {
            struct ny_factor_row factor = {.Z = row,
                                           .Z_count = i - affine,
                                           .more = row + i,
                                           .more_count = t,
                                           .pivot = 1 + ny_hash01(2, NY_STREAM_DATA, i + t)};

            ny_gaussian(3, NY_STREAM_DATA, i * ROWS, row, ROWS);
            for (size_t k = 0; k < ROWS; k++)
                row[k] /= ROWS;
            k0[t] = row[0];
            assert_int_equal(ny_dictionary_push(dictionary, 1000 + i + t, &factor, 1), NY_OK);
        }
        CHECK(ny_dictionary_extend(dictionary, rows_from(i), two, affine ? k0 : NULL));
    }
}

static struct ny_dictionary *made(size_t m, bool affine)
{
    const struct ny_dictionary_options options = {affine, 1e-3};
    struct ny_dictionary *dictionary;

    assert_int_equal(ny_dictionary_new(&dictionary, &spec, &options), NY_OK);
    if (m) grow(dictionary, m, affine);
    return dictionary;
}

static double entry_of_L(const struct ny_dictionary *dictionary, size_t i, size_t j)
{
    size_t b = i / NY_DICTIONARY_PANEL;

    return dictionary->panels[b]->L[i % NY_DICTIONARY_PANEL * ny_panel_stride(b) + j];
}

/* W_DD B = W_DJ where L_Dᵀ B = L_JDᵀ: over one panel and over several, at their borders and
 * between. And W1/m. */
TEST(coefficients_solve_with_L)
{
    static const size_t firsts[] = {1, 100, 256, 300, 512, 550};
    OWNED(ny_dictionary) *dictionary = made(ROWS, false);
    double means[ROWS], column[ROWS] = {0};

    for (size_t f = 0; f < sizeof(firsts) / sizeof(firsts[0]); f++) {
        size_t first = firsts[f], joining = ROWS - first;
        double *B = lend_zeros(first * joining * sizeof(double));

        ny_dictionary_coefficients(dictionary, first, ny_matrix(B, first, joining));
        for (size_t i = 0; i < first; i += 11)
            for (size_t j = 0; j < joining; j += 13) {
                double v = entry_of_L(dictionary, first + j, i);

                for (size_t k = i; k < first; k++)
                    v -= entry_of_L(dictionary, k, i) * B[k * joining + j];
                assert_near(v, 0, 1e-13);
            }
    }
    ny_dictionary_means(dictionary, 300, means);
    for (size_t i = 0; i < 300; i++)
        for (size_t j = 0; j <= i; j++)
            column[j] += entry_of_L(dictionary, i, j) / 300;
    for (size_t i = 0; i < 300; i++) {
        for (size_t j = 0; j <= i; j++)
            means[i] -= entry_of_L(dictionary, i, j) * column[j];
        assert_near(means[i], 0, 1e-13);
    }
}

/* Rows of L are also there rounded to f32. */
static void check_f32(const struct ny_panel *panel, size_t stride, size_t rows)
{
    for (size_t i = 0; i < rows * stride && i < NY_DICTIONARY_PANEL * stride; i++)
        assert_true(panel->L32[i] == (float)panel->L[i]);
}

static void check_images(void)
{
    static const size_t sizes[] = {0, 1, 2, 255, 256, 257, 512, 513, 600};

    for (int affine = 0; affine <= 1; affine++)
        for (size_t s = 0; s < sizeof(sizes) / sizeof(sizes[0]); s++) {
            struct ny_dictionary *first = made(sizes[s], affine), *second = made(0, affine);
            size_t bytes = ny_dictionary_save(first, NULL);
            char *image = lend(bytes), *again = lend(bytes);

            ny_dictionary_save(first, image);
            assert_int_equal(ny_dictionary_restore(second, image, bytes), NY_OK);
            assert_int_equal(ny_dictionary_save(second, again), bytes);
            assert_memory_equal(image, again, bytes);
            assert_int_equal(ny_dictionary_size(second), sizes[s]);
            for (size_t b = 0; b * NY_DICTIONARY_PANEL < first->rank; b++)
                check_f32(second->panels[b], ny_panel_stride(b),
                          second->rank - b * NY_DICTIONARY_PANEL);
            if (!spec.slots && sizes[s])
                assert_memory_equal(ny_columns_rows(ny_dictionary_columns(second)).at, x,
                                    sizes[s] * D * sizeof(float));
            assert_in_range(bytes, 1, ny_dictionary_image_most(&spec, sizes[s] ? sizes[s] : 1));
            ny_dictionary_free(first);
            ny_dictionary_free(second);
        }
}

TEST(images_restore_every_bit)
{
    check_images();
    spec.slots = D;
    check_images();
    spec.slots = 2 * D; /* records of fuller rows */
    records = lend(ROWS * ny_raw_bytes(&spec));
    for (size_t i = 0; i < ROWS; i++)
        assert_true(
            ny_sparse_from_dense(x + i * D, D, NY_F32, records + i * ny_raw_bytes(&spec), 2 * D));
    check_images();
}

/* The last landmark is packed at the end: its columns, in 24 bytes, and its values. */
TEST(sparse_images_are_not_believed)
{
    struct ny_dictionary *first, *same;
    size_t bytes, last = ny_sparse_bytes(NY_F32, D);
    uint32_t *index;
    uint64_t *count;
    char *image;

    spec.slots = D;
    first = made(40, false);
    same = made(0, false);
    bytes = ny_dictionary_save(first, NULL);
    image = lend(bytes);
    ny_dictionary_save(first, image);
    index = (uint32_t *)(void *)(image + bytes - last);
    count = (uint64_t *)(void *)(image + bytes - 40 * (last + sizeof(*count)));
    assert_int_equal(*count, D);
    index[D - 1] = D;
    assert_int_equal(ny_dictionary_restore(same, image, bytes), NY_ESTORE);
    index[D - 1] = index[D - 2];
    assert_int_equal(ny_dictionary_restore(same, image, bytes), NY_ESTORE);
    index[D - 1] = D - 1;
    *count = D + 1;
    assert_int_equal(ny_dictionary_restore(same, image, bytes), NY_ESTORE);
    *count = D - 1;
    assert_int_equal(ny_dictionary_restore(same, image, bytes), NY_ESTORE);
    *count = D;
    spec.slots = 0;
    assert_int_equal(ny_dictionary_size(same), 0);
    assert_int_equal(ny_dictionary_restore(same, image, bytes), NY_OK);
    ny_dictionary_free(first);
    ny_dictionary_free(same);
    ny_error_clear(ctx);
}

TEST(images_of_others_are_refused)
{
    struct ny_dictionary *first = made(40, false), *affine = made(0, true), *same = made(0, false);
    size_t bytes = ny_dictionary_save(first, NULL);
    char *image = lend(bytes);

    ny_dictionary_save(first, image);
    assert_int_equal(ny_dictionary_restore(affine, image, bytes), NY_ESTORE);
    assert_int_equal(ny_dictionary_restore(same, image, bytes - 8), NY_ESTORE);
    assert_int_equal(ny_dictionary_restore(same, image, 0), NY_ESTORE);
    image[0] ^= 1;
    assert_int_equal(ny_dictionary_restore(same, image, bytes), NY_ESTORE);
    image[0] ^= 1;
    image[15] = 64; /* a count beyond all memory */
    assert_int_equal(ny_dictionary_restore(same, image, bytes), NY_ESTORE);
    assert_int_equal(ny_dictionary_size(same), 0);
    ny_dictionary_free(first);
    ny_dictionary_free(affine);
    ny_dictionary_free(same);
    ny_error_clear(ctx);
}

TEST(memory_is_what_was_said)
{
    static const size_t sizes[] = {1, 256, 257, 600};

    for (size_t s = 0; s < 4; s++) {
        size_t before = ny_memory_used(ctx), used;
        struct ny_dictionary *dictionary = made(sizes[s], false);
        struct ny_layout dense = {0}, sparse = {0};

        used = ny_memory_used(ctx) - before;
        ny_dictionary_count(&dense, &spec, sizes[s]);
        assert_in_range(used, 1, ny_layout_most(&dense));
        assert_true((double)used > 0.8 * (double)ny_layout_most(&dense));
        ny_dictionary_free(dictionary);
        spec.slots = D;
        before = ny_memory_used(ctx);
        dictionary = made(sizes[s], false);
        ny_dictionary_count(&sparse, &spec, sizes[s]);
        assert_in_range(ny_memory_used(ctx) - before, 1, ny_layout_most(&sparse));
        ny_dictionary_free(dictionary);
        spec.slots = 0;
    }
}

/* Every allocation fails in turn: an error each time, and nothing is left behind. */
TEST(a_budget_that_ends_is_an_error)
{
    const struct ny_dictionary_options options = {true, 1e-3};
    size_t room = 0;
    int err;

    do {
        OWNED(ny_dictionary) *dictionary = NULL;

        ny_context_set_memory(ctx, ny_memory_used(ctx) + room);
        err = ny_dictionary_new(&dictionary, &spec, &options);
        if (!err) err = ny_dictionary_start(dictionary, 0, ny_raw_rows(x), 1);
        if (!err) {
            struct ny_factor_row factor = {.pivot = 1};
            double k = 0.5;

            err = ny_dictionary_push(dictionary, 1, &factor, 1);
            if (!err) err = ny_dictionary_extend(dictionary, ny_raw_rows(x + D), 1, &k);
        }
        if (!err && !ny_dictionary_columns(dictionary)) err = NY_EBUDGET;
        assert_true(err == NY_OK || err == NY_EBUDGET);
        ny_context_set_memory(ctx, 0);
        ny_error_clear(ctx);
        room += 4096;
    } while (err);
    assert_true(room > 256 * 256 * 12);
}

/* The place behind the last panel is nobody's: a full dictionary does not look there. */
TEST(a_full_dictionary_takes_no_more)
{
    const struct ny_dictionary_options options = {false, 1e-3};
    const size_t most = NY_PANELS_MAX * NY_DICTIONARY_PANEL;
    struct ny_factor_row factor = {.pivot = 1};
    struct ny_panel foreign = {0};
    struct ny_panel *panels[NY_PANELS_MAX + 1] = {[NY_PANELS_MAX] = &foreign}, **own;
    OWNED(ny_dictionary) *dictionary = NULL;

    assert_int_equal(ny_dictionary_new(&dictionary, &spec, &options), NY_OK);
    own = dictionary->panels;
    dictionary->panels = panels;
    dictionary->rank = dictionary->count = most;
    assert_int_equal(ny_dictionary_push(dictionary, 1, &factor, 1), NY_EBUDGET);
    assert_int_equal(dictionary->rank, most);
    dictionary->rank = dictionary->count = 0;
    dictionary->panels = own;
    ny_error_clear(ctx);
}

AROUND_EACH(start, stop)
