/* Shared by tests of forged results: a store of 600 rows, results "r" of it, and their records. For
 * one test program each. */
#ifndef TESTS_SUPPORT_HOSTILE_CASE_H
#define TESTS_SUPPORT_HOSTILE_CASE_H

#include "base/context.h"
#include "results/record.h"
#include "support/api_case.h"
#include "support/options.h"

enum { ROWS = 600, COLUMNS = 3 };

static void start(void)
{
    static float rows[ROWS * COLUMNS];

    api_case_begin("s.nys");
    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < COLUMNS; j++)
            rows[i * COLUMNS + j] = (float)sin(0.37 * i * (j + 1)) + (float)(i % 3);
    assert_int_equal(ny_append_rows(in.ctx, in.store, rows, ROWS, COLUMNS, NULL), NY_OK);
}

/* "kernel=rbf landmarks=20", or a graph's. */
static int run(const char *what)
{
    bool graph = strncmp(what, "graph ", 6) == 0;
    OWNED(ny_options) *options = options_with(in.ctx, "%s", graph ? what + 6 : what);

    ny_error_clear(in.ctx);
    return graph ? ny_graph(in.ctx, in.store, "r", options, NULL)
                 : ny_fit(in.ctx, in.store, "r", options, NULL);
}

static json_t *make(const char *options)
{
    OWNED(ny_store) *store = NULL;
    json_t *record;

    ny_remove(in.ctx, in.store, "r"); /* where it is there */
    if (run(options)) fail_msg("%s: %s", options, ny_context_message(in.ctx));
    assert_int_equal(ny_store_create(&store, in.ctx, in.store), NY_OK);
    assert_int_equal(ny_record_load(store, "r", &record), NY_OK);
    return record;
}

static void save(const json_t *record)
{
    OWNED(ny_store) *store = NULL;

    assert_int_equal(ny_store_create(&store, in.ctx, in.store), NY_OK);
    assert_int_equal(ny_record_save(store, "r", record), NY_OK);
}

#endif
