/* store/shard_rows.c: sparse rows of three shards, which differ in how full their rows are, as each
 * of the peers gets them: in lots and parcels of several sizes, in any order, and more than once. */
#include "base/memory.h"
#include "base/random.h"
#include "peers/group.h"
#include "stream/rows.h"
#include "support/store_case.h"
#include "support/test.h"

enum { D = 30000, SHARDS = 3, ROWS = 10000, WANTED = 9001, FULL = 3000 };

static const uint64_t first_of[SHARDS + 1] = {0, 3000, 5000, ROWS};
static char directory[128];

/* Row i: in the second shard a few values, in others some 200, in every 97th none, and in every
 * 2,500th so many that a few fill a parcel. */
static size_t row_values(uint64_t i, uint32_t *index, float *value)
{
    bool thin = i >= first_of[1] && i < first_of[2];
    size_t wanted = i % 97 == 0        ? 0
                    : thin             ? 1 + (size_t)(i % 5)
                    : i % 2500 == 2499 ? FULL
                                       : 150 + (size_t)(i % 100);

    for (size_t k = 0; k < wanted; k++) {
        index[k] = (uint32_t)(k * 10 + i % 7);
        value[k] = (float)(ny_hash01(1, 2, i * FULL + k) + 0.01);
    }
    return wanted;
}

static void path_of(unsigned shard, char path[160])
{
    snprintf(path, 160, "%s/%u.nys", directory, shard);
}

static int put(struct ny_context *ctx, struct ny_store *store, uint64_t first, uint64_t end)
{
    const struct ny_ingest_spec spec = {
        .d = D, .dtype = NY_F32, .layout = NY_CSR, .row_nnz = 200, .fingerprint = 5};
    struct ny_ingest *ingest;
    struct ny_csr csr = {.dtype = NY_F32};
    uint64_t consumed;
    int err = ny_ingest_begin(&ingest, store, &spec, &consumed);

    for (uint64_t row = first; !err && row < end; row++) {
        struct ny_ingest_rows rows = {.sparse = &csr, .count = 1, .consumed = row + 1 - first};

        csr.rows = 0;
        err = ny_csr_reserve(&csr, ctx, NY_MEM_OTHER, 1, FULL);
        if (err) break;
        csr.start[1] = (uint32_t)row_values(row, csr.index, csr.value);
        csr.rows = 1;
        err = ny_ingest_rows(ingest, &rows);
    }
    if (!err) err = ny_ingest_commit(ingest);
    ny_ingest_free(ingest);
    ny_csr_release(&csr, ctx);
    return err;
}

static int is_row(uint64_t row, struct ny_sparse found)
{
    static _Thread_local uint32_t index[FULL];
    static _Thread_local float value[FULL];
    size_t count = row_values(row, index, value);

    return found.count == count && !memcmp(found.index, index, count * sizeof(*index)) &&
           !memcmp(found.value, value, count * sizeof(*value));
}

/* The rows that are wanted, and what has come of them. */
struct wanted {
    uint64_t row[WANTED], last;
    size_t shown;
    bool right;
};

static int take(void *arg, size_t position, struct ny_sparse found)
{
    struct wanted *wanted = arg;
    uint64_t row = wanted->row[position];

    wanted->right &= row >= wanted->last && is_row(row, found);
    wanted->last = row;
    wanted->shown++;
    return NY_OK;
}

static int take_few(void *arg, size_t position, struct ny_sparse found)
{
    int err = take(arg, position, found);

    return ((struct wanted *)arg)->shown == 5000 ? NY_EBUDGET : err;
}

static int visit(void *arg, struct ny_context *ctx, unsigned shard)
{
    struct wanted *wanted = &((struct wanted *)arg)[shard];
    OWNED(ny_store) *store = NULL;
    struct ny_rows_info info;
    size_t before, most;
    char path[160];
    int err;

    path_of(shard, path);
    err = ny_store_open(&store, ctx, path);
    if (!err) err = ny_store_join(store);
    if (!err) err = ny_points_info(store, &info);
    for (size_t i = 0; i < WANTED; i++)
        wanted->row[i] = (uint64_t)(ny_hash01(7, 1, i) * ROWS);
    wanted->right = !err && info.n == ROWS && info.row_slots == FULL;
    before = ny_memory_used(ctx);
    ny_memory_peak_reset(ctx);
    if (!err)
        err = ROWS_OF(store, visit, (size_t)info.row_slots, wanted->row, WANTED, take, wanted);
    most = info.gather_bytes + 2 * info.block_bytes + WANTED * 16 + 4096;
    wanted->right &= ny_memory_peak(ctx) - before <= most;
    return err;
}

/* Runs a function by all peers; returns its status, or the first of theirs. */
static int by_all(ny_group_fn *run, void *arg)
{
    const struct ny_group_shape shape = {SHARDS, 0, SHARDS};
    OWNED(ny_context) *ctx = NULL;
    int err;

    assert_int_equal(ny_context_new(&ctx), NY_OK);
    err = ny_group_run(ctx, &shape, NULL, run, arg);
    return err;
}

TEST(all_peers_are_shown_the_rows_of_all_shards)
{
    struct wanted *wanted = lend(SHARDS * sizeof(*wanted));

    memset(wanted, 0, SHARDS * sizeof(*wanted));
    assert_int_equal(by_all(visit, wanted), NY_OK);
    for (unsigned shard = 0; shard < SHARDS; shard++) {
        assert_true(wanted[shard].right);
        assert_int_equal(wanted[shard].shown, WANTED);
    }
}

/* Gathers records, wider than the rows of any shard need, and no row at all; then a peer has had
 * enough of what it is shown, and the others hear of it. */
static int gather(void *arg, struct ny_context *ctx, unsigned shard)
{
    enum { SLOTS = FULL + 5, FEW = 700 };
    struct wanted *wanted = &((struct wanted *)arg)[shard];
    size_t bytes = ny_row_bytes(NY_F32, D, SLOTS);
    char *records = ny_alloc(ctx, NY_MEM_OTHER, FEW * bytes), path[160];
    struct ny_store *store = NULL;
    int err = NY_OK;

    path_of(shard, path);
    if (!err) err = ny_store_open(&store, ctx, path);
    if (!err) err = ny_store_join(store);
    for (size_t i = 0; i < WANTED; i++)
        wanted->row[i] = i < 3 ? 4999 : (uint64_t)(ny_hash01(8, 1, i) * ROWS);
    if (!err) err = ROWS_OF(store, gather, SLOTS, wanted->row, 0, records);
    if (!err) err = ROWS_OF(store, visit, FULL, wanted->row, 0, take, wanted);
    if (!err) err = ROWS_OF(store, gather, SLOTS, wanted->row, FEW, records);
    wanted->right = !err;
    for (size_t i = 0; !err && i < FEW; i++)
        wanted->right &= is_row(wanted->row[i], ny_sparse_of(records + i * bytes, SLOTS));
    if (!err)
        err = ROWS_OF(store, visit, FULL, wanted->row, WANTED, shard == 1 ? take_few : take,
                              wanted);
    wanted->right &= err != NY_OK;
    ny_store_close(store);
    ny_free(ctx, records);
    return err;
}

TEST(rows_are_gathered_as_records_and_an_error_of_one_peer_ends_all)
{
    struct wanted *wanted = lend(SHARDS * sizeof(*wanted));

    memset(wanted, 0, SHARDS * sizeof(*wanted));
    assert_int_equal(by_all(gather, wanted), NY_EBUDGET);
    for (unsigned shard = 0; shard < SHARDS; shard++)
        assert_true(wanted[shard].right);
}

static void set_up(void)
{
    OWNED(ny_context) *ctx = NULL;

    case_directory(directory);
    assert_int_equal(ny_context_new(&ctx), NY_OK);
    for (unsigned shard = 0; shard < SHARDS; shard++) {
        OWNED(ny_store) *store = NULL;
        char path[160];

        path_of(shard, path);
        assert_int_equal(ny_store_create(&store, ctx, path), NY_OK);
        if (put(ctx, store, first_of[shard], first_of[shard + 1]))
            fail_msg("%s", ny_context_message(ctx));
    }
}

static void tear_down(void)
{
    case_remove(directory);
}

AROUND_ALL(set_up, tear_down)
