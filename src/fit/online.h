/* The state of a selection that sums up as it goes: stage select of a fit with option online
 * (fit/online.c). */
#ifndef NY_FIT_ONLINE_H
#define NY_FIT_ONLINE_H

#include "fit/sums.h"

struct ny_online {
    struct ny_fit *fit;
    uint64_t rows;                  /* rows that fit->acc has summed */
    double *a;                      /* shift of the tiles that it summed */
    const struct ny_decided *batch; /* the batch that is being added */
};

#endif
