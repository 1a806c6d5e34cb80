/* Compares what rows have in common (base/traits.h). */
#include "base/traits.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/checksum.h"
#include "base/memory.h"

#define ULL(x) ((unsigned long long)(x))

uint64_t ny_names_digest_of(const struct ny_names *names, size_t count)
{
    if (!count) return 0;
    return ny_checksum(names->text, (size_t)(ny_names_skip(names->text, count) - names->text));
}

uint64_t ny_names_digest(const struct ny_names *names)
{
    return ny_names_digest_of(names, names->count);
}

/* ---- names ----------------------------------------------------------------------------------- */

struct place {
    const char *name;
    uint32_t column;
};

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct place *)a)->name, ((const struct place *)b)->name);
}

/* Lists names in the order of the alphabet; NULL: there is no memory. */
static struct place *sort(struct ny_context *ctx, const struct ny_names *names)
{
    struct place *sorted = ny_calloc(ctx, NY_MEM_IO, names->count, sizeof(*sorted));
    const char *name = names->text;

    for (size_t j = 0; sorted && j < names->count; j++, name += strlen(name) + 1)
        sorted[j] = (struct place){name, (uint32_t)j};
    if (sorted) qsort(sorted, names->count, sizeof(*sorted), by_name);
    return sorted;
}

/* Finds columns of the same names: *place stays NULL where two share a name, or one is missing. */
static int find_places(struct ny_context *ctx, const struct ny_names *mine,
                       const struct ny_names *theirs, uint32_t **place)
{
    size_t count = mine->count;
    struct place *from = sort(ctx, mine), *to = sort(ctx, theirs);
    uint32_t *found = ny_calloc(ctx, NY_MEM_IO, count, sizeof(*found));
    int err = from && to && found ? NY_OK : NY_EBUDGET;
    bool same = !err;

    for (size_t j = 0; same && j < count; j++) {
        same = by_name(&from[j], &to[j]) == 0 && (j == 0 || by_name(&from[j - 1], &from[j]) != 0);
        found[to[j].column] = from[j].column;
    }
    if (same) *place = found;
    if (!same) ny_free(ctx, found);
    ny_free(ctx, from);
    ny_free(ctx, to);
    return err;
}

/* Fails because of digests that differ, of shards. */
static int differ_by_digest(struct ny_context *ctx, const struct ny_party *mine,
                            const struct ny_party *theirs, const char *what)
{
    return ny_fail_at(
        ctx, NY_EDATA, mine->file, NY_NO_LINE,
        "the %s of %s have other names, or another order, than those of %s: import it "
        "again with --like FOLDER, the folder of the other",
        what, mine->whose, theirs->whose);
}

/* Fails at the first column that is called otherwise. */
static int differ_in_columns(struct ny_context *ctx, const struct ny_party *mine,
                             const struct ny_party *theirs)
{
    const char *one, *other;
    size_t j = 0;

    if (!mine->columns || !theirs->columns) return differ_by_digest(ctx, mine, theirs, "columns");
    one = mine->columns->text;
    other = theirs->columns->text;
    for (; j + 1 < mine->traits.d && strcmp(one, other) == 0; j++) {
        one += strlen(one) + 1;
        other += strlen(other) + 1;
    }
    return ny_fail_at(ctx, NY_EDATA, mine->file, NY_NO_LINE,
                      "column %zu (from 0) of %s is called '%.80s', but that of %s '%.80s': give "
                      "rows of the same columns, in the same order",
                      j, mine->whose, one, theirs->whose, other);
}

static int compare_columns(struct ny_context *ctx, const struct ny_party *mine,
                           const struct ny_party *theirs, unsigned same, uint32_t **place)
{
    uint64_t a = mine->traits.columns, b = theirs->traits.columns;
    int err = NY_OK;

    if ((same & NY_SAME_NAMED) && !a != !b)
        return ny_fail(ctx, NY_EDATA,
                       "the columns of %s have %s, but those of %s have %s: import it again, %s",
                       mine->whose, a ? "names" : "no names", theirs->whose,
                       b ? "names" : "no names", b ? "with names of columns" : "with --header no");
    if ((same & NY_SAME_NOTED) && !a != !b)
        ny_log(ctx, NY_LOG_NOTE, "the columns of %s have no names: those of %s are taken in order",
               a ? theirs->whose : mine->whose, a ? mine->whose : theirs->whose);
    if (!a || !b || a == b) return NY_OK;
    if (place && mine->columns && theirs->columns)
        err = find_places(ctx, mine->columns, theirs->columns, place);
    if (err || (place && *place)) return err;
    return differ_in_columns(ctx, mine, theirs);
}

/* ---- all --------------------------------------------------------------------------------------
 */

int ny_traits_compare(struct ny_context *ctx, const struct ny_party *mine,
                      const struct ny_party *theirs, unsigned same, uint32_t **place)
{
    static const char *const layouts[] = {"dense", "sparse"};
    static const char *const kinds[] = {"numbers that are no genotypes", "genotypes of PLINK"};
    const struct ny_traits *a = &mine->traits, *b = &theirs->traits;
    char rows[2][NY_PREPARED_WORD_BYTES];

    if (place) *place = NULL;
    if (!a->d || !b->d) return NY_OK;
    if ((same & NY_SAME_D) && a->d != b->d)
        return ny_fail(
            ctx, NY_EDATA,
            "%s has %llu columns, but %s has %llu: import it again with the same columns",
            mine->whose, ULL(a->d), theirs->whose, ULL(b->d));
    if (a->dtype && b->dtype && (a->dtype == NY_GENOTYPE) != (b->dtype == NY_GENOTYPE))
        return ny_fail_at(ctx, NY_EDATA, mine->file, NY_NO_LINE,
                          "%s has %s, but %s has %s: give a file of the same kind", mine->whose,
                          kinds[a->dtype == NY_GENOTYPE], theirs->whose,
                          kinds[b->dtype == NY_GENOTYPE]);
    if ((same & NY_SAME_DTYPE) && a->dtype != b->dtype)
        return ny_fail(ctx, NY_EDATA,
                       "%s has values of type %s, but %s has %s: import it again with --dtype %s",
                       mine->whose, ny_dtype_name(a->dtype), theirs->whose, ny_dtype_name(b->dtype),
                       ny_dtype_name(b->dtype));
    if ((same & NY_SAME_LAYOUT) && a->layout != b->layout)
        return ny_fail(ctx, NY_EDATA,
                       "%s has %s rows, but %s has %s ones: import it again with --layout %s",
                       mine->whose, layouts[a->layout == NY_CSR], theirs->whose,
                       layouts[b->layout == NY_CSR], layouts[b->layout == NY_CSR]);
    if ((same & NY_SAME_PREPARATION) && !ny_prepared_same(&a->preparation, &b->preparation))
        return ny_fail(ctx, NY_EDATA,
                       "%s has rows prepared by --rows %s --values %s, but %s has --rows %s "
                       "--values %s: import it again with these",
                       mine->whose, ny_prepared_rows(&a->preparation, rows[0]),
                       ny_prepared_values(&a->preparation), theirs->whose,
                       ny_prepared_rows(&b->preparation, rows[1]),
                       ny_prepared_values(&b->preparation));
    if ((same & NY_SAME_CLASSES) && a->classes != b->classes)
        return differ_by_digest(ctx, mine, theirs, "classes");
    return (same & NY_SAME_COLUMNS) && a->d == b->d
               ? compare_columns(ctx, mine, theirs, same, place)
               : NY_OK;
}
