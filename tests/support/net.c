#include "support/net.h"

#include "base/random.h"
#include "nystream.h"
#include "support/test.h"

struct net net_new(size_t n, size_t t)
{
    struct net net = {.n = n, .t = t};

    net.row = lend(n * t * sizeof(uint32_t));
    net.distance = lend(n * t * sizeof(float));
    for (size_t i = 0; i < n * t; i++) {
        net.row[i] = NY_NO_ROW;
        net.distance[i] = INFINITY;
    }
    net.lists = (struct ny_lists){
        .n = n, .stored = t, .t = t, .row = net.row, .distance = net.distance, .limit = INFINITY};
    return net;
}

void net_link(struct net *net, size_t from, size_t to, double distance)
{
    size_t at = from * net->t;

    while (net->row[at] != NY_NO_ROW)
        at++;
    assert_true(at < (from + 1) * net->t);
    net->row[at] = (uint32_t)to;
    net->distance[at] = (float)distance;
}

enum { GROUP = 5 };

/* Points first … first + n − 1 in a square, with their four nearest by brute force. */
static void add_sheet(struct net *net, size_t first, size_t n)
{
    enum { NEAREST = 4 };
    double *at = lend(2 * n * sizeof(double));

    for (size_t i = 0; i < 2 * n; i++)
        at[i] = ny_hash01(1, NY_STREAM_DATA, 2 * first + i);
    for (size_t i = 0; i < n; i++) {
        double best[NEAREST + 1];
        size_t found[NEAREST + 1], count = 0;

        for (size_t j = 0; j < n; j++) {
            double x = at[2 * i] - at[2 * j], y = at[2 * i + 1] - at[2 * j + 1];
            double square = x * x + y * y;
            size_t k = count;

            if (j == i || (count == NEAREST && square >= best[NEAREST - 1])) continue;
            for (; k > 0 && best[k - 1] > square; k--) {
                best[k] = best[k - 1];
                found[k] = found[k - 1];
            }
            best[k] = square;
            found[k] = j;
            if (count < NEAREST) count++;
        }
        for (size_t k = 0; k < count; k++)
            net_link(net, first + i, first + found[k], sqrt(best[k]));
    }
}

struct net net_of(enum net_shape shape, size_t n)
{
    size_t world = shape == SMALL_WORLD ? n
                   : shape == OUTLIER   ? n - 1
                   : shape == FAR_GROUP ? n - GROUP
                                        : 0;
    struct net net = net_new(n, shape == COMPLETE ? n - 1 : 5);

    if (shape == SHEET) add_sheet(&net, 0, n);
    if (shape == DUMBBELL) {
        add_sheet(&net, 0, n / 2);
        add_sheet(&net, n / 2, n - n / 2);
        net_link(&net, 0, n - 1, 0.17);
    }
    if (shape == OUTLIER) net_link(&net, n - 1, 0, 11);
    if (shape == FAR_GROUP) net_link(&net, n - 1, 0, 11);
    for (size_t i = n - GROUP; shape == FAR_GROUP && i < n; i++)
        for (size_t j = n - GROUP; j < n; j++)
            if (j != i) net_link(&net, i, j, 10.9);
    for (size_t i = 0; i < n; i++) {
        if (shape == CYCLE || (shape == PATH && i + 1 < n)) net_link(&net, i, (i + 1) % n, 1);
        if (shape == STAR && i > 0) net_link(&net, i, 0, 1);
        for (size_t j = 0; shape == COMPLETE && j < n; j++)
            if (j != i) net_link(&net, i, j, 1);
        for (size_t k = 0; i < world && k < 5; k++) {
            size_t step = 1 + ny_hash64(k, NY_STREAM_DATA, i) % (world / 5 - 1) + k * (world / 5);
            size_t j = (i + step) % world;

            net_link(&net, i, j, ny_hash01(9, NY_STREAM_DATA, i < j ? i * n + j : j * n + i));
        }
    }
    return net;
}

double *dense_weights(const struct net *net, const struct ny_edges *graph, double gamma)
{
    double *A = lend_zeros((size_t)graph->n * graph->n * sizeof(double));

    for (size_t i = 0; i < net->n; i++)
        for (size_t k = 0; k < net->t; k++) {
            uint32_t j = net->row[i * net->t + k];
            double d = (double)net->distance[i * net->t + k];

            if (j == NY_NO_ROW || graph->node[i] == NY_NO_ROW) continue;
            A[(size_t)graph->node[i] * graph->n + graph->node[j]] = fmax(exp(-gamma * d * d), 0x1p-960);
            A[(size_t)graph->node[j] * graph->n + graph->node[i]] = fmax(exp(-gamma * d * d), 0x1p-960);
        }
    return A;
}

void make(struct made *made, struct ny_context *ctx, const struct net *net, double gamma)
{
    assert_int_equal(ny_components_find(&made->components, ctx, &net->lists), NY_OK);
    assert_int_equal(ny_edges_new(&made->graph, ctx, &net->lists, &made->components, 0), NY_OK);
    made->gamma = gamma;
    if (gamma < 0) assert_int_equal(ny_affinity_gamma(&made->graph, &made->gamma), NY_OK);
    assert_int_equal(ny_affinity_new(&made->affinity, &made->graph, made->gamma), NY_OK);
}

void unmake(struct made *made)
{
    ny_affinity_release(&made->affinity);
    ny_edges_release(&made->graph);
    ny_components_release(&made->components);
}
