/* Begins and ends a public function that works: what it takes, and gives back at its end. */
#ifndef NY_API_CALL_H
#define NY_API_CALL_H

#include "base/context.h"

/* Takes the memory of the process itself out of the budget, and OpenBLAS's threads from the caller;
 * forgets failures to fill earlier reports. NY_EBUDGET: nothing is taken. */
int ny_call_begin(struct ny_context *ctx);
/* Gives both back. */
void ny_call_end(struct ny_context *ctx);

#endif
