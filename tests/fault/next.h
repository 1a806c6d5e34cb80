/* Functions of the C library that a test program hides from the libraries that it uses. */
#ifndef NY_TESTS_NEXT_H
#define NY_TESTS_NEXT_H

#include <dlfcn.h>

/* Within such a function: `next` is the one that it hides. */
#define NEXT(name)                                                                                 \
    static __typeof__(&name) next;                                                                 \
    if (!next) *(void **)&next = dlsym(RTLD_NEXT, #name)

#endif
