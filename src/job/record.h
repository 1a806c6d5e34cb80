/*
 * The record of a result: what it says of itself, beside the arrays of its parts. A job fills it in
 * and commits it with what it describes, in one batch of its keep (job/keep.h). The engine sees of
 * it a state, which is a struct (job/state.h), and some lists of numbers; how a record is kept, and
 * what others have written into it, it does not know.
 *
 * Implementations: records/record.c (JSON: that of all stores), tests/core/fit_array.c.
 */
#ifndef NY_JOB_RECORD_H
#define NY_JOB_RECORD_H

#include "job/keep.h"
#include "job/state.h"

/* Lists of numbers, one a component but for the last ones. A number that is not known is NaN. */
enum ny_list {
    NY_LIST_EIGENVALUES,
    NY_LIST_VARIANCE,
    NY_LIST_RESIDUALS, /* of eigenpairs */
    NY_LIST_ERRORS,    /* of components: their estimates, standard errors and corrected values */
    NY_LIST_ERRORS_SE,
    NY_LIST_CORRECTED,
    NY_LIST_P_VALUES,
    NY_LIST_SHRINKAGE,
    NY_LIST_SCALE,           /* factors of coordinates (model/coordinates.h) */
    NY_LIST_RECALL_INTERVAL, /* of a graph: two numbers */
    NY_LIST_SWEEP,           /* likewise: a line of NY_SWEEP_FIGURES for each of --sweep */
    NY_LISTS
};
/* A line of the sweep: neighbours, the limit of distances or NaN, components, and the share of rows
 * in the largest one. */
enum { NY_SWEEP_FIGURES = 4 };

/* A record, which `of` is to those who keep it. It is passed by value, and owned by who got it. */
struct ny_record {
    const struct ny_record_ops *ops;
    void *of; /* NULL: there is none */
};

struct ny_record_ops {
    /* Returns what the record says; texts are the record's, and stay until it is put or freed. */
    struct ny_state (*state)(struct ny_record record);
    /* Takes the state into the record, and texts of the state to be those of the record. */
    void (*put)(struct ny_record record, struct ny_state *state);
    /* Empties a list; a list that was never begun is not there. */
    void (*begin_list)(struct ny_record record, enum ny_list list);
    void (*append)(struct ny_record record, enum ny_list list, double number);
    /* Returns how many numbers a list has; 0 where it is not there. */
    size_t (*count)(struct ny_record record, enum ny_list list);
    double (*at)(struct ny_record record, enum ny_list list, size_t k);
    /* Returns of which update of the result a part is; 0: of the fit itself. */
    uint64_t (*generation)(struct ny_record record, const char *part);
    void (*set_generation)(struct ny_record record, const char *part, uint64_t generation);
    /* Tells whether two records have the same figures. */
    bool (*same)(struct ny_record one, struct ny_record other);
    /* Reads the record that readers of a keep see; out->of = NULL where there is none. NY_ESTORE
     * where it is damaged or of a later format. */
    int (*load)(const struct ny_keep *keep, struct ny_record *out);
    /* Puts the record in the batch; that of an update beside the one that readers see. NY_EBUDGET
     * also where memory was missing for what was put into it before. */
    int (*save)(const struct ny_keep *keep, struct ny_batch *batch, struct ny_record record);
    /* Makes the record that of another shard, but for what is this one's own. All shards call it.
     */
    int (*share)(struct ny_record record, struct ny_context *ctx, unsigned shard);
    void (*free)(struct ny_record record);
};

/* Returns the state that a record has; of one that is not there, one without anything. */
static inline struct ny_state ny_state_of(struct ny_record record)
{
    return record.of ? record.ops->state(record) : ny_state_none();
}

/* Frees a record, which need not be there. */
static inline void ny_record_free(struct ny_record record)
{
    if (record.of) record.ops->free(record);
}

/* The name under which the store has a part: the part's own of a fit, "model@2" of its second
 * update. */
enum { NY_PART_BYTES = 40 };
struct ny_part {
    char name[NY_PART_BYTES];
};
/* Returns the name of a part of a generation; 0 is the fit itself. */
struct ny_part ny_part_of(const char *part, uint64_t generation);
/* Returns the name that a part has now. */
struct ny_part ny_record_part(struct ny_record record, const char *part);
/* Makes the part one of the record's generation. */
void ny_record_renew(struct ny_record record, const char *part);

/* Returns the status `err` of what was read of the result with this record. NY_EBUSY where it was
 * fitted anew or removed meanwhile: what was read, and what looks like damage, is then of two fits.
 * So it is of a result that was updated, where `err` is a failure. */
int ny_keep_current(const struct ny_keep *keep, struct ny_record record, int err);
/* Tells whether two records are of the same rows and figures: all but the clusters in them. */
bool ny_record_same(struct ny_record one, struct ny_record other);
/* Tells whether a record is that of an update of what the earlier one speaks of, whose rows can
 * still be read: none of its parts is written anew, and they stay until the next update begins. */
bool ny_record_continues(struct ny_record now, struct ny_record earlier);
/* Finds the rows done at the last checkpoint. False if the stage under way does not go by rows, or
 * not once: a map of a graph goes by sources or steps. */
bool ny_record_rows_done(struct ny_record record, uint64_t *rows);
/* Returns how many rows the fit is of, those of all shards: rows that a frozen update placed are
 * behind them. */
uint64_t ny_record_fitted(struct ny_record record);
/* Returns the row behind the last one in this store that the fit is of, as the fit numbered it. */
uint64_t ny_record_selected(struct ny_record record);

#endif
