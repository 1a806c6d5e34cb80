/*
 * Data files of LMDB: what the check at open lets through, LMDB must read without a crash.
 *
 * The input is changes to a file that LMDB wrote: which of two files, then page (2 bytes), offset
 * in it (2), count (1) and as many bytes to put there; or, first byte 255, a file as it is. The
 * pulses get their checksums back, so that the check goes past them.
 */
#include <fcntl.h>
#include <sys/stat.h>

#include "fuzz/fuzz_store.h"
#include "store/page.h"

enum { MEMORY = 64 << 20, FILES = 2, PAGE_BYTES = 4096, CHUNKS = 40, COUNT_MAX = 16 };

struct file {
    char *bytes;
    size_t size;
};

static struct file read_file(const char *part)
{
    char path[200];
    struct stat info;
    struct file file;
    int fd;

    snprintf(path, sizeof(path), "%s/%s/data.mdb", fuzz_store_path, part);
    fd = open(path, O_RDONLY);
    FUZZ_CHECK(fd >= 0 && fstat(fd, &info) == 0);
    file.size = (size_t)info.st_size;
    file.bytes = malloc(file.size);
    FUZZ_CHECK(read(fd, file.bytes, file.size) == (ssize_t)file.size);
    close(fd);
    return file;
}

/* Values of one byte to some pages under names of many lengths: a tree of branches, values on pages
 * of their own, and a list of free pages. */
static void write_results(struct ny_store *store)
{
    static char value[3 * PAGE_BYTES];
    char name[NY_NAME_MAX + 1];
    struct ny_batch *batch;

    for (int i = 0; i < CHUNKS; i++) {
        snprintf(name, sizeof(name), "name-%0*d", 1 + 7 * i % 56, i);
        FUZZ_CHECK(ny_batch_begin(&batch, store) == NY_OK);
        if (i % 9 == 8) FUZZ_CHECK(ny_batch_delete(batch, "name-0", NULL) == NY_OK);
        for (size_t k = 0; k < 4; k++)
            FUZZ_CHECK(ny_batch_put(batch, name, "part", k, value,
                                    1 + (size_t)(i * 397 + 5) * k % sizeof(value)) == NY_OK);
        FUZZ_CHECK(ny_batch_commit(batch) == NY_OK);
    }
}

static const struct file *files(struct ny_context *ctx)
{
    static struct file made[FILES];
    struct ny_store *store;

    if (made[0].bytes) return made;
    fuzz_make_folder();
    FUZZ_CHECK(ny_store_create(&store, ctx, fuzz_store_path) == NY_OK);
    write_results(store);
    ny_store_close(store);
    made[0] = read_file("results");
    made[1] = read_file("points");
    return made;
}

/* The value of a leaf's first node where it is as long as a pulse; NULL elsewhere. */
static char *pulse_of(char *page)
{
    struct ny_page head;
    struct ny_node node;
    uint16_t offset;

    memcpy(&head, page, sizeof(head));
    memcpy(&offset, page + sizeof(head), sizeof(offset));
    if (head.flags != NY_PAGE_LEAF || offset > PAGE_BYTES - sizeof(node)) return NULL;
    memcpy(&node, page + offset, sizeof(node));
    if (node.key_bytes != 1 || node.high ||
        node.low != sizeof(struct ny_header) + sizeof(struct ny_pulse) ||
        offset + sizeof(node) + 1 + node.low > PAGE_BYTES)
        return NULL;
    return page + offset + sizeof(node) + 1;
}

static void seal_pulses(const struct file *file)
{
    for (size_t at = 0; at + PAGE_BYTES <= file->size; at += PAGE_BYTES) {
        char *value = pulse_of(file->bytes + at);
        struct ny_frame frame = {.kind = NY_KIND_PULSE, .raw_bytes = sizeof(struct ny_pulse)};
        struct ny_header header;

        if (!value) continue;
        memcpy(&frame.store, value + sizeof(header) + offsetof(struct ny_pulse, id),
               sizeof(frame.store));
        header = ny_frame_seal(&frame, value + sizeof(header), sizeof(struct ny_pulse));
        memcpy(value, &header, sizeof(header));
    }
}

static struct file change(const struct file *base, struct fuzz_bytes bytes)
{
    struct file file = {malloc(base->size), base->size};

    memcpy(file.bytes, base->bytes, base->size);
    while (bytes.left) {
        size_t page = fuzz_number(&bytes, 2), offset = fuzz_number(&bytes, 2) % PAGE_BYTES;
        size_t at = (page * PAGE_BYTES + offset) % file.size;
        size_t count = 1 + fuzz_number(&bytes, 1) % COUNT_MAX;

        if (count > bytes.left) count = bytes.left;
        if (count > file.size - at) count = file.size - at;
        fuzz_take(&bytes, file.bytes + at, count);
    }
    return file;
}

/* Every entry, through LMDB. */
static void read_with_lmdb(const char *path)
{
    MDB_val key, value;
    MDB_cursor *cursor;
    MDB_env *env;
    MDB_txn *txn;
    MDB_dbi table;
    volatile char sum = 0;

    FUZZ_CHECK(mdb_env_create(&env) == 0);
    if (mdb_env_open(env, path, MDB_RDONLY | MDB_NOLOCK | MDB_NOSUBDIR, 0600) == 0 &&
        mdb_txn_begin(env, NULL, MDB_RDONLY, &txn) == 0) {
        FUZZ_CHECK(mdb_dbi_open(txn, NULL, 0, &table) == 0);
        FUZZ_CHECK(mdb_cursor_open(txn, table, &cursor) == 0);
        while (mdb_cursor_get(cursor, &key, &value, MDB_NEXT) == 0)
            for (size_t i = 0; i < value.mv_size; i += PAGE_BYTES / 2)
                sum = (char)(sum + ((const char *)value.mv_data)[i]);
        mdb_cursor_close(cursor);
        mdb_txn_abort(txn);
    }
    mdb_env_close(env);
}

static void check(struct ny_context *ctx, const struct file *file)
{
    char path[200], why[NY_WHY_BYTES] = "";
    struct ny_pulse pulse;
    int fd, status;

    snprintf(path, sizeof(path), "%s/hostile.mdb", fuzz_folder);
    fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    FUZZ_CHECK(fd >= 0 && write(fd, file->bytes, file->size) == (ssize_t)file->size);
    close(fd);
    status = ny_structure_check(ctx, path, &pulse, why);
    FUZZ_CHECK(status == NY_OK || status == NY_ESTORE || status == NY_EBUDGET);
    FUZZ_CHECK(status != NY_ESTORE || why[0]);
    if (status == NY_OK) read_with_lmdb(path);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct ny_context *ctx = fuzz_context(MEMORY);
    const struct file *base = files(ctx);
    struct fuzz_bytes bytes = {data, size};
    unsigned which = fuzz_number(&bytes, 1);
    struct file raw = {(char *)(uintptr_t)bytes.at, bytes.left}, file;

    if (which == 255) {
        check(ctx, &raw);
    } else {
        file = change(&base[which % FILES], bytes);
        seal_pulses(&file);
        check(ctx, &file);
        free(file.bytes);
    }
    FUZZ_CHECK(ny_memory_used(ctx) == 0);
    return 0;
}
