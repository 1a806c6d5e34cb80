/*
 * Landmarks that options name: row numbers in a file or points in one, or those of another result.
 * They are kept with the job from its beginning, so that it can be resumed when what named
 * them is gone.
 */
#ifndef NY_API_LANDMARKS_H
#define NY_API_LANDMARKS_H

#include "api/options.h"
#include "model/landmark_points.h"
#include "store/store.h"

struct ny_given_landmarks {
    uint64_t *rows; /* row numbers, under NY_MEM_DICTIONARY; NULL: none, or points are given */
    size_t count;
    struct ny_landmark_points points; /* how they are kept; count 0: none are given */
    void *point_rows;   /* these, until they are kept with the job; NULL: they are kept already */
    size_t point_bytes; /* all points together take so many */
    bool named;         /* the options name landmarks; a list that is empty leaves rows NULL */
};

/* A job whose landmarks are those that were given when it began. */
struct ny_own_landmarks {
    const char *name;
    const json_t *record;
    bool done;  /* it is a result that is updated */
    bool again; /* it is replaced by one with its options: what it keeps is read, and kept anew */
    uint64_t rows; /* rows by which its settings are decided; 0: those of the store */
};

/* Reads what --landmarks-file, --landmarks-points or --landmarks-from names, or what was kept of it
 * (`own`; NULL: the job is new). ny_landmarks_release() it, also after a failure. */
int ny_landmarks_read(struct ny_given_landmarks *given, struct ny_store *store,
                      const struct ny_options *options, const struct ny_own_landmarks *own);
/* Reads the points that option landmarks-points names, in a type that holds them exactly: the
 * store's where it does, else f32 or f64. NY_EDATA for other columns than the store's, values that
 * are not finite, a point that is there twice, and more points than rows. */
int ny_landmark_points_read(struct ny_given_landmarks *given, struct ny_store *store,
                            const struct ny_options *options);
/* Keeps them with the job, whose record is stored again, unless they are; the points are then no
 * longer in memory. */
int ny_landmarks_keep(struct ny_given_landmarks *given, struct ny_store *store, const char *name,
                      json_t *record);
/* Returns a digest of them, by which the same options are known as another job; 0: there are none
 * in memory. */
uint64_t ny_landmarks_digest(const struct ny_given_landmarks *given);
/* Frees the lists. */
void ny_landmarks_release(struct ny_given_landmarks *given, struct ny_context *ctx);

#endif
