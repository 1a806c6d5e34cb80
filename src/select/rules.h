/*
 * Selection rules: which rows become landmarks. One file a rule, one line in select/rules.c.
 */
#ifndef NY_SELECT_RULES_H
#define NY_SELECT_RULES_H

#include "select/dictionary.h"
#include "stream/rows.h"
#include "stream/pass.h"

/* The map's matrix whose diagonal gives the weights: K as it is, centred, divided by degrees. */
enum ny_diagonal { NY_DIAGONAL_RAW, NY_DIAGONAL_CENTRED, NY_DIAGONAL_DIVIDED };

/* The result of an earlier selection, of the first n rows. */
struct ny_selected {
    uint64_t n;
    uint64_t *rows; /* m landmarks */
    size_t m;
    int (*residuals)(void *arg, float *residuals); /* fills in the n upper bounds of δ */
    void *arg;
};

/* The rows of a batch in a selection that is followed. Results depend on this number: whole units,
 * few enough to be still in the page cache when the follower reads them. */
#define NY_ONLINE_ROWS ((uint64_t)8 * NY_UNIT_ROWS)

/* A selection between two of its batches. */
struct ny_decided {
    struct ny_dictionary *dictionary;
    uint64_t rows; /* rows before this one are decided, and to be followed */
    /* Saves the state like request->checkpoint.save; called while the batch is followed. NULL:
     * nothing can be saved, as the batch ends in another shard. */
    int (*checkpoint)(const struct ny_decided *decided);
    void *selection;
};

/* The follower of a selection: takes the rows of each batch while they are in the page cache, with
 * the landmarks that there are at the end of the batch. */
struct ny_follower {
    int (*follow)(void *arg, const struct ny_decided *decided);
    /* Gives what the follower has made in shard `from` to the one in shard `to`, which alone has it
     * then. All shards make this call together. */
    int (*hand_on)(void *arg, unsigned from, unsigned to);
    const uint64_t *rows; /* rows before this one are followed */
    void *arg;
};

/* Greedy alone reads this part of a request. */
struct ny_greedy_request {
    struct ny_dictionary_options dictionary; /* tolerance NaN: Algorithm 2, for m landmarks */
    bool pilot; /* Algorithm 2: hashed rows tell the first bracket, in place of 0 and 1 */
    /* For a selection with a tolerance, each NULL where there is none. */
    const struct ny_selected *earlier;  /* it goes on from there */
    const struct ny_follower *follower; /* it is followed, batch by batch */
};

/* Maps of a graph fill in this part: their landmarks are rows of its largest component. */
struct ny_candidates {
    bool (*valid)(const void *arg, uint64_t row); /* rows that may be chosen; NULL: all */
    const void *valid_arg;
    /* maxmin: takes a landmark up, and gives the row that is then farthest from all of them; any
     * row where it is interrupted. */
    uint64_t (*farthest)(void *arg, uint64_t landmark);
    void *farthest_arg;
};

/* A selection that reads the points survives a kill by this part: it saves its image between units,
 * and a resumed one is handed the last image back. */
struct ny_selection_checkpoint {
    int (*save)(void *arg, const void *image, size_t bytes); /* NULL: nothing is saved */
    void *arg;
    const void *image; /* NULL: the selection begins */
    size_t image_bytes;
    void **image_owner; /* NULL, or: ny_free()d and set to NULL once the image is restored */
};

/* A rule is asked by one of these. All rules go by the first fields; a field that is zero asks for
 * nothing. */
struct ny_selection_request {
    struct ny_context *ctx;
    uint64_t n;               /* rows of the job */
    struct ny_row_range here; /* a pass reads these of them; an end of 0: all */
    size_t landmarks;         /* m; with a tolerance the most there may be; SIZE_MAX: any number */
    uint64_t seed;            /* for rules that draw */
    /* Rules that read the points (ny_rule_reads()): */
    struct ny_rows *X;
    const struct ny_columns_spec *spec;
    unsigned workers; /* 0: one */
    bool certify;     /* a last pass makes the residuals exact on the final D */
    struct ny_selection_checkpoint checkpoint;
    /* One rule each: */
    struct ny_greedy_request greedy;
    enum ny_diagonal diagonal;       /* for rule weighted */
    const uint64_t *named_landmarks; /* for rule given: the m row numbers, */
    bool points_given;               /* or m points that are no rows of the store */
    const void *landmark_points;     /* for ny_selection_certify(): these, m raw rows */
    /* The other rules, in maps of a graph: */
    struct ny_candidates candidates;
};

/* The result of a rule. Arrays are ny_free()d by ny_selection_release(). */
struct ny_selection {
    size_t m;
    uint64_t *rows;   /* m, in order of selection; NULL: the landmarks are points */
    float *residuals; /* n upper bounds of δ, each from its row's last visit, rounded up; NULL
                       * unless the rule measures them */
    double residual_max, residual_mean; /* NaN where residuals is NULL */
    uint64_t residual_row;              /* the first row with the largest */
    bool complete;    /* fewer than wanted were selected, because they represent all rows */
    double tolerance; /* ε that greedy has kept; NaN: another rule */
    double pilot_low, pilot_high; /* the bracket that a pilot chose for ε; else NaN */
    double flops;
    uint64_t rows_read;
    unsigned passes;
};

/* The decay of a kernel matrix, measured on a sample: after t landmarks drawn in proportion to
 * residuals, the mean residual of other rows is share[t] of that before the first. count 0: nothing
 * is known. */
struct ny_decay {
    const double *share;
    size_t count;
    double rank; /* the most that the kernel matrix can have: beyond it nothing is left; 0: any */
};
/* Returns the share after so many landmarks; beyond the sample, the last slope goes on. */
double ny_decay_at(const struct ny_decay *decay, double landmarks);

/* The work of a selection, for its price. */
struct ny_selection_work {
    double passes;             /* passes over all rows. By all workers: */
    double entries, exact;     /* entries of C in f32 and in f64, */
    double flops, exact_flops; /* substitutions in them, */
    double sums;               /* additions of f32 values to one f64 sum, one after the other */
    double gathered;           /* rows read one by one */
    double visits;             /* turns over the blocks in which they are read */
    double alone, alone_flops; /* by one worker: their entries and substitutions in f64 */
};

struct ny_rule {
    const char *name, *summary;
    const char *options; /* "a|b|c": those it takes of landmarks, landmarks-file,
                          * landmarks-points, landmarks-from, online; NULL: none of them */
    bool by_tolerance;   /* a row joins where δ > ε (Ouimet & Bengio 2005, Algorithm 1): it takes
                          * --tolerance, and then --landmarks is a cap */
    bool all;            /* every row becomes a landmark, D = X, whatever --landmarks says */
    bool measures;       /* it measures δ, of all rows where `certify` asks for that */
    bool paths;          /* it takes the row that is farthest by geodesics: candidates.farthest */
    bool uniform;        /* every subset of m rows is equally likely, as the scaling of λ̂ by n/m
                          * supposes (Talwalkar et al. 2013, eqs. 3 and 4) */
    int (*select)(const struct ny_selection_request *request, struct ny_selection *selection);
    /* Counts what a selection that ends with m landmarks holds, and tells the bytes of its
     * checkpoints, for a rule that reads the points. NULL: it needs the row numbers alone. */
    void (*count)(struct ny_layout *l, const struct ny_selection_request *request, size_t m);
    size_t (*image_bytes)(const struct ny_selection_request *request, size_t m);
    /* Work that a selection of m landmarks is likely to take, for plans without a sample. NULL:
     * none, or a tolerance decides it. */
    struct ny_selection_work (*work)(const struct ny_selection_request *request, size_t m,
                                     const struct ny_decay *decay);
};

/* Tells whether the rule reads the points. One that does not fits maps of a graph as well, which
 * have no kernel, and chooses among rows that are `valid`. */
static inline bool ny_rule_reads(const struct ny_rule *rule)
{
    return rule->count != NULL;
}

/* Returns the rule of that name; NULL where there is none. */
const struct ny_rule *ny_rule_find(const char *name);
/* Returns rule number `index` in the order of the help; NULL past the end. */
const struct ny_rule *ny_rule_at(size_t index);
/* Frees the arrays of a selection. */
void ny_selection_release(struct ny_selection *selection, struct ny_context *ctx);
/* Measures the residuals of all rows on the landmarks of a rule that does not measure any. This
 * takes one more pass, which is in the selection's cost. */
int ny_selection_certify(const struct ny_selection_request *request,
                         struct ny_selection *selection);
/* Counts what ny_selection_certify() charges while it runs, for m landmarks. */
void ny_certify_count(struct ny_layout *l, const struct ny_selection_request *request, size_t m);

/* δ of the n rows of a source, in f64, from what m landmarks (raw rows of the request's spec) span;
 * those among them that the others span count for nothing. NY_ENUMERIC where the kernel turns out
 * not to be positive semi-definite. request->greedy.dictionary.affine says which span. */
int ny_greedy_measure(const struct ny_selection_request *request, struct ny_raw_rows landmarks,
                      size_t m, struct ny_source *source, uint64_t n, float *residuals);

/* Greedy, for plans: m expected at this tolerance, from Algorithm 1 on `sample` hashed rows and the
 * growth seen on them; and the memory of a selection that ends with m landmarks. */
int ny_greedy_estimate(const struct ny_selection_request *request, size_t sample, size_t *m);
/* Counts what a greedy selection of m landmarks charges. */
void ny_greedy_count(struct ny_layout *l, const struct ny_selection_request *request, size_t m);

#endif
