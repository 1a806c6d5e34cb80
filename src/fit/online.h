/* Stage select of a fit with option online, which sums up the rows as it goes. */
#ifndef NY_FIT_ONLINE_H
#define NY_FIT_ONLINE_H

#include "fit/sums.h"

struct ny_online {
    struct ny_fit *fit;
    uint64_t rows;                   /* that job->acc holds */
    double *a;                       /* its shift */
    const struct ny_decided *batch;  /* that is being added */
};

/* The sums as of the last checkpoint, or of the result that is updated, or none. */
int ny_online_begin(struct ny_online *online, struct ny_fit *fit);
void ny_online_release(struct ny_online *online);
/* The `follow` of a selection. */
int ny_online_follow(void *arg, const struct ny_decided *decided);
/* Puts the sums beside the image of the selection, into the checkpoint that comes next. */
int ny_online_put(struct ny_online *online);
/* Ends the selection: the sums take the shift of W and are saved; stage solve is next. */
int ny_online_finish(struct ny_online *online);

#endif
