/*
 * Drafts: a regular file that nobody sees until it is whole. It has no name while it is written
 * (O_TMPFILE), so that a kill leaves nothing behind, and is linked to its path at the commit. Where
 * the file system has no such files, it is written under a name ".nystream-….tmp" in the folder of
 * the path; so it is for the instant in which it replaces a file, since a link cannot replace one.
 */
#ifndef NY_IO_DRAFT_H
#define NY_IO_DRAFT_H

#include "base/context.h"

struct ny_draft;

/* Begins a draft of `path`, with the rights of the file that it will replace. *fd is for writing
 * and seeking, and belongs to the draft. */
int ny_draft_open(struct ny_draft **out, struct ny_context *ctx, const char *path, int *fd);
/* Makes the content survive a power failure, gives it the path, and makes the name survive, too.
 * Frees the draft either way; on failure the path is as it was. */
int ny_draft_commit(struct ny_draft *draft);
/* Removes the draft and frees it; the path is as it was. NULL is fine. */
void ny_draft_abort(struct ny_draft *draft);

#endif
