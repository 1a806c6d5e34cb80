/*
 * Reads the lists of samples and variants that PLINK keeps beside a table of genotypes.
 *
 * A column of the points is called by its variant and by the allele that it counts, as PLINK calls
 * the columns of its text files: rs123_A. So rows that are appended, or placed, later are matched
 * by both: where their file has the alleles of a variant the other way round, as files that were
 * written from fewer samples often have, the other allele is counted.
 */
#include "io/plink.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/checksum.h"
#include "base/compare.h"
#include "base/memory.h"
#include "io/like.h"
#include "io/number.h"
#include "io/refuse.h"

/* ---- lines ---------------------------------------------------------------------------------- */

int ny_plink_open(struct ny_bytes **out, struct ny_reader *reader, const char *ending)
{
    size_t length = strlen(reader->path);
    const size_t own = strlen(".bed");
    char *path;
    int err;

    if (length <= own || strcasecmp(reader->path + length - own, ".bed") != 0)
        return ny_fail_at(reader->ctx, NY_EUSAGE, reader->path, NY_NO_LINE,
                          "%s: the samples and variants of a .bed file are in a .fam and a .bim "
                          "file of the same name beside it; give the name of the .bed file",
                          reader->path);
    length -= own;
    path = ny_alloc(reader->ctx, NY_MEM_IO, length + strlen(ending) + 1);
    if (!path) return NY_EBUDGET;
    memcpy(path, reader->path, length);
    memcpy(path + length, ending, strlen(ending) + 1);
    err = ny_bytes_open(out, reader->ctx, path);
    ny_free(reader->ctx, path);
    return err;
}

int ny_plink_next(struct ny_bytes *list, struct ny_plink_line *line)
{
    const char *first, *last, *newline;
    size_t count = 0;
    int err;

    do {
        if (list->ended && list->at == list->end) return NY_END;
        err = ny_bytes_trimmed_line(list, &first, &last, &newline);
        if (err) return err;
        list->at = newline ? newline + 1 : list->end;
        list->line++;
    } while (first == last);
    if (memchr(first, '\0', (size_t)(last - first)))
        return ny_refuse_line(list->ctx, list->path, list->line - 1,
                              "a line holds a NUL byte; is this a text file?");
    while (first < last) {
        const char *end = first;

        while (end < last && !ny_is_blank(*end))
            end++;
        if (count < NY_PLINK_FIELDS) {
            line->field[count] = first;
            line->length[count] = (size_t)(end - first);
        }
        count++;
        for (first = end; first < last && ny_is_blank(*first);)
            first++;
    }
    if (count == NY_PLINK_FIELDS) return NY_OK;
    return ny_refuse_line(list->ctx, list->path, list->line - 1, "a line has six fields");
}

/* Goes back to the first line after a look at all of them, which `err` has ended. */
static int begin_again(struct ny_bytes *list, int err)
{
    if (err != NY_END) return err;
    return list->regular ? ny_bytes_rewind(list) : ny_refuse_pipe(list->ctx, NY_EUSAGE, list->path);
}

static bool field_is(const struct ny_plink_line *line, size_t k, const char *word)
{
    return line->length[k] == strlen(word) && memcmp(line->field[k], word, line->length[k]) == 0;
}

/* ---- samples -------------------------------------------------------------------------------- */

/* Tells whether a phenotype is one that stands for none, whatever the others are. */
static bool is_absent(const struct ny_plink_line *line)
{
    return field_is(line, NY_FAM_PHENOTYPE, "-9") || field_is(line, NY_FAM_PHENOTYPE, "NA") ||
           field_is(line, NY_FAM_PHENOTYPE, "nan");
}

/* Tells whether a phenotype is a number. */
static bool is_number(const struct ny_plink_line *line)
{
    const char *field = line->field[NY_FAM_PHENOTYPE];
    double value;

    return ny_number(field, &value) == field + line->length[NY_FAM_PHENOTYPE];
}

int ny_plink_count(struct ny_bytes *fam, struct ny_plink_samples *samples)
{
    struct ny_plink_line line;
    bool any = false;
    int err;

    *samples = (struct ny_plink_samples){0};
    while ((err = ny_plink_next(fam, &line)) == NY_OK) {
        bool zero = field_is(&line, NY_FAM_PHENOTYPE, "0"), absent = is_absent(&line);
        bool one = field_is(&line, NY_FAM_PHENOTYPE, "1"),
             two = field_is(&line, NY_FAM_PHENOTYPE, "2");

        samples->count++;
        samples->zero_says |= !(zero || absent || one || two) && is_number(&line);
        any = any || !(zero || absent);
    }
    samples->labels = any;
    return begin_again(fam, err);
}

/* Returns a hash of a sample's name. */
static uint64_t hash_of(const struct ny_plink_line *line)
{
    const char *fid = line->field[NY_FAM_FID], *iid = line->field[NY_FAM_IID];

    return ny_checksum(iid, line->length[NY_FAM_IID]) +
           0x9e3779b97f4a7c15u * ny_checksum(fid, line->length[NY_FAM_FID]);
}

/* Refuses the second of the samples whose names have this hash. */
static int refuse_second(struct ny_bytes *fam, uint64_t hash)
{
    struct ny_plink_line line;
    uint64_t first = 0;
    int err;

    while ((err = ny_plink_next(fam, &line)) == NY_OK) {
        if (hash_of(&line) != hash) continue;
        if (first)
            return ny_fail_at(fam->ctx, NY_EDATA, fam->path, fam->line - 1,
                              "%s, line %llu: the sample has the FID and IID of that in line %llu",
                              fam->path, (unsigned long long)(fam->line - 1),
                              (unsigned long long)first);
        first = fam->line - 1;
    }
    return begin_again(fam, err);
}

int ny_plink_unique(struct ny_bytes *fam, uint64_t count)
{
    uint64_t *hash = ny_alloc(fam->ctx, NY_MEM_IO, (size_t)count * sizeof(*hash));
    struct ny_plink_line line;
    uint64_t i = 0;
    int err = hash ? NY_OK : NY_EBUDGET;

    while (!err && (err = ny_plink_next(fam, &line)) == NY_OK && i < count)
        hash[i++] = hash_of(&line);
    err = begin_again(fam, err);
    if (!err) qsort(hash, (size_t)i, sizeof(*hash), ny_compare_rows);
    for (uint64_t k = 1; !err && k < i; k++)
        if (hash[k] == hash[k - 1]) err = refuse_second(fam, hash[k]);
    ny_free(fam->ctx, hash);
    return err;
}

static int take_phenotype(struct ny_reader *reader, struct ny_bytes *fam,
                          const struct ny_plink_samples *samples, const struct ny_plink_line *line,
                          double *label)
{
    char text[NY_CLASS_BYTES_MAX + 1];
    size_t length = line->length[NY_FAM_PHENOTYPE];

    *label = NAN;
    if (is_absent(line) || (!samples->zero_says && field_is(line, NY_FAM_PHENOTYPE, "0")))
        return NY_OK;
    if (length > NY_CLASS_BYTES_MAX)
        return ny_refuse_line(reader->ctx, fam->path, fam->line - 1, "the phenotype is too long");
    memcpy(text, line->field[NY_FAM_PHENOTYPE], length);
    text[length] = '\0';
    return ny_classes_label(reader->classes, fam->path, fam->line - 1, text, length, label);
}

int ny_plink_sample(struct ny_reader *reader, struct ny_bytes *fam,
                    const struct ny_plink_samples *samples, double *label, struct ny_names *names)
{
    struct ny_plink_line line;
    char name[NY_NAME_BYTES_MAX + 1];
    int length, err = ny_plink_next(fam, &line);

    if (err == NY_END) return ny_refuse_count(reader->ctx, fam->path, reader->path);
    if (!err && label) err = take_phenotype(reader, fam, samples, &line, label);
    if (err || !names) return err;
    length = snprintf(name, sizeof(name), "%.*s %.*s", (int)line.length[NY_FAM_FID],
                      line.field[NY_FAM_FID], (int)line.length[NY_FAM_IID], line.field[NY_FAM_IID]);
    if (length > NY_NAME_BYTES_MAX)
        return ny_refuse_line(reader->ctx, fam->path, fam->line - 1, "the name is too long");
    return ny_names_add(names, reader->ctx, name, (size_t)length);
}

/* ---- variants ------------------------------------------------------------------------------- */

/* The names of columns that rows are to have, in the order of their texts. */
struct wanted {
    struct ny_names names;
    const char **sorted;
};

static int by_text(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static int load_wanted(struct wanted *wanted, struct ny_reader *reader)
{
    const struct ny_columns_like *like = reader->options.like;
    const char *name;
    int err = like ? like->load(like->arg, &wanted->names) : NY_OK;

    if (err || !wanted->names.count) return err;
    wanted->sorted = ny_calloc(reader->ctx, NY_MEM_IO, wanted->names.count, sizeof(char *));
    if (!wanted->sorted) return NY_EBUDGET;
    name = wanted->names.text;
    for (size_t i = 0; i < wanted->names.count; i++, name += strlen(name) + 1)
        wanted->sorted[i] = name;
    qsort(wanted->sorted, wanted->names.count, sizeof(char *), by_text);
    return NY_OK;
}

static void end_wanted(struct wanted *wanted, struct ny_reader *reader)
{
    ny_names_release(&wanted->names, reader->ctx);
    ny_free(reader->ctx, wanted->sorted);
}

static bool is_wanted(const struct wanted *wanted, const char *name)
{
    return bsearch(&name, wanted->sorted, wanted->names.count, sizeof(char *), by_text) != NULL;
}

/* Writes the name of a variant's column that counts this allele; returns its length. A variant
 * without an identifier is called by its place. */
static size_t name_of(const struct ny_plink_line *line, size_t allele, char *name, size_t room)
{
    int length;

    if (field_is(line, NY_BIM_ID, "."))
        length =
            snprintf(name, room, "%.*s:%.*s_%.*s", (int)line->length[NY_BIM_CHROMOSOME],
                     line->field[NY_BIM_CHROMOSOME], (int)line->length[NY_BIM_POSITION],
                     line->field[NY_BIM_POSITION], (int)line->length[allele], line->field[allele]);
    else
        length = snprintf(name, room, "%.*s_%.*s", (int)line->length[NY_BIM_ID],
                          line->field[NY_BIM_ID], (int)line->length[allele], line->field[allele]);
    return length < (int)room ? (size_t)length : room;
}

/* Tells whether the alleles are those of each other's strand, A and T or C and G, so that a file
 * which was written from the other strand looks like one that counts the other allele. */
static bool is_ambiguous(const struct ny_plink_line *line)
{
    const char pair[] = {*line->field[NY_BIM_FIRST], *line->field[NY_BIM_SECOND], '\0'};

    return line->length[NY_BIM_FIRST] == 1 && line->length[NY_BIM_SECOND] == 1 &&
           strstr("ATA CGC", pair) != NULL;
}

static int by_start(const void *start, const void *name)
{
    const char *sought = *(const char *const *)start;

    return strncmp(sought, *(const char *const *)name, strlen(sought));
}

/* Returns the one column that is wanted of a variant, whatever allele it counts; NULL: none is, or
 * several. */
static const char *wanted_of(const struct wanted *wanted, const struct ny_plink_line *line)
{
    char name[NY_NAME_BYTES_MAX + 1], *start = name;
    const char *const *at, *const *end = wanted->sorted + wanted->names.count;
    const char *only = NULL;

    name_of(line, NY_BIM_FIRST, name, sizeof(name));
    strrchr(name, '_')[1] = '\0';
    at = bsearch(&start, wanted->sorted, wanted->names.count, sizeof(char *), by_start);
    while (at && at > wanted->sorted && by_start(&start, at - 1) == 0)
        at--;
    for (; at && at < end && by_start(&start, at) == 0; at++) {
        if (strchr(*at + strlen(name), '_')) continue; /* of a variant with a longer name */
        if (only) return NULL;
        only = *at;
    }
    return only;
}

/* Adds the name of the next variant; *flip: by its other allele, as the rows to come are to have
 * it. An allele that no sample of the file has is 0 there, which may be any. */
static int add_variant(struct ny_reader *reader, struct ny_bytes *bim,
                       const struct ny_plink_line *line, const struct wanted *wanted, bool *flip)
{
    char name[NY_NAME_BYTES_MAX + 1], other[NY_NAME_BYTES_MAX + 1];
    size_t length = name_of(line, NY_BIM_FIRST, name, sizeof(name)), other_length;

    *flip = false;
    if (length > NY_NAME_BYTES_MAX)
        return ny_refuse_line(reader->ctx, bim->path, bim->line - 1, "the name is too long");
    if (wanted->sorted && !is_wanted(wanted, name)) {
        bool first = field_is(line, NY_BIM_FIRST, "0"), second = field_is(line, NY_BIM_SECOND, "0");
        const char *any = first || second ? wanted_of(wanted, line) : NULL;

        other_length = name_of(line, NY_BIM_SECOND, other, sizeof(other));
        *flip = other_length <= NY_NAME_BYTES_MAX && is_wanted(wanted, other);
        if (*flip) return ny_names_add(&reader->columns, reader->ctx, other, other_length);
        *flip = any && second;
        if (any) return ny_names_add(&reader->columns, reader->ctx, any, strlen(any));
    }
    return ny_names_add(&reader->columns, reader->ctx, name, length);
}

/* Tells of variants that are counted by their other allele. */
static void tell_flipped(const struct ny_reader *reader, uint64_t flipped, uint64_t ambiguous)
{
    if (reader->options.again) return;
    if (flipped)
        ny_log(reader->ctx, NY_LOG_NOTE,
               "%s: %llu variants are counted by their other allele, as in the rows before",
               reader->path, (unsigned long long)flipped);
    if (ambiguous)
        ny_log(reader->ctx, NY_LOG_WARNING,
               "%s: %llu of them are A/T or C/G, which the other strand looks like; leave such "
               "variants out of both files if these may be of two strands",
               reader->path, (unsigned long long)ambiguous);
}

static int count_lines(struct ny_bytes *bim, uint64_t *count)
{
    struct ny_plink_line line;
    int err;

    *count = 0;
    while ((err = ny_plink_next(bim, &line)) == NY_OK)
        ++*count;
    return begin_again(bim, err);
}

int ny_plink_variants(struct ny_reader *reader, struct ny_bytes *bim,
                      struct ny_plink_variants *variants)
{
    struct wanted wanted = {0};
    uint64_t flipped = 0, ambiguous = 0;
    struct ny_plink_line line;
    int err = count_lines(bim, &variants->count);

    if (err || !reader->options.names) return err;
    err = load_wanted(&wanted, reader);
    if (!err && wanted.sorted) {
        variants->flipped = ny_lay(&reader->own, NY_MEM_IO, (size_t)variants->count, sizeof(bool));
        err = reader->own.err;
    }
    for (uint64_t j = 0; !err && j < variants->count; j++) {
        bool flip;

        err = ny_plink_next(bim, &line);
        if (!err) err = add_variant(reader, bim, &line, &wanted, &flip);
        if (err || !flip) continue;
        variants->flipped[j] = true;
        flipped++;
        ambiguous += is_ambiguous(&line);
    }
    if (!err) tell_flipped(reader, flipped, ambiguous);
    end_wanted(&wanted, reader);
    return err;
}
