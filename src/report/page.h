/*
 * A report: one page of HTML that needs no network, with plots of results and all that is known of
 * them. Below 5 MB, whatever the number of rows.
 */
#ifndef NY_REPORT_PAGE_H
#define NY_REPORT_PAGE_H

#include "store/store.h"

struct ny_page_spec {
    const char *const *names; /* of results that are done */
    size_t count;
    size_t left_out;      /* other results of the store that are done, behind these by name */
    size_t image[2];      /* height, width of rows as images; 0: where d is a square */
    bool images;          /* false: rows are none */
    const uint64_t *path; /* from row, to row: shown where there is a graph; or NULL */
    const char *title;    /* NULL: of the store */
};

/* NY_EUSAGE for a NAME that is not done, and for a path where none has a graph. */
int ny_page_write(struct ny_store *store, const struct ny_page_spec *spec, const char *output);

#endif
