/*
 * Vector code: the inner loops of the columns, compiled once for each CPU family.
 *
 * A file *_variant.c holds plain C loops and exports one table of them, named for the family by
 * NY_VARIANT_NAME; vector.c chooses the family at run time. Arrays given to them do not overlap.
 */
#ifndef NY_COLUMNS_VECTOR_H
#define NY_COLUMNS_VECTOR_H

#include "base/cpu.h"
#include "base/dtype.h"
#include "base/sparse.h"
#include "columns/kernel.h"

/* Base quantity → kernel, as ny_kernel.apply32; the last two as ny_kernel.apply. */
struct ny_pointwise_ops {
    /* exp(−γ·d²) − shift, or exp(−γ·d²) − 1 − shift with a small relative error also where it is
     * near 0; d² as NY_BASE_SQUARE gives it, clamped at 0. NaN or
     * infinite d² give NaN: data that overflow are for the finite checks. */
    void (*exponential)(const struct ny_pointwise *how, float x_norm, float *values, size_t count);
    /* (γ·v + c₀)^degree − shift */
    void (*power)(const struct ny_pointwise *how, float *values, size_t count);
    /* v − shift */
    void (*identity)(const struct ny_pointwise *how, float *values, size_t count);
    /* exp(−γ·v), within two units of the last place, for v ≥ 0 up to infinity; below 0 counts as
     * 0. A value depends on its own v alone. */
    void (*exponential64)(double gamma, double *values, size_t count);
    void (*power64)(const struct ny_kernel_params *params, double *values, size_t count);
};

/* Raw rows → prepared rows, and f64 sums over one or two prepared rows. */
struct ny_prepare_ops {
    /* out[k] = (raw[k] − centre[k])·factor[k]; 0 where a genotype is missing */
    void (*row[NY_GENOTYPE + 1])(const void *raw, const double *centre, const double *factor,
                                 size_t d, double *out);
    /* Likewise in f32, of genotypes: raw[k]·factor[k] + offset[k]. */
    void (*genotypes)(const uint8_t *raw, const float *factor, const float *offset, size_t d,
                      float *out);
    /* out = f32 of scale·row; returns ‖out‖² of what was rounded. */
    double (*narrow)(const double *row, double scale, size_t d, float *out);
    double (*dot)(const double *x, const double *y, size_t d);
    double (*square)(const double *x, const double *y, size_t d);   /* ‖x − y‖² */
    double (*absolute)(const double *x, const double *y, size_t d); /* ‖x − y‖₁ */
    /* Σx and Σx² of bytes. */
    void (*byte_sums)(const uint8_t *raw, size_t d, uint32_t *sum, uint32_t *square_sum);
};

/* NY_DIRECT_ROWS rows, of d columns each, against a panel of NY_PANEL landmarks, which is kept d ×
 * NY_PANEL so that lanes are landmarks. out: NY_DIRECT_ROWS × NY_PANEL, of the stride given. Fewer
 * rows in f64. Sums run over pieces of NY_DIRECT_DEPTH columns, then over the pieces. */
enum { NY_PANEL = 32, NY_DIRECT_ROWS = 12, NY_DIRECT64_ROWS = 4, NY_DIRECT_DEPTH = 256 };

typedef void ny_direct_fn(const float *const *rows, size_t d, const float *panel, float *out,
                          size_t stride);
typedef void ny_direct64_fn(const double *const *rows, size_t d, const double *panel, double *out,
                            size_t stride);
struct ny_direct_ops {
    ny_direct_fn *dot, *square, *absolute;
    ny_direct64_fn *dot64, *square64, *absolute64;
};

/* Bytes: NY_BYTE_ROWS rows of u8 against a panel of NY_PANEL landmarks, which is kept as
 * y − NY_BYTE_BIAS in groups of four coordinates, padded with 0: quads × NY_PANEL × 4. Rows may be
 * read up to three bytes past their end. out = ‖x − y‖², exact below 2³¹, then rounded to f32. */
enum { NY_BYTE_ROWS = 12 };

struct ny_byte_rows {
    const uint8_t *row[NY_BYTE_ROWS];
    uint32_t term[NY_BYTE_ROWS]; /* ‖x‖² − 2 NY_BYTE_BIAS Σx */
    float bound[NY_BYTE_ROWS];   /* for `below` */
};

/* The landmarks of a panel whose values are below the bound of each row, a bit each, and all values
 * of the rows. */
struct ny_byte_found {
    uint32_t below[NY_BYTE_ROWS];
    float value[NY_BYTE_ROWS][NY_PANEL];
};

struct ny_byte_ops {
    void (*square)(const struct ny_byte_rows *rows, size_t quads, const int8_t *panel,
                   const uint32_t y_norms[NY_PANEL], float out[NY_BYTE_ROWS][NY_PANEL]);
    /* Returns the rows that have landmarks below their bounds, a bit each. */
    unsigned (*below)(const struct ny_byte_rows *rows, size_t quads, const int8_t *panel,
                      const uint32_t y_norms[NY_PANEL], struct ny_byte_found *found);
};

/* Search for small values. */
struct ny_scan_ops {
    /* found: the j with values[j] < bound or values[j] < bounds[j], ascending, of count ≤ 2¹⁶;
     * returns how many. Room for count + 1. */
    size_t (*below)(const float *values, float bound, const float *bounds, size_t count,
                    uint16_t *found);
    /* Returns the squared distance of two rows of numbers; the sum is below 2³¹. */
    int32_t (*apart)(const int16_t *x, const int16_t *y, size_t count);
};

/* Sparse rows as they are in a piece; factor NULL: 1. */
struct ny_sparse_row_ops {
    /* Σ(x·factor)² */
    double (*square[NY_F64 + 1])(struct ny_sparse row, const double *factor);
    /* φ = x·factor·scale in f32 or f64 with its columns, without those of factor 0: returns how
     * many there are. There is room for all of them. */
    size_t (*pack32[NY_F64 + 1])(struct ny_sparse row, const double *factor, double scale,
                                 uint32_t *index, void *out);
    size_t (*pack64[NY_F64 + 1])(struct ny_sparse row, const double *factor, double scale,
                                 uint32_t *index, void *out);
};

/* Sparse rows with l dense columns, l a multiple of 16, in f64 of 8; arrays are packed. */
struct ny_piece_rows {
    size_t count, values;  /* rows, and the values of all of them */
    const uint32_t *start; /* count + 1: row i is start[i] … start[i+1]−1 */
    const uint32_t *index; /* ascending in a row */
    const void *value;     /* in the type of the products; or bytes, where there is a scale */
    const double *scale;   /* NULL, or what the values of each row are multiplied by */
};

/* The columns from one number up to another, of rows whose values before them are done. */
struct ny_column_range {
    uint32_t end;     /* columns from here on are left for later */
    uint32_t *cursor; /* one a row: its first value that is not done, which a product moves on */
    bool last;        /* no columns are left: what follows a row is the next row */
    /* The next range will read or write this part of the dense columns: it is asked for meanwhile.
     */
    const char *next;
    size_t next_bytes;
};

typedef void ny_sparse_product_fn(const struct ny_piece_rows *rows, struct ny_column_range *range,
                                  const void *columns, size_t l, void *product);
struct ny_sparse_product_ops {
    /* Each for values in the type of the product, and for bytes. */
    ny_sparse_product_fn *gather32[2], *gather64[2];   /* Y (count × l) += ΦQ, Q: d × l */
    ny_sparse_product_fn *scatter32[2], *scatter64[2]; /* H (d × l) += ΦᵀY */
};

struct ny_vector {
    const struct ny_pointwise_ops *pointwise;
    const struct ny_prepare_ops *prepare;
    const struct ny_direct_ops *direct;
    const struct ny_byte_ops *bytes;
    const struct ny_scan_ops *scan;
    const struct ny_sparse_row_ops *rows;
    const struct ny_sparse_product_ops *sparse;
};

/* The tables of the family in force: the best of this CPU. */
const struct ny_vector *ny_vector(void);
/* The family in force, for vector code that other layers have. */
enum ny_cpu ny_vector_family(void);
/* The products of bytes of the family in force, or those that this CPU has besides. */
const struct ny_byte_ops *ny_vector_bytes(void);

/* Puts a family in force, for tests, without products of bytes that only some of its CPUs have;
 * NY_CPU_COUNT: the best again, with them. False when this CPU cannot
 * run it. Columns made before are then not to be used. */
bool ny_vector_force(enum ny_cpu family);

#endif
