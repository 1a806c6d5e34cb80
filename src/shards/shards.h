/*
 * A store in shards: a folder with a file `shards` and ordinary stores shard-00000, shard-00001 …,
 * whose rows are numbered through in that order.
 *
 * Every shard can be opened alone. The file says how many shards there are and what all of them
 * agree in, so that an import that differs is refused before it has read its rows; which rows a
 * shard has, its own store says. On disks of their own, each host has a folder with the file and
 * its own shard alone.
 *
 * The file also notes how far each shard had come when it was written to last (ny_shards_note()). A
 * shard that has come less far was put back from an older copy, and is refused. One that has come
 * farther is taken as it is: a kill between its commit and the note leaves it so, and so does work
 * on the shard by its own path. The next note makes up for it. Earlier versions noted no epochs.
 */
#ifndef NY_SHARDS_SHARDS_H
#define NY_SHARDS_SHARDS_H

#include <limits.h>

#include "base/names.h"
#include "store/store.h"

enum { NY_SHARDS_MAX = 100000, NY_DIGEST_DIGITS = 16 };

/* Labels of rows: none, some whose kind is not known yet, numbers, words. */
enum ny_shard_labels { NY_LABELS_NONE, NY_LABELS_SOME, NY_LABELS_NUMBERS, NY_LABELS_WORDS };

/* Facts in which all shards agree. */
struct ny_shard_facts {
    uint64_t d;          /* 0: no import has come so far as to say them */
    enum ny_dtype dtype; /* the stored one */
    enum ny_row_layout layout;
    struct ny_prepared preparation;
    enum ny_shard_labels labels;
    bool row_names, column_names;
    enum ny_indices indices; /* of LIBSVM files, where the first import was of such */
    uint64_t column_digest;  /* covers the names of all columns; 0: they have none */
};

struct ny_shard {
    bool listed;                  /* in the file: its import has begun */
    uint64_t listed_rows;         /* as they were noted last; 0: its import has not ended */
    struct ny_store_epochs noted; /* likewise; 0: they were not */
    struct ny_store_epochs now;   /* of its store, if it is there */
    bool older;                   /* it is from an older copy, which is taken as it is */
    bool there;                   /* its store is in the folder and has rows */
    uint64_t rows;                /* that its store has now; 0 if it is not there */
    uint64_t first;               /* rows of the shards before it, if all of them are there */
    char *path;
    uint8_t id[16]; /* its store's; if that is not there the one of the file, or 0 */
};

struct ny_shards {
    struct ny_context *ctx;
    char *path;     /* the folder's */
    unsigned count; /* all shards, there or not */
    unsigned there; /* how many of them are */
    uint64_t rows;  /* rows of the shards that are there */
    bool closed;    /* no class name comes in addition: the facts are those of another folder */
    bool accepts;   /* shards from older copies, too */
    struct ny_shard_facts facts;
    struct ny_names columns; /* their names; none: they have none, or the file is of 1.1 */
    struct ny_names classes; /* labels that are words, in the order of their numbers */
    char *deal; /* digests, NY_DIGEST_DIGITS each, of the options and then of the files whose rows
                 * were dealt out to the shards; NULL: they were imported one by one */
    struct ny_shard *shard; /* count of them */
};

/* Tells whether the path is that of a store in shards. */
bool ny_shards_at(const char *path);
/* Reads the file `shards` of the folder and looks at each shard that is there, opening its store.
 * NY_EUSAGE where the folder is no store in shards; NY_ESTORE where the file is damaged, or a shard
 * that is there is not as it says. ny_shards_free() it. */
int ny_shards_read(struct ny_shards **out, struct ny_context *ctx, const char *path);
/* Takes what the store of shard k has, which is open. NY_ESTORE: it is not as the file says. */
int ny_shards_look(struct ny_shards *shards, unsigned k, struct ny_store *store);
/* Opens the store of shard k and looks at it; *store is NULL where none was made, or it fails. */
int ny_shards_store(struct ny_store **store, struct ny_shards *shards, unsigned k);
/* A shard of a store in shards, by the path of its own store. */
struct ny_shard_home {
    char folder[PATH_MAX];
    unsigned shard, count;
};
/* Tells whether the path is that of a shard's own store, and then the folder and the shard. */
bool ny_shards_within(struct ny_context *ctx, const char *path, struct ny_shard_home *home);
/* Says of which shards it is noted how far they have come, and how. */
struct ny_shards_noted {
    unsigned first, end; /* end 0: all */
    bool accepts;        /* those from older copies, too */
    bool cut;            /* they will have as few as so many rows when the call that follows ends */
    uint64_t rows;
};
/* Notes in the file how far shards have come that are there, after a call that has written to them.
 * A failure is only logged, unless rows are to be cut: NY_ESTORE where a shard is not as the file
 * says. */
int ny_shards_note(struct ny_context *ctx, const char *path, struct ny_shards_noted noted);
/* Reads the file alone: no shard is there as far as it knows. */
int ny_shards_load(struct ny_shards **out, struct ny_context *ctx, const char *path);
/* Frees what was read; NULL is allowed. */
void ny_shards_free(struct ny_shards *shards);
/* Tells whether a store was made for the shard, be it empty. */
bool ny_shards_made(const struct ny_shards *shards, unsigned k);
/* NY_EUSAGE, with the numbers of the missing ones, where not all shards are there. */
int ny_shards_complete(const struct ny_shards *shards);

enum { NY_SHARD_LIST_BYTES = 96 };
/* Writes the numbers of the shards that are not there, such as "0, 2 and 5 more", and returns it.
 */
const char *ny_shards_missing(const struct ny_shards *shards, char text[NY_SHARD_LIST_BYTES]);

#endif
