/* The state of one greedy selection; for greedy*.c. */
#ifndef NY_SELECT_GREEDY_H
#define NY_SELECT_GREEDY_H

#include <math.h>

#include "select/front.h"
#include "select/rules.h"

/* Unit u is screened, in parallel, against the dictionary as it was when unit u − NY_GREEDY_AHEAD
 * had been folded: whatever the workers are, the same work is done, with the same bytes. More would
 * keep more workers busy, and leave more rows for the fold, which is sequential. */
enum { NY_GREEDY_AHEAD = 4 };

/* A copy of a panel's first landmarks that several prefixes share. */
struct ny_tail {
    struct ny_columns *columns;
    unsigned users;
};

struct ny_greedy_worker {
    struct ny_front front;
    struct ny_exact exact;
    struct ny_columns_workspace *workspace;
};

/* The tolerances between which Algorithm 2 begins: ε⁺, whose dictionary is too large, and ε⁻, whose
 * dictionary is too small. */
struct ny_greedy_bracket {
    double low, high;
};

/* The state of Algorithm 2 in plain numbers, which its checkpoints hold. */
struct ny_greedy_search {
    double low, high;    /* ε⁺, ε⁻ */
    double epsilon;      /* ε of the run under way */
    double pilot_low, pilot_high; /* the first ones, where a pilot chose them, else NaN */
    double largest;      /* of D, as in struct ny_prefix */
    uint64_t landmarks;  /* of D: the largest dictionary so far that was too small */
    uint64_t step;       /* enum ny_greedy_step */
    uint64_t halvings, runs;
};

struct ny_greedy {
    struct ny_context *ctx;
    const struct ny_selection_request *request;
    struct ny_dictionary *dictionary;
    double tolerance;
    size_t landmarks_max;
    bool stops;     /* a row above ε that meets a full dictionary ends the run and */
    bool too_large; /* sets this; else the row is measured */
    uint64_t n;
    uint64_t room;    /* rows that there are bounds for, at least n */
    uint64_t decided; /* rows before this one were looked at by an earlier selection */
    float *residuals; /* n upper bounds of δ, each from its row's last visit; ∞ before the first */
    float *kept;      /* Algorithm 2: the same against D, while a run goes beyond it; else NULL */
    struct ny_greedy_search search;
    double checkpoint_s; /* when the last was made */
    uint64_t rows_read;
    double flops;
    uint64_t fold_row; /* first row of the unit that is folded; and the rank of its prefix */
    size_t fold_rank;
    struct ny_prefix prefix[NY_GREEDY_AHEAD]; /* of unit u in slot u mod NY_GREEDY_AHEAD */
    struct ny_tail *tails[NY_GREEDY_AHEAD];
    unsigned workers;
    struct ny_greedy_worker *worker;
};

/* Tells whether Algorithm 2 runs, which searches ε for a size: no tolerance is given. */
static inline bool ny_greedy_searches(const struct ny_selection_request *request)
{
    return isnan(request->greedy.dictionary.tolerance);
}

/* ---- one run (greedy_run.c) ---- */
/* Makes the state for n rows, none of them seen; to be closed also where it fails. */
int ny_greedy_open(struct ny_greedy *greedy, const struct ny_selection_request *request,
                   uint64_t n);
/* Frees the state, which may be half open. */
void ny_greedy_close(struct ny_greedy *greedy);
/* Sets the prefixes of the first units to the dictionary as it is, before a run from its begin. */
int ny_greedy_begin(struct ny_greedy *greedy);
/* Runs Algorithm 1 over the source from unit `first_unit` on, with the dictionary and the bounds
 * that there are. */
int ny_greedy_run(struct ny_greedy *greedy, struct ny_source *source, uint64_t first_unit,
                  bool checkpoints);

/* ---- several runs (greedy.c, and the files that are named) ---- */
/* The rule, on the rows of any source; request->n of them. Algorithm 2 begins with the bracket that
 * a pilot chose; NULL, or one without a high end: with 0 and 1. */
int ny_greedy_select_from(const struct ny_selection_request *request,
                          const struct ny_greedy_bracket *pilot, struct ny_source *source,
                          struct ny_selection *selection);
/* Like ny_greedy_run(), in batches of whole units, each followed by request->greedy.follower
 * (greedy_online.c). */
int ny_greedy_run_followed(struct ny_greedy *greedy, uint64_t first_unit);
/* Takes up the dictionary and the bounds of an earlier selection (greedy_extend.c). *first_unit:
 * the first unit with new rows. *done false: the dictionary could not be made again, to rounding;
 * the state is then as if new. */
int ny_greedy_take_up(struct ny_greedy *greedy, uint64_t *first_unit, bool *done);
/* Runs Algorithm 2 in the same way (greedy_search.c). NY_ESTORE: a search that was stored is none
 * that can be under way. */
int ny_greedy_search(struct ny_greedy *greedy, const struct ny_greedy_bracket *pilot,
                     struct ny_source *source, uint64_t first_unit);

/* Estimates m after n rows from the rows that joined among the first `seen`. */
size_t ny_greedy_extrapolate(const uint64_t *rows, size_t m, uint64_t seen, uint64_t n);
/* Estimates from hashed rows a bracket whose dictionaries are larger, and a little smaller, than
 * the m that is asked for; NaN where there are too few rows. */
int ny_greedy_pilot(const struct ny_selection_request *request, struct ny_greedy_bracket *bracket);
/* Bytes that the pilot charges while it runs. */
size_t ny_greedy_pilot_bytes(const struct ny_selection_request *request, size_t m);

/* Tells whether the dictionary has as many landmarks as are allowed. */
static inline bool ny_greedy_full(const struct ny_greedy *greedy)
{
    return ny_dictionary_count(greedy->dictionary) >= greedy->landmarks_max;
}

/* ---- deciding (greedy_unit.c, greedy_fold.c) ---- */
/* Tells whether no row of the unit has to be read, as the bound of each is ε or less or it was
 * decided before: the pass's `skip`. */
bool ny_greedy_skip(void *arg, uint64_t unit);
/* Screens the unit of a tile against the prefix of that unit: the pass's `unit`, in parallel. */
int ny_greedy_unit(void *arg, const struct ny_tile *tile);
/* Decides the rows that the screening left, in row order, and sets the prefix of a later unit: the
 * pass's `fold`. */
int ny_greedy_fold(void *arg, const struct ny_tile *tile);
/* One step of the screening of a front, in f32: rows that are decided leave it. `prefix` says which
 * columns there are; `full`: nothing joins any more. */
void ny_greedy_screen(struct ny_greedy *greedy, struct ny_front *front, uint64_t first_row,
                      const struct ny_prefix *prefix, bool full);
/* Tells whether the rows of this front cannot be screened in f32 at this tolerance. */
bool ny_greedy_needs_f64(const struct ny_greedy *greedy, const struct ny_front *front,
                         double largest);
/* Tells whether this f64 δ of row i of the front is too small to join: at most ε, or what rounding
 * explains. */
bool ny_greedy_rejects(const struct ny_greedy *greedy, const struct ny_front *front, size_t i,
                       const struct ny_prefix *prefix, double delta);
/* Upper bound of a residual as a float: rounded up, never negative. */
float ny_greedy_bound(double delta);
/* Returns the most by which rounding may have moved an f64 δ of a row after `rank` columns. */
double ny_greedy_slack(const struct ny_front *front, size_t i, size_t rank);

/* ---- prefixes (greedy_image.c) ---- */
/* The present dictionary becomes the prefix of unit `unit`. */
int ny_greedy_set_prefix(struct ny_greedy *greedy, uint64_t unit);
/* Frees the tails of all prefixes. */
void ny_greedy_drop_prefixes(struct ny_greedy *greedy);
/* The pass's checkpoint; and back: *first_unit is where it goes on. */
int ny_greedy_checkpoint(void *arg, uint64_t units_done);
/* Reads the state of a checkpoint; *first_unit is where the pass goes on. */
int ny_greedy_restore(struct ny_greedy *greedy, uint64_t *first_unit);
/* NY_ESTORE: the stored state is none of this selection. */
int ny_greedy_not_ours(const struct ny_greedy *greedy);

#endif
