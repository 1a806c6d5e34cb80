/* The records of results in a store (records/record.h). */
#ifndef NY_RESULTS_RECORD_H
#define NY_RESULTS_RECORD_H

#include "records/record.h"
#include "store/store.h"

/* Loads the record of NAME. NY_ESTORE when it is damaged or of a later format; *out = NULL and
 * NY_OK when NAME does not exist. json_decref() it. */
int ny_record_load(struct ny_store *store, const char *name, json_t **out);
/* Loads the record of the update of NAME that is under way; *out = NULL when there is none. */
int ny_record_load_update(struct ny_store *store, const char *name, json_t **out);
/* Loads the record of NAME, or fails with NY_EUSAGE when there is none. */
int ny_record_need(struct ny_store *store, const char *name, json_t **out);
/* Like ny_record_need(), and the result must be done: NY_EUSAGE otherwise. */
int ny_record_need_done(struct ny_store *store, const char *name, json_t **out);
/* Like ny_record_need_done(), of a NAME whose lock the caller has: nobody else works at it. */
int ny_record_need_done_held(struct ny_store *store, const char *name, json_t **out);
/* Stores the record in a batch of its own. */
int ny_record_save(struct ny_store *store, const char *name, const json_t *record);

/* Deletes all parts of the NAME, and stores the record, unless it is NULL, in the same batch: a
 * kill leaves the one or the other. */
int ny_record_replace(struct ny_store *store, const char *name, const json_t *record);

/* Sets the field "lost" of the record. */
void ny_record_set_lost(json_t *record, const struct ny_lost *lost);
/* Reads the field "lost", which ny_lost_release() frees; NY_ESTORE where it cannot be so. */
int ny_record_lost(struct ny_context *ctx, const json_t *record, struct ny_lost *lost);
/* NY_ESTORE when rows that it covers were lost since: its numbers are then not those of a handle
 * that skips them now. */
int ny_record_check_lost(struct ny_store *store, const char *name, const json_t *record);
/* Fails with NY_EUSAGE where a result of the store is of nodes: it then has no points. */
int ny_refuse_nodes(struct ny_store *store);
/* NY_EUSAGE: a result, or where `name` is NULL the store, has no such part. */
int ny_result_lacks(struct ny_store *store, const char *name, const char *what);

#endif
