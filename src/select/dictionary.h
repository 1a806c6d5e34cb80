/*
 * The dictionary: landmarks in order of selection, and the Cholesky factor L of their kernel matrix
 * W = LLᵀ, grown row by row (Ouimet & Bengio 2005, section 3).
 *
 * L is kept in panels of NY_DICTIONARY_PANEL rows, panel b dense with (b+1)·NY_DICTIONARY_PANEL
 * columns, in f64 and, for screening, in f32: growing never moves what is there, and a forward
 * substitution goes panel by panel, so that rows can leave it as soon as their residual is small.
 *
 * Affine (Σa = 1): everything runs on the kernel translated by the first landmark,
 * k′(x,y) = k(x,y) − k(x,x₁) − k(x₁,y) + k(x₁,x₁), whose factor has m − 1 rows. Its δ is that of
 * eqs. 7 and 8, without their W⁻¹1: W is singular for a linear kernel with an offset.
 */
#ifndef NY_SELECT_DICTIONARY_H
#define NY_SELECT_DICTIONARY_H

#include "columns/columns.h"

enum { NY_DICTIONARY_PANEL = 256 };

struct ny_dictionary;

struct ny_dictionary_options {
    bool affine;      /* Σa = 1 */
    double tolerance; /* ε of the selection; an image of another ε is refused */
};

/* Makes an empty dictionary, which will own its columns. It charges NY_MEM_DICTIONARY, m²·(8 + 4)/2
 * bytes and the columns. */
int ny_dictionary_new(struct ny_dictionary **out, const struct ny_columns_spec *spec,
                      const struct ny_dictionary_options *options);
/* Frees the dictionary with its columns; NULL is allowed. */
void ny_dictionary_free(struct ny_dictionary *dictionary);
/* Returns m. */
size_t ny_dictionary_size(const struct ny_dictionary *dictionary);
/* Returns the row numbers of the landmarks, in order of selection, which move when one joins. */
const uint64_t *ny_dictionary_rows(const struct ny_dictionary *dictionary);
/* Returns all landmarks as one set of columns, made when the number has changed and owned by the
 * dictionary; NULL with the error set when it does not fit. */
struct ny_columns *ny_dictionary_columns(struct ny_dictionary *dictionary);
/* Computes from L, for the span (not affine), B (first × (m − first)) = W⁻¹w_j of the landmarks
 * from `first` on over those before. */
void ny_dictionary_coefficients(const struct ny_dictionary *dictionary, size_t first,
                                struct ny_matrix B);
/* Computes the column means of W of the first `count` landmarks from L, for the span (not affine).
 * */
void ny_dictionary_means(const struct ny_dictionary *dictionary, size_t count, double *means);
/* Counts a dictionary of m landmarks, its columns included. */
void ny_dictionary_count(struct ny_layout *l, const struct ny_columns_spec *spec, size_t m);

/* Returns the most bytes that the image of m landmarks takes. */
size_t ny_dictionary_image_most(const struct ny_columns_spec *spec, size_t m);
/* Writes an image of the present m landmarks, and returns its bytes; NULL: it is not written. An
 * image holds row numbers, raw landmarks and L exactly, so that a resumed selection gives the same
 * bytes. */
size_t ny_dictionary_save(const struct ny_dictionary *dictionary, void *image);
/* Takes up the image in an empty dictionary; NY_ESTORE where it is none of this spec and these
 * options. */
int ny_dictionary_restore(struct ny_dictionary *dictionary, const void *image, size_t bytes);

#endif
