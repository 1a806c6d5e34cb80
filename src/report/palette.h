/*
 * Colours that do not need colour vision: for up to ten classes those of Okabe and Ito (2008), with
 * a shape each, and for ten more others as far apart; for quantities viridis (Smith and van der
 * Walt 2015), whose lightness grows evenly. Colours are 0xrrggbb.
 */
#ifndef NY_REPORT_PALETTE_H
#define NY_REPORT_PALETTE_H

#include <stddef.h>
#include <stdint.h>

/* Classes beyond take the colours again, with other shapes. */
enum { NY_CLASS_COLORS = 20, NY_NO_CLASS_COLOR = 0xb4b4b4 };
extern const uint32_t ny_class_color[NY_CLASS_COLORS];

enum ny_shape { NY_DISC, NY_SQUARE, NY_TRIANGLE, NY_DIAMOND, NY_CROSS, NY_PLUS, NY_SHAPES };
/* Neighbours in the legend differ in both. */
enum ny_shape ny_class_shape(size_t number);

/* Viridis at t in 0 … 1, dark to light. */
uint32_t ny_viridis(double t);
/* Returns these colours for amounts on white paper: little is light, much is dark. */
uint32_t ny_amount_color(double t);

#endif
