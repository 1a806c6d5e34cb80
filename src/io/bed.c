/*
 * PLINK 1 binary: genotypes of samples at variants, two bits each, in a .bed file, with the samples
 * in a .fam and the variants in a .bim file of the same name. Rows of points are samples, columns
 * variants, and a value is how many alleles of the first kind (A1) the sample has, 0 to 2, or
 * missing. Files have a record a variant, so that rows are made by io/snp_major.c. The phenotype,
 * or a word such as a population in its place, becomes the label.
 */
#include "base/memory.h"
#include "io/like.h"
#include "io/plink.h"
#include "io/refuse.h"
#include "io/row_sort.h"
#include "io/snp_major.h"

enum { MAGIC_BYTES = 3 };

struct bed {
    struct ny_bytes *fam;
    struct ny_plink_samples samples;
    struct ny_plink_variants variants;
    struct ny_snp_major *table;
};

/* The third byte tells the order; files that have it otherwise are refused when they are opened. */
static enum ny_guess probe(const char *head, size_t length)
{
    return length >= MAGIC_BYTES && head[0] == 0x6c && head[1] == 0x1b && (head[2] | 1) == 1
               ? NY_GUESS_SURE
               : NY_GUESS_NO;
}

/* Reads the magic number. */
static int check_magic(struct ny_reader *reader)
{
    struct ny_bytes *bytes = reader->bytes;
    int err = ny_bytes_need(bytes, MAGIC_BYTES);

    if (err) return err;
    if (probe(bytes->at, (size_t)(bytes->end - bytes->at)) == NY_GUESS_NO)
        return ny_refuse_format(reader->ctx, reader->path, "bed");
    if (bytes->at[2] == 0)
        return ny_fail_at(reader->ctx, NY_EDATA, reader->path, NY_NO_LINE,
                          "%s has a record for each sample, as only PLINK before 1.9 writes it; "
                          "write it again with plink --make-bed",
                          reader->path);
    bytes->at += MAGIC_BYTES;
    return NY_OK;
}

/* Compares the size of the file with what the lists say. */
static int check_size(struct ny_reader *reader, const struct bed *bed)
{
    uint64_t record = (bed->samples.count + 3) / 4, left = ny_bytes_left(reader->bytes);

    if (!bed->samples.count || !bed->variants.count)
        return ny_refuse_empty(reader->ctx, reader->path);
    if (bed->variants.count > NY_FILE_COLUMNS_MAX)
        return ny_refuse_wide(reader->ctx, reader->path, bed->variants.count);
    if (left == NY_BYTES_UNKNOWN || left == record * bed->variants.count) return NY_OK;
    return ny_fail_at(reader->ctx, NY_EDATA, reader->path, NY_NO_LINE,
                      "%s has not the size of %llu samples (.fam) at %llu variants (.bim): it is "
                      "truncated, or a list is that of another file",
                      reader->path, (unsigned long long)bed->samples.count,
                      (unsigned long long)bed->variants.count);
}

/* Reads the lists beside the file; that of samples stays open. */
static int read_lists(struct ny_reader *reader, struct bed *bed)
{
    struct ny_bytes *bim = NULL;
    int err = ny_plink_open(&bed->fam, reader, ".fam");

    if (!err) err = ny_plink_count(bed->fam, &bed->samples);
    if (!err) err = ny_plink_unique(bed->fam, bed->samples.count);
    if (!err) err = ny_plink_open(&bim, reader, ".bim");
    if (!err) err = ny_plink_variants(reader, bim, &bed->variants);
    ny_bytes_close(bim);
    return err;
}

static int open_bed(struct ny_reader *reader)
{
    struct ny_file_table *table = &reader->table;
    struct bed *bed = ny_lay(&reader->own, NY_MEM_IO, 1, sizeof(*bed));
    struct ny_snp_major_shape shape = {0};
    int err;

    reader->state = bed;
    if (!bed) return NY_EBUDGET;
    err = check_magic(reader);
    if (!err && reader->options.dtype && !reader->options.dtype_follows)
        err = ny_fail_idle(reader->ctx, "dtype", "bed");
    if (!err) err = read_lists(reader, bed);
    if (!err) err = check_size(reader, bed);
    table->dtype = NY_GENOTYPE;
    if (!err) err = ny_like_place(reader);
    if (err) return err;
    table->rows = bed->samples.count;
    table->d = reader->place ? reader->options.like->count : bed->variants.count;
    table->labels = bed->samples.labels && !reader->options.labels_file;
    table->names = reader->options.names;
    shape.samples = bed->samples.count;
    shape.variants = bed->variants.count;
    shape.scratch = ny_scratch_folder(reader);
    shape.place = reader->place;
    shape.flipped = bed->variants.flipped;
    shape.columns = (size_t)table->d;
    return ny_snp_major_new(&bed->table, reader->bytes, &shape);
}

static int next_bed(struct ny_reader *reader, size_t max_rows, struct ny_row_batch *batch)
{
    struct bed *bed = reader->state;
    size_t d = (size_t)reader->table.d;
    uint64_t left = bed->samples.count - reader->consumed;
    size_t count = left < max_rows ? (size_t)left : max_rows;
    uint8_t *to = (uint8_t *)batch->values + batch->count * d;
    int err;

    if (!left) return NY_END;
    err = ny_snp_major_rows(bed->table, reader->consumed, count, to);
    for (size_t i = 0; i < count && !err; i++) {
        double label;

        err = ny_plink_sample(reader, bed->fam, &bed->samples, &label,
                              reader->table.names ? batch->names : NULL);
        if (err) break;
        if (batch->labels && reader->table.labels) batch->labels[batch->count] = label;
        if (batch->source) batch->source[batch->count] = reader->consumed;
        batch->count++;
        reader->consumed++;
    }
    return err;
}

/* Words of phenotypes that are passed over get their numbers, too. */
static int skip_bed(struct ny_reader *reader, uint64_t rows)
{
    struct bed *bed = reader->state;
    double label;
    int err = NY_OK;

    for (uint64_t i = 0; i < rows && reader->consumed < bed->samples.count && !err; i++) {
        err = ny_plink_sample(reader, bed->fam, &bed->samples, &label, NULL);
        reader->consumed += !err;
    }
    return err;
}

static void close_bed(struct ny_reader *reader)
{
    struct bed *bed = reader->state;

    ny_snp_major_free(bed->table);
    ny_bytes_close(bed->fam);
}

const struct ny_format ny_format_bed = {
    .probe = probe, .open = open_bed, .next = next_bed, .skip = skip_bed, .close = close_bed};
