/*
 * Shows the effect of a kernel's width before a fit: for several widths, the certificate to expect
 * and how fast the spectrum falls, all from one hashed sample of the points.
 */
#ifndef NY_FIT_GAMMA_GRID_H
#define NY_FIT_GAMMA_GRID_H

#include "fit/settings.h"

enum { NY_GRID_WIDTHS_MAX = 64 };

/* The figures of one width. λ are the eigenvalues of the sample's K as the map normalises it:
 * centred, or divided by degrees and without the trivial one, which its trace has beside them. NaN
 * where kernel values overflow or vanish; the trace error also where a fit would be refused, since
 * landmarks do not reach all rows. */
struct ny_grid_row {
    double gamma;
    double trace_error;    /* expected of `landmarks` uniform ones */
    double top_share;      /* of the p largest λ in the trace: the variance_kept of a fit */
    double effective_rank; /* (Σλ)²/Σλ² */
    size_t rank_90;        /* λ that hold 90 % of Σλ */
    double mean_kernel;    /* of k(x,y), x ≠ y */
    const char *reading;   /* one line for people: what these figures mean */
};

struct ny_gamma_grid {
    size_t landmarks, wanted; /* landmarks in the sample; the number that the options ask for */
    size_t rows,
        spectrum_rows; /* rows of the sample, landmarks included; rows of them that give the λ */
    double centre;     /* the width in the middle of the default grid: auto, or --gamma */
    size_t count;
    struct ny_grid_row row[NY_GRID_WIDTHS_MAX];
};

/* widths: "auto", √10 apart around the centre; or a list such as "0.01,0.1,1". Reads a few thousand
 * rows, less where the budget is small; O(m³) a width. */
int ny_gamma_grid_make(struct ny_rows *X, const struct ny_fit_settings *settings,
                       const char *widths, struct ny_gamma_grid *grid);

#endif
