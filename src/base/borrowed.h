/* Rows of callers that scratch stores have not copied: all contexts of the process read them where
 * they are. */
#ifndef NY_BASE_BORROWED_H
#define NY_BASE_BORROWED_H

#include "base/context.h"

struct ny_borrowed_rows {
    const char *at;  /* dense, one after another; NULL: none */
    bool mapped;     /* they are a file's, which is read from a disk */
};

/* Rows that a context has borrowed; it owns the entry. */
struct ny_borrowed {
    struct ny_borrowed_rows rows;
    uint64_t store; /* the id of the store whose points they are */
    struct ny_borrowed *next;
};

/* Notes the rows of the store with this id, in place of those that the context had before; NULL:
 * it has none from now on. */
void ny_borrow_rows(struct ny_context *ctx, uint64_t store, const void *rows);
/* Returns the rows of the store; none where it has its own. */
struct ny_borrowed_rows ny_borrowed_rows(uint64_t store);

#endif
