/* The pages of an LMDB 0.9 data file, as far as the structure check reads them (mdb.c, "Page
 * headers", "Meta page content"; 64-bit hosts). */
#ifndef NY_STORE_PAGE_H
#define NY_STORE_PAGE_H

#include <stdint.h>

enum { NY_PAGE_BRANCH = 1, NY_PAGE_LEAF = 2, NY_PAGE_OVERFLOW = 4, NY_PAGE_META = 8,
       NY_PAGE_DIRTY = 16 };
enum { NY_NODE_BIG = 1 }; /* the value lies on overflow pages */
enum { NY_FREE_TABLE_FLAGS = 8 /* integer keys */, NY_MAIN_TABLE_FLAGS = 0 };

struct ny_page {
    uint64_t number;
    uint16_t pad, flags;
    uint16_t lower, upper; /* on overflow pages: one 32-bit count of pages */
};
_Static_assert(sizeof(struct ny_page) == 16, "LMDB's page header");

/* In a branch, the child is low | high << 16 | flags << 32. In a leaf, low | high << 16 is the size
 * of the value. The key follows, then the value or the number of its first page. */
struct ny_node {
    uint16_t low, high, flags, key_bytes;
};

struct ny_tree {
    uint32_t page_bytes; /* of the free table: the file's */
    uint16_t flags, depth;
    uint64_t branch_pages, leaf_pages, overflow_pages, entries, root;
};

struct ny_meta {
    uint32_t magic, version;
    uint64_t address, map_bytes;
    struct ny_tree free, main;
    uint64_t last_page, txn;
};
_Static_assert(sizeof(struct ny_meta) == 136, "LMDB's meta page");

#define NY_LMDB_MAGIC 0xBEEFC0DEu
#define NY_LMDB_VERSION 1u
#define NY_NO_PAGE UINT64_MAX
enum { NY_PAGE_BYTES_MIN = 256, NY_PAGE_BYTES_MAX = 32768, NY_DEPTH_MAX = 16 };

/* Pages of a value of `bytes` bytes kept on overflow pages. */
static inline uint64_t ny_overflow_pages(uint64_t bytes, uint64_t page_bytes)
{
    return (sizeof(struct ny_page) + bytes + page_bytes - 1) / page_bytes;
}

#endif
