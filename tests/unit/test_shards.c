/* shards/held.h, shards/claim.h: the file of a store in shards as it is written and read, files
 * that are damaged, and claims that are withdrawn. (Facts and classes of imports that come one
 * after the other and at the same time: tests/cli/shards.bats.) */
#include <sys/wait.h>
#include <unistd.h>

#include "shards/claim.h"
#include "shards/held.h"
#include "support/folder.h"

OWNS_POINTER(ny_claim, ny_claim_free)
OWNS_POINTER(ny_shards, ny_shards_free)

static char big[160];

static void start(void)
{
    new_folder();
    snprintf(big, sizeof(big), "%s/big", directory);
}

static const struct ny_shard_facts usual = {.d = 7,
                                            .dtype = NY_F32,
                                            .layout = NY_CSR,
                                            .preparation = {NY_ROWS_TOTAL, NY_VALUES_LOG1P, 1e4},
                                            .labels = NY_LABELS_SOME,
                                            .indices = NY_INDICES_FROM_1,
                                            .row_names = true,
                                            .column_names = true,
                                            .column_digest = UINT64_C(0xfedcba9876543210)};

static const struct ny_names unnamed; /* of the columns: only the digest of these is given */

static struct ny_claim *claim_of(const char *path, unsigned shard, unsigned count)
{
    const struct ny_claim_spec spec = {shard, count, NULL, NULL};
    struct ny_claim *claim;

    CHECK(ny_claim_new(&claim, ctx, path, &spec));
    return claim;
}

/* Settles facts as shard `shard` of four, and ends there. */
static int settle(const char *path, unsigned shard, const struct ny_shard_facts *facts)
{
    static const uint8_t id[16] = {1, 2, 3};
    OWNED(ny_claim) *claim = claim_of(path, shard, 4);
    int err;

    ny_error_clear(ctx);
    err = ny_claim_facts(claim, facts, &unnamed, id);
    if (err) ny_claim_withdraw(claim);
    return err;
}

/* ---- the text ------------------------------------------------------------------------------ */

/* Parses a text, and frees what it says; *count: its shards. */
static int parse(const char *text, size_t bytes, unsigned *count)
{
    OWNED(ny_shards) *shards = ny_calloc(ctx, NY_MEM_OTHER, 1, sizeof(*shards));
    const char *wrong;
    int err;

    shards->ctx = ctx;
    shards->path = ny_strdup(ctx, "x");
    err = ny_shards_parse(shards, text, bytes, &wrong);
    assert_true(!err == !wrong);
    *count = shards->count;
    return err;
}

/* A file with every kind of fact, as it is written. */
static void make_text(char **text, size_t *bytes)
{
    OWNED(ny_claim) *claim = NULL;
    struct ny_classes *classes;
    OWNED(ny_shards) *shards = NULL;
    double label;

    assert_int_equal(settle(big, 2, &usual), NY_OK);
    claim = claim_of(big, 2, 4);
    assert_int_equal(ny_classes_new(&classes, ctx), NY_OK);
    assert_int_equal(ny_claim_classes(claim, classes), NY_OK);
    assert_int_equal(ny_classes_label(classes, "f", 1, "cät\"\\", 6, &label), NY_OK);
    assert_int_equal(ny_classes_label(classes, "f", 2, "dog", 3, &label), NY_OK);
    assert_true(label == 1);
    ny_classes_free(classes);
    assert_int_equal(ny_shards_load(&shards, ctx, big), NY_OK);
    assert_int_equal(shards->count, 4);
    assert_true(shards->shard[2].listed && !shards->shard[1].listed);
    assert_int_equal(shards->shard[2].listed_rows, 0);
    assert_int_equal(shards->shard[2].id[2], 3);
    assert_int_equal(shards->classes.count, 2);
    assert_string_equal(shards->classes.text, "cät\"\\");
    assert_int_equal(shards->facts.labels, NY_LABELS_WORDS);
    assert_true(shards->facts.column_digest == usual.column_digest && shards->facts.row_names);
    assert_true(ny_prepared_same(&shards->facts.preparation, &usual.preparation));
    assert_int_equal(shards->facts.layout, NY_CSR);
    shards->shard[2].listed_rows = 99;
    shards->shard[2].noted = (struct ny_store_epochs){UINT64_C(5) << 40, 7};
    shards->deal = ny_strdup(ctx, "0123456789abcdef0123456789abcdef");
    assert_int_equal(ny_shards_print(shards, text, bytes), NY_OK);
}

TEST(what_is_written_is_read)
{
    struct ny_shards *shards = ny_calloc(ctx, NY_MEM_OTHER, 1, sizeof(*shards));
    size_t bytes, again_bytes;
    char *text, *again;
    const char *wrong;

    make_text(&text, &bytes);
    shards->ctx = ctx;
    shards->path = ny_strdup(ctx, "x");
    assert_int_equal(ny_shards_parse(shards, text, bytes, &wrong), NY_OK);
    assert_int_equal(shards->count, 4);
    assert_int_equal(shards->shard[2].listed_rows, 99);
    assert_true(shards->shard[2].noted.points == UINT64_C(5) << 40);
    assert_true(shards->shard[2].noted.results == 7 && !shards->shard[1].noted.results);
    assert_string_equal(shards->deal, "0123456789abcdef0123456789abcdef");
    assert_int_equal(ny_shards_print(shards, &again, &again_bytes), NY_OK);
    assert_true(again_bytes == bytes && memcmp(again, text, bytes) == 0);
    ny_shards_free(shards);
    ny_free(ctx, again);
    ny_free(ctx, text);
}

TEST(a_text_that_was_cut_or_changed_is_refused_or_read)
{
    unsigned count;
    size_t bytes;
    char *text;

    make_text(&text, &bytes);
    for (size_t cut = 0; cut + 2 < bytes; cut++)
        assert_int_equal(parse(text, cut, &count), NY_ESTORE);
    for (size_t at = 0; at < bytes; at++) {
        static const char others[] = {'\0', '9', '"', '}', '-', (char)0xff};
        char was = text[at];

        for (size_t i = 0; i < sizeof(others); i++) {
            int err;

            text[at] = others[i];
            err = parse(text, bytes, &count);
            assert_true(err == NY_ESTORE || (err == NY_OK && count > 0 && count <= NY_SHARDS_MAX));
        }
        text[at] = was;
    }
    ny_free(ctx, text);
}

/* ---- claims -------------------------------------------------------------------------------- */

TEST(facts_are_those_of_others)
{
    struct ny_shard_facts facts = usual;

    assert_int_equal(settle(big, 0, &usual), NY_OK);
    facts.d = 8;
    assert_int_equal(settle(big, 0, &facts), NY_OK); /* its own: there is no other */
    assert_int_equal(settle(big, 1, &usual), NY_EDATA);
    assert_int_equal(settle(big, 0, &usual), NY_OK);
    facts = usual;
    facts.preparation.total = 1e5;
    assert_int_equal(settle(big, 1, &facts), NY_EDATA);
    facts = usual;
    facts.column_digest++;
    assert_int_equal(settle(big, 1, &facts), NY_EDATA);
    facts = usual;
    facts.row_names = false;
    assert_int_equal(settle(big, 1, &facts), NY_EDATA);
    facts = usual;
    facts.indices = NY_INDICES_FROM_0; /* of an import that began before others settled them */
    assert_int_equal(settle(big, 1, &facts), NY_EDATA);
    facts = usual;
    facts.labels = NY_LABELS_NONE;
    assert_int_equal(settle(big, 1, &facts), NY_EDATA);
    assert_int_equal(settle(big, 1, &usual), NY_OK);
    facts = usual;
    facts.dtype = NY_F64;
    assert_int_equal(settle(big, 0, &facts), NY_EDATA);
}

TEST(the_last_claim_that_is_withdrawn_takes_all_along)
{
    struct ny_claim *first = claim_of(big, 0, 2), *second = claim_of(big, 1, 2);
    const uint8_t id[16] = {0};

    assert_null(ny_claim_settled(second));
    assert_int_equal(ny_claim_facts(first, &usual, &unnamed, id), NY_OK);
    assert_int_equal(ny_claim_facts(second, &usual, &unnamed, id), NY_OK);
    assert_non_null(ny_claim_settled(second));
    ny_claim_withdraw(first);
    assert_true(ny_shards_at(big));
    ny_claim_withdraw(second);
    assert_int_equal(rmdir(big), 0); /* the first one made it: it is empty, and stays */
    ny_claim_free(first);
    ny_claim_free(second);
    first = claim_of(big, 0, 2);
    assert_int_equal(ny_claim_facts(first, &usual, &unnamed, id), NY_OK);
    ny_claim_withdraw(first);
    ny_claim_free(first);
    assert_int_not_equal(access(big, F_OK), 0);
}

TEST(a_folder_that_is_replaced_under_an_import_is_noticed)
{
    OWNED(ny_claim) *claim = claim_of(big, 0, 2);
    const uint8_t id[16] = {0};
    char *command = lend_text("rm -r %s", big);

    assert_int_equal(ny_claim_facts(claim, &usual, &unnamed, id), NY_OK);
    assert_int_equal(system(command), 0);
    assert_int_equal(ny_claim_facts(claim, &usual, &unnamed, id), NY_EIO);
}

/* Who waits for the lock of an import that takes all back gets that of a file that is gone, and
 * makes the folder anew. */
TEST(a_lock_that_was_removed_is_no_lock)
{
    struct ny_shards_held held, mine;
    bool made = false, again = false;
    int status;
    pid_t child;

    assert_int_equal(ny_shards_hold(&held, ctx, big, &made), NY_OK);
    assert_true(made);
    child = fork();
    if (child == 0) {
        status = ny_shards_hold(&mine, ctx, big, &again);
        _exit(status || !again || access(mine.lock, F_OK));
    }
    usleep(200000); /* it waits now */
    ny_shards_remove(&held, made);
    ny_shards_let_go(&held);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

AROUND_EACH(start, remove_folder)
