/* The state of one randomly pivoted selection; for rpcholesky*.c, and certify.c. */
#ifndef NY_SELECT_RPCHOLESKY_H
#define NY_SELECT_RPCHOLESKY_H

#include "select/front.h"
#include "select/rules.h"

/* Acceptance is judged, and bounds are renewed, after windows of this many candidates: a function
 * of the candidates alone, whatever tiles and budget are. Below 2 % a pass measures all residuals,
 * when that pays. */
enum { NY_PIVOT_WINDOW = NY_UNIT_ROWS, NY_PIVOT_ACCEPTED_LEAST = 41 };

/* f64 takes so many columns in a step: few, so that rows leave soon. */
enum { NY_PIVOT_STEP = NY_DICTIONARY_PANEL / 8 };

struct ny_pivot_worker {
    struct ny_front front;
    struct ny_exact exact;
    struct ny_columns_workspace *workspace;
    struct ny_front block; /* candidates that it looks at: a view of the first worker's front */
    size_t done;           /* columns that they have been taken through */
    bool *again;           /* rows of the unit that f32 left to f64 */
    float *bounds;         /* bounds of the unit's rows, which the fold takes over */
    bool bad;              /* a residual that no positive semi-definite kernel has */
    uint64_t bad_row;
    double bad_delta, bad_k;
};

/* The numbers that survive a kill, besides the dictionary, the window's candidates and the bounds.
 */
struct ny_pivot_progress {
    uint64_t drawn;     /* candidates so far: the counter of their random numbers */
    uint64_t judged;    /* candidates judged in the present window: 0 … NY_PIVOT_WINDOW */
    uint64_t accepted;  /* candidates of the window that were accepted */
    uint64_t fresh;     /* the window is the first one after all residuals were measured */
    uint64_t measuring; /* a pass is under way, which sets all bounds */
    uint64_t measured;  /* passes that measured, and below the landmarks at the last of them */
    uint64_t measured_at;
    uint64_t passes; /* measures that read rows, and how many rows */
    uint64_t rows_read;
    uint64_t exhausted; /* all residuals are 0: the rank of K is reached */
    uint64_t certified; /* measured, on the final dictionary and in f64 */
    double largest;     /* largest k(x,x) over all rows */
    double least_share; /* least δ/k(x,x) of the landmarks when they joined */
    double share;       /* accepted in the last windows, the latest counting most */
    double enough;      /* a bound down to which a pass need not measure */
    double flops;
};

/* The numbers by which a selection decides about a pass (rpcholesky_pace.c); plans play it through,
 * too (rpcholesky_work.c). */
struct ny_pivot_pace {
    double n, m, d;     /* rows, wanted landmarks, products of a kernel value */
    double count;       /* landmarks so far */
    double measured_at; /* landmarks at the last pass */
    double share;       /* of the candidates that is accepted */
};
/* Tells whether a pass should be made now, and not later or never. */
bool ny_pivot_pass_due(const struct ny_pivot_pace *pace);

struct ny_rpcholesky {
    struct ny_context *ctx;
    struct ny_layout own; /* but for the bounds, which the selection takes, and what grows */
    const struct ny_selection_request *request;
    struct ny_dictionary *dictionary;
    uint64_t n;
    struct ny_row_range here; /* rows that a pass reads */
    size_t m;                 /* landmarks wanted */
    struct ny_pivot_progress now;
    float *bounds; /* u_i ≥ δ_i, each from its row's last visit; proposals are drawn ∝ u */
    double *sums;  /* Σ u over the units before unit i */
    double *marks; /* of the first units, Σ u up to some rows, where draws begin to look */
    /* The window's candidates, and what their bounds are after it. */
    uint64_t window_row[NY_PIVOT_WINDOW];
    float window_bound[NY_PIVOT_WINDOW];
    double saved_s; /* when the last checkpoint was made */
    /* Counts of rows and flops when the pass under way began; `resumed`: they are known from the
     * checkpoint of that pass. */
    struct ny_pivot_start {
        uint64_t rows_read;
        double flops;
    } start;
    bool resumed;
    unsigned workers;
    struct ny_pivot_worker *worker;
};

/* Makes an empty dictionary, bounds and workers; ny_pivot_close() it after a failure, too. */
int ny_pivot_open(struct ny_rpcholesky *rp, const struct ny_selection_request *request);
/* Frees what ny_pivot_open() has made, even in part. */
void ny_pivot_close(struct ny_rpcholesky *rp);
/* Counts what ny_pivot_open() makes, with a dictionary of m landmarks; and with it what it leaves
 * to the first pass. */
void ny_pivot_open_count(struct ny_layout *l, const struct ny_selection_request *request, size_t m);
void ny_pivot_count(struct ny_layout *l, const struct ny_selection_request *request, size_t m);
/* Makes a pass that measures δ of all rows on the present dictionary (rpcholesky_measure.c). */
int ny_pivot_measure(struct ny_rpcholesky *rp, struct ny_source *source, uint64_t first_unit);
/* Makes an ny_exact_step() on the whole dictionary from column `from` to *to, a short one, so that
 * rows leave soon. */
int ny_pivot_step(const struct ny_rpcholesky *rp, struct ny_exact *exact,
                  const struct ny_front *block, size_t from, size_t *to);
/* Returns the δ up to which a residual is rounding alone. */
static inline double ny_pivot_zero(const struct ny_rpcholesky *rp)
{
    return (double)rp->m * 0x1p-52 * rp->now.largest;
}

/* Saves the state as the pass's checkpoint (rpcholesky_image.c). */
int ny_pivot_checkpoint(void *arg, uint64_t units_done);
/* Takes up the selection from its checkpoint, if there is one, and drops it. A pass under way goes
 * on at *first_unit (rpcholesky_image.c). Peers take up the checkpoint of the one that leads, and
 * go on with a pass of theirs if it is the same one. */
int ny_pivot_take_up(struct ny_rpcholesky *rp, uint64_t *first_unit);

#endif
