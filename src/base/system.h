/*
 * Calls that only Linux has. No other file has them (lint: owners), so that a port to another
 * system is another base/system.c; src/README.md says what POSIX offers instead. Some are missing
 * on Linux, too, without /proc or on other file systems, which each function tells.
 */
#ifndef NY_BASE_SYSTEM_H
#define NY_BASE_SYSTEM_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* Opens a file without a name in a folder, for reading and writing; −1: there is none such. */
int ny_open_unnamed(const char *folder, mode_t rights);
/* Gives that file a path where no file is yet; NULL only asks whether that would be possible. */
bool ny_link_unnamed(int fd, const char *path);
/* Opens a file in memory, whose name is for the lists of the system; −1: there is none such. */
int ny_open_memory(const char *name);
/* Gives each of two files or folders the name of the other at once; −1: errno says why not. */
int ny_exchange_names(const char *one, const char *other);
/* Makes a pipe, closed by exec, of 1 MiB if possible: fewer switches between its two processes. */
int ny_open_pipe(int ends[2]);
/* Sets the seconds of CPU time that a child may take, unless it has fewer. */
void ny_limit_seconds(pid_t child, unsigned seconds);

/* Writes the path of the program; false: the system does not tell. */
bool ny_program_path(char path[PATH_MAX]);
/* Returns the last part of argv[0]. */
const char *ny_program_name(void);
/* Reads the begin of the words that the process was started with, each ended by 0; returns its
 * bytes, 0 where the system does not tell. */
size_t ny_program_words(char *words, size_t bytes);

#endif
