/*
 * Tells what has become of a store since a reader looked first. A view of LMDB lasts for one call,
 * so that what is read in many calls may be of several commits. Rows that were appended meanwhile
 * are behind those that were there; whoever reads asks here whether anything else has changed.
 */
#include "base/checksum.h"
#include "store/store_private.h"

bool ny_results_moved(const struct ny_store *store, uint64_t *commits)
{
    uint64_t before = *commits;

    if (ny_store_set(store)) return true;
    *commits =
        store->in_memory ? ny_in_memory_commits(store) : ny_env_info(store->results).me_last_txnid;
    return *commits != before;
}

uint64_t ny_snapshot_digest(struct ny_snapshot *view, uint64_t blocks)
{
    uint64_t digest = 0;

    for (uint64_t b = 0; b < blocks; b++) {
        struct ny_key key = ny_points_key(NY_KIND_POINTS, b);

        digest = ny_digest_add(digest, ny_snapshot_checksum(view, &key));
    }
    return digest;
}

/* Computes a digest of the notes of the imports that rows before `end` came by. */
static int digest_notes(struct ny_snapshot *view, uint64_t end, uint64_t *digest)
{
    struct ny_context *ctx = view->store->ctx;
    struct ny_imports imports;
    const char *wrong;
    int err = ny_imports_read(view, &imports, &wrong);

    *digest = 0;
    for (size_t i = 0; !err && i < imports.count && imports.note[i].first < end; i++) {
        const struct ny_import_note *note = &imports.note[i];
        uint64_t link[4] = {*digest, note->first, note->end < end ? note->end : end,
                            (uint64_t)note->time};

        *digest = ny_checksum(link, sizeof(link));
    }
    ny_imports_release(&imports, ctx);
    return err;
}

/* Reads the state of the points, or NY_END where the manifest is the one that was seen. */
static int read_state(struct ny_snapshot *view, const struct ny_points_state *seen,
                      struct ny_points_state *now, bool *same)
{
    struct ny_manifest m;
    uint64_t digest;
    int err = ny_manifest_read(view, &m);

    *same = true;
    if (err || (seen && m.txn == seen->txn)) return err ? err : NY_END;
    *now = (struct ny_points_state){m.n,  m.n ? m.n / m.block_rows : 0, m.digest, m.tail_digest, 0,
                                    m.txn};
    err = digest_notes(view, m.n, &now->imports);
    if (err || !seen) return err;
    *same = m.n >= seen->n && now->blocks >= seen->blocks &&
            ny_snapshot_digest(view, seen->blocks) == seen->digest &&
            (m.n != seen->n || m.tail_digest == seen->tail_digest);
    if (*same) err = digest_notes(view, seen->n, &digest);
    if (*same && !err) *same = digest == seen->imports;
    return err;
}

static int look(struct ny_store *store, const struct ny_points_state *seen,
                struct ny_points_state *now, bool *same)
{
    struct ny_snapshot *view;
    int err = ny_snapshot_begin(&view, store, store->points);

    return err ? err : ny_snapshot_end(view, read_state(view, seen, now, same));
}

int ny_points_state(struct ny_store *store, struct ny_points_state *state)
{
    bool same;

    *state = (struct ny_points_state){0};
    return store->set || store->in_memory ? NY_OK : look(store, NULL, state, &same);
}

int ny_points_same(struct ny_store *store, struct ny_points_state *state, bool *same)
{
    struct ny_points_state now = {0};
    int err;

    *same = true;
    if (store->set || store->in_memory) return NY_OK;
    err = look(store, state, &now, same);
    if (err == NY_OK && *same) state->txn = now.txn;
    return err == NY_END ? NY_OK : err;
}
