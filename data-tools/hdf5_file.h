/* An HDF5 file as h5py, AnnData and 10x Genomics write it, for nystream-hdf5.c. As all of the data
 * tools do, these functions end the program at the first error. */
#ifndef NY_DATA_TOOLS_HDF5_FILE_H
#define NY_DATA_TOOLS_HDF5_FILE_H

#include <hdf5.h>

#include "base/text.h"
#include "tool.h"

enum { HDF5_CACHE_BYTES = 4 << 20 };

struct hdf5_file {
    struct ny_context *ctx;
    const char *path, *name; /* path for messages, name of the matrix */
    hid_t id;
    unsigned share; /* this process has 1/share of the user's --memory; 0: there is none */
};

/* One dataset: what its numbers become, and its dimensions. */
struct hdf5_numbers {
    hid_t id, type;    /* type: of the values in memory */
    const char *field; /* of a dataset of records, which is read alone; NULL: it has none */
    enum ny_dtype dtype;
    int rank;
    hsize_t sizes[H5S_MAX_RANK];
};

/* A dataset of texts, of variable or fixed length. */
struct hdf5_texts {
    struct hdf5_numbers at; /* its type is that of a text in memory */
    hid_t id;               /* −1: there is none */
    bool variable;
};

/* A sparse matrix. A line is a row, or a column of one that is stored by columns. */
struct hdf5_sparse {
    struct hdf5_numbers data, indices, starts;
    uint64_t rows, columns, lines, across;
    bool by_columns, of_10x;
};

/* Opens the file `where`, which is f->path for the user. */
void hdf5_open(struct hdf5_file *f, const char *where);
/* Ends with what libhdf5 says of its last failure. */
_Noreturn void hdf5_fail(const struct hdf5_file *f, const char *what, const char *name);
/* Writes a list of the matrices that can be asked for into `text`, each after ", ". */
void hdf5_matrices(const struct hdf5_file *f, char *text, size_t room);
/* Writes the names that a group, f->id, has, each after a blank. */
void hdf5_names(const struct hdf5_file *f, char *text, size_t room);

/* Returns the type of the library that holds a dataset; NY_DTYPE_NONE: it is not of numbers. */
enum ny_dtype hdf5_dtype(hid_t id);
/* Opens the field of a table that is a dataset of records, as obs and var were before AnnData 0.7;
 * `name` NULL: its first one. Returns the type of the field, to be closed; −1: the table is not of
 * this kind, or has no such field. Sets x->id, ->field (which stays `name`), ->rank and ->sizes. */
hid_t hdf5_open_field(const struct hdf5_file *f, const char *table, const char *name,
                      struct hdf5_numbers *x);
/* Opens a dataset of numbers. */
void hdf5_open_numbers(const struct hdf5_file *f, hid_t where, const char *name,
                       struct hdf5_numbers *x);
/* Ends with a sentence if the matrix f->name has no rows. */
void hdf5_check_rows(const struct hdf5_file *f, uint64_t rows);
/* Checks that the size that the file tells is there; libhdf5 would fill in what is not. Returns
 * the rows of a chunk, 1 where there are none. */
hsize_t hdf5_check_storage(const struct hdf5_file *f, const struct hdf5_numbers *x,
                           const char *name);
/* Reads `count` rows from row `first` on; of one dimension, numbers. */
void hdf5_read_rows(const struct hdf5_file *f, const struct hdf5_numbers *x, hsize_t first,
                    hsize_t count, void *values);
/* Reads a short text of an attribute, of variable or fixed length; "" where there is none. */
void hdf5_attribute_text(hid_t where, const char *name, char *text, size_t room);

/* Opens a dataset of texts below a group; texts->id is −1 where it is not there, or not of texts.
 */
void hdf5_open_texts(const struct hdf5_file *f, const char *group, const char *name,
                     struct hdf5_texts *texts);
/* Opens the index of a table of AnnData, such as obs. */
void hdf5_open_index(const struct hdf5_file *f, const char *table, struct hdf5_texts *texts);
/* Checks that there are so many, where there are any; `what` is "rows" or "columns". */
void hdf5_check_texts(const struct hdf5_file *f, const struct hdf5_texts *texts, uint64_t count,
                      const char *what);
/* Calls `each` for every text, in order, and closes the dataset. */
typedef void hdf5_text_fn(void *user, const char *text, size_t length);
void hdf5_each_text(const struct hdf5_file *f, struct hdf5_texts *texts, hdf5_text_fn *each,
                    void *user);

/* Opens the sparse matrix f->name; the types of data and indices in memory are the caller's. */
void hdf5_open_sparse(const struct hdf5_file *f, struct hdf5_sparse *x);
void hdf5_close_sparse(struct hdf5_sparse *x);
/* Reads where lines begin, and checks it: lines + 1 numbers from line `first` on. */
void hdf5_read_starts(const struct hdf5_file *f, const struct hdf5_sparse *x, uint64_t first,
                      size_t lines, uint64_t *starts);

#endif
