/* Reads of LMDB's meta pages, which it looks at in its map when a transaction begins: under the
 * guard, as the file may be cut short, or its disk fail. LMDB holds no lock where it does this for
 * readers.
 */
#include "base/guard.h"
#include "store/store_private.h"

/* A transaction that begins, or is renewed where it is there; and what LMDB tells of it. */
struct look {
    MDB_env *lmdb;
    MDB_txn *txn;
    MDB_envinfo info;
    int code;
};

static int begin_reading(void *arg)
{
    struct look *look = arg;

    look->code = look->txn ? mdb_txn_renew(look->txn)
                           : mdb_txn_begin(look->lmdb, NULL, MDB_RDONLY, &look->txn);
    return NY_OK;
}

int ny_env_start(const struct ny_env *env, unsigned flags, MDB_txn **txn)
{
    struct look look = {.lmdb = env->lmdb};

    if (ny_guarded(begin_reading, &look)) return MDB_CORRUPTED;
    if (flags & MDB_RDONLY) {
        *txn = look.txn;
        return look.code;
    }
    if (!look.code) mdb_txn_abort(look.txn);
    return mdb_txn_begin(env->lmdb, NULL, flags, txn);
}

bool ny_env_renew(const struct ny_env *env, MDB_txn *txn)
{
    struct look look = {.lmdb = env->lmdb, .txn = txn};

    return ny_guarded(begin_reading, &look) == NY_OK && look.code == 0;
}

static int tell(void *arg)
{
    struct look *look = arg;

    return mdb_env_info(look->lmdb, &look->info);
}

MDB_envinfo ny_env_info(const struct ny_env *env)
{
    struct look look = {.lmdb = env->lmdb};

    (void)ny_guarded(tell, &look);
    return look.info;
}
