/* Command lines as text: words quoted so that a shell reads them back, and the command that the
 * jobs of a context are begun with. */
#ifndef NY_BASE_COMMAND_H
#define NY_BASE_COMMAND_H

#include "base/context.h"

/* Joins `count` words with a space between them, each quoted for a POSIX shell where it needs that
 * ("it's" becomes 'it'\''s'). A word with control characters or bytes that are not UTF-8 becomes
 * $'…' with octal escapes, which bash, zsh and ksh read. ny_free() the text; NULL with the error
 * set when there is no memory. */
char *ny_shell_words(struct ny_context *ctx, const char *const *words, size_t count);
/* The rest of ny_context_command() from the store's word on; NULL where it has none. */
const char *ny_context_command_store(const struct ny_context *ctx);

#endif
