/*
 * The driver of transforms, which reads new rows, has them placed and writes their coordinates, and
 * the contract of those that place them: a model of landmarks (place/landmarks.h), all points of a
 * store (place/points.h), a map of a graph (maps/graph_place.h), and a graph, by which new rows get
 * neighbours and no coordinates (place/neighbors.h).
 */
#ifndef NY_PLACE_TRANSFORM_H
#define NY_PLACE_TRANSFORM_H

#include "base/budget.h"
#include "columns/tiles.h"
#include "io/reader.h"
#include "io/writer.h"
#include "place/clusters.h"
#include "results/beside.h"
#include "model/coordinates.h"
#include "model/degrees.h"
#include "stream/left_out.h"
#include "stream/row_ids.h"
#include "stream/source.h"

/* In place of the components of a room: as many as the rows have. */
#define NY_ANY_COMPONENTS UINT64_MAX
/* Room of a caller for coordinates: `row_bytes` from one row to the next; 0: they are packed. */
struct ny_room {
    void *at;           /* NULL: there is none */
    enum ny_dtype type; /* f32 or f64 */
    uint64_t row_bytes;
    uint64_t components; /* that a row has, or else it is refused */
};

/* The source of new rows, and the place for their coordinates. */
struct ny_new_rows {
    const char *input; /* a file; NULL: the table */
    const struct ny_table *table;
    const struct ny_reader_options *options; /* how to read it; NULL: as it says itself */
    const char *output;                      /* a file; NULL: the room */
    struct ny_beside
        with; /* ids, labels and a header, of a text table: as ny_part_export_beside() writes */
    struct ny_store *like; /* its columns are those of the rows; NULL: they have no names */
    struct ny_room room;
    struct ny_cluster_finder *finder; /* takes the coordinates, too; NULL: nobody does */
    uint64_t *placed;   /* becomes their number, where all are placed; NULL: nobody asks */
    uint64_t *left_out; /* becomes the number of their values in columns that are left out, where
                         * all are placed (options.new_columns_drop); NULL: nobody asks */
};

struct ny_placer;

/* The contract of a placer. Its functions are called in this order. */
struct ny_placer_ops {
    /* Returns the bytes that begin() and place() charge for so many workers, without the new rows
     * themselves, whose type and number are known by then. */
    ny_budget_bytes *bytes;
    /* Opens what the rows go to, where that is not one table of coordinates; the placer then
     * closes it. May be NULL. */
    int (*open)(struct ny_placer *placer);
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
    struct ny_columns_spec spec; /* of the rows that new ones are compared with */
    const char *whose;           /* these are, for messages: "the store has" */
    struct ny_party party;       /* of the model, where they are not those of a store */
    /* The result that is read while new rows are placed; record NULL: all was read before. */
    struct ny_store *store;
    const char *name;
    const json_t *record;
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
    struct ny_writer *writer;
    char delimiter;        /* of a table whose rows begin with names or labels; 0: with neither */
    struct ny_row_ids ids; /* of rows that are not written yet */
    struct ny_names names; /* of those that are written now */
    struct ny_import_how how; /* the columns of names and labels, if these are to be written */
    struct ny_room room;      /* where there is no writer */
    struct ny_cluster_finder *finder; /* or NULL */
};

/* Places new rows. An error leaves no file. NY_EDATA where they have another number of columns than
 * the rows that they are compared with; rows with NaN are refused, or, where the options keep them,
 * have NaN for coordinates and -1 for a cluster. */
int ny_place_all(struct ny_placer *placer, const struct ny_new_rows *rows);
/* Takes the next stored rows (model/coordinates.h), of the type `computed`, makes coordinates of
 * them in their own place, checks these and writes them. */
int ny_placer_put(struct ny_placer *placer, void *rows, size_t count);

#endif
