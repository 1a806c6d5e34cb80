/* shards/text.h, shards/claim.h: the file of a store in shards as it is written and read, files
 * that are damaged, and claims of imports that come one after the other and at the same time. */
#include <sys/wait.h>
#include <unistd.h>

#include "base/memory.h"
#include "shards/claim.h"
#include "shards/held.h"
#include "shards/set.h"
#include "shards/text.h"
#include "support/folder.h"

OWNS_POINTER(ny_claim, ny_claim_free)
OWNS_POINTER(ny_shards, ny_shards_free)

static char big[160], other[160];

static void start(void)
{
    new_folder();
    snprintf(big, sizeof(big), "%s/big", directory);
    snprintf(other, sizeof(other), "%s/other", directory);
}

static const struct ny_shard_facts usual = {.d = 7,
                                            .dtype = NY_F32,
                                            .layout = NY_CSR,
                                            .preparation = {NY_ROWS_TOTAL, NY_VALUES_LOG1P, 1e4},
                                            .labels = NY_LABELS_SOME,
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
    struct ny_claim *claim;
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
    ny_claim_free(claim);
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
    char command[256];

    assert_int_equal(ny_claim_facts(claim, &usual, &unnamed, id), NY_OK);
    snprintf(command, sizeof(command), "rm -r %s", big);
    assert_int_equal(system(command), 0);
    assert_int_equal(ny_claim_facts(claim, &usual, &unnamed, id), NY_EIO);
}

/* Numbers ten words in an order of its own, as a process of its own. */
static void number_words(unsigned shard)
{
    struct ny_context *own;
    struct ny_claim *claim;
    struct ny_classes *classes;
    const struct ny_claim_spec spec = {shard, 4, NULL, NULL};
    const uint8_t id[16] = {(uint8_t)shard};
    double label;
    int err = ny_context_new(&own);

    if (!err) err = ny_claim_new(&claim, own, big, &spec);
    if (!err) err = ny_classes_new(&classes, own);
    if (!err) err = ny_claim_classes(claim, classes);
    if (!err && shard % 2) err = ny_claim_facts(claim, &usual, &unnamed, id);
    for (unsigned i = 0; !err && i < 10; i++) {
        char word[] = {(char)('a' + (i * (2 * shard + 1) + shard) % 10), 'x', '\0'};

        err = ny_classes_label(classes, "f", i, word, 2, &label);
    }
    if (!err && shard % 2 == 0) err = ny_claim_facts(claim, &usual, &unnamed, id);
    if (!err) err = ny_claim_labels(claim, classes);
    if (!err) {
        const char *const *names;
        struct ny_shards *shards;
        const char *name;
        size_t count;

        ny_classes_names(classes, &names, &count);
        err = ny_shards_load(&shards, own, big);
        if (count > shards->classes.count) err = NY_EINTERNAL;
        name = shards->classes.text;
        for (size_t i = 0; !err && i < count; i++, name += strlen(name) + 1)
            if (strcmp(name, names[i]) != 0) err = NY_EINTERNAL;
    }
    _exit(err);
}

TEST(words_that_are_met_at_the_same_time_have_one_number)
{
    OWNED(ny_shards) *shards = NULL;

    for (unsigned shard = 0; shard < 4; shard++)
        if (fork() == 0) number_words(shard);
    for (unsigned shard = 0; shard < 4; shard++) {
        int status;

        assert_true(wait(&status) > 0);
        assert_true(WIFEXITED(status));
        assert_int_equal(WEXITSTATUS(status), NY_OK);
    }
    assert_int_equal(ny_shards_load(&shards, ctx, big), NY_OK);
    assert_int_equal(shards->classes.count, 10);
    assert_int_equal(shards->facts.labels, NY_LABELS_WORDS);
    for (unsigned k = 0; k < 4; k++)
        assert_true(shards->shard[k].listed);
}

TEST(no_class_comes_to_those_of_another_folder)
{
    const struct ny_claim_spec spec = {1, 4, big, NULL};
    struct ny_claim *claim;
    struct ny_classes *classes;
    size_t bytes;
    char *text;
    double label;

    make_text(&text, &bytes);
    ny_free(ctx, text);
    assert_int_equal(ny_claim_new(&claim, ctx, other, &spec), NY_OK);
    assert_non_null(ny_claim_settled(claim));
    assert_int_equal(ny_classes_new(&classes, ctx), NY_OK);
    assert_int_equal(ny_claim_classes(claim, classes), NY_OK);
    assert_int_equal(ny_classes_label(classes, "f", 1, "dog", 3, &label), NY_OK);
    assert_true(label == 1);
    assert_int_equal(ny_classes_label(classes, "f", 1, "cow", 3, &label), NY_EDATA);
    ny_classes_free(classes);
    ny_claim_withdraw(claim);
    ny_claim_free(claim);
    assert_int_not_equal(access(other, F_OK), 0);
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

/* ---- sets ---------------------------------------------------------------------------------- */

/* Makes shard `shard` of `count`, with rows of data set 5 from `first` on. */
static void make_shard(unsigned shard, unsigned count, uint64_t first, uint64_t rows)
{
    const struct case_import import = {.seed = 5,
                                       .first = first,
                                       .count = rows,
                                       .batch = rows,
                                       .spec = {.d = 3, .dtype = NY_U8, .labels = true}};
    const struct ny_shard_facts facts = {
        .d = 3, .dtype = NY_U8, .layout = NY_DENSE, .labels = NY_LABELS_NUMBERS};
    OWNED(ny_claim) *claim = claim_of(big, shard, count);
    struct ny_rows_info info;
    OWNED(ny_store) *store = NULL;

    assert_int_equal(ny_store_create(&store, ctx, ny_claim_path(claim)), NY_OK);
    assert_int_equal(ny_points_info(store, &info), NY_OK);
    assert_int_equal(ny_claim_facts(claim, &facts, &unnamed, info.id), NY_OK);
    assert_int_equal(case_import(store, &import), NY_OK);
    ny_claim_arrive(claim);
}

TEST(many_shards_are_read_as_one_store)
{
    enum { SHARDS = 20, ROWS = 11 };
    const uint64_t wanted[] = {219, 0, 11, 10, 105, 104, 12};
    uint8_t rows[7 * 3], all[SHARDS * ROWS * 3];
    double labels[40];
    struct ny_rows_info info;
    OWNED(ny_store) *store = NULL;

    for (unsigned k = 0; k < SHARDS; k++) {
        unsigned shard = k * 7 % SHARDS;

        make_shard(shard, SHARDS, shard * ROWS, ROWS);
    }
    assert_int_equal(ny_shards_open(&store, ctx, big), NY_OK);
    assert_int_equal(ny_points_info(store, &info), NY_OK);
    assert_int_equal(info.n, SHARDS * ROWS);
    assert_int_equal(ny_points_gather(store, 0, wanted, 7, rows), NY_OK);
    for (size_t i = 0; i < 7; i++)
        for (size_t j = 0; j < 3; j++)
            assert_int_equal(rows[i * 3 + j], (int)case_value(5, wanted[i], j));
    assert_int_equal(ny_points_read(store, 0, 0, SHARDS * ROWS, all), NY_OK);
    for (size_t i = 0; i < SHARDS * ROWS; i++)
        assert_int_equal(all[i * 3 + 1], (int)case_value(5, i, 1));
    assert_int_equal(ny_points_labels(store, 30, 40, labels), NY_OK);
    for (size_t i = 0; i < 40; i++)
        assert_true(labels[i] == case_label(5, 30 + i));
    REFUSED(ny_points_labels(store, 200, 21, labels), NY_EINTERNAL);
    assert_int_equal(ny_blob_put(store, "a", "b", "c", 1), NY_EUSAGE);
}

AROUND_EACH(start, remove_folder)
