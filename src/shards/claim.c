/* The claim of an import on one shard (shards/claim.h). Every step reads the file again under the
 * lock, since other imports change it meanwhile, and writes it before it lets go. */
#include "shards/claim.h"

#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "shards/held.h"

static struct ny_shard *own(const struct ny_claim *claim)
{
    return &claim->shards->shard[claim->shard];
}

const struct ny_shard_facts *ny_claim_settled(const struct ny_claim *claim)
{
    const struct ny_shards *shards = claim->shards;

    if (!shards->facts.d) return NULL;
    if (shards->closed || claim->kept) return &shards->facts;
    for (unsigned k = 0; k < shards->count; k++)
        if (k != claim->shard && shards->shard[k].listed) return &shards->facts;
    return NULL;
}

/* ---- comparing ----------------------------------------------------------------------------- */

/* Fails because classes are not those of the folder that --like names. */
static int other_classes(const struct ny_claim *claim)
{
    return ny_fail(claim->ctx, NY_EDATA,
                   "shard %u of %s has classes that the folder of --like has not, or others",
                   claim->shard, claim->path);
}

/* Fails because a fact differs. */
static int differ(const struct ny_claim *claim, const char *fact, const char *mine,
                  const char *others)
{
    return ny_fail(claim->ctx, NY_EDATA, "shard %u of %s would have %s %s, but the others have %s",
                   claim->shard, claim->path, fact, mine, others);
}

static struct ny_party party_of(const struct ny_shard_facts *facts, const struct ny_names *columns,
                                const char *whose)
{
    return (struct ny_party){.whose = whose,
                             .traits = {.d = facts->d,
                                        .dtype = facts->dtype,
                                        .layout = facts->layout,
                                        .preparation = facts->preparation,
                                        .columns = facts->column_names ? facts->column_digest : 0},
                             .columns = columns->count ? columns : NULL};
}

/* Compares facts and names of columns with those that are settled. */
static int compare(const struct ny_claim *claim, const struct ny_shard_facts *mine,
                   const struct ny_names *columns, const struct ny_shards *settled)
{
    const unsigned same = NY_SAME_D | NY_SAME_DTYPE | NY_SAME_LAYOUT | NY_SAME_PREPARATION |
                          NY_SAME_COLUMNS | NY_SAME_NAMED;
    static const char *const some[] = {"none", "some"};
    const struct ny_shard_facts *others = &settled->facts;
    const struct ny_party theirs = party_of(others, &settled->columns, settled->path);
    bool labels[] = {mine->labels != NY_LABELS_NONE, others->labels != NY_LABELS_NONE};
    struct ny_party party = party_of(mine, columns, claim->self);
    int err = ny_traits_compare(claim->ctx, &party, &theirs, same, NULL);

    if (err) return err;
    if (labels[0] != labels[1]) return differ(claim, "labels:", some[labels[0]], some[labels[1]]);
    if (mine->row_names != others->row_names)
        return differ(claim, "names of rows:", some[mine->row_names], some[others->row_names]);
    if (mine->indices && others->indices && mine->indices != others->indices)
        return differ(claim, "indices that begin at",
                      mine->indices == NY_INDICES_FROM_1 ? "1" : "0",
                      others->indices == NY_INDICES_FROM_1 ? "1" : "0");
    return NY_OK;
}

/* Makes the names of columns those of the file, where it has none. */
static int take_columns(struct ny_shards *shards, const struct ny_names *columns)
{
    if (shards->columns.count || !columns->count) return NY_OK;
    return ny_names_append(&shards->columns, shards->ctx, columns->text, columns->count);
}

/* Takes what the other folder has in addition. NY_EDATA where the two differ. */
static int check_like(const struct ny_claim *claim, struct ny_shards *shards)
{
    struct ny_names *mine = &shards->classes;
    const struct ny_names *others = &claim->like->classes;
    int err = NY_OK;

    if (shards->facts.d) err = compare(claim, &shards->facts, &shards->columns, claim->like);
    if (!err) err = take_columns(shards, &claim->like->columns);
    if (err) return err;
    shards->closed = true;
    shards->facts = claim->like->facts;
    if (mine->bytes > others->bytes ||
        (mine->bytes && memcmp(mine->text, others->text, mine->bytes)))
        return other_classes(claim);
    if (mine->count == others->count) return NY_OK;
    return ny_names_append(mine, claim->ctx, others->text + mine->bytes,
                           others->count - mine->count);
}

/* ---- the file ------------------------------------------------------------------------------ */

/* Makes what the file would say without any import. */
static int begin(struct ny_claim *claim, struct ny_shards **out)
{
    struct ny_shards *shards = ny_calloc(claim->ctx, NY_MEM_OTHER, 1, sizeof(*shards));

    *out = shards;
    if (!shards) return NY_EBUDGET;
    shards->ctx = claim->ctx;
    shards->path = ny_strdup(claim->ctx, claim->path);
    return shards->path ? ny_shards_room(shards, claim->count) : NY_EBUDGET;
}

/* Fails because the folder is of another number of shards. */
static int other_count(const struct ny_claim *claim, const struct ny_shards *shards)
{
    return ny_fail(claim->ctx, NY_EUSAGE, "%s has %u shards; give --shard I/%u", shards->path,
                   shards->count, shards->count);
}

/* Makes room for one shard more, behind the last one, where all of them are listed with rows. */
static int join(struct ny_claim *claim, struct ny_shards *shards)
{
    struct ny_shard *before = shards->shard;
    unsigned count = shards->count;
    int err;

    if (claim->shard != count || claim->count != count + 1) return NY_OK;
    for (unsigned k = 0; k < count; k++)
        if (!before[k].listed_rows) return NY_OK;
    err = ny_shards_room(shards, count + 1);
    for (unsigned k = 0; !err && k < count; k++) {
        char *path = shards->shard[k].path;

        shards->shard[k] = before[k];
        shards->shard[k].path = path;
    }
    claim->joins = true;
    ny_free(claim->ctx, before);
    return err;
}

/* Checks what was read: it must be as it was meant, and as this import has left it. */
static int check_read(const struct ny_claim *claim, const struct ny_shards *shards)
{
    if (shards->count != claim->count) return other_count(claim, shards);
    if (claim->listed && !shards->shard[claim->shard].listed)
        return ny_fail(claim->ctx, NY_EIO, "%s was removed while shard %u was imported",
                       claim->path, claim->shard);
    return NY_OK;
}

/* Compares files whose rows are dealt out with those that the first shards have theirs from; where
 * no shard is listed, they are these. */
static int check_deal(const struct ny_claim *claim, struct ny_shards *shards)
{
    const char *mine = claim->deal ? claim->deal->digests : NULL, *first = shards->deal;
    size_t same = 0;

    for (unsigned k = 0; first && k < shards->count; k++)
        same += shards->shard[k].listed;
    if (mine && !same && (!first || strcmp(mine, first) != 0)) {
        ny_free(claim->ctx, shards->deal);
        shards->deal = ny_strdup(claim->ctx, mine);
        return shards->deal ? NY_OK : NY_EBUDGET;
    }
    if (!mine || !first || strcmp(mine, first) == 0) return NY_OK;
    return ny_fail(claim->ctx, NY_EDATA,
                   "%s was begun with other files or options; import it anew as a whole",
                   claim->path);
}

/* Takes the lock and reads the file again, where there is one. End with leave(), also after an
 * error. */
static int enter(struct ny_claim *claim, struct ny_shards_held *held)
{
    struct ny_shards *fresh = NULL;
    int err = ny_shards_hold(held, claim->ctx, claim->path, &claim->made);

    if (err) return err;
    err = ny_shards_at(claim->path) ? ny_shards_load(&fresh, claim->ctx, claim->path)
                                    : begin(claim, &fresh);
    if (!err) err = join(claim, fresh);
    if (!err) err = check_read(claim, fresh);
    if (!err) err = check_deal(claim, fresh);
    if (!err && claim->like) err = check_like(claim, fresh);
    if (err) {
        ny_shards_free(fresh);
        return err;
    }
    ny_shards_free(claim->shards);
    claim->shards = fresh;
    return NY_OK;
}

/* Writes the file, unless there was an error, and lets go of the lock. */
static int leave(struct ny_claim *claim, struct ny_shards_held *held, int err)
{
    if (!err) err = ny_shards_write(held, claim->shards);
    if (!err) claim->listed = own(claim)->listed;
    ny_shards_let_go(held);
    return err;
}

/* ---- beginning ----------------------------------------------------------------------------- */

/* Reads the other folder, whose number of shards must be the same, or one less than with this. */
static int read_like(struct ny_claim *claim, const char *path)
{
    int err = ny_shards_load(&claim->like, claim->ctx, path);
    unsigned count;

    if (err) return err;
    if (!claim->like->facts.d)
        return ny_fail(claim->ctx, NY_EUSAGE, "--like: import a shard of %s first", path);
    count = claim->like->count;
    if (claim->shard == count && claim->count == count + 1) return NY_OK;
    return claim->count == count ? NY_OK : other_count(claim, claim->like);
}

static int name_self(struct ny_claim *claim, const char *path)
{
    static const char text[] = "the shards beside shard %u of %s have", self[] = "shard %u of %s";
    size_t bytes = sizeof(text) + strlen(path) + 8;

    claim->path = ny_strdup(claim->ctx, path);
    claim->who = ny_alloc(claim->ctx, NY_MEM_OTHER, bytes);
    claim->self = ny_alloc(claim->ctx, NY_MEM_OTHER, bytes);
    if (!claim->path || !claim->who || !claim->self) return NY_EBUDGET;
    snprintf(claim->who, bytes, text, claim->shard, path);
    snprintf(claim->self, bytes, self, claim->shard, path);
    return NY_OK;
}

int ny_claim_new(struct ny_claim **out, struct ny_context *ctx, const char *path,
                 const struct ny_claim_spec *spec)
{
    struct ny_claim *claim = ny_calloc(ctx, NY_MEM_OTHER, 1, sizeof(*claim));
    struct ny_shards_held held = {.fd = -1};
    int err;

    *out = NULL;
    if (!claim) return NY_EBUDGET;
    claim->ctx = ctx;
    claim->deal = spec->deal;
    claim->shard = spec->shard;
    claim->count = spec->count;
    err = name_self(claim, path);
    if (!err && spec->like) err = read_like(claim, spec->like);
    if (!err) err = enter(claim, &held);
    ny_shards_let_go(&held);
    if (err)
        ny_claim_free(claim);
    else
        *out = claim;
    return err;
}

void ny_claim_free(struct ny_claim *claim)
{
    if (!claim) return;
    ny_shards_free(claim->shards);
    ny_shards_free(claim->like);
    ny_free(claim->ctx, claim->path);
    ny_free(claim->ctx, claim->who);
    ny_free(claim->ctx, claim->self);
    ny_free(claim->ctx, claim);
}

const char *ny_claim_path(const struct ny_claim *claim)
{
    return own(claim)->path;
}

int ny_claim_keep(struct ny_claim *claim, struct ny_store *store)
{
    int err = NY_OK;

    if (claim->kept) return NY_OK;
    if (claim->shards->facts.d) err = ny_shards_look(claim->shards, claim->shard, store);
    claim->kept = true;
    memcpy(claim->id, own(claim)->id, sizeof(claim->id));
    return err;
}

int ny_claim_facts(struct ny_claim *claim, const struct ny_shard_facts *facts,
                   const struct ny_names *columns, const uint8_t id[16])
{
    struct ny_shards_held held;
    int err = enter(claim, &held);

    if (!err && ny_claim_settled(claim)) {
        err = compare(claim, facts, columns, claim->shards);
    } else if (!err) {
        /* Names that an earlier run of the same import has numbered stay: its rows may be staged.
         */
        bool words = facts->labels != NY_LABELS_NONE && claim->shards->classes.count > 0;

        claim->shards->facts = *facts;
        if (words)
            claim->shards->facts.labels = NY_LABELS_WORDS;
        else
            ny_names_clear(&claim->shards->classes);
        ny_names_clear(&claim->shards->columns);
    }
    if (!err) err = take_columns(claim->shards, columns);
    if (!err) {
        own(claim)->listed = true;
        own(claim)->listed_rows = 0;
        own(claim)->noted = (struct ny_store_epochs){0};
        memcpy(own(claim)->id, id, sizeof(own(claim)->id));
    }
    return leave(claim, &held, err);
}

/* ---- labels -------------------------------------------------------------------------------- */

static bool has_class(const struct ny_names *names, const char *text, size_t length)
{
    const char *name = names->text;

    for (size_t i = 0; i < names->count; i++, name += strlen(name) + 1)
        if (strlen(name) == length && memcmp(name, text, length) == 0) return true;
    return false;
}

/* Adds a name to those of the file, which has it not. */
static int add_class(struct ny_claim *claim, const char *text, size_t length)
{
    struct ny_shards *shards = claim->shards;
    char shown[64];

    snprintf(shown, sizeof(shown), "'%.*s'", (int)(length < 48 ? length : 48), text);
    if (ny_claim_settled(claim) && shards->facts.labels == NY_LABELS_NUMBERS)
        return differ(claim, "labels such as", shown, "numbers");
    if (ny_claim_settled(claim) && shards->facts.labels == NY_LABELS_NONE)
        return differ(claim, "labels such as", shown, "none");
    if (shards->closed) return other_classes(claim);
    own(claim)->listed = true; /* before the facts, too: a reader meets words when it is opened */
    if (claim->kept) memcpy(own(claim)->id, claim->id, sizeof(claim->id));
    shards->facts.labels = NY_LABELS_WORDS;
    return ny_names_add(&shards->classes, claim->ctx, text, length);
}

/* Makes the classes know the names of the file, which begin with those that they know. */
static int know_all(const struct ny_claim *claim, struct ny_classes *classes)
{
    const struct ny_names *names = &claim->shards->classes;
    char *name = names->text;
    int err = NY_OK;

    for (size_t i = 0; !err && i < names->count; i++, name += strlen(name) + 1)
        err = ny_classes_know(classes, &name, 1);
    return err;
}

/* Numbers a word that the classes meet for the first time: as another shard has numbered it
 * meanwhile, or behind all others. */
static int meet(void *arg, struct ny_classes *classes, const char *text, size_t length)
{
    struct ny_claim *claim = arg;
    struct ny_shards_held held;
    int err = enter(claim, &held);

    if (!err && !has_class(&claim->shards->classes, text, length)) {
        err = add_class(claim, text, length);
        err = leave(claim, &held, err);
    }
    ny_shards_let_go(&held);
    return err ? err : know_all(claim, classes);
}

int ny_claim_classes(struct ny_claim *claim, struct ny_classes *classes)
{
    int err = know_all(claim, classes);

    ny_classes_ask(classes, meet, claim);
    return err;
}

int ny_claim_labels(struct ny_claim *claim, const struct ny_classes *classes)
{
    struct ny_shards_held held;
    const char *const *names;
    size_t count;
    int err;

    ny_classes_names(classes, &names, &count);
    if (count > 0) return NY_OK; /* each name was settled as it was met */
    err = enter(claim, &held);
    if (!err && claim->shards->facts.labels == NY_LABELS_WORDS) {
        if (ny_claim_settled(claim))
            err = differ(claim, "labels that are", "numbers, or none at all", "words");
        ny_names_clear(&claim->shards->classes);
    }
    if (!err && claim->shards->facts.labels != NY_LABELS_NONE)
        claim->shards->facts.labels = NY_LABELS_NUMBERS;
    return leave(claim, &held, err);
}

/* ---- the end ------------------------------------------------------------------------------- */

void ny_claim_arrive(struct ny_claim *claim)
{
    ny_shards_note(claim->ctx, claim->path,
                   (struct ny_shards_noted){.first = claim->shard, .end = claim->shard + 1});
}

void ny_claim_withdraw(struct ny_claim *claim)
{
    struct ny_shards_held held;
    bool others = false;

    if (enter(claim, &held)) goto done; /* the error of the import is the one to be told */
    own(claim)->listed = false;
    if (claim->joins && claim->listed) claim->shards->count--; /* it has not come */
    for (unsigned k = 0; k < claim->shards->count;
         k++) /* those that were moved here are not listed */
        others = others || claim->shards->shard[k].listed ||
                 (k != claim->shard && ny_shards_made(claim->shards, k));
    if (!others)
        ny_shards_remove(&held, claim->made);
    else if (claim->listed)
        ny_shards_write(&held, claim->shards);
done:
    ny_shards_let_go(&held);
}
