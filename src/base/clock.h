/* The clock of progress, checkpoints and reported seconds. */
#ifndef NY_BASE_CLOCK_H
#define NY_BASE_CLOCK_H

/* Seconds of the monotonic clock. */
double ny_now(void);

#endif
