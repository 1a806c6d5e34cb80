/* The recall: the share of true neighbours that is found, as rows that are drawn show it. */
#ifndef NY_NEAREST_RECALL_H
#define NY_NEAREST_RECALL_H

/* The recall, with its 95 % interval. It is Wilson's; the number of trials is that of independent
 * ones which vary as the rows do. */
struct ny_recall {
    double share, low, high;
};
/* Estimates the recall of `rows` lists of t: `sum` is that of the true neighbours found in each,
 * `squares` that of their squares. */
struct ny_recall ny_recall_of(double sum, double squares, double rows, double t);

#endif
