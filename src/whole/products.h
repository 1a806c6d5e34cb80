/*
 * Fits of methods that work on all of K (spectral/whole.h): stages accumulate (the products, one
 * after the other), solve and project. They hold one block of doubles, which is their checkpoint
 * too:
 *
 *   V   n × w   what is multiplied; in the end the basis Q
 *   Y   n × w   the product so far
 *   g   n       where K is divided: 1/√d_i; at first the degrees, K1, which are a product too
 *   W           where K is the product of features: ΦᵀV of some columns, and their sums
 *
 * Products are by tiles of K (whole/kernel_product.h), or where K = ΦΦᵀ, by passes over the rows
 * (whole/feature_product.h): shape.c decides by the kernel, n and w alone, so that all runs of a
 * job go the same way.
 *
 * w is r, and one more for maps that centre K: that column of V is 1, and of Y it is K1, the
 * averages that new points are centred with. Behind these are R random columns, of methods whose
 * last product is not AQ: they tell the residuals (whole/residuals.h).
 */
#ifndef NY_WHOLE_PRODUCTS_H
#define NY_WHOLE_PRODUCTS_H

#include "model/degrees.h"
#include "fit/fit.h"
#include "whole/kernel_product.h"
#include "whole/shape.h"
#include "spectral/whole.h"

extern const struct ny_stage ny_stage_products, ny_stage_reduce, ny_stage_write;
extern const struct ny_course ny_course_whole;

#endif
