/*
 * The pages of a search (graph/pages.h). All have the size of the largest record of the file; a
 * list tells which was used longest ago.
 *
 * A record is read as it is: the heads of the patch's nodes and their end, u64, targets, and
 * lengths.
 */
#include "graph/pages.h"

static const uint32_t no_page = UINT32_MAX;

/* A page has at least so many bytes: most patches have some 40 KiB of edges. */
enum { PAGE_LEAST = 16 << 10 };

struct slot {
    struct ny_edge_page page;
    uint32_t patch, before, after; /* in the order of use; before: used later */
};

struct ny_page_cache {
    const struct ny_edges *graph;
    struct ny_edge_page none;
    int err;
    size_t slot_bytes;
    char *room;        /* as many bytes as the pages of a search have: slots × slot_bytes */
    struct slot *slot; /* slots */
    uint32_t slots, used, newest, oldest;
    uint32_t *where; /* patches: the page of each, or no_page */
};

/* Patches have 500 nodes or more, but for those beside a cell of far more nodes. */
uint64_t ny_pages_most(uint64_t nodes)
{
    return nodes / 128 + 16;
}

size_t ny_pages_held(uint64_t edges)
{
    const size_t least = (size_t)2 << 20, share = 32;
    size_t bytes = (size_t)(2 * edges * (sizeof(uint32_t) + sizeof(float))) / share;

    return bytes > least ? bytes : least;
}

/* Sets how many pages there is room for; for one at least, as ny_pages_build() has seen to it. */
static void count_slots(struct ny_page_cache *cache)
{
    const struct ny_pages *pages = cache->graph->pages;
    const uint32_t patches = cache->graph->patches.count;
    size_t slots;

    cache->slot_bytes = pages->largest > PAGE_LEAST ? ny_padded(pages->largest) : PAGE_LEAST;
    slots = pages->bytes / cache->slot_bytes;
    cache->slots = slots < patches ? (uint32_t)slots : patches;
}

struct ny_edges ny_edges_planned(uint64_t nodes, uint64_t edges, struct ny_pages *pages)
{
    uint64_t patches = pages ? ny_pages_most(nodes) : ny_patches_most(nodes);

    if (pages) *pages = (struct ny_pages){.bytes = ny_pages_held(edges)};
    return (struct ny_edges){
        .n = (uint32_t)nodes, .patches.count = (uint32_t)patches, .pages = pages};
}

struct ny_page_cache *ny_page_cache_lay(struct ny_layout *l, const struct ny_edges *graph)
{
    static const uint64_t no_edges[NY_PATCH_NODES + 1];
    const uint32_t patches = graph->patches.count;
    struct ny_page_cache spare, *cache;

    if (!graph->pages) return NULL;
    cache = ny_lay_struct(l, NY_MEM_TILES, sizeof(spare), &spare);
    *cache = (struct ny_page_cache){
        .graph = graph, .none = {.head = no_edges}, .newest = no_page, .oldest = no_page};
    count_slots(cache);
    cache->room = ny_lay(l, NY_MEM_TILES, graph->pages->bytes, 1);
    cache->slot = ny_lay(l, NY_MEM_TILES, cache->slots, sizeof(struct slot));
    cache->where = ny_lay(l, NY_MEM_TILES, patches, sizeof(uint32_t));
    for (uint32_t p = 0; p < patches && cache->where; p++)
        cache->where[p] = no_page;
    return ny_laid(l, cache);
}

int ny_page_cache_error(struct ny_page_cache *cache)
{
    int err = cache ? cache->err : NY_OK;

    if (cache) cache->err = NY_OK;
    return err;
}

/* Takes a slot out of the order of use. */
static void take_out(struct ny_page_cache *cache, uint32_t s)
{
    const struct slot *slot = &cache->slot[s];

    if (slot->before != no_page)
        cache->slot[slot->before].after = slot->after;
    else
        cache->newest = slot->after;
    if (slot->after != no_page)
        cache->slot[slot->after].before = slot->before;
    else
        cache->oldest = slot->before;
}

/* Puts it in front. */
static void put_first(struct ny_page_cache *cache, uint32_t s)
{
    struct slot *slot = &cache->slot[s];

    slot->before = no_page;
    slot->after = cache->newest;
    if (cache->newest != no_page)
        cache->slot[cache->newest].before = s;
    else
        cache->oldest = s;
    cache->newest = s;
}

/* Reads the edges of a patch onto the page that was used longest ago, or a new one. */
static const struct ny_edge_page *read_page(struct ny_page_cache *cache, uint32_t patch)
{
    const struct ny_edges *graph = cache->graph;
    const struct ny_pages *pages = graph->pages;
    const uint32_t first = graph->patches.first[patch];
    const uint32_t nodes = graph->patches.first[patch + 1] - first;
    uint32_t s = cache->used < cache->slots ? cache->used++ : cache->oldest;
    char *room = cache->room + s * cache->slot_bytes;
    struct slot *slot = &cache->slot[s];
    uint64_t *head = (uint64_t *)(void *)room;

    if (s == cache->oldest) {
        take_out(cache, s);
        cache->where[slot->patch] = no_page;
    }
    put_first(cache, s);
    slot->patch = patch;
    cache->where[patch] = s;
    slot->page = cache->none;
    slot->page.first = first;
    if (!cache->err)
        cache->err =
            ny_scratch_get(&pages->file, room, (size_t)(pages->at[patch + 1] - pages->at[patch]),
                           pages->at[patch]);
    if (cache->err) return &slot->page;
    slot->page.head = head;
    slot->page.target = (uint32_t *)(head + nodes + 1);
    slot->page.length = (float *)(void *)(slot->page.target + head[nodes]);
    return &slot->page;
}

const struct ny_edge_page *ny_page_of(struct ny_page_cache *cache, uint32_t patch)
{
    uint32_t s = cache->where[patch];

    if (s == no_page) return read_page(cache, patch);
    if (s != cache->newest) {
        take_out(cache, s);
        put_first(cache, s);
    }
    return &cache->slot[s].page;
}
