/* Rows that are read where the caller has them, and coordinates that go to the caller's memory: the
 * numbers of a store that has copied and kept all of it. */
#include <fcntl.h>
#include <sys/mman.h>

#include "base/checksum.h"
#include "base/memory.h"
#include "support/options.h"
#include "support/results.h"
#include "unit/table_case.h"

enum { PAIRS = 3 };

static char copy[200]; /* the path of a store with rows of its own */

static void setup_copy(void)
{
    setup();
    snprintf(copy, sizeof(copy), "%s/copy.nys", in.folder);
}

/* Rows of five entries; out of order, some columns come twice, and some values are 0. */
static struct ny_table sparse_rows(bool in_order)
{
    enum { EACH = 5 };
    static uint32_t start[ROWS + 1];
    uint32_t *column = lend_zeros(ROWS * EACH * sizeof(*column));
    float *value = lend_zeros(ROWS * EACH * sizeof(*value));

    for (int e = 0; e < ROWS * EACH; e++) {
        int at = e % EACH, row = e / EACH;

        start[row + 1] = (uint32_t)(row + 1) * EACH;
        column[e] = (uint32_t)(at * 11 + row % 7);
        value[e] = (float)value_of(row, at) + 1;
        if (in_order || row % 3) continue;
        column[e] = (uint32_t)((EACH - at) / 2 * 11 + row % 7);
        if (at == 1) value[e] = 0;
    }
    return (struct ny_table){.struct_bytes = sizeof(struct ny_table),
                             .dtype = NY_F32,
                             .index_bytes = 4,
                             .rows = ROWS,
                             .columns = WIDE,
                             .values = value,
                             .row_start = start,
                             .column = column,
                             .entries = ROWS * EACH};
}

/* Reports but for paths, times and sizes of files. */
static void assert_same_report(const char *a, const char *b)
{
    static const char *const keys[] = {"n", "d", "mean_norm", "mean_square_norm"};
    OWNED(ny_report) *of_a = NULL, *of_b = NULL;

    ok(ny_store_report(in.ctx, a, &of_a));
    ok(ny_store_report(in.ctx, b, &of_b));
    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
        assert_true(number_of(of_a, keys[i]) == number_of(of_b, keys[i]));
}

/* No other context can read them, and nothing is added to them. */
TEST(borrowed_rows_are_their_contexts)
{
    struct ny_table table = dense(NY_F32, 0);
    struct ny_report *report;
    struct ny_context *other;

    ok(ny_borrow(in.ctx, in.store, &table, NULL, &report));
    assert_true(number_of(report, "n") == ROWS);
    ny_report_free(report);
    fails(NY_EUSAGE, ny_append(in.ctx, in.store, &table, NULL, NULL));
    assert_int_equal(access(in.store, F_OK), -1);
    ok(ny_context_new(&other));
    assert_int_equal(ny_store_report(other, in.store, &report), NY_EIO);
    ny_context_free(other);
    ok(ny_borrow(in.ctx, copy, &table, NULL, NULL)); /* in the place of the first */
    fails(NY_EIO, ny_store_report(in.ctx, in.store, &report));
    ny_give_back(in.ctx);
    fails(NY_EIO, ny_store_report(in.ctx, copy, &report));
}

/* The model, and who else asks, has the names of the columns; one that cannot be is refused. */
TEST(columns_keep_their_names)
{
    static const char *names[COLUMNS] = {"a", "b", "", "d", "e", "f", NULL};
    struct ny_table table = dense(NY_F32, 0);
    OWNED(ny_model) *model = NULL;
    OWNED(ny_view) *view = NULL;
    const char *found;
    uint64_t bytes;
    size_t count;

    table.column_names = names;
    ok(ny_borrow(in.ctx, in.store, &table, NULL, NULL));
    ok(ny_view_open(&view, in.ctx, in.store, NULL));
    ok(ny_view_names(view, "columns", 1, 3, &found, &bytes));
    assert_int_equal(bytes, 5);
    assert_memory_equal(found, "b\0\0d", 5);
    ok(ny_fit(in.ctx, in.store, "f", NULL, NULL));
    ok(ny_model_open(&model, in.ctx, in.store, "f"));
    ok(ny_model_column_names(model, &found, &count));
    assert_int_equal(count, COLUMNS);
    assert_string_equal(found, "a");
    names[3] = "d\ne";
    fails(NY_EDATA, ny_borrow(in.ctx, in.store, &table, NULL, NULL));
}

/* Whatever rows are like, they are those that an import makes of them, of the same bytes. */
TEST(rows_are_those_of_an_import)
{
    static const char *const ways[] = {
        "", "layout=sparse", "rows=unit values=sqrt", "layout=dense", "layout=sparse rows=total:5",
    };
    OWNED(ny_options) *fits = options_with(in.ctx, "landmarks=40 components=3");

    for (int kind = 0; kind < 4; kind++)
        for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
            struct ny_table table = kind < 2 ? dense(NY_F32, kind) : sparse_rows(kind == 2);
            OWNED(ny_options) *options = options_with(in.ctx, "%s", ways[i]);
            static float wanted[ROWS * PAIRS], found[ROWS * PAIRS];

            case_remove(copy);
            ok(ny_append(in.ctx, copy, &table, options, NULL));
            ok(ny_borrow(in.ctx, in.store, &table, options, NULL));
            assert_same_report(copy, in.store);
            ok(ny_fit(in.ctx, copy, "f", fits, NULL));
            ok(ny_fit(in.ctx, in.store, "f", fits, NULL));
            ok(ny_embedding_read(in.ctx, copy, "f", 0, ROWS, wanted));
            ok(ny_embedding_read(in.ctx, in.store, "f", 0, ROWS, found));
            assert_memory_equal(found, wanted, sizeof(wanted));
        }
}

/* Models of both stores have the same bytes: landmarks, geometry, map and eigenvalues. */
static void assert_same_model(const char *name)
{
    OWNED(ny_model) *of_copy = NULL, *of_store = NULL;
    const void *wanted, *found;
    size_t bytes, found_bytes;

    ok(ny_model_open(&of_copy, in.ctx, copy, name));
    ok(ny_model_open(&of_store, in.ctx, in.store, name));
    ok(ny_model_image(of_copy, &wanted, &bytes));
    ok(ny_model_image(of_store, &found, &found_bytes));
    assert_int_equal(found_bytes, bytes);
    assert_memory_equal(found, wanted, bytes);
}

/* Whatever the fit, the room has what the store of the same fit would have. */
TEST(fits_into_memory_are_those_into_a_store)
{
    static const char *const fits[] = {
        "landmarks=40 components=3",
        "map=diffusion landmarks=40 components=3 time=2",
        "map=diffusion normalize=asymmetric landmarks=40 components=3",
        "map=svd approx=nystrom landmarks=40 components=3",
        "map=pca components=3",
        "landmarks=40 components=3 precision=f64",
        "landmarks=40 components=3 probe=5",
        "map=svd kernel=linear approx=exact components=3",
        "map=eigenmaps neighbors=20 connect=yes components=3",
        "landmarks=150 components=3 select=rpcholesky approx=nystrom",
        "landmarks=150 components=3 select=rpcholesky approx=projected",
        "landmarks=150 components=3 select=uniform approx=nystrom",
        "landmarks=150 components=3 select=uniform approx=projected",
    };
    /* where another type is wanted, or a stage reads rows again */
    static const bool in_store[sizeof(fits) / sizeof(fits[0])] = {
        [5] = true, [6] = true, [8] = true};
    struct ny_table table = dense(NY_F32, 0);
    static float wanted[ROWS * PAIRS], found[ROWS * PAIRS];

    ok(ny_append(in.ctx, copy, &table, NULL, NULL));
    ok(ny_borrow(in.ctx, in.store, &table, NULL, NULL));
    for (size_t i = 0; i < sizeof(fits) / sizeof(fits[0]); i++) {
        const struct ny_dense_room room = {NY_F32, found};
        OWNED(ny_options) *options = options_with(in.ctx, "%s", fits[i]);
        int kept;
        char *name = lend_text("f%zu", i);

        ny_context_set_threads(in.ctx, i % 4 < 2 ? 1 : 3);
        memset(found, 0, sizeof(found));
        ok(ny_fit(in.ctx, copy, name, options, NULL));
        ok(ny_embedding_read(in.ctx, copy, name, 0, ROWS, wanted));
        ok(ny_fit_into(in.ctx, in.store, name, options, &room, NULL));
        assert_memory_equal(found, wanted, sizeof(wanted));
        if (!strstr(fits[i], "eigenmaps")) assert_same_model(name);
        kept = ny_embedding_read(in.ctx, in.store, name, 0, ROWS, found);
        assert_true((kept == NY_OK) == in_store[i]);
        if (kept) fails(NY_EUSAGE, kept);
        assert_memory_equal(found, wanted, sizeof(wanted));
    }
}

/* Pages of the one are asked for before they are read. */
TEST(mapped_files_are_told_from_memory)
{
    enum { BYTES = 10000 };
    char path[200], *own = lend(BYTES), *mapped;
    int file;

    snprintf(path, sizeof(path), "%s/rows", in.folder);
    file = open(path, O_RDWR | O_CREAT, 0600);
    assert_int_equal(ftruncate(file, BYTES), 0);
    mapped = mmap(NULL, BYTES, PROT_READ, MAP_PRIVATE, file, 0);
    assert_true(mapped != MAP_FAILED);
    assert_true(ny_memory_is_file(mapped) && ny_memory_is_file(mapped + BYTES - 1));
    assert_false(ny_memory_is_file(own));
    munmap(mapped, BYTES);
    close(file);
}

enum { MANY = 1 << 16, WIDTH = 64 };
static const size_t many_bytes = (size_t)MANY * WIDTH * sizeof(float);

/* Maps a file of many rows, which is made where it is not there. */
static float *map_many(int flags)
{
    float *rows;
    int file;
    char *path = lend_text("%s/many", in.folder);

    file = open(path, O_RDWR | O_CREAT, 0600);
    assert_int_equal(ftruncate(file, (off_t)many_bytes), 0);
    rows = mmap(NULL, many_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    assert_true(rows != MAP_FAILED);
    for (int i = 0; i < MANY * WIDTH; i++)
        rows[i] = (float)value_of(i / WIDTH, i % WIDTH);
    munmap(rows, many_bytes);
    rows = mmap(NULL, many_bytes, PROT_READ | PROT_WRITE, flags, file, 0);
    assert_true(rows != MAP_FAILED);
    close(file);
    return rows;
}

/* Bytes of the mapping that begins at this address, as far as they are resident. */
static size_t resident_of(const void *at)
{
    FILE *file = fopen("/proc/self/smaps", "r");
    size_t begin, end, kib = SIZE_MAX;
    bool here = false;
    char line[4400];

    assert_non_null(file);
    while (fgets(line, sizeof(line), file)) {
        if (sscanf(line, "%zx-%zx ", &begin, &end) == 2) here = begin == (size_t)at;
        if (here && sscanf(line, "Rss: %zu kB", &kib) == 1) break;
    }
    fclose(file);
    assert_true(kib != SIZE_MAX);
    return kib << 10;
}

static struct ny_table table_of(const float *rows)
{
    return (struct ny_table){.struct_bytes = sizeof(struct ny_table),
                             .dtype = NY_F32,
                             .rows = MANY,
                             .columns = WIDTH,
                             .values = rows};
}

/* Embeds rows that are borrowed, which a fit reads again and again. */
static void embed_many(const float *rows, float *places)
{
    struct ny_table table = table_of(rows);

    case_remove(in.store);
    ok(ny_borrow(in.ctx, in.store, &table, NULL, NULL));
    must_fit(in.ctx, in.store, "f", NULL, "landmarks=40 select=greedy components=2 seed=1");
    ok(ny_embedding_read(in.ctx, in.store, "f", 0, MANY, places));
}

/* Else a file that is read would count as resident in this process. What a private mapping has is
 * nowhere else, and stays. */
TEST(pages_of_a_file_are_given_back_where_others_see_them)
{
    const size_t places = (size_t)MANY * 2 * sizeof(float);
    float *shared = map_many(MAP_SHARED), *own = map_many(MAP_PRIVATE);
    float *found = lend(places), *wanted = lend(places);
    struct ny_table table = table_of(shared);

    assert_true(ny_memory_is_shared(shared, many_bytes));
    assert_false(ny_memory_is_shared(shared, many_bytes + 4096));
    assert_false(ny_memory_is_shared(own, many_bytes));
    assert_false(ny_memory_is_shared(found, places));
    embed_many(shared, found);
    assert_in_range(resident_of(shared), 0, many_bytes / 2);
    own[7] += 1000; /* a page that the file does not have */
    embed_many(own, wanted);
    assert_true(own[7] == (float)value_of(0, 7) + 1000);
    own[7] -= 1000;
    embed_many(own, wanted);
    assert_memory_equal(found, wanted, places);
    ok(ny_append(in.ctx, copy, &table, NULL, NULL));
    assert_in_range(resident_of(shared), 0, many_bytes / 2);
    munmap(shared, many_bytes);
    munmap(own, many_bytes);
}

static void count_pieces(const void *arg, const void *at, size_t bytes)
{
    size_t *counted = *(size_t *const *)arg;

    assert_non_null(at);
    *counted += bytes;
}

TEST(a_checksum_by_pieces_is_that_of_all)
{
    static const size_t bytes[] = {0, 1, 1000, (8 << 20) - 1, 8 << 20, (8 << 20) + 1, 20 << 20};
    char *data = lend(20 << 20);

    for (size_t i = 0; i < 20 << 20; i++)
        data[i] = (char)(i * 31 + i / 977);
    for (size_t i = 0; i < sizeof(bytes) / sizeof(bytes[0]); i++) {
        size_t counted = 0, *to = &counted;

        assert_true(ny_checksum_by_pieces(data, bytes[i], count_pieces, &to) ==
                    ny_checksum(data, bytes[i]));
        assert_int_equal(counted, bytes[i]);
    }
}

/* The figures and the model are those of a fit that keeps the rows. */
TEST(rows_that_nobody_wants_are_not_kept)
{
    static const char *const fits[] = {
        "landmarks=40 components=3",
        "map=diffusion landmarks=40 components=3",
        "map=svd approx=nystrom landmarks=40 components=3",
        "approx=exact components=3",
    };
    struct ny_table table = dense(NY_F32, 0);
    static float wanted[ROWS * PAIRS], found[ROWS * PAIRS];

    table.rows = 600;
    ok(ny_append(in.ctx, copy, &table, NULL, NULL));
    ok(ny_borrow(in.ctx, in.store, &table, NULL, NULL));
    for (size_t i = 0; i < sizeof(fits) / sizeof(fits[0]); i++) {
        OWNED(ny_options) *options = options_with(in.ctx, "%s", fits[i]);
        OWNED(ny_report) *of_copy = NULL, *of_store = NULL;
        struct ny_model *model;
        char *name = lend_text("f%zu", i);

        ok(ny_fit(in.ctx, copy, name, options, &of_copy));
        ok(ny_fit_into(in.ctx, in.store, name, options, NULL, &of_store));
        assert_true(number_of(of_copy, "trace_error") == number_of(of_store, "trace_error"));
        fails(NY_EUSAGE, ny_embedding_read(in.ctx, in.store, name, 0, 1, found));
        ok(ny_model_open(&model, in.ctx, copy, name));
        ok(ny_model_place(model, &table, NY_F32, wanted, 0));
        ny_model_free(model);
        ok(ny_model_open(&model, in.ctx, in.store, name));
        ok(ny_model_place(model, &table, NY_F32, found, 0));
        ny_model_free(model);
        assert_memory_equal(found, wanted, 600 * PAIRS * sizeof(float));
    }
}

/* A context that has borrowed rows fits a store on a disk as ever. */
TEST(other_stores_keep_what_is_fitted)
{
    OWNED(ny_options) *options = options_with(in.ctx, "landmarks=40 components=3");
    static float places[ROWS * PAIRS];
    struct ny_table table = dense(NY_F32, 0);

    ok(ny_append(in.ctx, copy, &table, NULL, NULL));
    ok(ny_borrow(in.ctx, in.store, &table, NULL, NULL));
    ok(ny_fit_into(in.ctx, copy, "f", options, NULL, NULL));
    ok(ny_embedding_read(in.ctx, copy, "f", 0, ROWS, places));
}

/* Returns the least budget that a refusal asks for. */
static size_t least_of(int status)
{
    const char *found = strstr(ny_context_message(in.ctx), "needs ");

    assert_int_equal(status, NY_EBUDGET);
    assert_non_null(found);
    return strtoul(found + strlen("needs "), NULL, 10);
}

/* Coordinates, model and sums are in memory until the rows are given back: the plan says so before
 * the fit begins, and the budget that it asks for is enough. */
TEST(results_count_in_the_budget)
{
    const size_t places = (size_t)ROWS * 200 * sizeof(float);
    struct ny_options *options =
        options_with(in.ctx, "landmarks=300 components=200 seed=1 check-rows=0");
    struct ny_table table = dense(NY_F32, 0);
    size_t without, with;

    ok(ny_borrow(in.ctx, in.store, &table, NULL, NULL));
    ny_context_set_memory(in.ctx, 1 << 20);
    without = least_of(ny_fit_into(in.ctx, in.store, "f", options, NULL, NULL));
    with = least_of(ny_fit(in.ctx, in.store, "f", options, NULL));
    assert_in_range(with - without, places, 2 * places);
    ny_context_set_memory(in.ctx, with - 1);
    assert_int_equal(ny_fit(in.ctx, in.store, "f", options, NULL), NY_EBUDGET);
    ny_context_set_memory(in.ctx, with);
    ok(ny_fit(in.ctx, in.store, "f", options, NULL));
    ny_options_free(options);
}

/* A store that others may open keeps what was fitted, and a second call reads it there. */
TEST(a_kept_store_keeps_the_embedding)
{
    OWNED(ny_options) *options = options_with(in.ctx, "landmarks=40 components=3");
    static double first[ROWS * PAIRS], second[ROWS * PAIRS];
    static float stored[ROWS * PAIRS];
    struct ny_table table = dense(NY_F32, 0);

    ok(ny_append(in.ctx, in.store, &table, NULL, NULL));
    ok(ny_fit_into(in.ctx, in.store, "f", options, &(struct ny_dense_room){NY_F64, first}, NULL));
    ok(ny_fit_into(in.ctx, in.store, "f", options, &(struct ny_dense_room){NY_F64, second}, NULL));
    ok(ny_embedding_read(in.ctx, in.store, "f", 0, ROWS, stored));
    assert_memory_equal(first, second, sizeof(first));
    for (size_t i = 0; i < ROWS * PAIRS; i++)
        assert_true(first[i] == (double)stored[i]);
}

AROUND_EACH(setup_copy, api_case_end)
