/* The two lists that PLINK keeps beside a table of genotypes: samples (.fam) and variants (.bim).
 * For io/ alone. */
#ifndef NY_IO_PLINK_H
#define NY_IO_PLINK_H

#include "io/bytes.h"
#include "io/format.h"

/* The fields of a line, which blanks separate: FID IID father mother sex phenotype, or chromosome,
 * identifier, centimorgans, position, first allele, second allele. */
enum { NY_PLINK_FIELDS = 6 };
enum { NY_FAM_FID, NY_FAM_IID, NY_FAM_PHENOTYPE = 5 };
enum { NY_BIM_CHROMOSOME, NY_BIM_ID, NY_BIM_POSITION = 3, NY_BIM_FIRST, NY_BIM_SECOND };

struct ny_plink_line {
    const char *field[NY_PLINK_FIELDS];
    size_t length[NY_PLINK_FIELDS];
};

/* Opens the list with this ending, ".fam" or ".bim", beside the reader's file. NY_EIO; NY_EUSAGE:
 * the reader's file has no name. */
int ny_plink_open(struct ny_bytes **out, struct ny_reader *reader, const char *ending);
/* Reads the next line that is not empty, of which the fields stay until the one after it. NY_END
 * behind the last; NY_EDATA, with the line, where it has other than six fields. */
int ny_plink_next(struct ny_bytes *list, struct ny_plink_line *line);

/* Samples, as far as one reading of their list tells. */
struct ny_plink_samples {
    uint64_t count;
    bool labels;    /* a phenotype is there, and */
    bool zero_says; /* one that is 0 is a number; else it is missing, as −9 is */
};
/* Reads the list of samples from front to back, and goes back to its first line. */
int ny_plink_count(struct ny_bytes *fam, struct ny_plink_samples *samples);
/* Refuses two of `count` samples that have the same name: NY_EDATA, with the line. NY_EBUDGET. */
int ny_plink_unique(struct ny_bytes *fam, uint64_t count);
/* Reads the next sample, its phenotype to *label unless that is NULL, and its name, "FID IID", to
 * `names` unless these are NULL. */
int ny_plink_sample(struct ny_reader *reader, struct ny_bytes *fam,
                    const struct ny_plink_samples *samples, double *label, struct ny_names *names);

/* The variants of a table. */
struct ny_plink_variants {
    uint64_t count;
    bool *flipped; /* those whose other allele is counted; NULL: none */
};
/* Reads the variants, and their names, ID_ALLELE with the allele that is counted, to the reader's
 * columns. Where rows are to have certain columns, and one has the other allele of a variant, this
 * is counted instead. */
int ny_plink_variants(struct ny_reader *reader, struct ny_bytes *bim,
                      struct ny_plink_variants *variants);

#endif
