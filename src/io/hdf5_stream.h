/*
 * The stream that nystream-hdf5, which reads HDF5 with libhdf5, writes to its standard output, and
 * that io/hdf5.c reads. Both are of one build, so numbers are in the byte order of the machine and
 * there is no padding to agree on. The reader believes nothing of it.
 *
 * A stream without a byte for minutes is taken for that of a process that hangs (io/bytes.c). So,
 * while the process looks through the file before it can write the head, it sends 8 bytes now and
 * then, NY_HDF5_LOOKING.
 *
 * The head comes first; then, where there are labels of names, each name as a u32 length and its
 * bytes; then a label of each row: f64 (NaN: none), or an i32 number of a name (below 0: none).
 * The names of all columns and those of all rows follow, if the head says so, each likewise as a
 * length and bytes.
 *
 * Dense rows follow as they are, row after row. A sparse matrix follows in batches of whole lines,
 * which are its rows or, in a matrix by columns, its columns: a struct ny_hdf5_batch; a u32 count
 * for each line; then the entries in pieces of at most NY_HDF5_PIECE, each piece as its column (or
 * row) numbers, of index_bytes each, and its values. The stream ends behind the last line.
 */
#ifndef NY_IO_HDF5_STREAM_H
#define NY_IO_HDF5_STREAM_H

#include <stdint.h>

#define NY_HDF5_MAGIC "nyrows2\n"
#define NY_HDF5_LOOKING "looking\n"

enum { NY_HDF5_PIECE = 1 << 17, NY_HDF5_BATCH_LINES = 1 << 14 };
enum { NY_HDF5_SHARE = 4 }; /* the child may take a quarter of the memory that is left */

enum ny_hdf5_form { NY_HDF5_DENSE, NY_HDF5_ROWS, NY_HDF5_COLUMNS };
enum ny_hdf5_labels { NY_HDF5_NO_LABELS, NY_HDF5_NUMBERS, NY_HDF5_NAMES };

struct ny_hdf5_head {
    char magic[8];
    uint32_t form, dtype;             /* enum ny_hdf5_form; enum ny_dtype of the values */
    uint32_t index_bytes;             /* 4 or 8, signed; dense: 0 */
    uint32_t labels, names;           /* enum ny_hdf5_labels; how many names there are */
    uint32_t of_10x;                  /* 1: laid out as 10x Genomics does, 0: as AnnData does */
    uint32_t row_names, column_names; /* 1: they follow */
    uint64_t rows, columns;
    uint64_t entries, most; /* entries in all, and in the fullest line */
};

struct ny_hdf5_batch {
    uint64_t lines, entries;
};

#endif
