/*
 * The check of a data file before LMDB maps it (store/structure.h), by pread and a walk over the
 * tree.
 *
 * It is called whenever an environment is opened, by verify, and by compaction for the old file
 * and the copy. The walk reads both meta pages, then every tree page of the newest table and of
 * the list of free pages. It checks that a page is where its number says, that its entries lie
 * inside, that keys are in order, and that no page is used twice (one bit a page). At the end the
 * number and the sum of the entries must be those of the pulse. Of the table of the older meta
 * page only the pulse is read.
 *
 * Another process may write meanwhile: damage counts only if no transaction has ended since, and
 * the file is looked at again otherwise, up to 50 times.
 */
#include "store/structure.h"

#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/checksum.h"
#include "base/memory.h"
#include "base/scratch.h"
#include "store/codec.h"
#include "store/page.h"

enum { TRIES = 50, KEY_BYTES_MAX = 511 };
/* Pages at the end may have been allocated and freed without ever being written. */
enum { UNWRITTEN_PAGES_MAX = 1 << 24 };

struct span {
    const char *data; /* NULL: no bound */
    size_t size;
};

struct walk {
    struct ny_context *ctx;
    const char *file;
    char *why;
    int fd;
    size_t page_bytes;
    uint64_t file_bytes, last_page;
    uint64_t txn;
    bool free_table; /* the tree being walked */
    char *pages;     /* NY_DEPTH_MAX + 1: the path being walked, and one for lists */
    uint8_t *seen;   /* a bit a page: in use or free, each at most once */
    uint64_t entries, key_sum;
    bool has_pulse;
    struct ny_pulse pulse;
};

uint64_t ny_entry_hash(const struct ny_pulse *pulse, const struct ny_entry *entry)
{
    uint64_t all[3] = {ny_checksum(entry->key, entry->key_bytes), entry->bytes, entry->checksum};

    return ny_checksum(all, pulse->version == 1 ? 2 * sizeof(*all) : sizeof(all));
}

static int damaged(struct walk *w, const char *format, ...) NY_PRINTF(2, 3);
static int damaged(struct walk *w, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    vsnprintf(w->why, NY_WHY_BYTES, format, args);
    va_end(args);
    return NY_ESTORE;
}

/* Reads exactly `bytes` bytes of the file; what is not there is damage, a failed read is not. */
static int read_at(struct walk *w, uint64_t offset, void *out, size_t bytes)
{
    ssize_t got;

    if (offset > w->file_bytes || bytes > w->file_bytes - offset)
        return damaged(w, "the file is cut short: %llu bytes at %llu are not there",
                       (unsigned long long)bytes, (unsigned long long)offset);
    got = ny_read_at(w->fd, out, bytes, offset);
    if (got < 0) return ny_fail_errno(w->ctx, "read", w->file);
    return got == (ssize_t)bytes ? NY_OK : damaged(w, "the file is cut short while it is read");
}

/* ---- pages --------------------------------------------------------------------------------- */

/* Notes that pages are in use; one that is out of range or was noted before is damage. */
static int mark(struct walk *w, uint64_t first, uint64_t count)
{
    if (first < 2 || first > w->last_page || count > w->last_page - first + 1)
        return damaged(w, "page %llu is out of range", (unsigned long long)first);
    for (uint64_t p = first; p < first + count; p++) {
        uint8_t bit = (uint8_t)(1u << (p & 7));

        if (w->seen[p >> 3] & bit)
            return damaged(w, "page %llu is used twice", (unsigned long long)p);
        w->seen[p >> 3] |= bit;
    }
    return NY_OK;
}

static size_t node_count(const char *page)
{
    return (((const struct ny_page *)(const void *)page)->lower - sizeof(struct ny_page)) / 2;
}

/* Offsets, headers and nodes are on 2-byte boundaries: copied, never cast. */
static struct ny_node node_at(const char *page, size_t i, const char **body)
{
    struct ny_node node;
    uint16_t offset;

    memcpy(&offset, page + sizeof(struct ny_page) + 2 * i, sizeof(offset));
    memcpy(&node, page + offset, sizeof(node));
    *body = page + offset + sizeof(node);
    return node;
}

static size_t node_low(struct ny_node node)
{
    return (size_t)node.low | (size_t)node.high << 16;
}

/* All nodes lie between upper and the end of the page, which they fill. */
static int check_nodes(struct walk *w, uint64_t number, const char *page, bool leaf)
{
    const struct ny_page *head = (const struct ny_page *)(const void *)page;
    size_t used = 0, count = node_count(page);

    for (size_t i = 0; i < count; i++) {
        struct ny_node node;
        const char *body;
        uint16_t offset;
        size_t bytes;

        memcpy(&offset, page + sizeof(*head) + 2 * i, sizeof(offset));
        if (offset < head->upper || offset & 1 || offset > w->page_bytes - sizeof(node))
            return damaged(w, "page %llu: entry %zu lies outside", (unsigned long long)number, i);
        node = node_at(page, i, &body);
        bytes = sizeof(node) + node.key_bytes;
        if (leaf) bytes += node.flags & NY_NODE_BIG ? sizeof(uint64_t) : node_low(node);
        bytes += bytes & 1;
        if (bytes > w->page_bytes - offset || node.key_bytes > KEY_BYTES_MAX ||
            (leaf && (node.flags & ~NY_NODE_BIG || node.key_bytes == 0)))
            return damaged(w, "page %llu: entry %zu is malformed", (unsigned long long)number, i);
        used += bytes;
    }
    if (used != w->page_bytes - head->upper)
        return damaged(w, "page %llu: its entries do not fill it", (unsigned long long)number);
    return NY_OK;
}

/* Reads a tree page and checks all that its walk relies on. */
static int load_page(struct walk *w, uint64_t number, bool leaf, char *page)
{
    const struct ny_page *head = (const struct ny_page *)(const void *)page;
    size_t least = leaf || w->free_table ? 1 : 2; /* a branch of one child makes LMDB abort */
    int err;

    if (number < 2 || number > w->last_page)
        return damaged(w, "page %llu is out of range", (unsigned long long)number);
    err = read_at(w, number * w->page_bytes, page, w->page_bytes);
    if (err) return err;
    if (head->number != number || head->flags != (leaf ? NY_PAGE_LEAF : NY_PAGE_BRANCH))
        return damaged(w, "page %llu is not the page it should be", (unsigned long long)number);
    if (head->lower < sizeof(*head) || head->lower & 1 || head->lower > head->upper ||
        head->upper > w->page_bytes || node_count(page) < least)
        return damaged(w, "page %llu: its bounds are wrong", (unsigned long long)number);
    return check_nodes(w, number, page, leaf);
}

/* ---- keys ---------------------------------------------------------------------------------- */

/* Compares two keys as LMDB does: those of the table of free pages are numbers. */
static int compare(const struct walk *w, struct span a, struct span b)
{
    size_t least = a.size < b.size ? a.size : b.size;
    int order;

    if (w->free_table) {
        uint64_t x, y;

        memcpy(&x, a.data, sizeof(x));
        memcpy(&y, b.data, sizeof(y));
        return x < y ? -1 : x > y;
    }
    order = memcmp(a.data, b.data, least);
    if (order) return order;
    return a.size < b.size ? -1 : a.size > b.size;
}

/* Checks that low ≤ key < high, and low < key if `strict`. */
static int check_order(struct walk *w, uint64_t number, struct span key, struct span low,
                       bool strict, struct span high)
{
    int order;

    if (w->free_table && key.size != sizeof(uint64_t))
        return damaged(w, "page %llu: a key has the wrong size", (unsigned long long)number);
    order = low.data ? compare(w, key, low) : 1;
    if (order < 0 || (strict && order == 0) || (high.data && compare(w, key, high) >= 0))
        return damaged(w, "page %llu: its keys are out of order", (unsigned long long)number);
    return NY_OK;
}

/* ---- entries ------------------------------------------------------------------------------- */

static int take_pulse(struct walk *w, struct ny_node node, const char *value)
{
    char frame_bytes[sizeof(struct ny_header) + sizeof(struct ny_pulse)];
    struct ny_frame frame = {.kind = NY_KIND_PULSE};
    const char *wrong;

    if (node.flags || node_low(node) != sizeof(frame_bytes))
        return damaged(w, "it is a table of LMDB, but not of a nystream store");
    memcpy(frame_bytes, value, sizeof(frame_bytes));
    memcpy(&w->pulse, frame_bytes + sizeof(struct ny_header), sizeof(w->pulse));
    memcpy(&frame.store, w->pulse.id, sizeof(frame.store));
    wrong = ny_frame_check(&frame, frame_bytes, sizeof(frame_bytes));
    if (wrong) return damaged(w, "the record of its last transaction: %s", wrong);
    if (memcmp(w->pulse.magic, NY_FORMAT_MAGIC, sizeof(w->pulse.magic)) != 0)
        return damaged(w, "it is not a nystream store");
    if (w->pulse.version < 1 || w->pulse.version > NY_FORMAT_VERSION)
        return damaged(w, "it has format %u, and this nystream reads up to %u; use a newer one",
                       w->pulse.version, NY_FORMAT_VERSION);
    w->has_pulse = true;
    return NY_OK;
}

static int take_value(struct walk *w, struct ny_node node, const char *key, const char *value)
{
    size_t bytes = node_low(node);
    struct ny_entry entry = {.key = key, .key_bytes = node.key_bytes, .bytes = bytes};
    struct ny_header header;

    if (node.flags & NY_NODE_BIG) {
        uint64_t first, count = ny_overflow_pages(bytes, w->page_bytes);
        int err;

        memcpy(&first, value, sizeof(first));
        err = mark(w, first, count);
        if (err) return err;
        if ((first + count) * w->page_bytes > w->file_bytes)
            return damaged(w, "the file is cut short: page %llu is not there",
                           (unsigned long long)(first + count - 1));
    }
    if (node.key_bytes == 1 && key[0] == 0) return take_pulse(w, node, value);
    if (!(node.flags & NY_NODE_BIG) && bytes >= sizeof(header)) {
        memcpy(&header, value, sizeof(header));
        entry.checksum = header.checksum;
    }
    w->entries++;
    w->key_sum += ny_entry_hash(&w->pulse, &entry);
    return NY_OK;
}

/* A list of free pages: their count, then the pages, descending. */
static int take_free(struct walk *w, struct ny_node node, const char *key, const char *value)
{
    uint64_t *part = (uint64_t *)(void *)(w->pages + NY_DEPTH_MAX * w->page_bytes);
    size_t words = node_low(node) / sizeof(*part), room = w->page_bytes / sizeof(*part);
    uint64_t txn, first = 0, count = 0, before = UINT64_MAX;
    int err = NY_OK;

    memcpy(&txn, key, sizeof(txn));
    if (txn == 0 || txn > w->txn || node_low(node) % sizeof(*part) || words == 0)
        return damaged(w, "the list of free pages is malformed");
    if (node.flags & NY_NODE_BIG) {
        memcpy(&first, value, sizeof(first));
        err = mark(w, first, ny_overflow_pages(node_low(node), w->page_bytes));
    }
    for (size_t at = 0; !err && at <= count; at += room) {
        size_t some = words - at < room ? words - at : room;

        if (first)
            err = read_at(w, first * w->page_bytes + sizeof(struct ny_page) + at * sizeof(*part),
                          part, some * sizeof(*part));
        else
            memcpy(part, value + at * sizeof(*part), some * sizeof(*part));
        if (!err && at == 0) count = part[0];
        if (!err && count >= words) return damaged(w, "the list of free pages is malformed");
        for (size_t i = at == 0; !err && i < some && at + i <= count; i++) {
            if (part[i] >= before) return damaged(w, "the list of free pages is out of order");
            before = part[i];
            err = mark(w, part[i], 1);
        }
    }
    return err;
}

/* ---- trees --------------------------------------------------------------------------------- */

static int walk_leaf(struct walk *w, uint64_t number, const char *page, struct span low,
                     struct span high)
{
    size_t count = node_count(page);
    int err = NY_OK;

    for (size_t i = 0; !err && i < count; i++) {
        const char *key;
        struct ny_node node = node_at(page, i, &key);
        struct span span = {key, node.key_bytes};

        err = check_order(w, number, span, low, i > 0, high);
        if (err) break;
        low = span;
        err = (w->free_table ? take_free : take_value)(w, node, key, key + node.key_bytes);
    }
    return err;
}

/* Checks a page and everything below it, whose keys must lie from `low` to below `high`. */
static int walk_page(struct walk *w, uint64_t number, unsigned depth, struct span low,
                     struct span high)
{
    char *page = w->pages + (depth - 1) * w->page_bytes;
    size_t count;
    int err;

    err = mark(w, number, 1);
    if (err) return err;
    err = load_page(w, number, depth == 1, page);
    if (err) return err;
    if (depth == 1) return walk_leaf(w, number, page, low, high);
    count = node_count(page);
    for (size_t i = 0; !err && i < count; i++) {
        const char *key, *next_key;
        struct ny_node node = node_at(page, i, &key);
        struct span span = {key, node.key_bytes}, end = high;

        /* The first key of a branch stands for "everything below" and is not read. */
        if (i > 0) {
            err = check_order(w, number, span, low, i > 1, high);
            if (err) break;
            low = span;
        }
        if (i + 1 < count) {
            struct ny_node next = node_at(page, i + 1, &next_key);

            end = (struct span){next_key, next.key_bytes};
            err = check_order(w, number, end, low, i > 0, high);
            if (err) break;
        }
        err = walk_page(w, node_low(node) | (uint64_t)node.flags << 32, depth - 1, low, end);
    }
    return err;
}

static int walk_table(struct walk *w, const struct ny_tree *table)
{
    const struct span none = {NULL, 0};

    if (table->root == NY_NO_PAGE && table->depth == 0) return NY_OK;
    if (table->depth == 0 || table->depth > NY_DEPTH_MAX)
        return damaged(w, "the depth of a table is wrong");
    return walk_page(w, table->root, table->depth, none, none);
}

/* The pulse is the first entry of the table. */
static int first_entry(struct walk *w, const struct ny_tree *table)
{
    uint64_t number = table->root;

    if (table->depth == 0 || table->depth > NY_DEPTH_MAX)
        return damaged(w, "the depth of a table is wrong");
    for (unsigned depth = table->depth;; depth--) {
        struct ny_node node;
        const char *key;
        int err = load_page(w, number, depth == 1, w->pages);

        if (err) return err;
        node = node_at(w->pages, 0, &key);
        if (depth == 1) {
            if (node.key_bytes != 1 || key[0] != 0) return damaged(w, "it is not a nystream store");
            return take_pulse(w, node, key + node.key_bytes);
        }
        number = node_low(node) | (uint64_t)node.flags << 32;
    }
}

/* ---- meta pages ---------------------------------------------------------------------------- */

static int read_meta(struct walk *w, unsigned which, struct ny_meta *meta)
{
    struct {
        struct ny_page head;
        struct ny_meta meta;
    } page;
    int err = read_at(w, which * w->page_bytes, &page, sizeof(page));
    size_t bytes;

    if (err) return err;
    *meta = page.meta;
    bytes = meta->free.page_bytes;
    if (meta->magic == __builtin_bswap32(NY_LMDB_MAGIC))
        return damaged(w, "a machine of the other byte order wrote it");
    if (meta->magic != NY_LMDB_MAGIC || page.head.flags != NY_PAGE_META)
        return damaged(w, "it is not an LMDB file");
    if (meta->version != NY_LMDB_VERSION) return damaged(w, "it is of another version of LMDB");
    if (bytes < NY_PAGE_BYTES_MIN || bytes > NY_PAGE_BYTES_MAX || bytes & (bytes - 1) ||
        page.head.number != which || (which == 1 && bytes != w->page_bytes) || meta->address ||
        meta->free.flags != NY_FREE_TABLE_FLAGS || meta->main.flags != NY_MAIN_TABLE_FLAGS)
        return damaged(w, "meta page %u is damaged", which);
    w->page_bytes = bytes;
    return NY_OK;
}

/* Transaction T writes meta page T mod 2, so the two are one apart. */
static int read_metas(struct walk *w, struct ny_meta meta[2])
{
    struct stat info;
    int err;

    if (fstat(w->fd, &info)) return ny_fail_errno(w->ctx, "read", w->file);
    w->file_bytes = (uint64_t)info.st_size;
    w->page_bytes = 0;
    err = read_meta(w, 0, &meta[0]);
    if (!err) err = read_meta(w, 1, &meta[1]);
    if (err) return err;
    if (meta[0].txn & 1 || !(meta[1].txn & 1) ||
        (meta[0].txn + 1 != meta[1].txn && meta[1].txn + 1 != meta[0].txn))
        return damaged(w, "the meta pages contradict each other");
    return NY_OK;
}

/* Takes the bitmap and a page for each level, after checking how many pages are claimed. */
static int allocate(struct walk *w, const struct ny_meta *meta)
{
    uint64_t limit = w->file_bytes / w->page_bytes + UNWRITTEN_PAGES_MAX;

    ny_free(w->ctx, w->pages);
    ny_free(w->ctx, w->seen);
    w->pages = NULL;
    w->seen = NULL;
    if (meta->last_page < 1 || meta->last_page > limit)
        return damaged(w, "the number of pages is wrong");
    w->pages = ny_alloc(w->ctx, NY_MEM_STORE, (NY_DEPTH_MAX + 1) * w->page_bytes);
    if (!w->pages) return NY_EBUDGET;
    w->seen = ny_calloc(w->ctx, NY_MEM_STORE, meta->last_page / 8 + 1, 1);
    return w->seen ? NY_OK : NY_EBUDGET;
}

/* Each meta page must be the one its pulse was written for: otherwise a flipped transaction number
 * would silently bring an older state back. */
static int check_older(struct walk *w, const struct ny_meta *meta)
{
    int err;

    if (meta->txn == 0) return NY_OK; /* before the first transaction */
    w->last_page = meta->last_page;
    err = first_entry(w, &meta->main);
    if (!err && w->pulse.txn != meta->txn) err = damaged(w, "an older meta page is damaged");
    return err;
}

/* Walks the newest table and that of free pages, and compares what it found with the pulse. */
static int check_newest(struct walk *w, const struct ny_meta *meta)
{
    int err;

    w->last_page = meta->last_page;
    w->txn = meta->txn;
    w->entries = w->key_sum = 0;
    w->has_pulse = false;
    w->free_table = false;
    err = walk_table(w, &meta->main);
    if (err) return err;
    if (!w->has_pulse) return damaged(w, "it is not a nystream store");
    if (w->pulse.txn != meta->txn || w->pulse.entries != w->entries ||
        w->pulse.key_sum != w->key_sum)
        return damaged(w, "its entries are not those that were written");
    w->free_table = true;
    err = walk_table(w, &meta->free);
    w->free_table = false;
    if (err) return err;
    if (meta->last_page > 1 && !(w->seen[meta->last_page >> 3] & 1u << (meta->last_page & 7)))
        return damaged(w, "the number of pages is wrong");
    return NY_OK;
}

/* Makes the whole check for the transactions that the meta pages have now, told in `txn`. */
static int check_once(struct walk *w, uint64_t txn[2])
{
    struct ny_meta meta[2];
    unsigned newest;
    int err = read_metas(w, meta);

    if (err) return err;
    txn[0] = meta[0].txn;
    txn[1] = meta[1].txn;
    newest = meta[1].txn > meta[0].txn;
    err = allocate(w, &meta[newest]);
    if (!err && meta[!newest].last_page > meta[newest].last_page)
        err = damaged(w, "the meta pages contradict each other");
    if (!err) err = check_older(w, &meta[!newest]);
    if (!err) err = check_newest(w, &meta[newest]);
    return err;
}

/* While transaction T + 1 is being written, the pages of T are not touched; those of T − 1 are not
 * either. So damage that was found counts only if no transaction ended meanwhile. */
int ny_structure_check(struct ny_context *ctx, const char *file, struct ny_pulse *pulse, char *why)
{
    struct walk w = {.ctx = ctx, .file = file, .why = why};
    uint64_t txn[2] = {0, 0}, now[2];
    struct ny_meta meta[2];
    int err = NY_OK;

    w.fd = open(file, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    if (w.fd < 0) return ny_fail_errno(ctx, "open", file);
    for (int try = 0; try < TRIES; try++) {
        char first_why[NY_WHY_BYTES];

        err = check_once(&w, txn);
        if (err != NY_ESTORE) break;
        memcpy(first_why, why, NY_WHY_BYTES);
        if (read_metas(&w, meta) != NY_OK)
            now[0] = txn[0], now[1] = txn[1];
        else
            now[0] = meta[0].txn, now[1] = meta[1].txn;
        memcpy(why, first_why, NY_WHY_BYTES);
        if (now[0] == txn[0] && now[1] == txn[1]) break;
    }
    *pulse = w.pulse;
    ny_free(ctx, w.seen);
    ny_free(ctx, w.pages);
    close(w.fd);
    return err;
}
