/* The heap of the C library, which is the program's to set. */
#ifndef NY_BASE_HEAP_H
#define NY_BASE_HEAP_H

/* Has malloc() map blocks from so many bytes on (0: as before), and keep so many that are free. */
void ny_heap_keep(int mapped_bytes, int trim_bytes);

#endif
