//===- MpiLibrary.h - Open MPI, opened when it is used --------------------===//
//
// libmpi is never linked: a machine without MPI runs everything else. The
// handles that mpi.h's macros name are addresses of the library's globals; they
// are looked up here, and nothing outside this folder sees mpi.h.
//
//===----------------------------------------------------------------------===//

#ifndef PCC_RUNTIME_COMM_MPI_MPILIBRARY_H
#define PCC_RUNTIME_COMM_MPI_MPILIBRARY_H

#include "runtime/base/Status.h"

// Only the C interface.
#define OMPI_SKIP_MPICXX 1
#include <mpi.h>

namespace pcc::runtime {

/// The functions of libmpi that pcc calls, under their names.
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

  MPI_Comm world;
  MPI_Datatype byte;
  MPI_Errhandler errorsReturn;
  MPI_Request nullRequest;
};

/// Opens the library once per process; exit code 13 if it is not there or is
/// not Open MPI 4.
Status openMpiLibrary(MpiLibrary &library);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_COMM_MPI_MPILIBRARY_H
