/* The file `shards` as JSON text: struct ny_shards from it, and it from that. */
#ifndef NY_SHARDS_TEXT_H
#define NY_SHARDS_TEXT_H

#include "shards/shards.h"

/* Fills in count, facts, classes and the list of shards from a text. Nothing in it is believed:
 * *wrong says what cannot be so, and the status is then NY_ESTORE, without an error being set. */
int ny_shards_parse(struct ny_shards *shards, const char *text, size_t bytes, const char **wrong);
/* Makes the text, which the caller frees by ny_free(). NY_EBUDGET, with the error set. */
int ny_shards_print(const struct ny_shards *shards, char **text, size_t *bytes);
/* Makes room for so many shards, with the paths of their stores. */
int ny_shards_room(struct ny_shards *shards, unsigned count);

#endif
