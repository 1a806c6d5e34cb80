/*
 * k-means++ (Arthur & Vassilvitskii 2007), greedily: 2 + ln k rows are drawn for each centre, with
 * probability ∝ their squared distance to the centres before, and the one that leaves the least sum
 * of such distances is the centre. Of 20 clusters that lay well apart the best of ten
 * initialisations by one draw had all with none of three seeds, and by four draws with each.
 */
#include "evaluate/kmeans.h"

#include <math.h>
#include <string.h>

#include "base/random.h"
#include "base/thread.h"
#include "evaluate/nearest.h"

/* Initial centres are rows of a sample of so many; each initialisation holds so many distances of
 * each: as they are, with the best row that was tried, and with the one that is. */
enum { SAMPLE = 32768, ROOMS = 3 };

struct seeding {
    const struct ny_kmeans *how;
    uint64_t *list; /* rows of the sample */
    float *y;       /* s × p */
    size_t s, p;
    float *least; /* inits × ROOMS × s: squared distances to the nearest centre, of each trial */
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

/* Rooms of one initialisation, which change places. */
struct rooms {
    float *now, *best, *tried;
};

static void swap(float **a, float **b)
{
    float *swapped = *a;

    *a = *b;
    *b = swapped;
}

/* Chooses centre j of initialisation r, and has rooms->now know it. Returns its row in the sample;
 * s where all rows are centres. Random numbers depend on r, j and the trial alone, and not on the
 * worker. */
static size_t choose(const struct seeding *run, size_t r, size_t j, struct rooms *rooms)
{
    const struct ny_kmeans *how = run->how;
    size_t s = run->s, p = run->p, chosen = s;
    unsigned trials = j ? 2 + (unsigned)log((double)how->k) : 1;
    double least = INFINITY;

    for (unsigned t = 0; t < trials; t++) {
        double u = ny_hash01(how->seed, NY_STREAM_CLUSTERS, ((uint64_t)t << 40) + r * how->k + j);
        size_t row = j ? draw(rooms->now, s, u) : (size_t)((double)s * u);
        double sum = 0;

        if (row == s) break;
        memcpy(rooms->tried, rooms->now, s * sizeof(float));
        ny_nearest_loops()->closer(run->y, s, p, run->y + row * p, rooms->tried);
        for (size_t i = 0; i < s; i++)
            sum += (double)rooms->tried[i];
        if (!(sum < least)) continue;
        least = sum;
        chosen = row;
        swap(&rooms->tried, &rooms->best);
    }
    if (chosen < s) swap(&rooms->best, &rooms->now);
    return chosen;
}

/* Seeds some of the initialisations. */
static int seed_inits(void *arg, size_t first, size_t count)
{
    const struct seeding *run = arg;
    size_t k = run->how->k, p = run->p, s = run->s;

    for (size_t r = first; r < first + count; r++) {
        float *at = run->least + r * ROOMS * s, *centres = run->centres + r * k * p;
        struct rooms rooms = {at, at + s, at + 2 * s};

        for (size_t i = 0; i < s; i++)
            rooms.now[i] = INFINITY;
        for (size_t j = 0; j < k; j++) {
            int err = ny_check_interrupt(run->how->ctx);
            size_t row = err ? s : choose(run, r, j, &rooms);

            if (err) return err;
            memcpy(centres + j * p, row < s ? run->y + row * p : centres, p * sizeof(float));
        }
    }
    return NY_OK;
}

static void lay(struct ny_layout *l, struct seeding *run, uint64_t n)
{
    run->s = n < SAMPLE ? (size_t)n : SAMPLE;
    run->list = ny_lay(l, NY_MEM_OTHER, run->s, sizeof(*run->list));
    run->y = ny_lay(l, NY_MEM_OTHER, run->s, run->p * sizeof(float));
    run->least = ny_lay(l, NY_MEM_OTHER, run->how->inits * ROOMS, run->s * sizeof(float));
}

void ny_kmeans_seed_count(struct ny_layout *l, const struct ny_kmeans *how, uint64_t n, size_t p)
{
    struct ny_layout_mark mark = ny_layout_mark(l);
    struct seeding run = {.how = how, .p = p};

    lay(l, &run, n);
    ny_cloud_sample_count(l, run.s);
    ny_layout_back(l, &mark);
}

int ny_kmeans_seed(const struct ny_kmeans *how, float *centres)
{
    struct ny_context *ctx = how->ctx;
    struct ny_cloud *cloud = how->cloud;
    struct seeding run = {.how = how, .p = cloud->p, .centres = centres};
    struct ny_layout l = {.ctx = ctx};
    int err;

    lay(&l, &run, cloud->n);
    err = l.err;
    if (!err) err = ny_cloud_sample(ctx, cloud->n, run.s, how->seed, run.list);
    if (!err) err = ny_cloud_gather(cloud, run.list, run.s, run.y);
    if (!err) err = ny_parallel_ranges(ctx, how->inits, seed_inits, &run);
    ny_layout_free(&l);
    return err;
}
