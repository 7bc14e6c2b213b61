//===- MpiLibrary.h - function table of libmpi, loaded at run time --------===//
//
// pcc does not link libmpi, so that everything except ranks as MPI processes
// works on machines without MPI. In Open MPI, handles such as MPI_COMM_WORLD
// are macros for addresses of the library's globals. These addresses are looked
// up like functions. Files outside this folder do not include mpi.h.
//
//===----------------------------------------------------------------------===//

#ifndef PCC_RUNTIME_COMM_MPI_MPILIBRARY_H
#define PCC_RUNTIME_COMM_MPI_MPILIBRARY_H

#include "status/Status.h"

// Omits the C++ bindings from mpi.h.
#define OMPI_SKIP_MPICXX 1
#include <mpi.h>

namespace pcc::runtime {

/// Addresses of the functions and handles of libmpi that pcc uses. Each
/// function is named like the MPI function without the prefix: `isend` is
/// MPI_Isend.
struct MpiLibrary {
  decltype(&MPI_Init_thread) initThread;
  decltype(&MPI_Finalize) finalize;
  decltype(&MPI_Comm_rank) commRank;
  decltype(&MPI_Comm_size) commSize;
  decltype(&MPI_Comm_set_errhandler) setErrhandler;
  decltype(&MPI_Error_string) errorString;
  decltype(&MPI_Error_class) errorClass;
  decltype(&MPI_Isend) isend;
  decltype(&MPI_Irecv) irecv;
  decltype(&MPI_Test) test;
  decltype(&MPI_Testsome) testsome;
  decltype(&MPI_Get_count) getCount;
  decltype(&MPI_Cancel) cancel;
  decltype(&MPI_Request_free) requestFree;

  MPI_Comm world;              ///< MPI_COMM_WORLD
  MPI_Datatype byte;           ///< MPI_BYTE
  MPI_Errhandler errorsReturn; ///< MPI_ERRORS_RETURN
  MPI_Request nullRequest;     ///< MPI_REQUEST_NULL
};

/// Opens libmpi.so.40, the library of Open MPI. Stores the addresses of the
/// functions and handles that pcc uses in `library`. libmpi.so.40 stays loaded
/// until the process ends. Returns an error with exit code 13 if libmpi.so.40
/// cannot be opened, or if it lacks one of these functions or handles.
Status openMpiLibrary(MpiLibrary &library);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_COMM_MPI_MPILIBRARY_H
