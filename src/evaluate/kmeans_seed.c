/* k-means++ (Arthur & Vassilvitskii 2007): each centre is a row drawn with probability ∝ its
 * squared distance to the centres before it. */
#include "evaluate/kmeans.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/random.h"
#include "base/thread.h"
#include "evaluate/nearest.h"

struct seeding {
    const struct ny_kmeans *how;
    const float *y; /* the sample, s × p */
    size_t s, p;
    float *least; /* inits × s */
    float *centres;
};

/* The row where the running sum of `least` passes u of the whole; s where all are 0. */
static size_t draw(const float *least, size_t s, double u)
{
    double total = 0, sum = 0;
    size_t last = s;

    for (size_t i = 0; i < s; i++)
        total += (double)least[i];
    for (size_t i = 0; i < s; i++) {
        if (!(least[i] > 0)) continue;
        sum += (double)least[i];
        last = i;
        if (sum > u * total) break;
    }
    return last;
}

/* Seeds some of the initialisations. Random numbers depend on the initialisation and the centre
 * alone, and not on the worker. */
static int seed_inits(void *arg, size_t first, size_t count)
{
    const struct seeding *run = arg;
    const struct ny_kmeans *how = run->how;
    size_t k = how->k, p = run->p, s = run->s;

    for (size_t r = first; r < first + count; r++) {
        float *least = run->least + r * s, *centres = run->centres + r * k * p;
        size_t chosen = (size_t)((double)s * ny_hash01(how->seed, NY_STREAM_CLUSTERS, r * k));

        for (size_t i = 0; i < s; i++)
            least[i] = INFINITY;
        for (size_t j = 0; j < k; j++) {
            int err = ny_check_interrupt(how->ctx);

            if (err) return err;
            if (j > 0) chosen = draw(least, s, ny_hash01(how->seed, NY_STREAM_CLUSTERS, r * k + j));
            memcpy(centres + j * p, chosen < s ? run->y + chosen * p : centres, p * sizeof(float));
            if (chosen < s) ny_nearest_loops()->closer(run->y, s, p, centres + j * p, least);
        }
    }
    return NY_OK;
}

int ny_kmeans_seed(const struct ny_kmeans *how, float *centres)
{
    struct ny_context *ctx = how->ctx;
    uint64_t n = how->cloud->n;
    size_t p = how->cloud->p, s = n < NY_KMEANS_SAMPLE ? (size_t)n : NY_KMEANS_SAMPLE;
    uint64_t *list = ny_calloc(ctx, NY_MEM_OTHER, s, sizeof(*list));
    float *y = ny_calloc(ctx, NY_MEM_OTHER, s, p * sizeof(float));
    float *least = ny_calloc(ctx, NY_MEM_OTHER, how->inits, s * sizeof(float));
    struct seeding run = {how, y, s, p, least, centres};
    int err = list && y && least ? NY_OK : NY_EBUDGET;

    if (err == NY_OK) err = ny_cloud_sample(ctx, n, s, how->seed, list);
    if (err == NY_OK) err = ny_cloud_gather(how->cloud, list, s, y);
    if (err == NY_OK) err = ny_parallel_ranges(ctx, how->inits, seed_inits, &run);
    ny_free(ctx, least);
    ny_free(ctx, y);
    ny_free(ctx, list);
    return err;
}
