/* Reading a memory map whose file may fail below it. */
#ifndef NY_STORE_GUARD_H
#define NY_STORE_GUARD_H

typedef int ny_guarded_fn(void *arg);

/* Runs work(arg); returns NY_EIO if a page of a map could not be read under it, which takes
 * ny_store_guard_sigbus() to find out. `work` must hold no lock and own nothing. */
int ny_guarded(ny_guarded_fn *work, void *arg);

#endif
