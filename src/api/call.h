/* Begins and ends public functions: checks of their arguments, NULL among them; and of those that
 * work what they take, and give back at the end. */
#ifndef NY_API_CALL_H
#define NY_API_CALL_H

#include "base/context.h"
#include "shards/open.h"

/* Takes the memory of the process itself out of the budget, and OpenBLAS's threads from the caller;
 * forgets failures to fill earlier reports. NY_EBUDGET: nothing is taken. */
int ny_call_begin(struct ny_context *ctx);
/* Gives both back. */
void ny_call_end(struct ny_context *ctx);
/* Begins one that reads a store, or all shards of one, which it opens (ny_shards_open()); and ends
 * it. After a failure nothing is open or taken. */
int ny_call_open(struct ny_store **store, struct ny_context *ctx, const char *path,
                 const char *name);
void ny_call_close(struct ny_store *store);

/* Begins a public function: forgets the last error; NY_EUSAGE where one of these pointers is NULL,
 * and, without words, where the context is. */
#define NY_GIVEN(context, ...)                                                                     \
    ny_given(context, __func__, #__VA_ARGS__, (const void *const[]){__VA_ARGS__},                  \
             sizeof((const void *const[]){__VA_ARGS__}) / sizeof(void *))

/* `names` of the pointers, as "path, name". */
int ny_given(struct ny_context *ctx, const char *function, const char *names,
             const void *const *pointers, size_t count);
/* NY_EUSAGE where so many rows of numbers cannot be in memory: their size would overflow. */
int ny_given_rows(struct ny_context *context, uint64_t rows, uint64_t columns);
/* Takes the caller's table, which may be of an earlier version of the struct and then shorter.
 * NY_EUSAGE where its struct_bytes is that of none. */
int ny_given_table(struct ny_context *ctx, const struct ny_table *given, struct ny_table *table);

#endif
