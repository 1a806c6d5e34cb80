/* Writes .npz files: arrays that are in memory, as npy members of a zip archive, which are stored.
 */
#ifndef NY_IO_NPZ_WRITE_H
#define NY_IO_NPZ_WRITE_H

#include "io/writer.h"

/* An array, in the byte order of the machine. */
struct ny_npz_out {
    const char *name;  /* "data", of the member data.npy */
    const char *descr; /* numpy's, without the byte order: "f4", "S3" */
    const char *shape; /* "(3,)", "()" */
    const void *values;
    size_t bytes;
};

enum { NY_NPZ_OUT_MAX = 8 }; /* arrays of a file */

/* Writes at most so many arrays to a writer of NY_OUT_BYTES, which the caller commits. */
int ny_npz_write(struct ny_context *ctx, struct ny_writer *writer, const struct ny_npz_out *arrays,
                 size_t count);

#endif
