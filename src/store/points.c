/*
 * Reading rows, labels and source row numbers: whole blocks, ranges of rows, and rows by their
 * numbers.
 *
 * Passes read blocks (ny_points_read_block()); selection, samples and pictures gather rows.
 * Whatever is read is a copy of a block that was verified. A range goes block by block, and whole
 * blocks of dense rows are decoded straight into the caller's rows; a gather sorts its rows first,
 * so that each block is decoded once, whatever the order of the list. Memory is one block decoded,
 * and as much reserved for its mapped pages. Hints to the kernel about mapped pages are at the
 * end; they never fail.
 */
#include <string.h>
#include <sys/mman.h>

#include "base/memory.h"
#include "store/csr.h"
#include "base/guard.h"
#include "store/page.h"
#include "store/store_private.h"
#include "stream/wishes.h"

/* Returns the type of points as they are read. */
static enum ny_dtype read_dtype(const struct ny_store *store, const struct ny_manifest *m)
{
    struct ny_prepared how = ny_manifest_preparation(store, m);

    return ny_prepared_dtype(&how, (enum ny_dtype)m->dtype);
}

/* Prepares the rows of a block, which were read to the end of its room. */
static void prepare(const struct ny_store *store, const struct ny_manifest *m, uint64_t block,
                    void *out)
{
    struct ny_prepared how = ny_manifest_preparation(store, m);
    enum ny_dtype dtype = (enum ny_dtype)m->dtype;

    if (ny_prepares(&how))
        ny_prepare_in_place(&how, dtype, ny_prepared_dtype(&how, dtype), out,
                            (size_t)ny_rows_in_block(m, block), (size_t)m->d);
}

/* Returns where a block is read to: the end of the room that its rows fill when prepared. */
static char *stored_at(const struct ny_store *store, const struct ny_manifest *m, enum ny_kind kind,
                       uint64_t block, void *out)
{
    size_t stored = ny_block_row_bytes(m, kind, (enum ny_dtype)m->dtype);
    size_t read = ny_block_row_bytes(m, kind, read_dtype(store, m));

    return (char *)out + (size_t)ny_rows_in_block(m, block) * (read - stored);
}

/* Reads one block in a view of its own; *m is the manifest of that view. `out` has room for a full
 * block. */
static int load_block(struct ny_store *store, enum ny_kind kind, uint64_t block,
                      struct ny_manifest *m, void *out)
{
    const char *wrong = NULL;
    struct ny_snapshot *view;
    int end, err = ny_snapshot_begin(&view, store, store->points);

    if (err) return err;
    err = ny_manifest_read(view, m);
    if (!err &&
        (ny_rows_in_block(m, block) == 0 || (kind == NY_KIND_POINTS && m->layout != NY_DENSE)))
        err = NY_BUG(store->ctx);
    if (!err)
        err = ny_block_read(view, m, kind, block, stored_at(store, m, kind, block, out), &wrong);
    end = ny_snapshot_end(view, NY_OK); /* what was torn looks like damage, and is none */
    if (end) return end;
    if (!err && !wrong && kind == NY_KIND_POINTS) prepare(store, m, block, out);
    return wrong ? ny_block_damaged(store, m, kind, block, wrong) : err;
}

int ny_points_read_block(struct ny_store *store, uint64_t block, void *rows, size_t *count)
{
    struct ny_manifest m;
    int err = load_block(store, NY_KIND_POINTS, block, &m, rows);

    *count = err ? 0 : (size_t)ny_rows_in_block(&m, block);
    return err;
}

/* ---- ranges -------------------------------------------------------------------------------- */

/* One block of a kind, kept while neighbouring rows are copied from it. */
struct cache {
    struct ny_store *store;
    struct ny_manifest m;
    enum ny_kind kind;
    size_t row_bytes;
    size_t slots;                   /* of points: rows are records; 0: dense */
    struct ny_stored_points points; /* where they are sparse */
    char *rows;                     /* or the room of a sparse block */
    struct ny_lost lost;            /* of points: blocks may hold zeros in their place */
    size_t reserved;
    uint64_t block; /* UINT64_MAX: none yet */
};

static int check_layout(struct cache *cache)
{
    bool sparse = cache->kind == NY_KIND_POINTS && cache->m.n && cache->m.layout == NY_CSR;

    if (sparse == (cache->slots > 0)) return NY_OK;
    return NY_BUG(cache->store->ctx);
}

static int cache_init(struct cache *cache, struct ny_store *store, enum ny_kind kind, size_t slots)
{
    size_t bytes;
    int err;

    *cache = (struct cache){.store = store, .kind = kind, .slots = slots, .block = UINT64_MAX};
    err = ny_manifest_now(store, &cache->m, kind == NY_KIND_POINTS ? &cache->lost : NULL);
    if (!err) err = check_layout(cache);
    if (!err && slots) err = ny_points_stored_all(store, &cache->points);
    if (err) return err;
    cache->row_bytes = slots ? ny_row_bytes(cache->points.rows.dtype, 0, slots)
                             : ny_block_row_bytes(&cache->m, kind, read_dtype(store, &cache->m));
    bytes = slots ? ny_points_block_bytes(&cache->points)
                  : (size_t)cache->m.block_rows * cache->row_bytes;
    err = ny_reserve(store->ctx, NY_MEM_STORE, bytes); /* of the map */
    if (err) return err;
    cache->reserved = bytes;
    cache->rows = ny_alloc(store->ctx, NY_MEM_STORE, bytes);
    return cache->rows ? NY_OK : NY_EBUDGET;
}

static void cache_release(struct cache *cache)
{
    ny_free(cache->store->ctx, cache->rows);
    ny_unreserve(cache->store->ctx, NY_MEM_STORE, cache->reserved);
    ny_lost_release(&cache->lost, cache->store->ctx);
}

static int check_range(const struct cache *cache, uint64_t first, size_t count)
{
    if (first <= cache->m.n && count <= cache->m.n - first) return NY_OK;
    return NY_BUG(cache->store->ctx);
}

/* Refuses rows first … end − 1 of a block where some are lost. Those that an append has put behind
 * them in their block can be read. */
static int check_lost(const struct cache *cache, uint64_t first, uint64_t end)
{
    if (!ny_lost_meets(&cache->lost, first, end)) return NY_OK;
    return ny_block_damaged(cache->store, &cache->m, NY_KIND_POINTS, first / cache->m.block_rows,
                            NULL);
}

static int cache_load(struct cache *cache, uint64_t block)
{
    size_t count;
    int err = NY_OK;

    if (cache->block == block) return NY_OK;
    cache->block = UINT64_MAX;
    if (cache->slots)
        err = ny_points_read_sparse(cache->store, &cache->points, block, cache->rows, &count);
    else
        err = load_block(cache->store, cache->kind, block, &cache->m, cache->rows);
    if (!err) cache->block = block;
    return err;
}

/* Row `at` of the sparse block that is loaded. */
static int sparse_row(const struct cache *cache, uint64_t at, struct ny_sparse *row)
{
    *row = ny_sparse_block_row(cache->rows, at);
    if (row->count <= cache->slots) return NY_OK;
    return NY_BUG(cache->store->ctx);
}

/* Rows at … at+count−1 of the block that is loaded. */
static int cache_copy(const struct cache *cache, uint64_t at, size_t count, char *out)
{
    if (!cache->slots) memcpy(out, cache->rows + at * cache->row_bytes, count * cache->row_bytes);
    if (!cache->slots) return NY_OK;
    for (size_t i = 0; i < count; i++) {
        struct ny_sparse row;
        int err = sparse_row(cache, at + i, &row);

        if (err) return err;
        ny_sparse_pack(out + i * cache->row_bytes, cache->slots, cache->points.rows.dtype, row);
    }
    return NY_OK;
}

/* Whole blocks of dense rows go straight to `out`. */
static int read_range(struct cache *cache, uint64_t first, size_t count, char *out)
{
    uint64_t block_rows = cache->m.block_rows;
    int err = check_range(cache, first, count);

    while (!err && count > 0) {
        uint64_t block = first / block_rows, at = first % block_rows;
        size_t piece = count < block_rows - at ? count : (size_t)(block_rows - at);

        err = check_lost(cache, first, first + piece);
        if (err) return err;
        if (piece == block_rows && !cache->slots) {
            err = load_block(cache->store, cache->kind, block, &cache->m, out);
        } else {
            err = cache_load(cache, block);
            if (!err) err = cache_copy(cache, at, piece, out);
        }
        out += piece * cache->row_bytes;
        first += piece;
        count -= piece;
    }
    return err;
}

/* Returns the bytes of a row of a set in memory. */
static size_t set_row_bytes(const struct ny_store *set, size_t slots)
{
    struct ny_rows_info info = set->set->points.rows;
    enum ny_dtype dtype = set->unprepared ? info.stored_dtype : info.dtype;

    return ny_row_bytes(dtype, info.d, slots);
}

/* The rows of a set that are asked for: where those of each store go. */
struct spread {
    size_t slots, row_bytes;
    char *out;
};

static int read_of_set(void *arg, struct ny_store *store, size_t k, struct ny_set_rows rows)
{
    const struct spread *spread = arg;

    (void)k;
    return ny_points_read(&store->rows, spread->slots, rows.first, rows.count,
                          spread->out + rows.at * spread->row_bytes);
}

int ny_points_read(struct ny_rows *X, size_t slots, uint64_t first, size_t count, void *rows)
{
    struct ny_store *store = ny_store_of(X);
    struct cache cache;
    int err;

    if (store->set) {
        struct spread spread = {slots, set_row_bytes(store, slots), rows};

        return ny_set_each(store, first, count, read_of_set, &spread);
    }
    err = cache_init(&cache, store, NY_KIND_POINTS, slots);

    if (!err) err = read_range(&cache, first, count, rows);
    cache_release(&cache);
    return err;
}

/* Tells whether no block has to be loaded twice, as where there is one block. */
static bool in_order(const struct ny_wish *wishes, size_t count, uint64_t block_rows)
{
    for (size_t i = 1; i < count; i++)
        if (wishes[i].row / block_rows < wishes[i - 1].row / block_rows) return false;
    return true;
}

/* Is handed a row: its place in the block that is loaded, and its position in the list. */
typedef int found_fn(void *arg, const struct cache *cache, uint64_t at, size_t position);

/* Loads the blocks of the rows wished for, each once and in their order, and hands over the rows.
 */
static int find_in_store(struct ny_store *store, size_t slots, struct ny_wish *wishes, size_t count,
                         found_fn *found, void *arg)
{
    struct cache cache;
    uint64_t run, last = 0;
    int err = cache_init(&cache, store, NY_KIND_POINTS, slots);

    for (size_t i = 0; !err && i < count; i++) {
        wishes[i].row = ny_lost_place(&store->skipped, wishes[i].row, &run);
        last = wishes[i].row > last ? wishes[i].row : last;
    }
    if (!err && count) err = check_range(&cache, last, 1);
    if (!err && !in_order(wishes, count, cache.m.block_rows)) ny_wishes_sort(wishes, count);
    for (size_t i = 0; !err && i < count; i++) {
        uint64_t row = wishes[i].row;

        err = check_lost(&cache, row, row + 1);
        if (!err) err = cache_load(&cache, row / cache.m.block_rows);
        if (!err) err = found(arg, &cache, row % cache.m.block_rows, wishes[i].position);
    }
    cache_release(&cache);
    return err;
}

/* Does so for rows of a set, store by store. */
static int find_in_set(struct ny_store *set, size_t slots, struct ny_wish *wishes, size_t count,
                       found_fn *found, void *arg)
{
    const struct ny_set *all = set->set;
    size_t end, k;
    int err = NY_OK;

    if (!in_order(wishes, count, 1)) ny_wishes_sort(wishes, count);
    for (size_t at = 0; !err && at < count; at = end) {
        struct ny_store *store;

        if (ny_set_place(all, wishes[at].row, &k)) err = NY_BUG(set->ctx);
        if (!err) err = ny_set_store(set, k, &store);
        for (end = at; !err && end < count && wishes[end].row < all->first[k + 1]; end++)
            wishes[end].row -= all->first[k];
        if (!err) err = find_in_store(store, slots, wishes + at, end - at, found, arg);
    }
    return err;
}

/* Hands over the rows listed. */
static int find_rows(struct ny_store *store, size_t slots, const uint64_t *rows, size_t count,
                     found_fn *found, void *arg)
{
    struct ny_wish *wishes = ny_calloc(store->ctx, NY_MEM_STORE, count, sizeof(*wishes));
    int err = NY_OK;

    if (!wishes) return NY_EBUDGET;
    for (size_t i = 0; i < count; i++)
        wishes[i] = (struct ny_wish){rows[i], i};
    err = store->set ? find_in_set(store, slots, wishes, count, found, arg)
                     : find_in_store(store, slots, wishes, count, found, arg);
    ny_free(store->ctx, wishes);
    return err;
}

static int copy_found(void *arg, const struct cache *cache, uint64_t at, size_t position)
{
    return cache_copy(cache, at, 1, (char *)arg + position * cache->row_bytes);
}

int ny_points_gather_here(struct ny_store *store, size_t slots, const uint64_t *rows, size_t count,
                          void *out)
{
    return find_rows(store, slots, rows, count, copy_found, out);
}

/* Who looks at sparse rows. */
struct visitor {
    ny_gathered_fn *take;
    void *arg;
};

static int show_found(void *arg, const struct cache *cache, uint64_t at, size_t position)
{
    const struct visitor *visitor = arg;
    struct ny_sparse row;
    int err = sparse_row(cache, at, &row);

    return err ? err : visitor->take(visitor->arg, position, row);
}

int ny_points_visit_here(struct ny_store *store, size_t slots, const uint64_t *rows, size_t count,
                         ny_gathered_fn *take, void *arg)
{
    struct visitor visitor = {take, arg};

    return find_rows(store, slots, rows, count, show_found, &visitor);
}

static int labels_of_set(void *labels, struct ny_store *store, size_t k, struct ny_set_rows rows)
{
    (void)k;
    return ny_points_labels(store, rows.first, rows.count, (double *)labels + rows.at);
}

int ny_points_labels(struct ny_store *store, uint64_t first, size_t count, double *labels)
{
    struct cache cache;
    int err;

    if (store->set) return ny_set_each(store, first, count, labels_of_set, labels);
    if (store->in_memory) {
        memset(labels, 0, count * sizeof(*labels));
        return NY_OK;
    }
    err = cache_init(&cache, store, NY_KIND_LABELS, 0);
    if (!err && !(cache.m.flags & NY_FLAG_LABELS)) {
        err = check_range(&cache, first, count);
        if (!err) memset(labels, 0, count * sizeof(*labels));
    } else if (!err) {
        err = read_range(&cache, first, count, (char *)labels);
    }
    cache_release(&cache);
    return err;
}

/* Room for row numbers of a set. */
struct source {
    struct ny_store *set;
    uint64_t *out;
};

/* Row numbers go through the files of all stores, in their order. */
static int source_of_set(void *arg, struct ny_store *store, size_t k, struct ny_set_rows rows)
{
    struct ny_store *set = ((struct source *)arg)->set;
    uint64_t *source = ((struct source *)arg)->out + rows.at;
    int err = ny_points_source(store, rows.first, rows.count, source);

    for (size_t i = 0; !err && i < rows.count; i++)
        if (source[i] != UINT64_MAX) source[i] += set->set->source[k];
    return err;
}

int ny_points_source(struct ny_store *store, uint64_t first, size_t count, uint64_t *source)
{
    struct source of_set = {store, source};
    const uint64_t *given_source = store->in_memory ? store->in_memory->given.source : NULL;
    struct cache cache;
    uint64_t kept_from = UINT64_MAX;
    int err;

    if (store->set) return ny_set_each(store, first, count, source_of_set, &of_set);
    for (size_t i = 0; store->in_memory && i < count; i++)
        source[i] = given_source ? given_source[first + i] : first + i;
    if (store->in_memory) return NY_OK;
    err = cache_init(&cache, store, NY_KIND_SOURCE, 0);
    if (!err) err = check_range(&cache, first, count);
    if (!err && cache.m.flags & NY_FLAG_SOURCE)
        kept_from = cache.m.source_from * cache.m.block_rows;
    while (!err && count > 0 && first < kept_from) {
        *source++ = first++;
        count--;
    }
    if (!err && count > 0) err = read_range(&cache, first, count, (char *)source);
    cache_release(&cache);
    return err;
}

/* ---- hints --------------------------------------------------------------------------------- */

struct hint {
    struct ny_snapshot *view;
    uint64_t first, count;
    int advice;
};
static int advise(void *arg)
{
    const struct hint *hint = arg;
    const struct ny_env *env = hint->view->env;

    for (uint64_t b = hint->first; b < hint->first + hint->count; b++) {
        struct ny_key key = ny_points_key(NY_KIND_POINTS, b);
        MDB_val name = {key.bytes, key.data}, value;

        if (mdb_get(hint->view->txn, env->table, &name, &value)) break;
        if (value.mv_size < env->page_bytes) continue;
        ny_memory_advise(value.mv_data, value.mv_size, hint->advice);
    }
    return NY_OK;
}

static void give_hint(struct ny_store *store, uint64_t first, uint64_t count, int advice)
{
    struct hint hint = {.first = first, .count = count, .advice = advice};

    if (ny_snapshot_begin(&hint.view, store, store->points)) return;
    ny_guarded(advise, &hint);
    ny_snapshot_end(hint.view, NY_OK);
}

void ny_points_will_need(struct ny_store *store, uint64_t first, uint64_t count)
{
    give_hint(store, first, count, MADV_WILLNEED);
}

void ny_points_done_with(struct ny_store *store, uint64_t first, uint64_t count)
{
    give_hint(store, first, count, MADV_DONTNEED);
}
