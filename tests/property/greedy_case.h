/* The greedy selection, literally: data, kernels, Algorithms 1 and 2 with plain loops in f64;
 * and the selection under test, on rows in memory. */
#ifndef TESTS_PROPERTY_GREEDY_CASE_H
#define TESTS_PROPERTY_GREEDY_CASE_H

#include <stdatomic.h>

#include "property/selection_case.h"
#include "select/greedy.h"

/* ---- a case, and what must come out --------------------------------------------------------- */

static bool is_in(const struct dictionary *D, size_t i)
{
    for (size_t a = 0; a < D->m; a++)
        if (D->rows[a] == i) return true;
    return false;
}

/* Bounds the rounding error of a δ that is 0: no row joins by it. */
static double zero(const struct dictionary *D, const struct sought *kind, const struct rows *r,
                   double k)
{
    double largest = k;

    for (size_t a = 0; a < D->m; a++)
        largest = fmax(largest, kernel_of(kind, r, D->rows[a], D->rows[a], D->rows[0]));
    return ((double)D->rank + 16) * 0x1p-52 * largest;
}

/* Algorithm 1 over the data set without D, from D on: ends as soon as there are `most`, or before
 * a row is taken for which there is no more room. */
static void algorithm1_from(struct dictionary *D, const struct sought *kind, const struct rows *r,
                            double epsilon, size_t most)
{
    double *z = lend(D->capacity * sizeof(*z));

    for (size_t i = 0; i < r->n && D->m < most; i++) {
        double k = plain_kernel(&kind->kind, r, i, i), delta;

        if (is_in(D, i)) continue;
        if (!D->m) {
            if (k > 0) add(D, i, kind->affine ? NULL : z, k);
            continue;
        }
        delta = substitute_above(D, kind, r, i, z, epsilon);
        if (delta > epsilon && delta > zero(D, kind, r, k)) add(D, i, z, delta);
    }
}

/* ---- the selection under test --------------------------------------------------------------- */

static bool certifies; /* --certify */

/* Rows in memory, which counts what is asked of it. */
struct counted {
    struct ny_source base;
    struct ny_source *rows;
    atomic_uint_fast64_t count;
};

static int take_counted(struct ny_source *source, struct ny_tile *tile)
{
    struct ny_source *rows = ((struct counted *)source)->rows;

    return rows->ops->take(rows, tile);
}

static int strip_counted(struct ny_source *source, const struct ny_tile *tile, size_t first,
                         size_t count, void *out)
{
    struct counted *counted = (struct counted *)source;

    if (tile->skipped) return ny_fail(ctx, NY_EINTERNAL, "a strip of a skipped unit");
    atomic_fetch_add(&counted->count, count);
    return counted->rows->ops->strip(counted->rows, tile, first, count, out);
}

static int run_from(const struct sought *kind, const struct rows *r, unsigned workers,
                    struct images *images, const struct image *from, struct ny_selection *selection)
{
    struct ny_geometry *geometry;
    const struct ny_columns_spec spec = plain_spec(&kind->kind, r->d, &geometry);
    struct ny_selection_request request = {
        .ctx = ctx,
        .n = r->n,
        .spec = &spec,
        .landmarks = kind->cap,
        .greedy.dictionary = {.affine = kind->affine, .tolerance = kind->tolerance},
        .certify = certifies,
        .workers = workers,
        .checkpoint = {.save = images ? keep_image : NULL,
                       .arg = images,
                       .image = from ? from->at : NULL,
                       .image_bytes = from ? from->bytes : 0}};
    const struct ny_greedy_bracket pilot = {kind->low, kind->high};
    static const struct ny_source_ops ops = {.take = take_counted, .strip = strip_counted};
    struct counted counted = {.count = 0};
    int err;

    ny_context_set_checkpoint(ctx, 0);
    assert_int_equal(ny_source_of_memory(&counted.rows, ctx, r->x, NY_F32, r->n, r->d), NY_OK);
    counted.base = *counted.rows;
    counted.base.ops = &ops;
    err = ny_greedy_select_from(&request, &pilot, &counted.base, selection);
    /* Units that were taken ahead when a run stopped are read in vain. */
    if (!err && !from)
        assert_in_range(atomic_load(&counted.count), selection->rows_read,
                        selection->rows_read + selection->passes * NY_GREEDY_AHEAD * NY_UNIT_ROWS);
    ny_source_free(counted.rows);
    ny_geometry_free(geometry, ctx);
    return err;
}

static void run(const struct sought *kind, const struct rows *r, unsigned workers,
                struct images *images, struct ny_selection *selection)
{
    int err = run_from(kind, r, workers, images, NULL, selection);

    if (err) fail_msg("%s", ny_context_message(ctx));
}

/* The images hold dictionary, L and bounds: equal images are equal bytes of all of them. */
static void check_workers(const struct sought *kind, const struct rows *r)
{
    struct images one = {0}, other = {0};
    OWNED(ny_selection) a;

    run(kind, r, 1, &one, &a);
    assert_true(one.count >= (r->n + NY_UNIT_ROWS - 1) / NY_UNIT_ROWS);
    for (unsigned workers = 2; workers <= 4; workers++) {
        OWNED(ny_selection) b;

        if (workers == 3) ny_context_set_memory(ctx, ny_memory_used(ctx) + (120u << 20));
        run(kind, r, workers, &other, &b);
        ny_context_set_memory(ctx, 0);
        assert_same_selection(&a, &b, r->n);
        assert_same_images(&one, &other);
        free_images(&other);
    }
    free_images(&one);
}

/* Checks that runs resumed from every `step`th image end alike. */
static void check_resumes(const struct sought *kind, const struct rows *r, size_t step)
{
    struct images images = {0}, rest = {0};
    OWNED(ny_selection) a;
    size_t last;

    run(kind, r, 2, &images, &a);
    assert_true(images.count >= (r->n + NY_UNIT_ROWS - 1) / NY_UNIT_ROWS);
    last = images.count - 1;
    for (size_t i = 0; i <= last; i += step) {
        OWNED(ny_selection) b;

        assert_int_equal(run_from(kind, r, 3, &rest, &images.image[i], &b), NY_OK);
        assert_same_selection(&a, &b, r->n);
        assert_int_equal(rest.count, last - i);
        if (rest.count)
            assert_memory_equal(rest.image[rest.count - 1].at, images.image[last].at,
                                images.image[last].bytes);
        free_images(&rest);
    }
    free_images(&images);
}

#endif
