/*
 * Members of a zip archive, which is a regular file: stored or deflated, with sizes of 32 or 64
 * bits. An archive may be hostile: sizes and places are checked against the file before anything
 * is allocated for them. For io/ alone.
 */
#ifndef NY_IO_ZIP_H
#define NY_IO_ZIP_H

#include "io/bytes.h"

/* The directory's entry of a member. */
struct ny_zip_member {
    const char *name;
    bool found, encrypted;
    unsigned method;
    struct ny_bytes_part part; /* `at`: place of its header in the archive */
};

/* Fills `members`, which have their names, from the directory at the archive's end. */
int ny_zip_find(const struct ny_bytes *archive, struct ny_zip_member *members, size_t count);

/* Opens a member that was found as an input of its own; the archive must outlive it. */
int ny_zip_open(struct ny_bytes **out, const struct ny_bytes *archive,
                const struct ny_zip_member *member);

#endif
