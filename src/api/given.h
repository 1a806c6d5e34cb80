/* Checks of the arguments of public functions, NULL among them. */
#ifndef NY_API_GIVEN_H
#define NY_API_GIVEN_H

#include "base/context.h"

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
