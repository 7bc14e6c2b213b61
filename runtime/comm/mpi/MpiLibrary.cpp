//===- MpiLibrary.cpp - function table of libmpi, loaded at run time ------===//

#include "runtime/comm/mpi/MpiLibrary.h"

#include "runtime/base/SharedLibrary.h"

namespace pcc::runtime {

/// Looks up all functions and handles of libmpi, and stores their addresses in
/// `library`. A handle such as MPI_COMM_WORLD is the address of a global
/// variable of Open MPI.
static void fillTable(SharedLibrary &symbols, MpiLibrary &library) {
  symbols.find("MPI_Init_thread", library.initThread);
  symbols.find("MPI_Finalize", library.finalize);
  symbols.find("MPI_Comm_rank", library.commRank);
  symbols.find("MPI_Comm_size", library.commSize);
  symbols.find("MPI_Comm_set_errhandler", library.setErrhandler);
  symbols.find("MPI_Error_string", library.errorString);
  symbols.find("MPI_Error_class", library.errorClass);
  symbols.find("MPI_Isend", library.isend);
  symbols.find("MPI_Irecv", library.irecv);
  symbols.find("MPI_Test", library.test);
  symbols.find("MPI_Testsome", library.testsome);
  symbols.find("MPI_Get_count", library.getCount);
  symbols.find("MPI_Cancel", library.cancel);
  symbols.find("MPI_Request_free", library.requestFree);
  symbols.find("ompi_mpi_comm_world", library.world);
  symbols.find("ompi_mpi_byte", library.byte);
  symbols.find("ompi_mpi_errors_return", library.errorsReturn);
  symbols.find("ompi_request_null", library.nullRequest);
}

Status openMpiLibrary(MpiLibrary &library) {
  // Open MPI's plugins need libmpi's symbols in the global scope.
  SharedLibrary opened("libmpi.so.40", {}, SharedLibrary::Symbols::Global);
  if (!opened.isOpen())
    return Status::error(NoDevice, opened.error(),
                         {"Open MPI 4.1 is needed for ranks as processes; "
                          "--comm thread runs without"});
  fillTable(opened, library);
  if (const char *absent = opened.firstAbsent())
    return Status::error(NoDevice, std::string("libmpi.so.40 has no symbol ") +
                                       absent + "; Open MPI 4.1 is needed");
  return Status::success();
}

} // namespace pcc::runtime
