/*
 * An import into one shard of a store in shards: what the file `shards` knows of it, from before
 * its rows are read until they are committed.
 *
 * The first import says what all shards agree in, as soon as it has opened its first file; any
 * other is compared with that at the same moment, so that it is refused before it has read its
 * rows. A fact holds as long as some other shard is listed, be it on its way. Words of labels are
 * numbered under the lock, one after the other as imports meet them, so that shards that are
 * imported at the same time number them alike; each store then has the first names of the list.
 * If the facts are those of another folder (--like), which nobody can ask for more names, no name
 * comes in addition.
 */
#ifndef NY_SHARDS_CLAIM_H
#define NY_SHARDS_CLAIM_H

#include "io/classes.h"
#include "shards/shards.h"

/* Files whose rows are dealt out to all shards. */
struct ny_deal {
    const char *digests;      /* as in struct ny_shards */
    const char *const *names; /* of the files */
};
/* The wish of an import: shard `shard` of `count`. */
struct ny_claim_spec {
    unsigned shard, count;
    const char *like; /* folder of another store in shards, whose facts hold; NULL: none */
    const struct ny_deal *deal;
};

/* The claim; who has it reads the fields, which are for shards/claim.c alone to change. */
struct ny_claim {
    struct ny_context *ctx;
    char *path; /* of the folder */
    char *who;  /* "the shards beside shard 1 of big.nys have", for messages */
    char *self;
    unsigned shard, count;
    const struct ny_deal *deal; /* NULL: none */
    bool made;                  /* the folder, by this import */
    bool kept;                  /* the shard has rows, which are as the facts say */
    uint8_t id[16];             /* that of its store then */
    bool listed;                /* by this import, and to be found so from then on */
    bool joins;                 /* it is one more than there were */
    struct ny_shards *shards;   /* the last that were read; of 1.1, without names of columns */
    struct ny_shards *like;     /* NULL: none is given */
};

/* Makes the folder where there is none, and reads its file. NY_EUSAGE where the folder has another
 * number of shards, is an ordinary store, or differs from the one that it is to be like. */
int ny_claim_new(struct ny_claim **out, struct ny_context *ctx, const char *path,
                 const struct ny_claim_spec *spec);
/* Frees the claim; NULL is allowed. */
void ny_claim_free(struct ny_claim *claim);
/* Returns the path of the shard's store, which is there until the next step of the claim. */
const char *ny_claim_path(const struct ny_claim *claim);
/* Has the facts hold for this shard, too, as its store has rows. One that was moved here from the
 * folder of another host is not listed yet. NY_ESTORE where it is not as the file says. */
int ny_claim_keep(struct ny_claim *claim, struct ny_store *store);
/* Returns what others have settled, so that this import has to agree; NULL: nothing yet. */
const struct ny_shard_facts *ny_claim_settled(const struct ny_claim *claim);
/* Settles the facts and the names of columns, or compares them with those that are settled:
 * NY_EDATA names the first that differs, with both values. Lists the shard, whose store has this
 * id.
 */
int ny_claim_facts(struct ny_claim *claim, const struct ny_shard_facts *facts,
                   const struct ny_names *columns, const uint8_t id[16]);
/* Makes the classes know the names that are settled, and number new ones by the claim. */
int ny_claim_classes(struct ny_claim *claim, struct ny_classes *classes);
/* Settles whether labels are numbers or words, before the commit. NY_EDATA where others have the
 * other kind. */
int ny_claim_labels(struct ny_claim *claim, const struct ny_classes *classes);
/* Notes how far the shard has come, behind the commit; a failure is only logged. */
void ny_claim_arrive(struct ny_claim *claim);
/* Takes the shard off the list, and the file away if no other one is there or listed. */
void ny_claim_withdraw(struct ny_claim *claim);

#endif
