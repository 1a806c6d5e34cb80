/* Shared by the allocator and layouts: what a block is charged, and a word in its header. */
#ifndef NY_BASE_MEMORY_PRIVATE_H
#define NY_BASE_MEMORY_PRIVATE_H

#include <stddef.h>

/* Returns what a block of so many bytes is charged. */
size_t ny_block_charge(size_t bytes);
/* Returns a word that a block of ny_alloc() has for its owner. */
void **ny_block_link(void *block);

#endif
