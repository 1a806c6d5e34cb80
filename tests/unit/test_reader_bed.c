/* io/bed.c: genotypes of PLINK, with the lists of samples and variants beside them. */
#include "reader_support.h"

#include "base/random.h"
#include "io/format.h"

enum { SAMPLES = 6, VARIANTS = 4, GONE = NY_GENOTYPE_MISSING };

/* How many first alleles samples have, by variants. */
static const uint8_t counts[VARIANTS][SAMPLES] = {
    {0, 1, 2, GONE, 2, 1}, {2, 2, 2, 2, 2, 0}, {GONE, 0, 0, 1, 1, GONE}, {1, 1, 0, 2, GONE, 0}};

#define FIVE "F1 a 0 0 1 P0\nF1\tb\t0\t0\t2\tP1\n\nF2 c 0 0 0 P0\nF2 d 0 0 0 -9\nF3 e 0 0 0 P2\n"
#define FAM FIVE "0 f 0 0 0 P1\n"
#define BIM "1\trs1\t0\t100\tA\tG\n1 rs2 0 200 C T\n2\t.\t0\t300\tAC\tA\n23\trs4\t0.5\t400\tA\tT\n"

/* The bytes of a file with these counts, `stride` of a variant. */
static size_t pack(const uint8_t *of, size_t stride, size_t samples, size_t variants, uint8_t *file)
{
    static const uint8_t magic[] = {0x6c, 0x1b, 1}, code[] = {3, 2, 0, 1};
    size_t record = (samples + 3) / 4;

    memcpy(file, magic, sizeof(magic));
    memset(file + sizeof(magic), 0, record * variants);
    for (size_t j = 0; j < variants; j++)
        for (size_t i = 0; i < samples; i++)
            file[sizeof(magic) + j * record + i / 4] |=
                (uint8_t)(code[of[j * stride + i]] << 2 * (i % 4));
    return sizeof(magic) + record * variants;
}

/* Writes the three files; returns the name of the first. */
static const char *write_files(const char *fam, const char *bim)
{
    uint8_t file[64];
    size_t bytes = pack(&counts[0][0], SAMPLES, SAMPLES, VARIANTS, file);

    support_text("c.fam", fam);
    support_text("c.bim", bim);
    return support_file("c.bed", file, bytes);
}

TEST(rows_are_samples)
{
    const char *path = write_files(FAM, BIM);

    for (size_t batch = 1; batch <= SAMPLES + 1; batch++) {
        struct support_table table;

        assert_reads(path, NULL, batch, &table);
        assert_string_equal(table.format, "bed");
        assert_int_equal(table.dtype, NY_GENOTYPE);
        assert_int_equal(table.rows, SAMPLES);
        assert_int_equal(table.claimed, SAMPLES);
        assert_int_equal(table.d, VARIANTS);
        for (size_t i = 0; i < SAMPLES; i++)
            for (size_t j = 0; j < VARIANTS; j++) {
                double value = table.values[i * VARIANTS + j];

                if (counts[j][i] == GONE)
                    assert_true(isnan(value));
                else
                    assert_true(value == counts[j][i]);
            }
        for (size_t i = 0; i < SAMPLES; i++) {
            static const double classes[SAMPLES] = {0, 1, 0, NAN, 2, 1};

            assert_true(table.labels[i] == classes[i] ||
                        (isnan(table.labels[i]) && isnan(classes[i])));
            assert_int_equal(table.source[i], i);
        }
    }
}

/* Opens the file with names; they are those of the samples, and of the variants. */
TEST(names_are_those_of_samples_and_variants)
{
    static const char samples[] = "F1 a\0F1 b\0F2 c\0F2 d\0F3 e\0"
                                  "0 f";
    static const char variants[] = "rs1_A\0rs2_C\0"
                                   "2:300_AC\0rs4_A";
    const struct ny_reader_options options = {.names = true};
    uint8_t values[SAMPLES * VARIANTS];
    struct ny_names names = {0};
    struct ny_row_batch batch = {.values = values, .names = &names};
    OWNED(ny_reader) *reader = NULL;

    assert_int_equal(ny_reader_open(&reader, ctx, write_files(FAM, BIM), &options), NY_OK);
    assert_int_equal(ny_reader_column_names(reader)->count, VARIANTS);
    assert_memory_equal(ny_reader_column_names(reader)->text, variants, sizeof(variants));
    assert_int_equal(ny_reader_next(reader, SAMPLES, &batch), NY_OK);
    assert_int_equal(names.count, SAMPLES);
    assert_memory_equal(names.text, samples, sizeof(samples));
    ny_names_release(&names, ctx);
}

/* Adds the names of the columns of rows before. */
static int load_names(void *arg, struct ny_names *names)
{
    const char *const *wanted = arg;

    for (size_t i = 0; i < VARIANTS; i++) {
        int err = ny_names_add(names, ctx, wanted[i], strlen(wanted[i]));

        if (err) return err;
    }
    return NY_OK;
}

TEST(rows_that_join_others_count_their_alleles_in_their_order)
{
    static const char *const wanted[] = {"rs4_T", "rs1_A", "2:300_A", "rs2_C"};
    static const size_t from[] = {3, 0, 2, 1};
    static const bool turned[] = {true, false, true, false};
    const struct ny_columns_like like = {
        .whose = "the rows before", .count = VARIANTS, .load = load_names, .arg = (void *)wanted};
    const struct ny_reader_options options = {.names = true, .like = &like};
    struct support_table table;

    assert_reads(write_files(FAM, BIM), &options, 4, &table);
    for (size_t i = 0; i < SAMPLES; i++)
        for (size_t j = 0; j < VARIANTS; j++) {
            uint8_t count = counts[from[j]][i];
            double value = table.values[i * VARIANTS + j];

            assert_true(count == GONE ? isnan(value) : value == (turned[j] ? 2 - count : count));
        }
}

/* An allele that no sample has is 0: that of the one column of the variant. */
TEST(alleles_that_no_sample_has_may_be_any)
{
    static const char *const wanted[] = {"v_A", "v_x_A", "w_A", "w_C"};
    const struct ny_columns_like like = {
        .whose = "the rows before", .count = VARIANTS, .load = load_names, .arg = (void *)wanted};
    const struct ny_reader_options options = {.names = true, .like = &like};
    struct support_table table;

    assert_reads(write_files(FAM, "1 v 0 1 0 G\n1 v_x 0 2 A G\n1 w 0 3 0 G\n1 w 0 4 C G\n"),
                 &options, 4, &table);
    for (size_t i = 0; i < SAMPLES; i++)
        for (size_t j = 0; j < VARIANTS; j++) {
            double value = table.values[i * VARIANTS + j];

            assert_true(j == 2 || counts[j][i] == GONE ? isnan(value) : value == counts[j][i]);
        }
}

TEST(phenotypes_are_numbers_cases_or_none)
{
    static const struct {
        const char *phenotype[SAMPLES];
        double wanted[SAMPLES];
    } cases[] = {
        {{"1", "2", "0", "-9", "2", "NA"}, {1, 2, NAN, NAN, 2, NAN}},
        {{"0", "1.5", "-3", "-9", "7", "0"}, {0, 1.5, -3, NAN, 7, 0}},
        {{"0", "EUR", "AFR", "0", "-9", "EUR"}, {NAN, 0, 1, NAN, NAN, 0}},
    };

    for (size_t c = 0; c < sizeof(cases) / sizeof(*cases); c++) {
        char fam[512] = "";
        struct support_table table;

        for (size_t i = 0; i < SAMPLES; i++)
            snprintf(fam + strlen(fam), sizeof(fam) - strlen(fam), "f %zu 0 0 0 %s\n", i,
                     cases[c].phenotype[i]);
        assert_reads(write_files(fam, BIM), NULL, 6, &table);
        for (size_t i = 0; i < SAMPLES; i++)
            assert_true(table.labels[i] == cases[c].wanted[i] ||
                        (isnan(table.labels[i]) && isnan(cases[c].wanted[i])));
    }
}

/* Samples of several blocks, of which memory holds one, come as they are in the file; and a reader
 * that skips begins with the row behind. */
TEST(tables_larger_than_memory_are_turned)
{
    enum { MANY = 700, WIDE = 1501 };
    uint8_t *all = lend(MANY * WIDE), *file = lend(3 + (MANY + 3) / 4 * WIDE);
    char *fam = lend(MANY * 24), *bim = lend(WIDE * 40), *at = bim;
    OWNED(ny_reader) *reader = NULL;
    struct support_table table;

    for (size_t i = 0; i < (size_t)MANY * WIDE; i++)
        all[i] = (uint8_t)(4 * ny_hash01(1, 0, i));
    for (size_t i = 0, used = 0; i < MANY; i++)
        used += (size_t)sprintf(fam + used, "f %zu 0 0 0 0\n", i);
    for (size_t j = 0; j < WIDE; j++)
        at += sprintf(at, "1 rs%zu 0 %zu A C\n", j, j);
    support_text("w.fam", fam);
    support_text("w.bim", bim);
    support_file("w.bed", file, pack(all, MANY, MANY, WIDE, file));
    ny_context_set_memory(ctx, 1 << 20);
    assert_int_equal(
        ny_reader_open(&reader, ctx, support_path("w.bed"), &(struct ny_reader_options){0}), NY_OK);
    assert_int_equal(ny_reader_skip(reader, 131, 0), NY_OK);
    ny_context_set_memory(ctx, 256 << 20);
    assert_int_equal(support_rest(reader, 90, &table), NY_END);
    assert_int_equal(table.rows, MANY - 131);
    for (size_t i = 0; i < table.rows; i++) {
        assert_int_equal(table.source[i], 131 + i);
        for (size_t j = 0; j < WIDE; j++) {
            uint8_t count = all[j * MANY + 131 + i];
            double value = table.values[i * WIDE + j];

            assert_true(count == GONE ? isnan(value) : value == count);
        }
    }
}

TEST(files_that_do_not_go_together_are_refused)
{
    const struct {
        const char *fam, *bim, *file, *names;
        size_t cut; /* of the table, from its end */
        uint8_t order;
    } cases[] = {
        {FAM, BIM, "c.bed", "c.bed", 1, 1},
        {FAM, BIM, "c.bed", "c.bed", 0, 0},
        {FAM "F9 g 0 0 0 1\nF9 h 0 0 0 1\nF9 i 0 0 0 1\n", BIM, "c.bed", "c.bed", 0, 1},
        {FAM, BIM "1 rs9 0 1 A C\n", "c.bed", "c.bed", 0, 1},
        {FIVE, BIM, "c.bed", "more than 5 samples", 0, 1}, /* which take as many bytes */
        {FIVE "F1 b 0 0 1 P0\n", BIM, "c.bed", "c.fam, line 7: the sample has", 0, 1},
        {FAM "F9 g 0 0 0\n", BIM, "c.bed", "c.fam", 0, 1},
        {FAM, BIM "1 rs9 0 1 A C 7\n", "c.bed", "c.bim", 0, 1},
        {FAM, BIM, "other.bed", "other.fam", 0, 1},
        {FAM, BIM, "c.bed", "c.bim", 0, 1}, /* with a NUL byte */
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        uint8_t file[64];
        size_t bytes = pack(&counts[0][0], SAMPLES, SAMPLES, VARIANTS, file);
        struct support_table table;
        bool missing = strcmp(cases[i].file, "other.bed") == 0;

        support_text("c.fam", cases[i].fam);
        support_text("c.bim", cases[i].bim);
        if (i == sizeof(cases) / sizeof(*cases) - 1)
            support_file("c.bim", "1\tr\0s\t0\t1\tA\tG\n", 13);
        file[2] = cases[i].order;
        support_file(cases[i].file, file, bytes - cases[i].cut);
        assert_int_equal(support_read(support_path(cases[i].file), NULL, 4, &table),
                         missing ? NY_EIO : NY_EDATA);
        assert_non_null(strstr(ny_context_message(ctx), cases[i].names));
    }
}

AROUND_ALL(support_setup, remove_folder)
