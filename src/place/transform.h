/*
 * The driver of transforms, which has new rows placed and hands their coordinates on, and the
 * contracts on its two sides. Placers: a model of landmarks (place/landmarks.h), all points of a
 * store (place/points.h), a map of a graph (maps/graph_place.h), and a graph, by which new rows get
 * neighbours and no coordinates (place/neighbors.h). Where rows come from and their places go:
 * api/new_rows.h.
 */
#ifndef NY_PLACE_TRANSFORM_H
#define NY_PLACE_TRANSFORM_H

#include "base/budget.h"
#include "base/traits.h"
#include "columns/tiles.h"
#include "job/keep.h"
#include "model/coordinates.h"
#include "model/degrees.h"
#include "stream/left_out.h"
#include "stream/rows.h"
#include "stream/source.h"
#include "job/record.h"

/* A result that is done, by which new rows are placed. */
struct ny_fitted {
    struct ny_rows *X; /* those that it is of */
    struct ny_keep keep;
    struct ny_record record;
};

struct ny_new_rows;
struct ny_placer;

/* The contract of those who have new rows. Its functions are called in this order. */
struct ny_new_rows_ops {
    /* Opens the rows, and tells their type, their number (NY_ROWS_UNKNOWN where only their end
     * tells), and the slots that they would have as sparse rows. NY_EDATA where their columns are
     * not those of placer->spec. */
    int (*open)(struct ny_new_rows *rows, const struct ny_placer *placer,
                struct ny_raw_shape *shape);
    /* Makes a source of so many units at a time, each of ny_source_unit_rows(), of the type and
     * slots of placer->spec, and opens what the places go to. Where `keeps` is set, the source
     * writes down in placer->left_out which rows it leaves out. */
    int (*begin)(struct ny_new_rows *rows, struct ny_placer *placer, unsigned units,
                 struct ny_source **out);
    /* Takes the places of rows first … first + count − 1: coordinates, f64 if ny_placer_puts_f64(),
     * else f32; or of a graph a struct ny_measured. */
    int (*put)(struct ny_new_rows *rows, const struct ny_placer *placer, const void *places,
               uint64_t first, size_t count);
    /* All rows have places, which are whole now. */
    int (*end)(struct ny_new_rows *rows, const struct ny_placer *placer);
    /* Closes all of it, also after a failure: without an end nothing is left. */
    void (*close)(struct ny_new_rows *rows);
};

/* The part that all who have new rows start with. */
struct ny_new_rows {
    const struct ny_new_rows_ops *ops;
    size_t beside_bytes; /* that the source charges for a row, beside its values */
    size_t output_bytes; /* that begin() takes for what the places go to */
    bool keeps;          /* rows with NaN, which no placer sees, have NaN for coordinates */
};

/* The contract of a placer. Its functions are called in this order. */
struct ny_placer_ops {
    /* Counts what begin() and place() hold with so many workers, without the new rows themselves,
     * whose type and number are known by then. */
    ny_budget_count_fn *count;
    /* Takes the memory that place() needs for placer->workers. */
    int (*begin)(struct ny_placer *placer);
    /* Computes the stored row of each row of `rows`, and puts them all in order. */
    int (*place)(struct ny_placer *placer, struct ny_source *rows);
    /* Checks and measures what was placed, before the output has its name. May be NULL. */
    int (*end)(struct ny_placer *placer);
    bool by_units; /* workers take units of the new rows, instead of one unit at a time in all */
};

/* The struct of every placer begins with this, which is all that the driver knows of it. */
struct ny_placer {
    /* These are given. */
    const struct ny_placer_ops *ops;
    struct ny_columns_spec spec;    /* of the rows that new ones are compared with */
    const char *whose;              /* these are, for messages: "the store has" */
    struct ny_party party;          /* of the model, where they are not those of a store */
    const struct ny_fitted *fitted; /* which is read meanwhile; NULL: all was read before */
    struct ny_coordinates coordinates;
    bool divided; /* the kernel is: a row may have no degree, and is then stored as NaN */
    enum ny_precision precision; /* of the output */
    enum ny_precision computed;  /* of the rows that are put: f64 wherever the output is f64 */
    float *narrow; /* room for the coordinates that are put at a time, where the output is f32 and
                    * they are f64; NULL elsewhere */
    /* These are set by the driver, which also widens the type and the slots of spec to those of the
     * new rows before it asks for bytes. */
    unsigned workers;
    uint64_t rows;                      /* new rows; NY_ROWS_UNKNOWN where only their end tells */
    uint64_t placed;                    /* those that were put so far */
    struct ny_unreached_rows unreached; /* of them, by their place in the input; stored as NaN */
    struct ny_left_out left_out; /* rows that have no place, of which `blanks` were put so far */
    size_t blanks;
    void *blank; /* the coordinates of one, NaN; NULL where there are none */
    struct ny_new_rows *new;
};

/* Places new rows. An error leaves no file. NY_EDATA where they have another number of columns than
 * the rows that they are compared with. */
int ny_place_all(struct ny_placer *placer, struct ny_new_rows *rows);
/* Takes the next stored rows (model/coordinates.h), of the type `computed`, makes coordinates of
 * them in their own place, checks these and hands them on. */
int ny_placer_put(struct ny_placer *placer, void *rows, size_t count);
/* Returns the most rows that may come; 0: that is not known. */
static inline uint64_t ny_placer_most_rows(const struct ny_placer *placer)
{
    return placer->rows == NY_ROWS_UNKNOWN ? 0 : placer->rows;
}
/* Tells whether the coordinates that are put are f64: they are as computed, or narrowed. */
bool ny_placer_puts_f64(const struct ny_placer *placer);
/* Checks that the coordinates of rows first … first + count − 1 are finite where they are reached.
 */
int ny_placer_check(const struct ny_placer *placer, bool f64, const void *rows, uint64_t first,
                    size_t count);

#endif
