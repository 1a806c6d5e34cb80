/*
 * The assignment problem by shortest augmenting paths (the Hungarian method as Jonker & Volgenant
 * 1987 have it), in whole numbers. The lines are the shorter side of the table of counts, the
 * others its longer side. With potentials u and v, no cost −count − u_line − v_other is below 0,
 * and it is 0 where the two are matched; each line in turn is matched by the path of least cost
 * from it to an other that is free. Among equally near others the first is taken, so that ties go
 * to the smallest class.
 */
#include "evaluate/matching.h"

#define FREE SIZE_MAX

struct matching {
    const uint64_t *counts;
    size_t lines, others;
    size_t across, along; /* steps in the table from a line to the next, and within a line */
    int64_t *u, *v;       /* lines, others */
    int64_t *least;       /* others: the least cost of a path to it so far */
    size_t *line_of;      /* others: matched with, or FREE */
    size_t *from;         /* others: the one before on that path, or FREE */
    bool *reached;        /* others: the path of least cost is known */
};

static struct matching shape_of(const uint64_t *counts, size_t clusters, size_t classes)
{
    if (clusters <= classes)
        return (struct matching){
            .counts = counts, .lines = clusters, .others = classes, .across = classes, .along = 1};
    return (struct matching){
        .counts = counts, .lines = classes, .others = clusters, .across = 1, .along = classes};
}

static int64_t cost(const struct matching *m, size_t line, size_t other)
{
    int64_t count = (int64_t)m->counts[line * m->across + other * m->along];

    return -count - m->u[line] - m->v[other];
}

/* Paths that go on from `line`, which a path of cost 0 in the reduced costs leads to: by way of
 * `before`, the last of the others that were reached. Returns the next to be reached. */
static size_t extend(struct matching *m, size_t line, size_t before)
{
    size_t nearest = FREE;

    for (size_t j = 0; j < m->others; j++) {
        int64_t here;

        if (m->reached[j]) continue;
        here = cost(m, line, j);
        if (here < m->least[j]) {
            m->least[j] = here;
            m->from[j] = before;
        }
        if (nearest == FREE || m->least[j] < m->least[nearest]) nearest = j;
    }
    return nearest;
}

/* Moves the potentials of all that was reached, so that the path to the nearest costs nothing. */
static void shift(struct matching *m, size_t start, int64_t by)
{
    m->u[start] += by;
    for (size_t j = 0; j < m->others; j++) {
        if (m->reached[j]) {
            m->u[m->line_of[j]] += by;
            m->v[j] -= by;
        } else {
            m->least[j] -= by;
        }
    }
}

static void match(struct matching *m, size_t start)
{
    size_t line = start, at = FREE;

    for (size_t j = 0; j < m->others; j++) {
        m->least[j] = INT64_MAX;
        m->reached[j] = false;
    }
    do {
        at = extend(m, line, at);
        shift(m, start, m->least[at]);
        m->reached[at] = true;
        line = m->line_of[at];
    } while (line != FREE);
    for (size_t before; at != FREE; at = before) { /* back along the path */
        before = m->from[at];
        m->line_of[at] = before == FREE ? start : m->line_of[before];
    }
}

static void lay(struct ny_layout *l, struct matching *m)
{
    m->u = ny_lay(l, NY_MEM_OTHER, m->lines, sizeof(*m->u));
    m->v = ny_lay(l, NY_MEM_OTHER, m->others, sizeof(*m->v));
    m->least = ny_lay(l, NY_MEM_OTHER, m->others, sizeof(*m->least));
    m->line_of = ny_lay(l, NY_MEM_OTHER, m->others, sizeof(*m->line_of));
    m->from = ny_lay(l, NY_MEM_OTHER, m->others, sizeof(*m->from));
    m->reached = ny_lay(l, NY_MEM_OTHER, m->others, sizeof(*m->reached));
}

void ny_matching_count(struct ny_layout *l, size_t clusters, size_t classes)
{
    struct ny_layout_mark mark = ny_layout_mark(l);
    struct matching m = shape_of(NULL, clusters, classes);

    lay(l, &m);
    ny_layout_back(l, &mark);
}

int ny_matching_most(struct ny_context *ctx, const uint64_t *counts, size_t clusters,
                     size_t classes, uint64_t *matched)
{
    struct matching m = shape_of(counts, clusters, classes);
    struct ny_layout l = {.ctx = ctx};
    int err;

    lay(&l, &m);
    err = l.err;
    *matched = 0;
    for (size_t j = 0; j < m.others && !err; j++)
        m.line_of[j] = FREE;
    for (size_t line = 0; line < m.lines && err == NY_OK; line++) {
        err = ny_check_interrupt(ctx);
        if (err == NY_OK) match(&m, line);
    }
    for (size_t j = 0; j < m.others && err == NY_OK; j++)
        if (m.line_of[j] != FREE) *matched += counts[m.line_of[j] * m.across + j * m.along];
    ny_layout_free(&l);
    return err;
}
