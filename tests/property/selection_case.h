/* Selections from a store, and what they are to be compared with: rows, kernels and residuals with
 * plain loops in f64. */
#ifndef TESTS_PROPERTY_SELECTION_CASE_H
#define TESTS_PROPERTY_SELECTION_CASE_H

#include "base/random.h"
#include "select/rules.h"
#include "support/images.h"
#include "support/store_folder.h"

struct rows {
    size_t n, d;
    float *x;
    struct ny_store *store;
};

/* Clusters of Gaussian points about `offset`, with every seventh row a copy of an earlier one. */
static struct rows blobs(size_t n, size_t d, double spread, double offset)
{
    struct rows r = {.n = n, .d = d, .x = lend(n * d * sizeof(float))};
    double *centre = lend(2 * d * sizeof(double)), *noise = centre + d;

    for (size_t i = 0; i < n; i++) {
        size_t cluster = ny_hash64(2, NY_STREAM_DATA, i) % 64;

        ny_gaussian(1, NY_STREAM_DATA, cluster * d, centre, d);
        ny_gaussian(3, NY_STREAM_DATA, i * d, noise, d);
        for (size_t k = 0; k < d; k++)
            r.x[i * d + k] = (float)(offset + centre[k] + spread * noise[k]);
        if (i % 7 == 6) memcpy(r.x + i * d, r.x + i / 2 * d, d * sizeof(float));
    }
    return r;
}

static inline void keep_rows(struct rows *r)
{
    static int number;
    const struct ny_ingest_spec spec = {.d = r->d, .dtype = NY_F32};
    const struct ny_ingest_rows rows = {.values = r->x, .count = r->n, .consumed = r->n};

    snprintf(path, sizeof(path), "%s/%d.nys", directory, number++);
    assert_int_equal(ny_store_create(&r->store, ctx, path), NY_OK);
    assert_int_equal(case_ingest(r->store, &spec, &rows), NY_OK);
}

static void free_rows(struct rows *r)
{
    ny_store_close(r->store);
}

OWNS(rows, free_rows(at))
OWNS(ny_selection, ny_selection_release(at, ctx))

struct kind {
    const char *kernel;
    struct ny_kernel_params params;
};

static inline double plain_kernel(const struct kind *kind, const struct rows *r, size_t i, size_t j)
{
    double dot = 0, square = 0, absolute = 0, power = 1;

    for (size_t k = 0; k < r->d; k++) {
        double x = (double)r->x[i * r->d + k], y = (double)r->x[j * r->d + k];
        dot += x * y;
        square += (x - y) * (x - y);
        absolute += fabs(x - y);
    }
    if (!strcmp(kind->kernel, "rbf")) return exp(-kind->params.gamma * square);
    if (!strcmp(kind->kernel, "laplacian")) return exp(-kind->params.gamma * absolute);
    if (!strcmp(kind->kernel, "linear")) return dot;
    for (unsigned k = 0; k < kind->params.second; k++)
        power *= kind->params.gamma * dot + kind->params.first;
    return power;
}

struct sought {
    struct kind kind;
    bool affine;
    double tolerance; /* NaN: Algorithm 2, which stops at `cap` landmarks */
    size_t cap;
    double high; /* its first ε⁻; 0: 1 */
    double low;  /* and ε⁺ */
};

/* The kernel that the selection is about: translated by row `origin` when affine. */
static inline double kernel_of(const struct sought *kind, const struct rows *r, size_t i, size_t j,
                               size_t origin)
{
    if (!kind->affine) return plain_kernel(&kind->kind, r, i, j);
    return (plain_kernel(&kind->kind, r, i, j) - plain_kernel(&kind->kind, r, i, origin)) -
           (plain_kernel(&kind->kind, r, origin, j) - plain_kernel(&kind->kind, r, origin, origin));
}

struct dictionary {
    size_t m, rank, capacity; /* rows, and rows of L */
    size_t *rows;
    double *L; /* capacity² */
};

/* δ of row i, and its z in L z = k; ends where δ is ε or less: it only falls. */
static inline double substitute_above(const struct dictionary *D, const struct sought *kind,
                                      const struct rows *r, size_t i, double *z, double epsilon)
{
    size_t first = D->m - D->rank;
    double delta = kernel_of(kind, r, i, i, D->m ? D->rows[0] : 0);

    for (size_t a = 0; a < D->rank && delta > epsilon; a++) {
        z[a] = kernel_of(kind, r, i, D->rows[first + a], D->rows[0]);
        for (size_t b = 0; b < a; b++)
            z[a] -= D->L[a * D->capacity + b] * z[b];
        z[a] /= D->L[a * D->capacity + a];
        delta -= z[a] * z[a];
    }
    return delta;
}

static inline double substitute(const struct dictionary *D, const struct sought *kind,
                                const struct rows *r, size_t i, double *z)
{
    return substitute_above(D, kind, r, i, z, -INFINITY);
}

static inline struct dictionary no_dictionary(size_t capacity)
{
    return (struct dictionary){.capacity = capacity,
                               .rows = lend(capacity * sizeof(size_t)),
                               .L = lend_zeros(capacity * capacity * sizeof(double))};
}

static inline void add(struct dictionary *D, size_t i, const double *z, double delta)
{
    assert_true(D->m < D->capacity);
    D->rows[D->m++] = i;
    if (!z) return; /* affine: the origin */
    memcpy(D->L + D->rank * D->capacity, z, D->rank * sizeof(*z));
    D->L[D->rank * D->capacity + D->rank] = sqrt(delta);
    D->rank++;
}

/* Factors the rows that are not in the span of the ones before. */
static inline struct dictionary factor_of(const struct sought *kind, const struct rows *r,
                                          const uint64_t *rows, size_t m)
{
    struct dictionary D = no_dictionary(m + 1);
    double *z = lend((m + 1) * sizeof(*z));

    for (size_t i = 0; i < m; i++) {
        size_t row = (size_t)rows[i];
        double delta = substitute(&D, kind, r, row, z);

        if (kind->affine && i == 0)
            add(&D, row, NULL, 0);
        else if (delta >= 1e-12 * plain_kernel(&kind->kind, r, row, row))
            add(&D, row, z, delta);
    }
    return D;
}

/* Columns of the rows as they are. */
static struct ny_columns_spec plain_spec(const struct kind *kind, size_t d,
                                         struct ny_geometry **geometry)
{
    double *centre = lend_zeros(2 * d * sizeof(double)), *factor = centre + d;

    for (size_t k = 0; k < d; k++)
        factor[k] = 1;
    assert_int_equal(ny_geometry_copy(geometry, ctx, centre, factor, d), NY_OK);
    return (struct ny_columns_spec){.ctx = ctx,
                                    .kernel = ny_kernel_find(kind->kernel),
                                    .params = kind->params,
                                    .geometry = *geometry,
                                    .dtype = NY_F32};
}

/* A selection by `rule`; what the request leaves open is filled in. */
static inline int run_rule(const char *rule, const struct kind *kind, const struct rows *r,
                           struct ny_selection_request request, struct ny_selection *selection)
{
    struct ny_geometry *geometry;
    const struct ny_columns_spec spec = plain_spec(kind, r->d, &geometry);
    int err;

    request.ctx = ctx;
    request.X = ny_store_rows(r->store);
    request.n = r->n;
    request.spec = &spec;
    err = ny_rule_find(rule)->select(&request, selection);
    if (!err && request.certify && !ny_rule_find(rule)->measures)
        err = ny_selection_certify(&request, selection);
    if (err) ny_selection_release(selection, ctx);
    ny_geometry_free(geometry, ctx);
    return err;
}

static inline struct ny_selection must_run(const char *rule, const struct kind *kind,
                                           const struct rows *r,
                                           struct ny_selection_request request)
{
    struct ny_selection selection;

    if (run_rule(rule, kind, r, request, &selection)) fail_msg("%s", ny_context_message(ctx));
    return selection;
}

static void assert_same_selection(const struct ny_selection *a, const struct ny_selection *b,
                                  size_t n)
{
    assert_int_equal(a->m, b->m);
    assert_memory_equal(a->rows, b->rows, a->m * sizeof(*a->rows));
    assert_true((a->residuals == NULL) == (b->residuals == NULL));
    if (a->residuals) {
        assert_memory_equal(a->residuals, b->residuals, n * sizeof(*a->residuals));
        assert_true(a->residual_max == b->residual_max && a->residual_mean == b->residual_mean);
    }
    assert_true(a->passes == b->passes && a->rows_read == b->rows_read);
    assert_true(a->flops == b->flops);
    assert_true(a->tolerance == b->tolerance || (isnan(a->tolerance) && isnan(b->tolerance)));
}

static void assert_same_images(const struct images *one, const struct images *other)
{
    assert_int_equal(other->count, one->count);
    for (size_t i = 0; i < one->count; i++) {
        assert_int_equal(one->image[i].bytes, other->image[i].bytes);
        assert_memory_equal(one->image[i].at, other->image[i].at, one->image[i].bytes);
    }
}

/* Keeps images between any two steps, and checks that other workers and budgets leave the same
 * ones, and that each image leads to the end of the unbroken run. */
static inline void check_bytes(const char *rule, const struct kind *kind, const struct rows *r,
                               struct ny_selection_request request)
{
    struct images one = {0}, other = {0};
    OWNED(ny_selection) a;
    struct ny_selection b;

    ny_context_set_checkpoint(ctx, 0);
    request.checkpoint.save = keep_image;
    request.checkpoint.arg = &one;
    request.workers = 1;
    a = must_run(rule, kind, r, request);
    assert_true(one.count > 2);
    request.checkpoint.arg = &other;
    for (unsigned workers = 2; workers <= 3; workers++) {
        request.workers = workers;
        if (workers == 3) ny_context_set_memory(ctx, ny_memory_used(ctx) + (120u << 20));
        b = must_run(rule, kind, r, request);
        ny_context_set_memory(ctx, 0);
        assert_same_selection(&a, &b, r->n);
        assert_same_images(&one, &other);
        free_images(&other);
        ny_selection_release(&b, ctx);
    }
    for (size_t i = 0; i < one.count; i += 1 + one.count / 12) {
        request.checkpoint.image = one.image[i].at;
        request.checkpoint.image_bytes = one.image[i].bytes;
        b = must_run(rule, kind, r, request);
        assert_same_selection(&a, &b, r->n);
        assert_int_equal(other.count, one.count - 1 - i);
        free_images(&other);
        ny_selection_release(&b, ctx);
    }
    request.checkpoint.image_bytes--;
    REFUSED(run_rule(rule, kind, r, request, &b), NY_ESTORE);
    free_images(&one);
}

#endif
