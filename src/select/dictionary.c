/*
 * Grows, shrinks, saves and restores the dictionary: landmarks and L of W = LLᵀ (dictionary.h). The
 * greedy rules and rpcholesky push a row at a time; front.c reads L for its forward substitutions.
 *
 * L is cut in panels of 256 rows. Panel b has 256·(b + 1) columns and is allocated once, in f64 and
 * rounded to f32: it never moves while workers read it, and the f32 copy is what screening
 * multiplies with. A row is pushed in two steps, first its row of L (ny_dictionary_push()), then,
 * for all that joined in a block, the landmarks themselves (ny_dictionary_extend()).
 *
 * An image holds row numbers, raw landmarks and the packed triangle of L exactly as it is: L is not
 * computed again from W, so a resumed selection goes on with the same bits.
 */
#include "select/dictionary.h"

#include <math.h>
#include <string.h>

#include "select/dictionary_private.h"

/* Lays out a dictionary without a row. */
static struct ny_dictionary *lay(struct ny_layout *l)
{
    struct ny_dictionary spare,
        *dictionary = ny_lay_struct(l, NY_MEM_DICTIONARY, sizeof(spare), &spare);

    dictionary->panels = ny_lay(l, NY_MEM_DICTIONARY, NY_PANELS_MAX, sizeof(*dictionary->panels));
    return ny_laid(l, dictionary);
}

/* Lays out panel b, all of its rows at once. */
static struct ny_panel *lay_panel(struct ny_layout *l, size_t b)
{
    size_t entries = NY_DICTIONARY_PANEL * ny_panel_stride(b);
    struct ny_panel spare, *panel = ny_lay_struct(l, NY_MEM_DICTIONARY, sizeof(spare), &spare);

    panel->L = ny_lay(l, NY_MEM_DICTIONARY, entries, sizeof(double));
    panel->L32 = ny_lay(l, NY_MEM_DICTIONARY, entries, sizeof(float));
    return ny_laid(l, panel);
}

int ny_dictionary_new(struct ny_dictionary **out, const struct ny_columns_spec *spec,
                      const struct ny_dictionary_options *options)
{
    struct ny_layout own = {.ctx = spec->ctx};
    struct ny_dictionary *dictionary = lay(&own);
    int err;

    *out = NULL;
    if (!dictionary) return ny_layout_end(&own);
    dictionary->own = own;
    dictionary->spec = *spec;
    dictionary->options = *options;
    err = ny_columns_new(&dictionary->none, spec);
    if (!err) err = ny_columns_new(&dictionary->origin, spec);
    if (err)
        ny_dictionary_free(dictionary);
    else
        *out = dictionary;
    return err;
}

/* Frees a panel with its landmarks and its rows of L. */
static void free_panel(struct ny_panel *panel)
{
    struct ny_layout own = panel->own;

    ny_columns_free(panel->columns);
    ny_layout_free(&own);
}

void ny_dictionary_free(struct ny_dictionary *dictionary)
{
    struct ny_layout own;

    if (!dictionary) return;
    own = dictionary->own;
    for (size_t b = 0; b < NY_PANELS_MAX && dictionary->panels[b]; b++)
        free_panel(dictionary->panels[b]);
    ny_columns_free(dictionary->none);
    ny_columns_free(dictionary->origin);
    ny_columns_free(dictionary->all);
    ny_free(own.ctx, dictionary->rows);
    ny_layout_free(&own);
}

size_t ny_dictionary_size(const struct ny_dictionary *dictionary)
{
    return dictionary->count;
}

const uint64_t *ny_dictionary_rows(const struct ny_dictionary *dictionary)
{
    return dictionary->rows;
}

/* Counts what sparse landmarks have of values, no matter in which panel: those of m rows, each of
 * which may have come alone, in the rows and in their index. */
static void plan_values(struct ny_layout *l, const struct ny_columns_spec *spec, size_t m)
{
    const size_t lot = 256, value = sizeof(uint32_t) + sizeof(uint16_t);

    ny_lay(l, NY_MEM_DICTIONARY, m, lot);
    ny_lay(l, NY_MEM_DICTIONARY, ny_values_most(spec, m), value + 2 * ny_dtype_size(spec->dtype));
}

void ny_dictionary_count(struct ny_layout *l, const struct ny_columns_spec *spec, size_t m)
{
    size_t most = 2 * m < NY_DICTIONARY_PANEL ? 2 * m : NY_DICTIONARY_PANEL; /* by doubling */
    struct ny_columns_spec panel = *spec;

    lay(l);
    ny_lay(l, NY_MEM_DICTIONARY, 2 * m, sizeof(uint64_t));
    for (int i = 0; i < 3; i++) /* the origin, none, and those of a row */
        ny_columns_count(l, spec, 1);
    if (spec->slots) plan_values(l, spec, m);
    if (spec->slots) panel.values = 1;
    for (size_t b = 0; b * NY_DICTIONARY_PANEL < m; b++) {
        lay_panel(l, b);
        ny_columns_count(l, &panel, spec->slots ? NY_DICTIONARY_PANEL : most);
    }
}

/* ---- growth --------------------------------------------------------------------------------- */

/* Allocates panel b. A failure leaves the dictionary as it was. */
static int open_panel(struct ny_dictionary *dictionary, size_t b)
{
    struct ny_layout own = {.ctx = dictionary->spec.ctx};
    struct ny_panel *panel;
    int err;

    if (b == NY_PANELS_MAX)
        return ny_fail(own.ctx, NY_EBUDGET,
                       "a dictionary holds at most %d landmarks; raise the "
                       "tolerance",
                       NY_PANELS_MAX * NY_DICTIONARY_PANEL);
    panel = lay_panel(&own, b);
    if (!panel) return ny_layout_end(&own);
    panel->own = own;
    err = ny_columns_new(&panel->columns, &dictionary->spec);
    if (err)
        free_panel(panel);
    else
        dictionary->panels[b] = panel;
    return err;
}

/* Makes room for `count` row numbers, by doubling. */
static int reserve_rows(struct ny_dictionary *dictionary, size_t count)
{
    size_t capacity = dictionary->rows_capacity ? dictionary->rows_capacity : NY_DICTIONARY_PANEL;
    uint64_t *rows;

    if (count <= dictionary->rows_capacity) return NY_OK;
    while (capacity < count)
        capacity *= 2;
    rows = ny_resize(dictionary->spec.ctx, NY_MEM_DICTIONARY, dictionary->rows,
                     capacity * sizeof(*rows));
    if (!rows) return NY_EBUDGET;
    dictionary->rows = rows;
    dictionary->rows_capacity = capacity;
    return NY_OK;
}

int ny_dictionary_push(struct ny_dictionary *dictionary, uint64_t row,
                       const struct ny_factor_row *factor, double largest)
{
    size_t b = dictionary->rank / NY_DICTIONARY_PANEL, i = dictionary->rank % NY_DICTIONARY_PANEL;
    struct ny_panel *panel;
    double *L;
    float *L32;
    int err;

    err = reserve_rows(dictionary, dictionary->count + 1);
    if (!err && (b == NY_PANELS_MAX || !dictionary->panels[b])) err = open_panel(dictionary, b);
    if (err) return err;
    panel = dictionary->panels[b];
    L = panel->L + i * ny_panel_stride(b);
    L32 = panel->L32 + i * ny_panel_stride(b);
    if (factor->Z_count) memcpy(L, factor->Z, factor->Z_count * sizeof(*L));
    if (factor->more_count)
        memcpy(L + factor->Z_count, factor->more, factor->more_count * sizeof(*L));
    L[dictionary->rank] = factor->pivot;
    memset(L + dictionary->rank + 1, 0, (NY_DICTIONARY_PANEL - 1 - i) * sizeof(*L));
    for (size_t j = 0; j < ny_panel_stride(b); j++)
        L32[j] = (float)L[j];
    dictionary->rows[dictionary->count++] = row;
    dictionary->rank++;
    if (largest > dictionary->largest) dictionary->largest = largest;
    return NY_OK;
}

int ny_dictionary_extend(struct ny_dictionary *dictionary, struct ny_raw_rows raw, size_t count,
                         const double *origin_k)
{
    size_t done = 0;

    while (done < count) {
        size_t rank = dictionary->rank - (count - done);
        size_t i = rank % NY_DICTIONARY_PANEL;
        size_t part =
            NY_DICTIONARY_PANEL - i < count - done ? NY_DICTIONARY_PANEL - i : count - done;
        struct ny_panel *panel = dictionary->panels[rank / NY_DICTIONARY_PANEL];
        int err;

        for (size_t j = 0; origin_k && j < part; j++)
            panel->shift[i + j] = origin_k[done + j] - dictionary->origin_k;
        err =
            ny_columns_append(panel->columns, ny_raw_rows_from(&dictionary->spec, raw, done), part);
        if (err) return err;
        done += part;
    }
    return NY_OK;
}

/* The first row of an affine dictionary is its origin, not a landmark of L: then `count` is one
 * more than `rank`. */
int ny_dictionary_start(struct ny_dictionary *dictionary, uint64_t row, struct ny_raw_rows raw,
                        double k)
{
    struct ny_factor_row factor = {.pivot = sqrt(k)};
    int err;

    if (!dictionary->options.affine) {
        err = ny_dictionary_push(dictionary, row, &factor, k);
        return err ? err : ny_dictionary_extend(dictionary, raw, 1, NULL);
    }
    err = reserve_rows(dictionary, 1);
    if (!err) err = ny_columns_append(dictionary->origin, raw, 1);
    if (err) return err;
    dictionary->rows[0] = row;
    dictionary->count = 1;
    dictionary->origin_k = k;
    dictionary->largest = k;
    return NY_OK;
}

int ny_dictionary_truncate(struct ny_dictionary *dictionary, size_t count, double largest)
{
    size_t rank = dictionary->options.affine && count ? count - 1 : count,
           b = rank / NY_DICTIONARY_PANEL;
    struct ny_columns *tail;
    int err = ny_dictionary_tail(&tail, dictionary, rank);

    if (err) return err;
    if (tail) {
        ny_columns_free(dictionary->panels[b]->columns);
        dictionary->panels[b++]->columns = tail;
    }
    for (; b < NY_PANELS_MAX && dictionary->panels[b]; b++) {
        free_panel(dictionary->panels[b]);
        dictionary->panels[b] = NULL;
    }
    dictionary->count = count;
    dictionary->rank = rank;
    dictionary->largest = largest;
    if (count) return NY_OK;
    ny_columns_free(dictionary->origin);
    dictionary->origin = NULL;
    return ny_columns_new(&dictionary->origin, &dictionary->spec);
}

/* ---- readers -------------------------------------------------------------------------------- */

struct ny_prefix ny_dictionary_now(const struct ny_dictionary *dictionary)
{
    size_t b = dictionary->rank / NY_DICTIONARY_PANEL;

    return (struct ny_prefix){
        .rank = dictionary->rank,
        .started = dictionary->count > 0,
        .largest = dictionary->largest,
        .tail = dictionary->rank % NY_DICTIONARY_PANEL ? dictionary->panels[b]->columns : NULL};
}

int ny_dictionary_tail(struct ny_columns **tail, const struct ny_dictionary *dictionary,
                       size_t rank)
{
    size_t b = rank / NY_DICTIONARY_PANEL, count = rank % NY_DICTIONARY_PANEL;
    int err;

    *tail = NULL;
    if (!count) return NY_OK;
    err = ny_columns_new(tail, &dictionary->spec);
    if (err) return err;
    err = ny_columns_append(*tail, ny_columns_rows(dictionary->panels[b]->columns), count);
    if (err) {
        ny_columns_free(*tail);
        *tail = NULL;
    }
    return err;
}

/* The columns are kept for the next call, as long as the number of landmarks is the same; the
 * dictionary owns them. */
struct ny_columns *ny_dictionary_columns(struct ny_dictionary *dictionary)
{
    size_t first = dictionary->options.affine && dictionary->count ? 1 : 0;
    struct ny_columns *all = dictionary->all;
    int err;

    if (all && ny_columns_size(all) == dictionary->count) return all;
    ny_columns_free(all);
    dictionary->all = NULL;
    err = ny_columns_new(&all, &dictionary->spec);
    if (err) return NULL;
    if (first) err = ny_columns_append(all, ny_columns_rows(dictionary->origin), 1);
    for (size_t b = 0; !err && b * NY_DICTIONARY_PANEL < dictionary->rank; b++) {
        const struct ny_columns *columns = dictionary->panels[b]->columns;

        err = ny_columns_append(all, ny_columns_rows(columns), ny_columns_size(columns));
    }
    if (err) {
        ny_columns_free(all);
        return NULL;
    }
    dictionary->all = all;
    return all;
}

/* ---- from L --------------------------------------------------------------------------------- */

/* Rows first … first+count−1 of L, in panel b. */
static struct ny_matrix rows_of_L(const struct ny_dictionary *dictionary, size_t b, size_t first,
                                  size_t count)
{
    struct ny_matrix panel = {dictionary->panels[b]->L, NY_DICTIONARY_PANEL, ny_panel_stride(b),
                              ny_panel_stride(b), false};

    return ny_rows(panel, first - b * NY_DICTIONARY_PANEL, count);
}

/* L_Dᵀ B = L_JDᵀ, as w_JD = L_JD L_Dᵀ: from the last panel backwards. */
void ny_dictionary_coefficients(const struct ny_dictionary *dictionary, size_t first,
                                struct ny_matrix B)
{
    for (size_t j = first; j < dictionary->rank; j++) {
        struct ny_matrix row = rows_of_L(dictionary, j / NY_DICTIONARY_PANEL, j, 1);

        for (size_t i = 0; i < first; i++)
            B.at[i * B.stride + j - first] = row.at[i];
    }
    for (size_t end = first; end > 0;) {
        size_t b = (end - 1) / NY_DICTIONARY_PANEL, at = b * NY_DICTIONARY_PANEL, count = end - at;
        struct ny_matrix L = rows_of_L(dictionary, b, at, count), block = ny_rows(B, at, count);

        ny_solve_lower_t(ny_cols(L, at, count), block);
        if (at > 0) ny_gemm(-1, ny_t(ny_cols(L, 0, at)), block, 1, ny_rows(B, 0, at));
        end = at;
    }
}

/* Computes W1/m = L(Lᵀ1)/m. */
void ny_dictionary_means(const struct ny_dictionary *dictionary, size_t count, double *means)
{
    for (size_t i = 0; i < count; i++)
        means[i] = 0;
    for (size_t i = 0; i < count; i++) {
        struct ny_matrix row = rows_of_L(dictionary, i / NY_DICTIONARY_PANEL, i, 1);

        for (size_t j = 0; j <= i; j++)
            means[j] += row.at[j];
    }
    for (size_t i = count; i-- > 0;)
        means[i] = ny_dot(rows_of_L(dictionary, i / NY_DICTIONARY_PANEL, i, 1).at, means, i + 1) /
                   (double)count;
}

/* ---- image ---------------------------------------------------------------------------------- */

struct image_head {
    uint64_t magic, count, rank, row, affine; /* row: its bytes, or of a sparse one the slots */
    double origin_k, largest, tolerance;
};

/* Images of dense landmarks begin with one number, those of sparse ones with another. */
#define IMAGE_MAGIC UINT64_C(0x31746369446c594e)
#define SPARSE_IMAGE_MAGIC UINT64_C(0x32746369446c594e)

static uint64_t magic_of(const struct ny_columns_spec *spec)
{
    return spec->slots ? SPARSE_IMAGE_MAGIC : IMAGE_MAGIC;
}

/* Bytes of an image before its raw landmarks. */
static size_t image_bytes(size_t count, size_t rank)
{
    return sizeof(struct image_head) + count * sizeof(uint64_t) + rank * sizeof(double) +
           rank * (rank + 1) / 2 * sizeof(double);
}

/* Landmark i of the dictionary, a sparse row: the first of an affine one is its origin. */
static struct ny_sparse sparse_landmark(const struct ny_dictionary *dictionary, size_t i)
{
    size_t origin = dictionary->count - dictionary->rank, at = i - origin;
    const struct ny_columns *columns =
        i < origin ? dictionary->origin : dictionary->panels[at / NY_DICTIONARY_PANEL]->columns;

    return ny_columns_rows(columns).list[i < origin ? i : at % NY_DICTIONARY_PANEL];
}

size_t ny_dictionary_image_most(const struct ny_columns_spec *spec, size_t m)
{
    return image_bytes(m, m) + m * sizeof(uint64_t) + ny_kept_bytes(spec, m);
}

/* Writes the raw landmarks. */
static void save_landmarks(const struct ny_dictionary *dictionary, char *at)
{
    const struct ny_columns_spec *spec = &dictionary->spec;
    size_t bytes = ny_raw_bytes(spec), count = dictionary->count;
    struct ny_sparse_room room = {at + count * sizeof(uint64_t), 0, SIZE_MAX};

    for (size_t i = 0; spec->slots && i < count; i++) {
        struct ny_sparse row = sparse_landmark(dictionary, i), copy;
        uint64_t values = row.count;

        memcpy(at + i * sizeof(values), &values, sizeof(values));
        (void)ny_sparse_room_put(&room, spec->dtype, row, &copy);
    }
    if (spec->slots) return;
    if (dictionary->options.affine && count) {
        memcpy(at, ny_columns_rows(dictionary->origin).at, bytes);
        at += bytes;
    }
    for (size_t b = 0; b * NY_DICTIONARY_PANEL < dictionary->rank; b++) {
        const struct ny_columns *columns = dictionary->panels[b]->columns;

        memcpy(at + b * NY_DICTIONARY_PANEL * bytes, ny_columns_rows(columns).at,
               ny_columns_size(columns) * bytes);
    }
}

/* head, row numbers, shifts, L row by row, raw landmarks: rows, or of sparse ones their counts and
 * their packed values. */
size_t ny_dictionary_save(const struct ny_dictionary *dictionary, void *image)
{
    const struct ny_columns_spec *spec = &dictionary->spec;
    const struct image_head head = {magic_of(spec),
                                    dictionary->count,
                                    dictionary->rank,
                                    spec->slots ? spec->slots : ny_raw_bytes(spec),
                                    dictionary->options.affine,
                                    dictionary->origin_k,
                                    dictionary->largest,
                                    dictionary->options.tolerance};
    size_t rank = dictionary->rank, count = dictionary->count, bytes = image_bytes(count, rank);
    char *at = image, *shift;

    bytes += spec->slots ? count * sizeof(uint64_t) : ny_padded(count * ny_raw_bytes(spec));
    for (size_t i = 0; spec->slots && i < count; i++)
        bytes += ny_sparse_bytes(spec->dtype, sparse_landmark(dictionary, i).count);
    if (!image) return bytes;
    memset(image, 0, bytes);
    memcpy(at, &head, sizeof(head));
    at += sizeof(head);
    if (count) memcpy(at, dictionary->rows, count * sizeof(uint64_t));
    shift = at + count * sizeof(uint64_t);
    at = shift + rank * sizeof(double);
    for (size_t b = 0; b * NY_DICTIONARY_PANEL < rank; b++) {
        const struct ny_panel *panel = dictionary->panels[b];
        size_t landmarks = ny_columns_size(panel->columns);

        memcpy(shift + b * NY_DICTIONARY_PANEL * sizeof(double), panel->shift,
               landmarks * sizeof(double));
        for (size_t i = 0; i < landmarks; i++) {
            size_t entries = b * NY_DICTIONARY_PANEL + i + 1;

            memcpy(at, panel->L + i * ny_panel_stride(b), entries * sizeof(double));
            at += entries * sizeof(double);
        }
    }
    save_landmarks(dictionary, at);
    return bytes;
}

/* Tells whether the columns of a row ascend below d: they are used as indices. */
static bool ascending(const uint32_t *index, size_t count, size_t d)
{
    for (size_t k = 0; k < count; k++)
        if (index[k] >= d || (k && index[k] <= index[k - 1])) return false;
    return true;
}

/* Finds the sparse landmarks of an image, which begin at `at` and take `bytes`. */
static bool view_landmarks(const struct ny_columns_spec *spec, const char *at, size_t bytes,
                           size_t count, struct ny_sparse *views)
{
    size_t done = count * sizeof(uint64_t);

    if (done > bytes) return false;
    for (size_t i = 0; i < count; i++) {
        const uint32_t *index = (const uint32_t *)(const void *)(at + done);
        uint64_t values;

        memcpy(&values, at + i * sizeof(values), sizeof(values));
        if (values > spec->slots || ny_sparse_bytes(spec->dtype, values) > bytes - done ||
            !ascending(index, values, spec->geometry->d))
            return false;
        views[i] =
            (struct ny_sparse){values, index, at + done + ny_padded(values * sizeof(uint32_t))};
        done += ny_sparse_bytes(spec->dtype, values);
    }
    return done == bytes;
}

/* Rows that were appended since may have more values than any before: more slots than the image. */
static bool fits_rows(const struct ny_columns_spec *spec, uint64_t row)
{
    return spec->slots ? row > 0 && row <= spec->slots : row == ny_raw_bytes(spec);
}

/* Checks the head; *landmarks: the bytes of the raw landmarks. */
static int check_image(const struct ny_dictionary *dictionary, const struct image_head *head,
                       size_t bytes, size_t *landmarks)
{
    const struct ny_columns_spec *spec = &dictionary->spec;
    uint64_t origin = dictionary->options.affine && head->count ? 1 : 0;
    size_t before;

    if (head->magic != magic_of(spec) || !fits_rows(spec, head->row) ||
        head->affine != (uint64_t)dictionary->options.affine ||
        head->tolerance != dictionary->options.tolerance || head->count != head->rank + origin ||
        head->count > (uint64_t)NY_PANELS_MAX * NY_DICTIONARY_PANEL)
        return ny_fail_damaged(dictionary->spec.ctx, NULL, NULL);
    before = image_bytes(head->count, head->rank);
    *landmarks = bytes - before;
    if (before > bytes || (!spec->slots && ny_padded(head->count * head->row) != *landmarks))
        return ny_fail_damaged(dictionary->spec.ctx, NULL, NULL);
    return NY_OK;
}

int ny_dictionary_restore(struct ny_dictionary *dictionary, const void *image, size_t bytes)
{
    struct image_head head = {0};
    const struct ny_columns_spec *spec = &dictionary->spec;
    size_t origin, landmarks = 0;
    const char *rows, *shift, *L, *at;
    struct ny_sparse *views = NULL;
    struct ny_raw_rows raw;
    int err;

    if (bytes >= sizeof(head)) memcpy(&head, image, sizeof(head));
    err = check_image(dictionary, &head, bytes, &landmarks);
    if (err || !head.count) return err;
    rows = (const char *)image + sizeof(head);
    shift = rows + head.count * sizeof(uint64_t);
    L = shift + head.rank * sizeof(double);
    at = L + head.rank * (head.rank + 1) / 2 * sizeof(double);
    raw = ny_raw_rows(at);
    if (spec->slots) {
        views = ny_calloc(spec->ctx, NY_MEM_DICTIONARY, head.count, sizeof(*views));
        if (!views) return NY_EBUDGET;
        raw = ny_raw_list(views);
        if (!view_landmarks(spec, at, landmarks, head.count, views)) {
            err = ny_fail_damaged(dictionary->spec.ctx, NULL, NULL);
            goto done;
        }
    }
    origin = head.count - head.rank;
    dictionary->origin_k = head.origin_k;
    err = reserve_rows(dictionary, head.count);
    if (!err && origin) err = ny_columns_append(dictionary->origin, raw, 1);
    if (err) goto done;
    dictionary->count = origin;
    for (size_t r = 0; r < head.rank; r++) {
        struct ny_factor_row factor = {.Z = (const double *)(const void *)L, .Z_count = r};

        memcpy(&factor.pivot, L + r * sizeof(double), sizeof(double));
        err = ny_dictionary_push(dictionary, 0, &factor, head.largest);
        if (err) goto done;
        L += (r + 1) * sizeof(double);
    }
    memcpy(dictionary->rows, rows, head.count * sizeof(uint64_t));
    err = ny_dictionary_extend(dictionary, ny_raw_rows_from(spec, raw, origin), head.rank, NULL);
    for (size_t b = 0; b * NY_DICTIONARY_PANEL < head.rank; b++) {
        size_t left = head.rank - b * NY_DICTIONARY_PANEL;

        memcpy(dictionary->panels[b]->shift, shift + b * NY_DICTIONARY_PANEL * sizeof(double),
               (left < NY_DICTIONARY_PANEL ? left : NY_DICTIONARY_PANEL) * sizeof(double));
    }
    dictionary->largest = head.largest;
done:
    ny_free(spec->ctx, views);
    return err;
}
