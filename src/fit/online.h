/* The state of a selection that sums up as it goes: stage select of a fit with option online
 * (fit/online.c). */
#ifndef NY_FIT_ONLINE_H
#define NY_FIT_ONLINE_H

#include "fit/sums.h"

struct ny_online {
    struct ny_fit *fit;
    uint64_t rows;                   /* that job->acc holds */
    double *a;                       /* its shift */
    const struct ny_decided *batch;  /* that is being added */
};

#endif
