/* Arrays of an .npz file: members of a zip archive, each an npy file. For io/ alone. */
#ifndef NY_IO_NPZ_ARRAY_H
#define NY_IO_NPZ_ARRAY_H

#include "io/npy_header.h"
#include "io/zip.h"

/* An array that is read from its first number to its last. Zeroed, it is closed. */
struct ny_npz_array {
    struct ny_bytes *bytes;
    struct ny_npy_header header;
    enum ny_element_type type; /* set if numeric */
    bool numeric, swap;        /* numbers that are read; of the other byte order */
    uint64_t count;            /* numbers */
};

/* Opens a member, reads its header and compares its shape with its size. The array is to be
 * closed also on failure. */
int ny_npz_array_open(struct ny_npz_array *array, const struct ny_bytes *archive,
                      const struct ny_zip_member *member);
/* Reads the next `count` numbers, as they are in the file but in the machine's byte order. */
int ny_npz_array_read(struct ny_npz_array *array, void *to, size_t count);
/* Reads the next `count` integers of int32 or int64, widened. */
int ny_npz_array_integers(struct ny_npz_array *array, int64_t *to, size_t count);
/* Checks what is left of the member, and closes the array. */
int ny_npz_array_finish(struct ny_npz_array *array);
/* Closes the array; one that was never opened is fine. */
void ny_npz_array_close(struct ny_npz_array *array);

#endif
