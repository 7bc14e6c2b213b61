//===- MpiLibrary.cpp - Open MPI, opened when it is used ------------------===//

#include "runtime/comm/mpi/MpiLibrary.h"

#include <dlfcn.h>

namespace pcc::runtime {

namespace {

/// Looks symbols up and remembers the first that is not there.
class Symbols {
public:
  explicit Symbols(void *openedLibrary) : handle(openedLibrary) {}

  template <typename T> void find(const char *name, T &target) {
    void *address = dlsym(handle, name);
    if (!address && !absent)
      absent = name;
    target = reinterpret_cast<T>(address);
  }
  const char *firstAbsent() const { return absent; }

private:
  void *handle;
  const char *absent = nullptr;
};

} // namespace

static void fillTable(Symbols &symbols, MpiLibrary &library) {
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
  const char *soname = "libmpi.so.40";
  // Open MPI's plugins look for the library's symbols in the global scope.
  void *handle = dlopen(soname, RTLD_NOW | RTLD_GLOBAL);
  if (!handle) {
    const char *reason = dlerror();
    return Status::error(NoDevice,
                         "cannot open libmpi.so.40: " +
                             std::string(reason ? reason : "no reason given"),
                         {"Open MPI 4.1 is needed for ranks as processes; "
                          "--comm thread runs without"});
  }
  Symbols symbols(handle);
  fillTable(symbols, library);
  if (const char *absent = symbols.firstAbsent())
    return Status::error(NoDevice, std::string(soname) + " has no symbol " +
                                       absent + "; Open MPI 4.1 is needed");
  return Status::success();
}

} // namespace pcc::runtime
