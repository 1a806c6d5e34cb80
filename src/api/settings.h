/* Turns options into the settings of a fit, of a graph, and of how to read a file. */
#ifndef NY_API_SETTINGS_H
#define NY_API_SETTINGS_H

#include "api/choice.h"
#include "fit/settings.h"
#include "io/reader.h"
#include "store/store.h"

struct ny_owned_settings {
    struct ny_fit_settings fit;
    struct ny_given_landmarks given;     /* fit.named_landmarks points to its rows */
    struct ny_given_choice given_choice; /* fit.choice points to its columns */
};

/* `own`: NULL, or the job that is resumed or updated, whose landmarks and columns are those
 * that are given. Checks the options of `groups` (NY_GROUP_FIT or NY_GROUP_SELECT) against each
 * other and against the store's n and d; reads landmarks from their file or result, and columns
 * from their file. */
int ny_settings_new(struct ny_owned_settings *settings, struct ny_store *store,
                    const struct ny_options *options, unsigned groups,
                    const struct ny_own_landmarks *own);
/* Sets the settings of a fit of points that are in no store, of which `points` tells the shape,
 * over landmarks that were given. The options are checked, and no columns are chosen by them. */
int ny_settings_of_points(struct ny_fit_settings *settings, struct ny_context *ctx,
                          const struct ny_options *options, const struct ny_rows_info *points,
                          const struct ny_landmark_points *landmarks);
/* Frees the landmarks and columns. */
void ny_settings_release(struct ny_owned_settings *settings, struct ny_context *ctx);

/* Returns the settings of a graph as they are asked for; ny_graph_settings_decide() completes and
 * checks them. */
struct ny_graph_settings ny_settings_graph(const struct ny_options *options,
                                           const struct ny_context *ctx);

/* Reads how rows are to be prepared; NY_EUSAGE where that cannot be. Options may be NULL. */
int ny_settings_preparation(struct ny_context *ctx, const struct ny_options *options,
                            struct ny_prepared *how);
/* Reads in which layout rows are to be. */
enum ny_reading ny_settings_layout(const struct ny_options *options);
/* How to read a file; options may be NULL. The texts belong to the options. */
struct ny_reader_options ny_settings_reader(const struct ny_options *options);

#endif
