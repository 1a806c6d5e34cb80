/* Axes of linear maps: what each column of the points adds to each coordinate. */
#ifndef NY_RESULTS_AXES_H
#define NY_RESULTS_AXES_H

#include "model/model.h"
#include "results/record.h"

/* Tells whether the result of this record has axes: its map is svd, kpca or pca of the linear
 * kernel, and it has a model. */
bool ny_record_has_axes(const json_t *record);
/* Computes the axes A (d × p, allocated by the caller) of a model of the linear kernel that is not
 * divided: y = A'x + const for x = (raw - centre)·factor, a row prepared by the geometry. Those of
 * exact principal components have length 1 and are the eigenvectors of the scatter matrix. No pass
 * over the points; beside A it charges 64 rows of d numbers. NY_EBUDGET. */
int ny_model_axes(const struct ny_model *model, double *A);
/* Makes the axes of the model of this report orthonormal, as they are without rounding, where the
 * eigenvectors of K itself have made them and are off in the directions of much larger ones.
 * NY_EBUDGET. */
int ny_axes_sharpen(const json_t *report, double *A, const struct ny_model *model);

#endif
