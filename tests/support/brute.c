#include "support/brute.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void brute_multiply(const double *A, const double *B, double *C, size_t n, size_t k, size_t m)
{
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < m; j++) {
            double sum = 0;

            for (size_t l = 0; l < k; l++)
                sum += A[i * k + l] * B[l * m + j];
            C[i * m + j] = sum;
        }
}

void brute_multiply_t(const double *A, const double *B, double *C, size_t n, size_t k, size_t m)
{
    memset(C, 0, k * m * sizeof(*C));
    for (size_t i = 0; i < n; i++)
        for (size_t l = 0; l < k; l++)
            for (size_t j = 0; j < m; j++)
                C[l * m + j] += A[i * k + l] * B[i * m + j];
}

/* Rotates rows p and q of M, n long. */
static void rotate_rows(double *M, size_t n, size_t p, size_t q, double c, double s)
{
    double *x = M + p * n, *y = M + q * n;

    for (size_t k = 0; k < n; k++) {
        double xk = x[k], yk = y[k];

        x[k] = c * xk - s * yk;
        y[k] = s * xk + c * yk;
    }
}

static void rotate_columns(double *M, size_t n, size_t p, size_t q, double c, double s)
{
    for (size_t k = 0; k < n; k++) {
        double xk = M[k * n + p], yk = M[k * n + q];

        M[k * n + p] = c * xk - s * yk;
        M[k * n + q] = s * xk + c * yk;
    }
}

/* One sweep over all pairs; returns how many were rotated. */
static size_t sweep(double *M, double *V, size_t n, double negligible)
{
    size_t rotated = 0;

    for (size_t p = 0; p < n; p++)
        for (size_t q = p + 1; q < n; q++) {
            double theta, t, c;

            if (fabs(M[p * n + q]) <= negligible) continue;
            rotated++;
            theta = (M[q * n + q] - M[p * n + p]) / (2 * M[p * n + q]);
            t = (theta < 0 ? -1 : 1) / (fabs(theta) + sqrt(theta * theta + 1));
            c = 1 / sqrt(t * t + 1);
            rotate_rows(M, n, p, q, c, t * c);
            rotate_columns(M, n, p, q, c, t * c);
            rotate_rows(V, n, p, q, c, t * c);
        }
    return rotated;
}

void brute_eigen(const double *A, size_t n, double *values, double *V)
{
    double *M = malloc(n * n * sizeof(*M)), *row = malloc(n * sizeof(*row)), largest = 0;

    memset(V, 0, n * n * sizeof(*V));
    for (size_t i = 0; i < n; i++) {
        V[i * n + i] = 1;
        for (size_t j = 0; j < n; j++) {
            M[i * n + j] = (A[i * n + j] + A[j * n + i]) / 2;
            largest = fmax(largest, fabs(M[i * n + j]));
        }
    }
    for (int sweeps = 0; sweeps < 30 && sweep(M, V, n, 1e-18 * largest); sweeps++) {
    }
    for (size_t i = 0; i < n; i++)
        values[i] = M[i * n + i];
    for (size_t i = 0; i < n; i++) {
        size_t top = i;
        double value;

        for (size_t j = i + 1; j < n; j++)
            if (values[j] > values[top]) top = j;
        value = values[i], values[i] = values[top], values[top] = value;
        memcpy(row, V + i * n, n * sizeof(*row));
        memmove(V + i * n, V + top * n, n * sizeof(*row));
        memcpy(V + top * n, row, n * sizeof(*row));
    }
    free(M);
    free(row);
}

size_t brute_inverse_root(const double *A, size_t n, double cut, size_t rank, double *B)
{
    double *values = malloc(n * sizeof(*values));
    size_t kept = 0;

    brute_eigen(A, n, values, B);
    while (kept < n && kept < rank && values[kept] > cut) {
        for (size_t j = 0; j < n; j++)
            B[kept * n + j] /= sqrt(values[kept]);
        kept++;
    }
    free(values);
    return kept;
}

void brute_centre(double *A, size_t n)
{
    double *mean = calloc(n, sizeof(*mean)), grand = 0;

    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++) {
            mean[i] += A[i * n + j] / (double)n;
            grand += A[i * n + j] / (double)(n * n);
        }
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++)
            A[i * n + j] += grand - mean[i] - mean[j];
    free(mean);
}

double brute_trace(const double *A, size_t n)
{
    double sum = 0;

    for (size_t i = 0; i < n; i++)
        sum += A[i * n + i];
    return sum;
}

double brute_dot(const double *A, size_t n, size_t stride, size_t j, size_t k)
{
    double sum = 0;

    for (size_t i = 0; i < n; i++)
        sum += A[i * stride + j] * A[i * stride + k];
    return sum;
}

void brute_orthonormalise(double *A, size_t n, size_t m)
{
    for (size_t k = 0; k < m; k++) {
        double length;

        for (size_t l = 0; l < 2 * k; l++) { /* twice */
            double dot = brute_dot(A, n, m, l % k, k);

            for (size_t i = 0; i < n; i++)
                A[i * m + k] -= dot * A[i * m + l % k];
        }
        length = sqrt(brute_dot(A, n, m, k, k));
        for (size_t i = 0; i < n; i++)
            A[i * m + k] /= length;
    }
}
