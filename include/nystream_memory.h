/*
 * nystream in memory: the caller's rows in; coordinates, parts and models out, without files.
 *
 * This is step 4 of nystream.h, which programs include, and which includes this header. Its rules
 * on errors, ownership, arguments and threads hold here.
 */
#ifndef NYSTREAM_MEMORY_H
#define NYSTREAM_MEMORY_H

#include "nystream.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---------------------------------------------------------------------------------------------
 * Rows in: tables, which are appended to stores or stand for a file.
 * ------------------------------------------------------------------------------------------- */
/* Element types. The values are part of the store format. A genotype is a byte with a count of
 * alleles, 0, 1 or 2, or 3 where it is missing: stores keep it in two bits, and its rows come from
 * files of PLINK. Rows that a model of genotypes places may be numbers of any type, too, 3 or NaN
 * where they are missing. */
enum ny_dtype {
    NY_DTYPE_NONE = 0,
    NY_U8 = 1,
    NY_I16 = 2,
    NY_F32 = 3,
    NY_F64 = 4,
    NY_GENOTYPE = 5
};

/* Rows in the caller's memory, which are read during a call and never changed. Dense: each row is
 * one run of values. Sparse: CSR (scipy's data, indptr and indices), whose entries may be in any
 * order and name a column twice. */
struct ny_table {
    size_t struct_bytes;  /* sizeof(struct ny_table): later versions add fields */
    const char *name;     /* its name in messages; NULL: "the table" */
    int dtype;            /* enum ny_dtype, of the values */
    unsigned index_bytes; /* sparse: 4 or 8, of an integer of row_start and column */
    uint64_t rows, columns;
    const void *values;    /* rows × columns, row-major; sparse: the values of the entries */
    uint64_t row_bytes;    /* dense: from one row to the next; 0: rows without gaps */
    const void *row_start; /* sparse: rows + 1 integers, row i has entries row_start[i] to
                            * row_start[i + 1] − 1; NULL: the rows are dense */
    const void *column;    /* sparse: columns of the entries, from 0 */
    uint64_t entries;      /* sparse: how many values and column have room for */
    const double *labels;  /* one a row, NaN where it has none; NULL: no labels */
    const char *const *row_names;    /* one a row, NULL or "" where it has none; NULL: no names */
    const char *const *column_names; /* one a column; NULL: no names */
    const char *const *class_names;  /* words, which labels give by their places from 0; NULL:
                                      * labels are only numbers */
    uint64_t classes;                /* how many class names there are */
    const char *label_column; /* the name of the column that the labels were in, by which those of
                               * files to append are found; NULL: it has none */
};

/* Appends the table to the points of a store, as ny_import() does with files: in bounded memory,
 * all or nothing, resumed by the same call after a kill. Creates the store if there is none. The
 * table is converted to the type and layout of existing points. Values for f32 are rounded;
 * other types take only what is exact. Options of
 * NY_GROUP_IMPORT, except those that say how to read a file; NULL: all defaults. Names are kept as
 * ny_import() keeps them; a name has at most 4,096 bytes and no line end. Class names become
 * classes like the words of a label column: one that the store knows keeps its number. NY_EUSAGE
 * for an invalid description (row_start falls, sizes overflow). NY_EDATA for values that are not
 * finite or do not fit, for columns that do not exist, and for labels beyond the class names;
 * messages name row and column. *report as of ny_import(). Memory: a batch of rows, the entries of
 * the fullest sparse row, and the class names. */
NY_API int ny_append(struct ny_context *context, const char *path, const struct ny_table *table,
                     const struct ny_options *options, struct ny_report **report);

/* An appender takes rows that come a table at a time. Nothing is visible before the commit, which
 * is one transaction; ny_appender_free() before it leaves the store as it was. All tables have the
 * columns of the first one, and either all or none have labels. One thread at a time; from the
 * first rows on the store is locked for other writers (NY_EBUSY). An appender commits once: after
 * the commit, or a failure, call only ny_appender_free(); other calls are NY_EUSAGE. */
struct ny_appender;
NY_API int ny_appender_open(struct ny_appender **out, struct ny_context *context, const char *path,
                            const struct ny_options *options);
/* Adds the rows of the table, which may have none. */
NY_API int ny_appender_put(struct ny_appender *appender, const struct ny_table *table);
/* Makes all rows visible. NY_EDATA if there are none; more may still be put. *report as of
 * ny_import(). */
NY_API int ny_appender_commit(struct ny_appender *appender, struct ny_report **report);
NY_API void ny_appender_free(struct ny_appender *appender);

/* Appends rows × d float values (row-major, packed) to a store, which is created if there is none.
 * labels: `rows` values (NaN: none), or NULL, which counts as NaN if the store has labels. All or
 * nothing. NY_EDATA if d differs from the store's, for labels if the store has none, and for values
 * that are not finite or do not fit its element type (0.5 in a store of bytes). A store of sparse
 * rows keeps what is not 0. */
NY_API int ny_append_rows(struct ny_context *context, const char *path, const float *values,
                          uint64_t rows, uint64_t d, const double *labels);

/* Passes from memory what option landmarks-points or landmarks-file names a file for: m landmarks ×
 * d columns, or their row numbers, m × 1. For option features: column numbers, count × 1. The table
 * is copied, and its bytes are charged to the budget until the option is set again or the options
 * are freed. The option's text is "table" and a digest of it, by which a job recognizes it.
 * NY_EUSAGE for other options and for an invalid description, NY_EDATA for values that are not
 * finite, NY_EBUDGET if there is no room for the copy. */
NY_API int ny_options_set_table(struct ny_options *options, const char *name,
                                const struct ny_table *table);

/* ---------------------------------------------------------------------------------------------
 * One call: a table in, an embedding and a model out.
 * ------------------------------------------------------------------------------------------- */
/* The caller's room for coordinates: rows × components values, row-major. */
struct ny_dense_room {
    int dtype; /* NY_F32 or NY_F64 */
    void *values;
};

struct ny_model;
/* Embeds rows in memory: ny_borrow(), then ny_fit_into(). `room` takes the embedding, NaN for rows
 * that a map of a graph leaves out or that no landmark reaches; *model, which the caller frees,
 * places new rows; *report is as of ny_fit(). Each of the three may be NULL. NY_EUSAGE for a model
 * of a map of a graph, or of randomized and gaussian, which have none. Options of NY_GROUP_FIT and
 * NY_GROUP_EMBED. Nothing is written to a disk, but the pages of a graph for which the budget has
 * no room, and what ny_borrow() copies. Errors as of the two calls; messages name the table. Passes
 * are those of ny_fit(); so are bytes, beside those of the result. */
NY_API int ny_embed(struct ny_context *context, const struct ny_table *table,
                    const struct ny_options *options, const struct ny_dense_room *room,
                    struct ny_model **model, struct ny_report **report);

/* Has no effect. In version 1.1 stores could be written without waiting for the disk; one that is
 * for a single context is made by ny_temporary() now. */
NY_API void ny_context_set_scratch(struct ny_context *context, int scratch);

/* A folder for files of one call. */
struct ny_scratch_folder {
    char path[4200];
    int held; /* a file descriptor */
};

/* Makes such a folder in the folder `parent`. NY_EIO: it cannot be made. */
NY_API int ny_scratch_make(struct ny_context *context, const char *parent,
                           struct ny_scratch_folder *folder);
/* Removes the folder with all that is in it, and closes it. */
NY_API void ny_scratch_remove(const struct ny_scratch_folder *folder);

/* Makes rows a store that is in memory, of this context alone: its calls open it by `path`, where
 * nothing need be, in place of the one that was borrowed before. They fit, graph, select, evaluate,
 * view and place as with a store on a disk, with the same bytes; what is made is in memory, and its
 * bytes are part of the plan. To append, update or number through shards is NY_EUSAGE.
 *
 * The rows are read where they are, and have to stay as they are until others are borrowed, or the
 * context is freed. Sparse ones are copied to temporary files without names if their entries are
 * not in order, or if one in eight values is there or more, which become dense. Labels and names
 * of rows are not taken. Options rows, values and layout; others of an import that change rows are
 * NY_EUSAGE. With tmpdir, what is made is in a temporary file without a name in that folder, and
 * not in memory. NY_EDATA for values that are not finite, or cannot be prepared. One pass, for the
 * statistics. *report as of ny_store_report(). */
NY_API int ny_borrow(struct ny_context *context, const char *path, const struct ny_table *table,
                     const struct ny_options *options, struct ny_report **report);

/* Makes such a store without rows. The next import of this path (ny_import(), ny_append(), or an
 * appender) gives it rows, which are kept in temporary files without names in the folder, as is
 * what is made of them. Labels and names of rows are not kept. */
NY_API int ny_temporary(struct ny_context *context, const char *path, const char *folder);

/* Copies all that was made of such rows to the caller's memory; with NULL for it, sets *bytes to
 * what it takes. Another context, or a later process, adds it to the same rows with
 * ny_results_load(). NY_ESTORE if the bytes are no results. */
NY_API int ny_results_image(struct ny_context *context, const char *path, void *image,
                            size_t *bytes);
NY_API int ny_results_load(struct ny_context *context, const char *path, const void *image,
                           size_t bytes);

/* Ends that: what was made of the rows is gone, but for models that were opened. Views of it are to
 * be freed first. */
NY_API void ny_give_back(struct ny_context *context);

/* Fits as ny_fit() does, and writes the coordinates of all rows of the store to `room`, NaN for
 * rows that a map of a graph leaves out or that no landmark reaches. There are as many columns as
 * "components" of *report says, at most the number asked for. A store of ny_borrow() then keeps no
 * coordinates if the room has the type of option precision and no stage reads them again: the
 * result has its model and its figures, but no embedding, and the same call once more is NY_EUSAGE
 * without option restart. With a NULL room it keeps none either, and the last pass is left out if
 * it would find nothing else. For a single store, not a store in shards. */
NY_API int ny_fit_into(struct ny_context *context, const char *path, const char *name,
                       const struct ny_options *options, const struct ny_dense_room *room,
                       struct ny_report **report);

/* ---------------------------------------------------------------------------------------------
 * Parts out: views of stores and results.
 * ------------------------------------------------------------------------------------------- */
/* The points of a store (`name` NULL), or a finished result of it, opened once and read in any
 * pieces; free it before its context. Other calls may write meanwhile. NY_EUSAGE if there is no
 * such result, or it is not done. If the result was fitted again or removed since, every call that
 * reads the view is NY_EUSAGE: open a new one. A result that was updated is read as it was, except
 * for its clusters, until the next update begins. */
struct ny_view;
NY_API int ny_view_open(struct ny_view **out, struct ny_context *context, const char *path,
                        const char *name);
NY_API void ny_view_free(struct ny_view *view);
/* The type of row numbers in parts, beside those of enum ny_dtype. */
enum { NY_U64 = 6 };
/* Gives rows, columns (0: a list of numbers) and type of a part. A result has the parts of
 * ny_export_parts() except the model and the graph; points have "points", "labels" (NaN where
 * missing) and "source", the row numbers in the files. Any of the three may be NULL. NY_EUSAGE,
 * with a list of the parts, if it has no such part. */
NY_API int ny_view_shape(struct ny_view *view, const char *part, uint64_t *rows, uint64_t *columns,
                         int *type);
/* Reads rows first … first + count − 1 of a part into `out`: rows × columns values of its type,
 * row-major; sparse points become dense. NY_EUSAGE if some of them are not in it, NY_ESTORE if they
 * are damaged. Bytes: those of 1,024 rows beside `out`. */
NY_API int ny_view_read(struct ny_view *view, const char *part, uint64_t first, uint64_t count,
                        void *out);
/* Reads the listed rows, in the order of the list; neighbours are read together. */
NY_API int ny_view_gather(struct ny_view *view, const char *part, const uint64_t *rows,
                          uint64_t count, void *out);
/* The caller's room for sparse rows: row_start takes count + 1 numbers, the first of them 0. */
struct ny_csr_room {
    uint64_t *row_start;
    uint32_t *column;
    void *values;     /* of the points' type */
    uint64_t entries; /* how many column and values have room for */
};
/* Reads points of a sparse store as they are kept. NY_EUSAGE for dense ones, and if there is no
 * room; "nnz" of ny_store_report() is enough for all of them. */
NY_API int ny_view_read_sparse(struct ny_view *view, uint64_t first, uint64_t count,
                               const struct ny_csr_room *room);
/* The type of names: ny_view_shape() returns it for parts "ids" (names of rows; for a result, of
 * its rows), "columns" (names of columns) and "classes" (words of labels: a label is the place of
 * its word, from 0). NY_EUSAGE if there are none. */
enum { NY_NAME_TEXT = 7 };
/* Reads names first … first + count − 1 of such a part: *names has them one after another, each
 * ended by a zero byte and empty if a row came without one; *bytes counts all bytes. They belong to
 * the view and are valid until the next call of this function. NY_EUSAGE if some of them are not in
 * it. */
NY_API int ny_view_names(struct ny_view *view, const char *part, uint64_t first, uint64_t count,
                         const char **names, uint64_t *bytes);
/* Returns the report of ny_result_report() or ny_store_report(), valid as long as the view. NULL if
 * there is no memory. */
NY_API struct ny_report *ny_view_report(struct ny_view *view);

/* Rows of a finished embedding, as floats whatever its precision: reads rows first … first+count−1
 * into values (count × p). NY_EUSAGE beyond the last. Either of *rows and *components may be
 * NULL. */
NY_API int ny_embedding_shape(struct ny_context *context, const char *path, const char *name,
                              uint64_t *rows, uint64_t *components);
NY_API int ny_embedding_read(struct ny_context *context, const char *path, const char *name,
                             uint64_t first, uint64_t count, float *values);

/* ---------------------------------------------------------------------------------------------
 * New rows: models without a store, coordinates and neighbours.
 * ------------------------------------------------------------------------------------------- */
/* Reads a stored model into memory, about m·(d + p) values, charged to the context's budget.
 * NY_EUSAGE if the result has none, or needs the points themselves. */
NY_API int ny_model_open(struct ny_model **out, struct ny_context *context, const char *path,
                         const char *name);
/* Makes a model without a store, from the bytes of ny_model_image(), or from a file that
 * ny_export() writes of part "model", which has the same bytes. NY_ESTORE if they are not a model,
 * or are damaged or of a later version. */
NY_API int ny_model_load(struct ny_model **out, struct ny_context *context, const void *image,
                         size_t bytes);
NY_API int ny_model_load_file(struct ny_model **out, struct ny_context *context, const char *file);
/* The model as bytes, which are valid as long as it is, and are charged to the budget once more. */
NY_API int ny_model_image(struct ny_model *model, const void **image, size_t *bytes);
/* *names: those of the columns that the model places, `count` texts one behind another, each with
 * its zero byte, valid as long as the model is; NULL: they have none. */
NY_API int ny_model_column_names(const struct ny_model *model, const char **names, size_t *count);
/* Writes these bytes to a file, which has its name when all of it is on the disk. */
NY_API int ny_model_save_file(struct ny_model *model, const char *file);
/* *report: kernel gamma landmarks d components precision dtype format bytes prepared_rows
 * prepared_values, the last two null where rows are not prepared, what else the kernel takes by the
 * names of its options, map, certificate, and as in ny_result_report() eigenvalues
 * component_errors component_errors_se trace_error, errors rounded to 10⁻⁶; these four are null
 * where the fit had no errors, and of models that earlier versions have made. */
NY_API int ny_model_report(struct ny_model *model, struct ny_report **report);
NY_API void ny_model_free(struct ny_model *model);
NY_API uint64_t ny_model_dimensions(const struct ny_model *model); /* d */
NY_API uint64_t ny_model_components(const struct ny_model *model); /* p */
/* Places the rows of a table, which may have none: `out` takes rows × p coordinates of type NY_F32
 * or NY_F64, each row row_bytes after the one before (0: without gaps). One pass over the table.
 * Bytes: a tile of 2,048 × m a thread, and for up to 512 rows at a time one tile and the landmarks,
 * which stay with the model. The log warns if the landmarks leave out more than half of the trace
 * of a table of over 16 rows, of which at most 64 are looked at. NY_EDATA if the table has other
 * columns than the model, or values that are not finite; NY_ENUMERIC if a coordinate is not finite,
 * or does not fit into an f32. */
NY_API int ny_model_place(struct ny_model *model, const struct ny_table *table, int dtype,
                          void *out, uint64_t row_bytes);
/* The short form of ny_model_place() for f32 in and out: the embedding (rows × p) of values (rows ×
 * d), both the caller's. */
NY_API int ny_model_transform(struct ny_model *model, const float *values, uint64_t rows,
                              float *embedding);

/* The caller's room for neighbours, nearest first, so many for each row. */
struct ny_neighbors_room {
    size_t neighbors;  /* a row gets so many: 1 to the rows of the graph */
    uint64_t *numbers; /* rows × neighbors row numbers of the store */
    double *distances; /* rows × neighbors, by the metric of the graph; NULL: not wanted */
    double recall;     /* the share of the true neighbours to find: 1: all; 0: as in ny_placing */
    double found;      /* set to the share that was found, as measured; 1: all */
};
/* Finds the nearest rows of each row of a table among those of a graph, `name`, which ny_graph() or
 * a map has made; distances are measured in f64. recall 1 finds all neighbours, and so does 0
 * unless fewer were asked of the graph. If distances are equal, rows with smaller numbers are
 * taken; a row of the store finds itself, at distance 0. For more than 256 rows all points are read
 * once, and held if the budget has room; else once for every 256 rows. NY_EUSAGE if there is no
 * such graph or it has fewer rows; NY_EDATA if the table has other columns. */
NY_API int ny_neighbors_of(struct ny_context *context, const char *path, const char *name,
                           const struct ny_table *table, struct ny_neighbors_room *room);
/* The caller's room for coordinates of rows: rows × components values, row-major. */
struct ny_places_room {
    int dtype; /* NY_F32 or NY_F64 */
    void *values;
    uint64_t components; /* of each row: those of the part "embedding" (ny_view_shape()) */
};
/* Places the rows of a table by any finished result, even one that has no model of its own. Errors
 * as of ny_model_place(), and NY_EUSAGE if the result has another number of components than the
 * room, as when it was fitted again since its shape was read. */
NY_API int ny_place_rows(struct ny_context *context, const char *path, const char *name,
                         const struct ny_table *table, const struct ny_places_room *room);
/* Finds the cluster of each row of a table: the one with the nearest centre, among those that
 * ny_evaluate() left with the result. Centres are the means of the clusters' rows, which takes one
 * pass over the embedding and 8 × clusters × components bytes. `clusters` has room for one a row.
 * NY_EUSAGE if the result has no clusters of its present rows; else errors as of
 * ny_place_rows(). */
NY_API int ny_clusters_of(struct ny_context *context, const char *path, const char *name,
                          const struct ny_table *table, uint64_t *clusters);

#ifdef __cplusplus
}
#endif
#endif
