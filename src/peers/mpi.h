/*
 * Loads the plug-in for MPI. It is a library of its own, since each MPI needs another one, and most
 * users need none: the library and its packages know nothing of MPI.
 */
#ifndef NY_PEERS_MPI_H
#define NY_PEERS_MPI_H

#include "base/context.h"
#include "peers/transport.h"

/* Opens the transport; looks for the plug-in where NYSTREAM_MPI says; without that beside the
 * library or the program, in lib beside their folder, and where the system looks for libraries.
 * NY_EUSAGE where there is none, or it cannot be used. */
int ny_mpi_open(struct ny_transport **out, struct ny_context *ctx);

#endif
