/* Shared by the files of a verification: verify.c reads the points, verify_results.c the results,
 * and verify_findings.c keeps and tells what they find. */
#ifndef NY_STORE_VERIFY_PRIVATE_H
#define NY_STORE_VERIFY_PRIVATE_H

#include "base/progress.h"
#include "store/store_private.h"

/* A damaged block of points, labels, source row numbers or names, or a chunk. */
struct ny_finding {
    enum ny_kind kind;
    uint64_t block;
    struct ny_key key; /* a chunk's key */
    const char *wrong;
};

/* State of one run, shared by its threads. */
struct ny_verifying {
    struct ny_store *store;
    ny_damage_fn *damaged;
    void *user;
    struct ny_manifest m;
    struct ny_lost lost;
    struct ny_mutex lock; /* guards what follows */
    struct ny_meter meter;
    uint64_t next, blocks;  /* the block that is read next */
    struct ny_key next_key; /* the chunk that is read next is the first from this key on */
    bool no_more;           /* chunks, or a worker has failed */
    const char *broken;     /* why the list of chunks cannot be read to its end; NULL: it can */
    struct ny_finding *finding;
    size_t findings, room;
};

/* Reports a damage to the caller; an error that it returns ends the run. */
int ny_verify_tell(struct ny_verifying *v, struct ny_damage damage);
/* Reports what is wrong with a thing that is no block and no chunk. */
int ny_verify_tell_wrong(struct ny_verifying *v, enum ny_damaged kind, const char *thing,
                         const char *wrong);
/* Keeps a finding until all have read. */
int ny_verify_note(struct ny_verifying *v, struct ny_finding finding);
/* Returns how many threads may read at a time, each a value of so many bytes. */
unsigned ny_verify_workers(const struct ny_verifying *v, size_t bytes);
/* Reads all chunks in parallel, then reports what was found. */
int ny_verify_results(struct ny_verifying *v, uint64_t entries);

#endif
