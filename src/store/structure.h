/* The check of a data file before LMDB maps it. LMDB trusts its tree pages: one flipped bit there
 * ends in SIGSEGV, an abort, or another value than was asked for. */
#ifndef NY_STORE_STRUCTURE_H
#define NY_STORE_STRUCTURE_H

#include "base/context.h"
#include "store/format.h"

enum { NY_WHY_BYTES = 200 };

/* Reads the file with pread: both meta pages; every tree page of the newest table and of the list
 * of free pages; the pulse, which must agree with both; not the values on overflow pages, which
 * carry checksums of their own. Time: one read a tree page, 0.03 % of a store of 1 MiB blocks.
 *
 * NY_ESTORE: damaged, `why` says how (NY_WHY_BYTES; no error is set). Other codes: the check could
 * not be made, error set. A file that another process writes meanwhile is looked at again. */
int ny_structure_check(struct ny_context *ctx, const char *file, struct ny_pulse *pulse, char *why);

/* The parts of an entry that go into ny_pulse.key_sum. */
struct ny_entry {
    const void *key;
    size_t key_bytes, bytes; /* of the value, header included */
    uint64_t checksum;       /* in the header of a value that lies in the leaf; 0 of others */
};
/* Returns what an entry adds to ny_pulse.key_sum, by the version of the pulse. */
uint64_t ny_entry_hash(const struct ny_pulse *pulse, const struct ny_entry *entry);

#endif
