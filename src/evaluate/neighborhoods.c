/*
 * Measure neighborhoods: trustworthiness and continuity (Venna & Kaski 2001), of the pairs of a
 * sample. With the rank r_X(i,j) of j among the neighbours of i in the inputs,
 *
 *   T = 1 − 2/(s t (2s − 3t − 1)) Σ_i Σ_j (r_X(i,j) − t),  j among the t nearest of i in the
 *
 * embedding but not in the inputs; continuity is the same with the two exchanged. Among equal
 * distances the first row is nearer.
 */
#include <math.h>

#include "base/memory.h"
#include "evaluate/sample.h"

static const char *const keys[] = {"trustworthiness", "continuity", "neighbors", NULL};

struct neighborhoods {
    size_t s, t;
    double *intruders, *missed; /* of each row: what T and continuity add up */
};

static bool nearer(const double *distance, size_t a, size_t b)
{
    return distance[a] < distance[b] || (distance[a] == distance[b] && a < b);
}

/* 1 for the nearest. */
static size_t rank_of(const double *distance, size_t s, size_t i, size_t j)
{
    size_t rank = 1;

    for (size_t l = 0; l < s; l++)
        rank += l != i && nearer(distance, l, j);
    return rank;
}

/* Σ (rank in `by` − t) over the t nearest of i in `of` whose rank in `by` is above t. */
static double displaced(const double *of, const double *by, size_t s, size_t t, size_t i)
{
    size_t last = s; /* the neighbour before: the next one is the nearest behind it */
    double sum = 0;

    for (size_t k = 0; k < t; k++) {
        size_t next = s, rank;

        for (size_t l = 0; l < s; l++) {
            bool behind = l != i && (last == s || nearer(of, last, l));

            if (behind && (next == s || nearer(of, l, next))) next = l;
        }
        if (next == s) break; /* distances that are no numbers */
        rank = rank_of(by, s, i, next);
        if (rank > t) sum += (double)(rank - t);
        last = next;
    }
    return sum;
}

static void look(void *arg, const struct ny_pair_rows *rows)
{
    const struct neighborhoods *run = arg;
    size_t s = run->s;

    for (size_t r = 0; r < rows->count; r++) {
        const double *inputs = rows->inputs.at + r * s, *outputs = rows->outputs.at + r * s;
        size_t i = rows->first + r;

        run->intruders[i] = displaced(outputs, inputs, s, run->t, i);
        run->missed[i] = displaced(inputs, outputs, s, run->t, i);
    }
}

static int run_neighborhoods(struct ny_evaluation *evaluation)
{
    struct ny_sample *sample;
    struct neighborhoods run = {.t = evaluation->settings->neighbors};
    double intruders = 0, missed = 0, scale;
    int err = ny_evaluate_sample(evaluation);

    if (err) return err;
    sample = evaluation->sample;
    if (!ny_evaluate_inputs(evaluation)) return NY_OK;
    run.s = sample->s;
    if (2 * run.t >= run.s) {
        ny_evaluate_inapplicable(evaluation, NULL, "%zu neighbours are half of %zu rows or more",
                                 run.t, run.s);
        return NY_OK;
    }
    run.intruders = ny_calloc(sample->ctx, NY_MEM_OTHER, 2 * run.s, sizeof(double));
    if (!run.intruders) return NY_EBUDGET;
    run.missed = run.intruders + run.s;
    err = ny_sample_pairs(sample, evaluation->cloud.scale, look, &run);
    for (size_t i = 0; i < run.s; i++) {
        intruders += run.intruders[i];
        missed += run.missed[i];
    }
    ny_free(sample->ctx, run.intruders);
    if (err) return err;
    scale = 2 / ((double)(run.s * run.t) * (double)(2 * run.s - 3 * run.t - 1));
    ny_field_set_number(evaluation->report, "trustworthiness", 1 - scale * intruders);
    ny_field_set_number(evaluation->report, "continuity", 1 - scale * missed);
    ny_field_set_count(evaluation->report, "neighbors", run.t);
    return NY_OK;
}

static void count(struct ny_layout *l, const struct ny_evaluation *run)
{
    ny_sample_count(l, run);
    ny_lay(l, NY_MEM_OTHER, 2 * ny_sample_size(run), sizeof(double));
}

const struct ny_measure ny_measure_neighborhoods = {
    .name = "neighborhoods", .keys = keys, .options = "neighbors|sample|seed",
    .run = run_neighborhoods, .count = count, .order = ny_sample_size};
