/*
 * New rows of a file, or of memory, and their coordinates in a file, or in memory
 * (place/transform.h).
 *
 * The rows are read like those that the result was made of. A text file whose number of rows the
 * output format needs in advance is read once more to count them. What fails leaves no output.
 */
#ifndef NY_API_NEW_ROWS_H
#define NY_API_NEW_ROWS_H

#include "evaluate/new_clusters.h"
#include "io/reader.h"
#include "io/writer.h"
#include "place/neighbors.h"
#include "place/transform.h"
#include "results/beside.h"
#include "stream/row_ids.h"

/* In place of the components of a room: as many as the rows have. */
#define NY_ANY_COMPONENTS UINT64_MAX
/* Room of a caller for coordinates: `row_bytes` from one row to the next; 0: they are packed. */
struct ny_room {
    void *at;           /* NULL: there is none */
    enum ny_dtype type; /* f32 or f64 */
    uint64_t row_bytes;
    uint64_t components; /* that a row has, or else it is refused */
};

/* Opens a result of a store that is done, whose rows are read: none of them is lost. json_decref()
 * its record, also after a failure. */
int ny_fitted_open(struct ny_fitted *fitted, struct ny_store *store, const char *name);

/* The source of new rows, and the place for their coordinates. */
struct ny_read_rows {
    struct ny_new_rows base;
    const char *input; /* a file; NULL: the table */
    const struct ny_table *table;
    const struct ny_reader_options *options; /* how to read it; NULL: as it says itself */
    const char *output;                      /* a file; NULL: the room */
    struct ny_beside
        with; /* ids, labels and a header, of a text table: as ny_part_export_beside() writes */
    struct ny_store *like; /* its columns are those of the rows; NULL: they have no names */
    struct ny_room room;
    struct ny_cluster_finder *finder; /* takes the coordinates, too; NULL: nobody does */
    /* These are told of rows that all have a place: how many they are, and how many values they
     * have in columns that are left out (options.new_columns_drop). */
    uint64_t placed, left_out;
    /* These are of a transform under way. */
    struct ny_context *ctx;
    struct ny_reader *reader;
    struct ny_writer *writer; /* of the coordinates */
    char delimiter;        /* of a table whose rows begin with names or labels; 0: with neither */
    struct ny_row_ids ids; /* of rows that are not written yet */
    struct ny_names names; /* of those that are written now */
    struct ny_import_how how; /* the columns of names and labels, if these are to be written */
};

/* The `ops` of rows that get coordinates; and those of them that serve all rows which begin with a
 * struct ny_read_rows. */
extern const struct ny_new_rows_ops ny_read_rows_ops;
int ny_read_rows_open(struct ny_new_rows *rows, const struct ny_placer *placer,
                      struct ny_raw_shape *shape);
int ny_read_rows_source(struct ny_new_rows *rows, struct ny_placer *placer, unsigned units,
                        struct ny_source **out);
void ny_read_rows_close(struct ny_new_rows *rows);

/* ---- neighbours of new rows (place/neighbors.h) -------------------------------------------- */

/* Neighbours of new rows. Files have row numbers as u64 and distances as f32, like those of a
 * graph's own lists; in memory distances are f64. Row numbers go to rows.output or `numbers`, and
 * distances, if they are wanted, to the others. */
struct ny_neighbor_lists {
    struct ny_read_rows rows; /* its room is not used */
    const char *distances_output;
    uint64_t *numbers;
    double *distances;
    struct ny_new_neighbors found;
    /* These are of a search under way. */
    struct ny_writer *numbers_writer, *distances_writer;
    uint64_t *wide; /* a row of numbers, */
    float *narrow;  /* and of distances, as files have them */
};

/* Finds them by a result of the store. NY_EUSAGE where that is no graph of enough rows. */
int ny_neighbor_lists_find(struct ny_neighbor_lists *lists, struct ny_store *store,
                           const char *name);

#endif
