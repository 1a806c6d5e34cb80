/*
 * The records of points/: manifest, statistics, norms, class names. Whoever reads points begins
 * here, as the manifest says how many rows there are and how they lie in blocks.
 *
 * Nothing that others wrote is believed. Files, models and stores may be hostile, and their
 * checksums can still be right: a checksum shows only that bytes are as somebody wrote them. So
 * before anything is allocated for a size, the size is checked against the bytes that are there:
 *
 *    of a file or model   against the length of the file (io/binary.c, model/model.c)
 *    of a manifest        against the entries of the table, one for each block (blocks_fit())
 *    of a record          against the rows of the points (results/parts.c)
 *
 * A NAME is a key, and never a path; the one file that is called by it, its lock, is in locks/,
 * and a NAME has only letters, digits, dots, dashes and underscores. No symbolic link is followed
 * out of a store (ny_env_entry(), O_NOFOLLOW). Outputs are new files that are renamed into place
 * (io/draft.h). tests/fuzz/ has a fuzzer for each parser (`make fuzz`), and `make check` replays
 * their corpora and everything that they have found.
 */
#include <math.h>
#include <string.h>

#include "base/checksum.h"
#include "base/memory.h"
#include "store/store_private.h"

uint64_t ny_rows_in_block(const struct ny_manifest *m, uint64_t block)
{
    uint64_t left;

    if (block > m->n / m->block_rows) return 0;
    left = m->n - block * m->block_rows;
    return left < m->block_rows ? left : m->block_rows;
}

uint64_t ny_digest_add(uint64_t digest, uint64_t checksum)
{
    uint64_t both[2] = {digest, checksum};

    return ny_checksum(both, sizeof(both));
}

size_t ny_manifest_bytes(const struct ny_manifest *m)
{
    if (m->flags & NY_FLAG_PREPARED) return sizeof(*m);
    return m->layout == NY_CSR ? NY_SPARSE_MANIFEST_BYTES : NY_DENSE_MANIFEST_BYTES;
}

struct ny_prepared ny_manifest_preparation(const struct ny_store *store,
                                           const struct ny_manifest *m)
{
    return store->unprepared ? (struct ny_prepared){0} : m->preparation;
}

/* Checks the fields of sparse rows. Rows of a block were chosen from the first import. */
static bool plausible_sparse(const struct ny_manifest *m)
{
    return m->block_rows > 0 && m->block_rows <= NY_SPARSE_BLOCK_ROWS_MAX &&
           (m->block_rows & (m->block_rows - 1)) == 0 && m->row_nnz <= m->d &&
           m->row_nnz <= m->block_nnz && m->block_nnz <= m->nnz &&
           m->block_nnz <= m->block_rows * m->row_nnz && m->block_nnz <= NY_BLOCK_NNZ_MAX;
}

/* A checksum shows that the bytes are as written; these bounds, that this program wrote them. */
static bool plausible(const struct ny_manifest *m)
{
    if (m->dtype > NY_GENOTYPE || m->layout > NY_CSR || m->d > NY_STORE_COLUMNS_MAX) return false;
    if (ny_prepares(&m->preparation) != ((m->flags & NY_FLAG_PREPARED) != 0) ||
        !ny_prepared_plausible(&m->preparation))
        return false;
    if (m->n == 0) return m->block_rows > 0;
    return m->dtype >= NY_U8 && m->d > 0 && m->n <= NY_ROWS_MAX &&
           (m->layout == NY_CSR
                ? plausible_sparse(m)
                : m->layout == NY_DENSE &&
                      m->block_rows == ny_block_rows_for(m->d, (enum ny_dtype)m->dtype));
}

/* Each block is an entry of the table: no more can be claimed than there are. */
static bool blocks_fit(const struct ny_snapshot *view, const struct ny_manifest *m)
{
    MDB_stat stat;

    return m->n == 0 || (mdb_stat(view->txn, view->env->table, &stat) == 0 &&
                         (m->n - 1) / m->block_rows < stat.ms_entries);
}

const char *ny_manifest_fetch(struct ny_snapshot *view, struct ny_manifest *manifest)
{
    struct ny_want want = {.key = ny_points_key(NY_KIND_MANIFEST, 0),
                           .frame = {.store = view->store->id, .kind = NY_KIND_MANIFEST},
                           .capacity = sizeof(*manifest)};
    const char *wrong;
    int err;

    memset(manifest, 0, sizeof(*manifest));
    err = ny_snapshot_read(view, &want, manifest, &wrong);
    if (!err && want.frame.raw_bytes == ny_manifest_bytes(manifest) && plausible(manifest) &&
        blocks_fit(view, manifest))
        return NULL;
    memset(manifest, 0, sizeof(*manifest));
    manifest->block_rows = 1;
    if (err == NY_END) return NULL; /* nothing was imported yet */
    return err ? wrong : "its values are impossible";
}

int ny_manifest_read(struct ny_snapshot *view, struct ny_manifest *manifest)
{
    const char *wrong = ny_manifest_fetch(view, manifest);

    return wrong ? ny_damaged(view->store->ctx, view->store->points->path, "manifest is", wrong)
                 : NY_OK;
}

/* ---- statistics ---------------------------------------------------------------------------- */

int ny_stats_read(struct ny_snapshot *view, uint64_t d, struct ny_stats_record *record)
{
    size_t bytes = sizeof(*record) + 4 * d * sizeof(double);
    struct ny_want want = ny_points_want(view->store, NY_KIND_STATS, 0, 0, bytes);
    const char *wrong;

    if (ny_snapshot_read(view, &want, record, &wrong))
        return ny_damaged(view->store->ctx, view->store->points->path, "statistics is", wrong);
    return NY_OK;
}

bool ny_norms_read(struct ny_snapshot *view, uint64_t n, double *sum, const char **wrong)
{
    struct ny_norms_record record;
    struct ny_want want = ny_points_want(view->store, NY_KIND_NORMS, 0, 0, sizeof(record));
    int err = ny_snapshot_read(view, &want, &record, wrong);

    if (!err || err == NY_END) *wrong = NULL;
    if (err || record.n != n) return false;
    *sum = record.sum;
    return true;
}

bool ny_lengths_read(struct ny_snapshot *view, const struct ny_manifest *m,
                     struct ny_lengths *lengths, const char **wrong)
{
    struct ny_lengths_record record;
    struct ny_want want = ny_points_want(view->store, NY_KIND_LENGTHS, 0, 0, sizeof(record));
    int err = NY_END;

    *wrong = NULL;
    if (m->n > 0 && m->layout == NY_CSR) err = ny_snapshot_read(view, &want, &record, wrong);
    if (err == NY_END) *wrong = NULL;
    ny_lengths_unknown(lengths, m->nnz);
    if (err || record.n != m->n || record.nnz != m->nnz) return false;
    *lengths = record.lengths;
    return true;
}

int ny_points_stats_here(struct ny_store *store, struct ny_rows_stats *stats)
{
    struct ny_stats_record *record = NULL;
    struct ny_manifest m;
    struct ny_snapshot *view;
    double norms = NAN;
    const char *wrong;
    int err;

    memset(stats, 0, sizeof(*stats));
    err = ny_snapshot_begin(&view, store, store->points);
    if (err) return err;
    err = ny_manifest_read(view, &m);
    if (!err && m.n > 0) {
        record = ny_alloc(store->ctx, NY_MEM_STORE, sizeof(*record) + 4 * m.d * sizeof(double));
        err = record ? ny_stats_read(view, m.d, record) : NY_EBUDGET;
        if (!err && !ny_norms_read(view, m.n, &norms, &wrong) && wrong)
            err = ny_damaged(store->ctx, store->points->path, "sum of norms is", wrong);
    }
    err = ny_snapshot_end(view, err);
    if (!err && record && (record->n != m.n || record->d != m.d))
        err = ny_damaged(store->ctx, store->points->path, "statistics is",
                         "they are of other points");
    if (!err && record)
        err =
            ny_rows_stats_of(stats, store->ctx,
                             &(struct ny_moments){m.n, (size_t)m.d, (double *)(record + 1)}, norms);
    ny_free(store->ctx, record);
    return err;
}

/* ---- class names --------------------------------------------------------------------------- */

static int damaged_classes(const struct ny_snapshot *view, const char *wrong)
{
    return ny_damaged(view->store->ctx, view->store->points->path, "list of class names is", wrong);
}

/* The record, `count` zero-terminated names, to *text after room for as many pointers. */
static int read_classes(struct ny_snapshot *view, uint32_t count, char ***names)
{
    struct ny_context *ctx = view->store->ctx;
    struct ny_want want = {.key = ny_points_key(NY_KIND_CLASSES, 0),
                           .frame = {.store = view->store->id, .kind = NY_KIND_CLASSES}};
    const char *wrong = "it is missing";
    char *at, *end;
    int err = ny_snapshot_size(view, &want.key, &want.capacity);

    if (err) return damaged_classes(view, wrong);
    *names = ny_alloc(ctx, NY_MEM_OTHER, count * sizeof(char *) + want.capacity);
    if (!*names) return NY_EBUDGET;
    at = (char *)(*names + count);
    err = ny_snapshot_read(view, &want, at, &wrong);
    if (err) return damaged_classes(view, wrong);
    end = at + want.frame.raw_bytes;
    for (uint32_t i = 0; i < count; i++) {
        char *zero = at < end ? memchr(at, 0, (size_t)(end - at)) : NULL;

        if (!zero) return damaged_classes(view, "a name has no end");
        (*names)[i] = at;
        at = zero + 1;
    }
    return NY_OK;
}

/* The longest list of a set: each of its stores has the first names of that. */
static int classes_of_set(struct ny_store *set, char ***names, size_t *count)
{
    int err = NY_OK;

    for (size_t k = 0; !err && k < set->set->count; k++) {
        struct ny_store *store;
        char **more = NULL;
        size_t many = 0;

        err = ny_set_store(set, k, &store);
        if (!err) err = ny_points_class_names(store, &more, &many);
        if (!err && many > *count) {
            ny_free(set->ctx, *names);
            *names = more;
            *count = many;
            more = NULL;
        }
        ny_free(set->ctx, more);
    }
    return err;
}

int ny_points_class_names(struct ny_store *store, char ***names, size_t *count)
{
    struct ny_manifest m;
    struct ny_snapshot *view;
    int err;

    *names = NULL;
    *count = 0;
    if (store->in_memory) return NY_OK;
    if (store->set) return classes_of_set(store, names, count);
    err = ny_snapshot_begin(&view, store, store->points);
    if (err) return err;
    err = ny_manifest_read(view, &m);
    if (!err && m.classes > 0) err = read_classes(view, m.classes, names);
    err = ny_snapshot_end(view, err);
    if (err) {
        ny_free(store->ctx, *names);
        *names = NULL;
        return err;
    }
    *count = m.classes;
    return NY_OK;
}
