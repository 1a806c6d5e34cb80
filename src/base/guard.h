/* Reading a memory map whose file may fail below it. */
#ifndef NY_BASE_GUARD_H
#define NY_BASE_GUARD_H

typedef int ny_guarded_fn(void *arg);

/* From this call on, SIGBUS in what ny_guarded() runs is NY_EIO; any other goes to the handler that
 * was there before. It is a handler for the whole process, so a program asks for it. */
void ny_guard_install(void);

/* Runs work(arg); returns NY_EIO if a page of a map could not be read under it. Where it reads one,
 * `work` must hold no lock, and own nothing. */
int ny_guarded(ny_guarded_fn *work, void *arg);

#endif
