/* The words of pictures about a result. */
#ifndef NY_REPORT_WORDS_H
#define NY_REPORT_WORDS_H

#include <stddef.h>

#include "report/frame.h"

enum { NY_WORDS_BYTES = 320 };

/* "kpca, projected, 500 landmarks (rpcholesky), rbf kernel, γ = 1.47×10⁻⁷, 60,000 points" */
void ny_describe_result(const struct ny_result *result, char words[NY_WORDS_BYTES]);
/* Returns the number of the first eigenvalue of the record: they have the numbers of the
 * components, so that a trivial one is number 0. */
size_t ny_eigenvalue_first(const struct ny_result *result);
/* Returns eigenvalue `place`, counted from 0, of the record; NaN if there is none. */
double ny_eigenvalue(const struct ny_result *result, size_t place);
/* Returns its error as a share of it (component_errors); NaN if it is not known. */
double ny_eigenvalue_error(const struct ny_result *result, size_t place);
/* Returns how many of the first `count` eigenvalues come before one that is not known. */
size_t ny_eigenvalues_known(const struct ny_result *result, size_t count);
/* Writes a number of which many are at most 1, for people: "0.025", and "0.99989" where it is 1 but
 * for a little. */
const char *ny_unit_words(double value, char text[48]);
/* Writes a share as a percentage of three digits, and of more where these would make 100 of what
 * is not all. */
const char *ny_percent_words(double share, char text[48]);
/* Returns the share of the trace that the eigenvalue is; NaN if that is not known. */
double ny_eigenvalue_share(const struct ny_result *result, size_t place);
/* Returns what eigenvalues are shares of: "variance" of a centred kernel, else "trace". */
const char *ny_shared_word(const json_t *report);
/* "component 1", "row", "label", the name of a column of the points. */
void ny_name_column(const struct ny_data_frame *frame, size_t column, char words[NY_WORDS_BYTES]);
/* "component 1: λ = 2.42×10³, 6.5 % of the variance, ± 2 %", "row" */
void ny_describe_column(const struct ny_data_frame *frame, size_t column,
                        char words[NY_WORDS_BYTES]);

#endif
