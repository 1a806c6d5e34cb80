/* The state of one greedy selection, and what is done with it; for greedy*.c. */
#ifndef NY_SELECT_GREEDY_H
#define NY_SELECT_GREEDY_H

#include <math.h>

#include "select/front.h"
#include "select/prefixes.h"
#include "select/rules.h"

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
    double low, high;             /* the bracket: ε⁺, ε⁻ */
    double epsilon;               /* ε of the run under way */
    double pilot_low, pilot_high; /* the first ones, where a pilot chose them, else NaN */
    double largest;               /* largest k(y,y) over D, as in struct ny_prefix */
    uint64_t landmarks;           /* size of D, the largest dictionary so far that was too small */
    uint64_t step;                /* enum ny_greedy_step */
    uint64_t halvings, runs;
};

/* The arguments of a run of Algorithm 1. */
struct ny_greedy_limits {
    double tolerance;     /* ε; −∞: no row is rejected, so that each is measured to the end */
    size_t landmarks_max; /* the most landmarks there may be */
    bool stops; /* a row above ε that finds D full ends the run; otherwise it is measured */
};

struct ny_greedy {
    struct ny_context *ctx;
    struct ny_layout own; /* the workers and their workspaces */
    const struct ny_selection_request *request;
    struct ny_dictionary *dictionary;
    struct ny_greedy_limits limits; /* arguments of the run under way */
    bool too_large;                 /* a row above ε has ended that run */
    uint64_t n;
    struct ny_row_range here; /* the rows, among the n, that passes read here: those of a shard, or
                               * all */
    unsigned turn;            /* the shard whose rows the run under way has come to */
    bool resumed;             /* the first run goes on from an image */
    uint64_t decided;         /* rows before this one were looked at by an earlier selection */
    float *residuals; /* n upper bounds of δ, each from its row's last visit; ∞ before the first */
    float *kept; /* the bounds against D of Algorithm 2, while a run goes beyond D; else NULL */
    struct ny_greedy_search search;
    struct ny_prefixes prefixes; /* workers screen against them */
    double checkpoint_s;         /* when the last checkpoint was made */
    uint64_t rows_read;
    double flops;
    unsigned workers;
    struct ny_greedy_worker *worker;
};

/* Tells whether Algorithm 2 runs, which searches ε for a size: no tolerance is given. */
static inline bool ny_greedy_searches(const struct ny_selection_request *request)
{
    return isnan(request->greedy.dictionary.tolerance);
}

/* Returns the arguments of a run over all rows by the request's tolerance. */
static inline struct ny_greedy_limits
ny_greedy_limits_of(const struct ny_selection_request *request)
{
    return (struct ny_greedy_limits){request->greedy.dictionary.tolerance, request->landmarks,
                                     false};
}

/* ---- the state (greedy_state.c) ---- */
/* Makes the state for n rows, none of them seen; to be closed also where it fails. */
int ny_greedy_open(struct ny_greedy *greedy, const struct ny_selection_request *request,
                   uint64_t n);
/* Lays out greedy->workers with their workspaces. */
void ny_greedy_lay(struct ny_layout *l, struct ny_greedy *greedy,
                   const struct ny_columns_spec *spec);
/* Frees the state, which may be half open. */
void ny_greedy_close(struct ny_greedy *greedy);
/* Returns how many bounds all rows have. */
static inline uint64_t ny_greedy_bounds(const struct ny_selection_request *request)
{
    return (ny_greedy_searches(request) ? 2 : 1) * request->n;
}

/* ---- Algorithm 1 (greedy.c) ---- */
/* Runs Algorithm 1 over the source from unit `first_unit` on, with the dictionary, the prefixes and
 * the bounds that there are. */
int ny_greedy_run(struct ny_greedy *greedy, const struct ny_greedy_limits *limits,
                  struct ny_source *source, uint64_t first_unit, bool checkpoints);

/* ---- over shards (greedy_shards.c) ---- */
/* Runs Algorithm 1 over the rows of all shards, one shard after the other; a store without peers is
 * one of one shard. */
int ny_greedy_run_all(struct ny_greedy *greedy, const struct ny_greedy_limits *limits,
                      struct ny_source *source, uint64_t first_unit, bool checkpoints);
/* Goes on from the images that the shards have: with the dictionary of the one that has come
 * farthest. greedy->resumed: there is one. */
int ny_greedy_resume(struct ny_greedy *greedy, uint64_t *first_unit);
/* Gives the dictionary of the shard whose turn it is to the others, unless it is as it was with
 * `before` landmarks. One that became too large is not whole, and all go back to an earlier one. */
int ny_greedy_share_dictionary(struct ny_greedy *greedy, size_t before);
/* Makes of the bounds and counts of each shard those of all. */
int ny_greedy_complete(struct ny_greedy *greedy, struct ny_source *source);

/* ---- screening (greedy_screen.c) ---- */
/* Tells whether no row of the unit has to be read, as the bound of each is ε or less or it was
 * decided before: the pass's `skip`. */
bool ny_greedy_skip(void *arg, uint64_t unit);
/* Screens the unit of a tile against the prefix of that unit: the pass's `unit`, in parallel. */
int ny_greedy_screen_unit(void *arg, const struct ny_tile *tile);
/* Screens a front in f32: rows that are decided leave it. `prefix` says which columns there are;
 * `full`: nothing joins any more. */
void ny_greedy_screen(struct ny_greedy *greedy, struct ny_front *front, uint64_t first_row,
                      const struct ny_prefix *prefix, bool full);
/* Tells whether the rows of this front cannot be screened in f32 at this tolerance. */
bool ny_greedy_needs_f64(const struct ny_greedy *greedy, const struct ny_front *front,
                         double largest);
/* Tells whether this f64 δ of row i of the front is too small to join: at most ε, or what rounding
 * explains. */
bool ny_greedy_rejects(const struct ny_greedy *greedy, const struct ny_front *front, size_t i,
                       const struct ny_prefix *prefix, double delta);
/* Tells whether the dictionary has as many landmarks as are allowed. */
static inline bool ny_greedy_full(const struct ny_greedy *greedy)
{
    return ny_dictionary_size(greedy->dictionary) >= greedy->limits.landmarks_max;
}

/* ---- Algorithm 2 (greedy_search.c) ---- */
/* Runs Algorithm 1 until it gives m landmarks. It begins with the bracket that a pilot chose; NULL,
 * or one without a high end: with 0 and 1. A resumed search goes on in unit `first_unit` of the run
 * under way. NY_ESTORE: a search that was stored is none that can be under way. */
int ny_greedy_search(struct ny_greedy *greedy, const struct ny_greedy_bracket *pilot,
                     struct ny_source *source, uint64_t first_unit);

/* ---- the rule (greedy_rule.c) ---- */
/* Runs the rule on the request->n rows of any source. The pilot's bracket is for
 * ny_greedy_search(). */
int ny_greedy_select_from(const struct ny_selection_request *request,
                          const struct ny_greedy_bracket *pilot, struct ny_source *source,
                          struct ny_selection *selection);

/* ---- rows in batches (greedy_online.c) ---- */
/* Runs Algorithm 1 in batches of whole units, each followed by request->greedy.follower. Over
 * shards, what that one has made is in the shard that leads afterwards. */
int ny_greedy_run_followed(struct ny_greedy *greedy, uint64_t first_unit);

/* ---- an earlier selection (greedy_extend.c) ---- */
/* Takes up the dictionary and the bounds of request->greedy.earlier. *first_unit: the first unit
 * with new rows; 0, with the state as if new, where rounding keeps the dictionary from being
 * remade. */
int ny_greedy_take_up(struct ny_greedy *greedy, uint64_t *first_unit);

/* ---- estimates from a sample (greedy_estimate.c) ---- */
/* Estimates m after n rows from the rows that joined among the first `seen`. */
size_t ny_greedy_extrapolate(const uint64_t *rows, size_t m, uint64_t seen, uint64_t n);
/* Estimates from hashed rows a bracket whose dictionaries are larger, and a little smaller, than
 * the m that is asked for; NaN where there are too few rows. */
int ny_greedy_pilot(const struct ny_selection_request *request, struct ny_greedy_bracket *bracket);
/* Returns the rows of the pilot: 0 where there are too few to tell anything, or to gain anything.
 */
size_t ny_greedy_pilot_rows(const struct ny_selection_request *request, size_t m);

/* ---- checkpoints (greedy_image.c) ---- */
/* Returns the bytes of the checkpoints of a selection of m landmarks. */
size_t ny_greedy_image_bytes(const struct ny_selection_request *request, size_t m);
/* Saves the state as the pass's checkpoint. */
int ny_greedy_checkpoint(void *arg, uint64_t units_done);
/* Reads the state of a checkpoint; *first_unit is where the pass goes on. */
int ny_greedy_restore(struct ny_greedy *greedy, uint64_t *first_unit);
/* Tells how far an image has come: a number that is larger the farther it has; 0: there is none. */
uint64_t ny_greedy_progress(const struct ny_selection_request *request);
/* Takes from the image of another shard all but the bounds, which are taken from this shard's own
 * image as far as they hold. */
int ny_greedy_follow(struct ny_greedy *greedy, const void *image, size_t bytes);

#endif
