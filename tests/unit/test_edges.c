/* io/edge_file.h, graph/edge_list.h: edges that are read and settled, beside sums made one by one.
 */
#include <unistd.h>

#include "support/context.h"
#include "support/files.h"

#include "base/random.h"
#include "graph/edge_list.h"
#include "io/edge_file.h"

enum { NODES = 90, ENTRIES = 20000, SLACK_BYTES = 1 << 16 };

/* ---- settling ------------------------------------------------------------------------------- */

/* A random entry, with loops, both directions and many repeats; weights are eighths, 0 among them,
 * whose sums are exact. */
static struct ny_edge_entry entry_of(uint64_t seed, size_t k)
{
    struct ny_edge_entry entry = {
        .from = (uint32_t)(ny_hash01(seed, NY_STREAM_DATA, 3 * k) * NODES),
        .to = (uint32_t)(ny_hash01(seed, NY_STREAM_DATA, 3 * k + 1) * NODES),
        .weight = floor(ny_hash01(seed, NY_STREAM_DATA, 3 * k + 2) * 32) / 8};

    if (entry.from > NODES / 2 && entry.from < NODES - 2) entry.from = NODES - 1; /* a hub */
    return entry;
}

/* The weights of all pairs by sums and minima in a table; −1: none. Counts what is left out. */
struct table {
    double way[NODES][NODES];
    uint64_t loops, repeats, zeros, edges;
};

static void fill(struct table *table, uint64_t seed, bool affinities)
{
    *table = (struct table){.loops = 0};
    for (int i = 0; i < NODES; i++)
        for (int j = 0; j < NODES; j++)
            table->way[i][j] = -1;
    for (size_t k = 0; k < ENTRIES; k++) {
        struct ny_edge_entry entry = entry_of(seed, k);
        double *way = &table->way[entry.from][entry.to];

        if (entry.from == entry.to) {
            table->loops++;
            continue;
        }
        table->repeats += *way >= 0;
        if (*way < 0)
            *way = entry.weight;
        else
            *way = affinities ? *way + entry.weight : fmin(*way, entry.weight);
    }
}

/* Returns the weight of a pair, or −1. */
static double joined(const struct table *table, int i, int j, bool affinities)
{
    double there = table->way[i][j], back = table->way[j][i];

    if (there < 0 || back < 0) return fmax(there, back);
    return affinities ? (there + back) / 2 : fmin(there, back);
}

static void settle(struct ny_edge_list *list, uint64_t seed, bool affinities, bool backwards)
{
    size_t before;

    assert_int_equal(ny_edge_list_new(list, ctx, ENTRIES), NY_OK);
    list->affinities = affinities;
    for (size_t k = 0; k < ENTRIES; k++) {
        struct ny_edge_entry entry = entry_of(seed, backwards ? ENTRIES - 1 - k : k);

        ny_edge_list_add(list, entry.from, entry.to, entry.weight);
    }
    before = ny_memory_used(ctx);
    ny_memory_peak_reset(ctx);
    assert_int_equal(ny_edge_list_settle(list), NY_OK);
    assert_true(ny_memory_peak(ctx) - before <= SLACK_BYTES); /* in place */
}

TEST(edges_are_settled)
{
    struct table *table = lend(sizeof(*table));

    for (uint64_t seed = 0; seed < 6; seed++) {
        bool affinities = seed % 2;
        struct ny_edge_list list, reversed;
        size_t at = 0;

        settle(&list, seed, affinities, false);
        settle(&reversed, seed, affinities, true);
        fill(table, seed, affinities);
        for (int i = 0; i < NODES; i++)
            for (int j = i + 1; j < NODES; j++) {
                double weight = joined(table, i, j, affinities);

                table->zeros += affinities && weight == 0;
                if (weight < 0 || (affinities && weight == 0)) continue;
                assert_true(at < list.count);
                assert_int_equal(list.edge[at].from, i);
                assert_int_equal(list.edge[at].to, j);
                assert_true(list.edge[at].length == weight);
                at++;
            }
        assert_int_equal(list.count, at);
        assert_int_equal(list.loops, table->loops);
        assert_int_equal(list.repeats, table->repeats);
        assert_int_equal(list.zeros, table->zeros);
        assert_int_equal(reversed.count, at); /* whatever the order of the file */
        assert_memory_equal(reversed.edge, list.edge, at * sizeof(*list.edge));
        ny_edge_list_release(&list);
        ny_edge_list_release(&reversed);
    }
}

/* Sums that rounding makes differ, and numbers of nodes that need all 32 bits. */
TEST(the_order_changes_no_bit)
{
    enum { SUMS = 2000, FAR = 5 };
    const uint32_t nodes[FAR] = {0, 255, 65536, 1u << 31, UINT32_MAX - 1};
    struct ny_edge_list lists[2];

    for (int way = 0; way < 2; way++) {
        assert_int_equal(ny_edge_list_new(&lists[way], ctx, SUMS), NY_OK);
        lists[way].affinities = true;
        for (size_t k = 0; k < SUMS; k++) {
            size_t at = way ? SUMS - 1 - k : k;

            ny_edge_list_add(&lists[way], nodes[at % FAR], nodes[(at + 1 + at / 7 % 4) % FAR],
                             pow(10, (double)(at % 37) - 18));
        }
        assert_int_equal(ny_edge_list_settle(&lists[way]), NY_OK);
    }
    assert_int_equal(lists[0].count, FAR * (FAR - 1) / 2);
    assert_memory_equal(lists[0].edge, lists[1].edge, lists[0].count * sizeof(struct ny_bridge));
    ny_edge_list_release(&lists[0]);
    ny_edge_list_release(&lists[1]);
}

TEST(what_is_too_large_for_f32_is_refused)
{
    struct ny_edge_list list;

    assert_int_equal(ny_edge_list_new(&list, ctx, 2), NY_OK);
    list.affinities = true;
    ny_edge_list_add(&list, 0, 1, 3e38);
    ny_edge_list_add(&list, 0, 1, 3e38);
    assert_int_equal(ny_edge_list_settle(&list), NY_EDATA);
    ny_edge_list_release(&list);
}

/* ---- files ---------------------------------------------------------------------------------- */

TEST(text_of_any_shape_is_read)
{
    static const char *const texts[] = {
        "0 1 2\n1 2 0.5", "0,1,2\n1,2,0.5\n", "0\t1\t2\r\n1\t2\t0.5\r\n",
        "# c\n% d\n\n  0 , 1 , +2e0  \n1,2,5e-1\n\n"};
    static const struct ny_edge_entry wanted[] = {{0, 1, 2}, {1, 2, 0.5}};
    char path[64];

    snprintf(path, sizeof(path), "/tmp/ny-edges-%ld.txt", (long)getpid());
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        struct ny_edge_source *file;
        struct ny_edge_entry entry;

        write_text(path, texts[i]);
        CHECK(ny_edge_file_open(&file, ctx, path, 3));
        for (size_t k = 0; k < 2; k++) {
            if (file->next(file, &entry)) fail_msg("%zu: %s", i, ny_context_message(ctx));
            assert_int_equal(entry.from, wanted[k].from);
            assert_int_equal(entry.to, wanted[k].to);
            assert_true(entry.weight == wanted[k].weight);
        }
        assert_int_equal(file->next(file, &entry), NY_END);
        file->close(file);
    }
    unlink(path);
}

AROUND_ALL(start, stop)
