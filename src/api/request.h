/*
 * A call that leaves a result under a NAME: what fit, select and graph have in common. The NAME is
 * locked; a result with the same options is resumed, or done already; one with others is refused,
 * or replaced with option restart; what would fail again in the same way is forgotten.
 */
#ifndef NY_API_REQUEST_H
#define NY_API_REQUEST_H

#include "api/settings.h"
#include "neighbors/given.h"
#include "neighbors/job.h"
#include "fit/plan.h"
#include "model/model.h"

struct ny_request;

struct ny_request_kind {
    const char *name;        /* in records */
    const char *function;    /* the public one, for messages */
    unsigned groups;         /* of its options */
    const char *makes_store; /* if this option is set, a store that is not there is made; NULL:
                              * none is */
    int (*settings)(struct ny_request *request); /* from the options */
    /* Digests of the files that options name; the same options are another job where they differ.
     * NULL: they name none. */
    int (*inputs)(const struct ny_request *request, json_t **inputs);
    /* A new record, with what was asked for in its report; `options` is taken over. */
    json_t *(*record)(const struct ny_request *request, const struct ny_rows_info *points,
                      json_t *options);
    int (*announce)(struct ny_request *request); /* the plan; NY_EBUDGET */
    /* Keeps with the job what it needs of the files that options name, so that it can be gone on
     * with without them. NULL: nothing. */
    int (*keep)(struct ny_request *request);
    int (*run)(struct ny_request *request);
    struct ny_row_room *room; /* that the caller has for coordinates; NULL: they are stored */
    bool updates;             /* it takes rows in that were appended (option update) */
};

/* Asks for a result, or for going on with the job under NAME. */
struct ny_request_call {
    const char *path, *name;
    const struct ny_options *options;           /* NULL: none is set */
    const struct ny_request_kind *kind;         /* NULL: the job is gone on with, */
    const struct ny_request_kind *const *kinds; /* which is of one of these; the last is NULL */
};

struct ny_request {
    struct ny_context *ctx;
    struct ny_store *store;
    const char *name;
    const struct ny_options *options;
    struct ny_options *stored; /* those that the job was begun with, owned: it goes on, or again */
    json_t *again;             /* the record of the result that is made again with them, owned */
    struct ny_options *made;   /* in the place of option model, owned */
    struct ny_model *model;    /* that places the rows; NULL: the job makes its own, or has it */
    const struct ny_request_kind *kind;
    json_t *record;                    /* NULL: there is none yet */
    json_t *asked, *inputs;            /* the options as a record has them, and digests of the
                                        * files that they name, owned; NULL: not made yet */
    bool fresh;                        /* this call has made it, with options that were typed */
    bool reserved;                     /* what the process takes */
    size_t most;                       /* landmarks of any attempt of a fit with option accuracy */
    json_t *attempts;                  /* of such a fit: those before, owned */
    struct ny_owned_settings settings; /* fit, select; the choice of columns graph, too */
    struct ny_plan plan;
    struct ny_graph_settings graph;
    struct ny_given_edges edges; /* in the place of `graph`, where it has a path */
};

extern const struct ny_request_kind ny_request_fit, ny_request_select, ny_request_graph;

/* Sets a digest as 16 hexadecimal digits: it uses all 64 bits, and integers of JSON are signed
 * here. */
void ny_request_set_digest(json_t *inputs, const char *key, uint64_t digest);
/* Refuses to do the same work in several processes, where the store has no shards. The command line
 * is the same for all of them; a program that calls the library has rows of its own in each. That
 * there is no store, as on a host that does not see its folder, or one in shards, is told when it
 * is opened. */
int ny_request_refuse_ranks(const struct ny_request *request, const char *path);
/* Tells whether the call is for a result of all rows of a store in shards (shards/open.h): a
 * graph, a map of one, or what has this NAME. NY_EUSAGE where that is such a result, but a map of
 * another kind is asked for. */
int ny_request_is_whole(struct ny_context *ctx, const struct ny_request_call *call, bool *whole);
/* Opens the store, or makes it where there is none and the kind can begin with an empty one. Of a
 * store in shards it is that of the results of all rows; NY_EUSAGE where a new result would have a
 * NAME that shards have. */
int ny_request_open_store(struct ny_request *request, const char *path);
/* Does what the call asks for at one store; *report (may be NULL) as ny_result_report(). */
int ny_request_run(struct ny_context *context, const struct ny_request_call *call,
                   struct ny_report **report);

#endif
