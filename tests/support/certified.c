#include "support/certified.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef long double real;

static real *reals(size_t count)
{
    return calloc(count ? count : 1, sizeof(real));
}

/* ---- eigenpairs --------------------------------------------------------------------------- */

static void rotate(real *restrict x, real *restrict y, size_t n, real c, real s)
{
    for (size_t k = 0; k < n; k++) {
        real a = x[k], b = y[k];

        x[k] = c * a - s * b;
        y[k] = s * a + c * b;
    }
}

/* Rows and columns p and q, so that a_pq vanishes. */
static void annihilate(real *A, real *V, size_t n, size_t p, size_t q)
{
    real theta = (A[q * n + q] - A[p * n + p]) / (2 * A[p * n + q]);
    real t = (theta < 0 ? -1 : 1) / (fabsl(theta) + sqrtl(theta * theta + 1));
    real c = 1 / sqrtl(t * t + 1), s = t * c;

    rotate(A + p * n, A + q * n, n, c, s);
    for (size_t k = 0; k < n; k++) {
        real a = A[k * n + p], b = A[k * n + q];

        A[k * n + p] = c * a - s * b;
        A[k * n + q] = s * a + c * b;
    }
    rotate(V + p * n, V + q * n, n, c, s);
}

static void sort_pairs(size_t n, real *values, real *V)
{
    for (size_t i = 0; i < n; i++) {
        size_t top = i;
        real value;

        for (size_t j = i + 1; j < n; j++)
            if (values[j] > values[top]) top = j;
        value = values[i], values[i] = values[top], values[top] = value;
        for (size_t k = 0; k < n && top != i; k++)
            value = V[i * n + k], V[i * n + k] = V[top * n + k], V[top * n + k] = value;
    }
}

void certified_eigen(real *A, size_t n, real *values, real *V)
{
    real largest = 0;
    bool rotated = true;

    for (size_t i = 0; i < n * n; i++) {
        V[i] = i % (n + 1) == 0;
        largest = fmaxl(largest, fabsl(A[i]));
    }
    for (int sweep = 0; sweep < 40 && rotated; sweep++) {
        rotated = false;
        for (size_t p = 0; p < n; p++)
            for (size_t q = p + 1; q < n; q++)
                if (fabsl(A[p * n + q]) > 0x1p-70L * largest) {
                    annihilate(A, V, n, p, q);
                    rotated = true;
                }
    }
    for (size_t i = 0; i < n; i++)
        values[i] = A[i * (n + 1)];
    sort_pairs(n, values, V);
}

/* ---- columns of the kernel ---------------------------------------------------------------- */

/* The data that the loops below share. */
struct work {
    const struct certified_fit *fit;
    size_t m;       /* columns of C̃: one less where the kernel is translated */
    real *mean;     /* d: of the rows */
    real *W;        /* m × m: W̃ */
    real *w, whole; /* m: column means of W, and their mean */
    real *roots;    /* m, divided over D: d_j^-½ */
    real *B;        /* r × m: K̃ = C̃BᵀBC̃ᵀ */
    real *sigma;    /* m: eigenvalues of W̃ */
    size_t r;
};

static real kernel(const struct work *work, const double *x, const double *y)
{
    const struct certified_fit *fit = work->fit;
    real square = 0, sum = 0, dot = 0, xx = 0, yy = 0;

    for (size_t k = 0; k < fit->d; k++) {
        real centre = fit->centred_rows ? work->mean[k] : 0;
        real a = (real)x[k] - centre, b = (real)y[k] - centre;

        square += (a - b) * (a - b);
        sum += fabsl(a - b);
        dot += a * b;
        xx += a * a;
        yy += b * b;
    }
    switch (fit->kernel) {
    case CERTIFIED_RBF:
        return expl(-(real)fit->gamma * square);
    case CERTIFIED_LAPLACIAN:
        return expl(-(real)fit->gamma * sum);
    case CERTIFIED_POLYNOMIAL:
        return powl((real)fit->gamma * dot + (real)fit->coef0, (real)fit->degree);
    case CERTIFIED_COSINE:
        return xx > 0 && yy > 0 ? dot / sqrtl(xx * yy) : 0;
    case CERTIFIED_LINEAR:
        break;
    }
    return dot;
}

static const double *row_of(const struct work *work, size_t i)
{
    return work->fit->X + i * work->fit->d;
}

/* Computes c (m) of one row and returns k(x,x), both of the translated kernel if the fit is
 * affine. */
static real raw_row(const struct work *work, const double *x, real *c)
{
    const struct certified_fit *fit = work->fit;
    real diagonal = kernel(work, x, x), first, corner;

    if (!fit->affine) {
        for (size_t j = 0; j < fit->m; j++)
            c[j] = kernel(work, x, row_of(work, fit->D[j]));
        return diagonal;
    }
    first = kernel(work, x, row_of(work, fit->D[0]));
    corner = kernel(work, row_of(work, fit->D[0]), row_of(work, fit->D[0]));
    for (size_t j = 1; j < fit->m; j++)
        c[j - 1] = kernel(work, x, row_of(work, fit->D[j])) - first -
                   kernel(work, row_of(work, fit->D[0]), row_of(work, fit->D[j])) + corner;
    return diagonal - 2 * first + corner;
}

/* c̃ and k̃(x,x), but for what depends on all rows. */
static real normal_row(const struct work *work, const double *x, real *c)
{
    const struct certified_fit *fit = work->fit;
    real diagonal = raw_row(work, x, c), mean = 0;

    for (size_t j = 0; j < work->m; j++)
        mean += c[j] / (real)work->m;
    if (fit->averages == CERTIFIED_CENTRED_LANDMARKS) {
        for (size_t j = 0; j < work->m; j++)
            c[j] += work->whole - mean - work->w[j];
        return diagonal - 2 * mean + work->whole;
    }
    if (fit->averages == CERTIFIED_DIVIDED_LANDMARKS) { /* d_i = (n/m) Σ_j c_ij */
        real degree = (real)fit->n * mean;

        for (size_t j = 0; j < work->m; j++)
            c[j] *= work->roots[j] / sqrtl(degree);
        return diagonal / degree;
    }
    return diagonal;
}

static void make_square(struct work *work)
{
    const struct certified_fit *fit = work->fit;
    size_t m = work->m;

    for (size_t j = 0; j < m; j++) {
        raw_row(work, row_of(work, fit->D[j + fit->affine]), work->W + j * m);
        for (size_t k = 0; k < m; k++)
            work->w[j] += work->W[j * m + k] / (real)m;
        work->whole += work->w[j] / (real)m;
        work->roots[j] = 1 / sqrtl(fabsl((real)fit->n * work->w[j]));
    }
    for (size_t j = 0; j < m; j++)
        for (size_t k = 0; k < m; k++) {
            if (fit->averages == CERTIFIED_CENTRED_LANDMARKS)
                work->W[j * m + k] += work->whole - work->w[j] - work->w[k];
            if (fit->averages == CERTIFIED_DIVIDED_LANDMARKS)
                work->W[j * m + k] *= work->roots[j] * work->roots[k];
        }
}

/* ---- K̃ ------------------------------------------------------------------------------------ */

/* Rows of B for landmarks first … first + count − 1 alone: weight^½ σ^-½ uᵀ. */
static void whiten(struct work *work, size_t first, size_t count, size_t rank, real weight)
{
    real *A = reals(count * count), *V = reals(count * count), *sigma = reals(count);

    for (size_t j = 0; j < count; j++)
        for (size_t k = 0; k < count; k++)
            A[j * count + k] = (work->W[(first + j) * work->m + first + k] +
                                work->W[(first + k) * work->m + first + j]) /
                               2;
    certified_eigen(A, count, sigma, V);
    for (size_t k = 0; k < rank && k < count && sigma[k] > 0; k++, work->r++)
        for (size_t j = 0; j < count; j++)
            work->B[work->r * work->m + first + j] = V[k * count + j] * sqrtl(weight / sigma[k]);
    if (count == work->m) memcpy(work->sigma, sigma, count * sizeof(*sigma));
    free(A);
    free(V);
    free(sigma);
}

/* f = B c̃ of one row; returns k̃(x,x). */
static real features(const struct work *work, const double *x, real *c, real *f)
{
    real diagonal = normal_row(work, x, c);

    for (size_t k = 0; k < work->r; k++) {
        const real *b = work->B + k * work->m;

        f[k] = 0;
        for (size_t j = 0; j < work->m; j++)
            f[k] += b[j] * c[j];
    }
    return diagonal;
}

struct sums {
    real *c, *f, *shift, *total; /* workspace; what f is shifted by; Σ(f − shift) or Σf */
    real *A;                     /* r × r, lower: Σ(f − shift)(f − shift)ᵀ */
    real *gram;                  /* m: Σ(c̃ − a)², a the shift of tiles */
    real trace, raw;             /* Σ k̃(x,x), Σ k(x,x) */
};

static void add_row(const struct work *work, struct sums *sums, real weight)
{
    bool shifted = work->fit->averages == CERTIFIED_RAW ||
                   work->fit->averages == CERTIFIED_CENTRED_IMPLICIT;

    for (size_t j = 0; j < work->m; j++) {
        real x = sums->c[j] - (shifted ? work->w[j] : 0);

        sums->gram[j] += weight * x * x;
    }
    for (size_t k = 0; k < work->r; k++) {
        real x = sums->f[k] - sums->shift[k];

        sums->total[k] += weight * x;
        for (size_t j = 0; j <= k; j++)
            sums->A[k * work->r + j] += weight * x * (sums->f[j] - sums->shift[j]);
    }
}

static void add_rows(const struct work *work, struct sums *sums)
{
    const struct certified_fit *fit = work->fit;
    bool divided = fit->averages == CERTIFIED_DIVIDED_IMPLICIT;
    real *all = reals(work->r);

    for (size_t i = 0; i < fit->n && divided; i++) {
        features(work, row_of(work, i), sums->c, sums->f);
        for (size_t k = 0; k < work->r; k++)
            all[k] += sums->f[k];
    }
    if (fit->averages == CERTIFIED_CENTRED_IMPLICIT) /* near the mean, so that little cancels */
        for (size_t j = 0; j < fit->m; j++) {
            features(work, row_of(work, fit->D[j]), sums->c, sums->f);
            for (size_t k = 0; k < work->r; k++)
                sums->shift[k] += sums->f[k] / (real)fit->m;
        }
    for (size_t i = 0; i < fit->n; i++) {
        real diagonal = features(work, row_of(work, i), sums->c, sums->f), degree = 0;

        for (size_t k = 0; k < work->r && divided; k++)
            degree += sums->f[k] * all[k];
        add_row(work, sums, divided ? 1 / degree : 1);
        sums->trace += divided ? diagonal / degree : diagonal;
        sums->raw += kernel(work, row_of(work, i), row_of(work, i)) / (divided ? degree : 1);
    }
    free(all);
}

/* Implicit averages: K̃ is centred, and tr K loses what K̃ does. */
static void centre(const struct work *work, struct sums *sums)
{
    real n = (real)work->fit->n;

    for (size_t k = 0; k < work->r; k++) {
        real mean = sums->shift[k] + sums->total[k] / n;

        sums->trace -= n * mean * mean;
        for (size_t j = 0; j <= k; j++)
            sums->A[k * work->r + j] -= sums->total[k] * sums->total[j] / n;
    }
}

/* 2⁻⁵³ Σ_j g_jj p_j² of the eigenvector v of A, p = Bᵀv: independent errors of g_ij up to
 * 2⁻⁵³ √(g_ii g_jj) move its eigenvalue by about as much. */
static real rounding_of(const struct work *work, const struct sums *sums, const real *v)
{
    real sum = 0;

    for (size_t j = 0; j < work->m; j++) {
        real p = 0;

        for (size_t k = 0; k < work->r; k++)
            p += v[k] * work->B[k * work->m + j];
        sum += sums->gram[j] * p * p;
    }
    return 0x1p-53L * sum;
}

static void solve(const struct work *work, struct sums *sums, struct certified *found)
{
    const struct certified_fit *fit = work->fit;
    size_t r = work->r, pairs = fit->pairs && fit->pairs < r ? fit->pairs : r;
    real *values = reals(r), *V = reals(r * r), kept = 0;

    for (size_t k = 0; k < r; k++)
        for (size_t j = 0; j < k; j++)
            sums->A[j * r + k] = sums->A[k * r + j];
    certified_eigen(sums->A, r, values, V);
    for (size_t k = 0; k < pairs; k++)
        kept += values[k];
    found->trace = sums->trace;
    found->raw = sums->raw;
    found->error = (sums->trace - kept) / sums->trace;
    for (size_t k = 0; k < CERTIFIED_P; k++) {
        if (fit->values == CERTIFIED_OF_NYSTROM)
            found->values[k] = k < work->r ? work->sigma[k] * (real)fit->n / (real)fit->m : 0;
        else
            found->values[k] = k < r ? values[k] : 0;
        found->unsure[k] = k < r ? rounding_of(work, sums, V + k * r) : 0;
        if (fit->values == CERTIFIED_OF_COLUMN)
            found->values[k] = sqrtl((real)fit->n / (real)fit->m * fmaxl(found->values[k], 0));
    }
    free(values);
    free(V);
}

static void choose_features(struct work *work)
{
    const struct certified_fit *fit = work->fit;
    size_t m = work->m, experts = fit->experts ? fit->experts : 1;

    if (fit->values == CERTIFIED_OF_COLUMN) { /* C̃ itself */
        work->r = m;
        for (size_t j = 0; j < m; j++)
            work->B[j * m + j] = 1;
        return;
    }
    for (size_t e = 0; e < experts; e++) {
        size_t first = e * m / experts;

        whiten(work, first, (e + 1) * m / experts - first, fit->rank, 1 / (real)experts);
    }
}

struct certified certified_of(const struct certified_fit *fit)
{
    size_t m = fit->m - fit->affine;
    struct work work = {.fit = fit, .m = m};
    struct sums sums = {0};
    struct certified found = {0};

    work.mean = reals(fit->d);
    work.W = reals(m * m);
    work.B = reals(m * m);
    work.w = reals(m);
    work.roots = reals(m);
    work.sigma = reals(m);
    for (size_t i = 0; i < fit->n; i++)
        for (size_t k = 0; k < fit->d; k++)
            work.mean[k] += (real)fit->X[i * fit->d + k] / (real)fit->n;
    make_square(&work);
    choose_features(&work);
    sums = (struct sums){reals(m), reals(m), reals(m), reals(m), reals(m * m), reals(m), 0, 0};
    add_rows(&work, &sums);
    if (fit->averages == CERTIFIED_CENTRED_IMPLICIT) centre(&work, &sums);
    solve(&work, &sums, &found);
    free(sums.c);
    free(sums.f);
    free(sums.shift);
    free(sums.total);
    free(sums.A);
    free(sums.gram);
    free(work.mean);
    free(work.W);
    free(work.B);
    free(work.w);
    free(work.roots);
    free(work.sigma);
    return found;
}
