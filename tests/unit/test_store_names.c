/* Names of rows and of columns in a store: kept in blocks, through appends, resumes, compaction and
 * damage; columns found by their names. */
#include "store_checks.h"

OWNS(ny_names, ny_names_release(at, ctx))

/* u8 rows of D columns: blocks of 128 rows, two entries of names of columns. */
enum { D = 4096 + 4, PAGE = 4096 };

/* Names of many lengths, each of its own; every 50th is empty, and a few of the first block are so
 * long that it has more of them than any other. */
static const char *name_of(uint64_t row)
{
    static char text[4000];
    size_t padding = row >= 60 && row < 100 ? 3000 : row % 100;
    int length = sprintf(text, "cell-%llu-", (unsigned long long)row);

    memset(text + length, 'x', padding);
    text[(size_t)length + padding] = '\0';
    return row % 50 == 0 ? "" : text;
}

static struct ny_names names_of(uint64_t first, uint64_t count)
{
    struct ny_names names = {0};

    for (uint64_t row = first; row < first + count; row++)
        CHECK(ny_names_add(&names, ctx, name_of(row), strlen(name_of(row))));
    return names;
}

static struct ny_names column_names(const char *prefix, size_t count)
{
    struct ny_names names = {0};

    for (size_t j = 0; j < count; j++) {
        char text[40];

        CHECK(ny_names_add(&names, ctx, text, (size_t)sprintf(text, "%s%zu", prefix, j)));
    }
    return names;
}

/* An import of rows first … first + count − 1, in batches; `stop` ends it without a commit. */
struct naming {
    uint64_t first, count;
    const char *columns; /* the beginning of their names; NULL: they have none */
    bool names, bare, stop, sparse;
};

static uint64_t resumed_at; /* rows that an earlier run of the last import had staged */

static int import_names(const struct naming *naming)
{
    const struct ny_ingest_spec spec = {.d = D,
                                        .dtype = NY_U8,
                                        .layout = naming->sparse ? NY_CSR : NY_DENSE,
                                        .row_nnz = D,
                                        .append = true,
                                        .names = naming->names,
                                        .raw = naming->names,
                                        .fingerprint = naming->first + 1};
    OWNED(ny_names) columns = {0}, names = {0};
    char *values = lend_zeros(100 * D);
    struct ny_ingest *ingest;
    uint64_t done, at;
    int err = ny_ingest_begin(&ingest, store, &spec, &done);

    resumed_at = done;
    if (naming->columns) columns = column_names(naming->columns, D);
    if (!err && naming->columns) err = ny_ingest_column_names(ingest, &columns, "rows");
    for (at = done; !err && at < naming->count;) {
        size_t some = naming->count - at < 100 ? (size_t)(naming->count - at) : 100;
        struct ny_ingest_rows rows = {.values = values, .count = some};

        names = names_of(naming->first + at, some);
        rows.names = naming->names && !naming->bare ? names.text : NULL;
        at += some;
        rows.consumed = at;
        err = ny_ingest_rows(ingest, &rows);
        ny_names_release(&names, ctx);
    }
    if (!err && !naming->stop) err = ny_ingest_commit(ingest);
    ny_ingest_free(ingest);
    return err;
}

static void check_names(uint64_t first, uint64_t count)
{
    OWNED(ny_names) names = {0};
    const char *at;

    CHECK(ny_points_names(store, first, (size_t)count, &names));
    assert_int_equal(names.count, count);
    at = names.text;
    for (uint64_t row = first; row < first + count; row++, at += strlen(at) + 1)
        assert_string_equal(at, name_of(row));
    assert_ptr_equal(at, names.text + names.bytes);
}

TEST(names_come_back)
{
    static const uint64_t counts[] = {1, 127, 128, 300, 7, 1000, 5};

    for (int sparse = 0; sparse < 2; sparse++) {
        uint64_t n = 0;

        for (size_t i = 0; i < sizeof(counts) / sizeof(*counts); i++) {
            CHECK(import_names(&(struct naming){
                .first = n, .count = counts[i], .names = true, .columns = "g", .sparse = sparse}));
            n += counts[i];
            check_names(0, n);
        }
        assert_true(points_seen().points.names && points_seen().points.column_names);
        assert_int_equal(points_now().n, n);
        check_names(130, 500);
        check_names(n - 1, 1);
        CHECK(ny_store_compact(store, NULL));
        check_names(0, n);
        new_store();
    }
}

TEST(an_import_that_was_killed_goes_on)
{
    ny_context_set_memory(ctx, 64 << 20);
    CHECK(import_names(&(struct naming){.count = 50, .names = true}));
    CHECK(import_names(&(struct naming){.first = 50, .count = 9000, .names = true, .stop = true}));
    check_names(0, 50);
    CHECK(import_names(&(struct naming){.first = 50, .count = 9000, .names = true}));
    assert_true(resumed_at > 128);
    check_names(0, 9050);
}

TEST(columns_are_found)
{
    const char *const known[] = {"g4099", "g0", "g4095", "g4096", "g0"};
    const char *const unknown[] = {"g1", "a", "g2", "b", "c", "d", "e", "f"};
    uint64_t columns[8];

    CHECK(import_names(&(struct naming){.count = 10}));
    REFUSED(ny_store_find_columns(store, known, 1, columns), NY_EUSAGE);
    new_store();
    CHECK(import_names(&(struct naming){.count = 10, .columns = "g"}));
    CHECK(ny_store_find_columns(store, known, 5, columns));
    assert_int_equal(columns[0], 4099);
    assert_int_equal(columns[1], 0);
    assert_int_equal(columns[2], 4095);
    assert_int_equal(columns[3], 4096);
    assert_int_equal(columns[4], 0);
    REFUSED(ny_store_find_columns(store, unknown, 8, columns), NY_EDATA);
    REFUSED(ny_store_find_columns(store, (const char *const[]){"g40999"}, 1, columns), NY_EDATA);
    assert_int_equal(columns[2], 2);
}

TEST(a_name_of_two_columns)
{
    const struct ny_ingest_spec spec = {.d = 3, .dtype = NY_U8};
    const char *const sought[] = {"b"};
    struct ny_names names = {0};
    struct ny_ingest *ingest;
    uint64_t column;

    CHECK(ny_names_append(&names, ctx, "b\0a\0b", 3));
    CHECK(ny_ingest_begin(&ingest, store, &spec, &column));
    CHECK(ny_ingest_column_names(ingest, &names, "rows"));
    CHECK(ny_ingest_rows(ingest,
                         &(struct ny_ingest_rows){.values = "abc", .count = 1, .consumed = 1}));
    CHECK(ny_ingest_commit(ingest));
    ny_ingest_free(ingest);
    ny_names_release(&names, ctx);
    REFUSED(ny_store_find_columns(store, sought, 1, &column), NY_EDATA);
}

/* ---- damage -------------------------------------------------------------------------------- */

/* Flips a byte in the frame of an entry that lies on pages of its own. */
static void spoil(unsigned kind, uint64_t number)
{
    struct ny_header header;
    char byte;
    bool found = false;
    int fd;
    char *file = lend_text("%s/points/data.mdb", path);

    fd = open(file, O_RDWR);
    for (off_t at = 16; !found && pread(fd, &header, sizeof(header), at) == sizeof(header);
         at += PAGE) {
        found = header.number == number && header.packed >> 28 == kind;
        if (!found) continue;
        assert_int_equal(pread(fd, &byte, 1, at + 500), 1);
        byte ^= 4;
        assert_int_equal(pwrite(fd, &byte, 1, at + 500), 1);
    }
    assert_true(found);
    close(fd);
}

static char told[500];

static int tell_damage(void *user, const struct ny_damage *damage)
{
    (void)user;
    snprintf(told + strlen(told), sizeof(told) - strlen(told), "%d rows %d+%d: %s\n",
             (int)damage->kind, (int)damage->first_row, (int)damage->rows, damage->what);
    return NY_OK;
}

static int tell_repaired(void *user, const struct ny_repaired *done)
{
    (void)user;
    snprintf(told + strlen(told), sizeof(told) - strlen(told), "%d rows %d+%d\n", (int)done->kind,
             (int)done->first_row, (int)done->rows);
    return NY_OK;
}

TEST(damage_is_found_and_set_aside)
{
    OWNED(ny_names) names = {0};
    char wanted[200];

    CHECK(import_names(&(struct naming){.count = 300, .names = true, .columns = "g"}));
    ny_store_close(store);
    spoil(11, 1);
    spoil(12, 0);
    open_store();
    told[0] = '\0';
    CHECK(ny_store_verify(store, tell_damage, NULL));
    snprintf(wanted, sizeof(wanted),
             "%d rows 128+128: names of block 1: its checksum is wrong\n"
             "%d rows 0+0: names of columns: its checksum is wrong\n",
             NY_DAMAGED_NAMES, NY_DAMAGED_COLUMN_NAMES);
    assert_string_equal(told, wanted);
    check_names(0, 128);
    REFUSED(ny_points_names(store, 128, 1, &names), NY_ESTORE);
    REFUSED(ny_points_column_names(store, 0, 1, &names), NY_ESTORE);
    told[0] = '\0';
    CHECK(ny_store_repair(store, tell_repaired, NULL));
    snprintf(wanted, sizeof(wanted), "%d rows 128+128\n%d rows 0+0\n", NY_DAMAGED_NAMES,
             NY_DAMAGED_COLUMN_NAMES);
    assert_string_equal(told, wanted);
    told[0] = '\0';
    CHECK(ny_store_verify(store, tell_damage, NULL));
    assert_string_equal(told, "");
    assert_true(points_seen().points.names && !points_seen().points.column_names);
    CHECK(ny_points_names(store, 128, 128, &names));
    assert_int_equal(names.bytes, 128);
    check_names(256, 44);
    CHECK(import_names(&(struct naming){.first = 300, .count = 300, .names = true}));
    check_names(256, 344);
}

AROUND_EACH(start, stop)
