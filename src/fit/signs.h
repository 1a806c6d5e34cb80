/* The sign rule where there are no landmarks: in each column of Û over the 1,000 rows with the
 * smallest hash the entry of largest magnitude is positive; ties within 1e-6: the first. */
#ifndef NY_FIT_SIGNS_H
#define NY_FIT_SIGNS_H

#include "fit/fit.h"
#include "graph/edges.h"

/* Turns the signs of the columns of the solution by this rule. */
int ny_signs_fix(struct ny_fit *fit, struct ny_solution *solution);
/* Chooses those rows among all, or among the nodes of a graph; ny_selection_release() them. */
int ny_signs_rows(const struct ny_fit *fit, const struct ny_edges *graph,
                  struct ny_selection *chosen);
/* Tells whether the entry that decides the sign of column k of Û over them is negative. */
bool ny_signs_negative(struct ny_matrix U, size_t k);
/* Turns the columns of the solution for which U, which may be its P, has such an entry. */
void ny_signs_turn(struct ny_solution *solution, struct ny_matrix U);
/* Tells that of all columns at once: rows of U may be long, and many. */
void ny_signs_find(struct ny_matrix U, bool *negative);
/* Bytes that ny_signs_fix() takes, besides a gather of so many rows. */
enum { NY_SIGN_ROWS = 1000 };
/* Returns those bytes for m landmarks, or the size in their place, and p columns. */
void ny_signs_count(struct ny_layout *l, const struct ny_columns_spec *spec, size_t m, size_t p);

#endif
