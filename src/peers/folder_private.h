/* Shared by the files of the folder transport (peers/folder.h), and by nobody else. */
#ifndef NY_PEERS_FOLDER_PRIVATE_H
#define NY_PEERS_FOLDER_PRIVATE_H

#include <limits.h>

#include "base/memory.h"
#include "peers/folder.h"

/* Paths have room for a name behind that of the folder. */
enum { NY_FOLDER_NAME = 96, NY_FOLDER_PATH = PATH_MAX - NY_FOLDER_NAME, NY_HOST_BYTES = 64 };

/* A process that has a rank: the content of who-NNNNN, in the byte order of the machine. */
struct ny_folder_note {
    char magic[8];
    uint64_t process; /* a random number, by which a successor with the same rank is told apart */
    uint64_t run;     /* the run that it takes part in, a random number that rank 0 chose */
    uint64_t ranks;   /* that it counts with */
    char host[NY_HOST_BYTES];
};

/* Locks that a rank holds as long as it lives. */
enum {
    NY_FOLDER_RANK,    /* peer-NNNNN */
    NY_FOLDER_LEADER,  /* run-…/leader, of rank 0: the run's number is that of a living process */
    NY_FOLDER_MEMBERS, /* run-…/members, shared by all: the files of the run are needed */
    NY_FOLDER_LOCKS
};

struct ny_folder {
    struct ny_transport transport; /* the first field: ops get this */
    struct ny_context *ctx;
    char path[NY_FOLDER_PATH];
    int locks[NY_FOLDER_LOCKS]; /* descriptors; −1: none */
    struct ny_folder_note self;
    struct ny_folder_note *member; /* ranks; those of the run */
    uint64_t round;                /* rounds that this rank has ended */
    uint64_t
        owed;   /* rounds up to the last whose file of this rank others may still read; 0: none */
    bool gives; /* this rank has given its file of the round under way */
    double looked_s; /* the clock when the others were last looked at */
    unsigned looked; /* the last one of them was so far behind this one */
};

/* Puts the sentence and the status into the transport, and returns the status; NY_EBUSY is one that
 * another rank is the reason of. */
int ny_folder_fail(struct ny_folder *folder, int status, const char *format, ...) NY_PRINTF(3, 4);
/* The failure of a call that set errno; a rank that has ended is more to the point, since its
 * successor removes the files of the run. */
int ny_folder_fail_errno(struct ny_folder *folder, const char *action, const char *path);

/* Paths of PATH_MAX bytes: of a file of a rank ("peer", "who"), of a file in the run's folder (""
 * for the folder itself), and of the file there by which a rank says that all is well and it ends.
 */
void ny_folder_rank_path(const struct ny_folder *folder, const char *kind, unsigned rank,
                         char *path);
void ny_folder_run_path(const struct ny_folder *folder, const char *file, char *path);
void ny_folder_closed_path(const struct ny_folder *folder, unsigned rank, char *path);
/* The path of what a rank gives in a round. */
void ny_folder_round_path(const struct ny_folder *folder, uint64_t round, unsigned rank,
                          char *path);

/* The content of a file: pieces of as many bytes, each before a seal, which is a checksum of its
 * bytes, its number, and the name of the file. */
struct ny_folder_shape {
    size_t pieces, bytes;
};

/* Writes a file that nobody sees before it is whole. NY_EIO with the path. */
int ny_folder_write(struct ny_folder *folder, const char *path, const struct ny_folder_shape *shape,
                    const void *data);
/* Reads one piece of a file. NY_END where there is no such file. One that is not as it was written
 * is read again for a second, as network file systems may show old bytes; then NY_ESTORE. */
int ny_folder_read(struct ny_folder *folder, const char *path, const struct ny_folder_shape *shape,
                   size_t piece, void *data);
/* Removes the folder of a run, and all in it, as far as that is possible. */
void ny_folder_remove(const char *path);
/* Leaves the run that this rank has joined, if any. The last one to leave removes its folder, whose
 * files others may still read until then. */
void ny_folder_leave(struct ny_folder *folder);

/* Writes this rank's note. */
int ny_folder_tell(struct ny_folder *folder);
/* Reads the note of a rank; NY_END where there is none, NY_ESTORE for a damaged one. */
int ny_folder_hear(struct ny_folder *folder, unsigned rank, struct ny_folder_note *note);
/* Tells whether a process has locked the file. */
bool ny_folder_held(const char *path);

/* Tells whether a rank of the run has ended: with its part done, or in any other way. */
enum ny_folder_state { NY_FOLDER_ALIVE, NY_FOLDER_CLOSED, NY_FOLDER_GONE };
enum ny_folder_state ny_folder_state_of(struct ny_folder *folder, unsigned rank);
/* Tells the others why this rank ends, unless one has said so before. Where that cannot be written,
 * they see that the lock is gone. */
void ny_folder_abandon(const struct ny_folder *folder, int status, const char *message);
/* NY_EIO where what this rank gave in a round, and others are to read, is gone: they would wait. */
int ny_folder_check_own(struct ny_folder *folder, uint64_t round);
/* NY_EBUSY where a rank of the run has ended in silence; its status where it ended with an error. A
 * look goes to eight ranks, which are others each time: all ranks together see all, and the first
 * one that finds a dead one tells the others. */
int ny_folder_look(struct ny_folder *folder);

/* Sleeps in a wait that began at this time of ny_now(), for a quarter of the time that the wait has
 * lasted, at most 20 ms, or from 2 s on a hundredth of it, at most 0.2 s. NY_EINTERRUPTED where
 * this process is to end. */
int ny_folder_sleep(struct ny_folder *folder, double began_s);

/* Takes a rank, waits for all others and agrees with them on a run. */
int ny_folder_meet(struct ny_folder *folder, const struct ny_folder_wish *wish);

#endif
