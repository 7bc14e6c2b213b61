//===- Cubin.cpp - assembly of PTX to machine code by nvJitLink -----------===//

#include "passes/7-emit/gpu/kernel/Cubin.h"
#include "runtime/base/SharedLibrary.h"

#include <array>
#include <cstdint>

using namespace pcc;
using namespace pcc::emit;
using runtime::SharedLibrary;

namespace {
/// Pointers to the functions of libnvJitLink, with the signatures of CUDA 13.
/// All functions return 0 on success.
struct JitLink {
  using Handle = void *;
  int (*create)(Handle *, uint32_t, const char *const *);
  int (*destroy)(Handle *);
  int (*addData)(Handle, int kind, const void *, size_t, const char *name);
  int (*complete)(Handle);
  int (*cubinSize)(Handle, size_t *);
  int (*cubin)(Handle, void *);
  int (*logSize)(Handle, size_t *);
  int (*log)(Handle, char *);

  /// Value of NVJITLINK_INPUT_PTX, which marks input data as PTX.
  static constexpr int ptx = 2;
};

/// Translates PTX, NVIDIA's assembly language for GPUs, to machine code. The
/// translation is done by nvJitLink, NVIDIA's linker library. nvJitLink creates
/// a handle for each translation. An object of this class owns one handle. The
/// destructor destroys the handle.
class Assembly {
public:
  /// Creates a handle of nvJitLink for GPUs of architecture `arch`, such as
  /// "sm_90". `library` must outlive this object. If there is an error, run()
  /// returns false.
  Assembly(const JitLink &library, const std::string &arch) : library(library) {
    const std::string option = "-arch=" + arch;
    const std::array<const char *, 1> options = {option.c_str()};
    isSound = library.create(&handle, 1, options.data()) == 0;
  }
  ~Assembly() {
    if (handle)
      library.destroy(&handle);
  }
  Assembly(const Assembly &) = delete;
  Assembly &operator=(const Assembly &) = delete;

  /// Assembles `ptx` to machine code, and stores it in `cubin`. Returns false
  /// on failure.
  bool run(const std::string &ptx, std::vector<char> &cubin) {
    size_t size = 0;
    isSound = isSound &&
              library.addData(handle, JitLink::ptx, ptx.c_str(), ptx.size() + 1,
                              "kernels") == 0 &&
              library.complete(handle) == 0 &&
              library.cubinSize(handle, &size) == 0;
    cubin.resize(isSound ? size : 0);
    return isSound && library.cubin(handle, cubin.data()) == 0;
  }

  /// Returns the first line of nvJitLink's error log, or an empty string if the
  /// log is empty.
  std::string said() const {
    size_t size = 0;
    if (!handle || library.logSize(handle, &size) != 0 || size == 0)
      return "";
    std::string text(size, '\0');
    library.log(handle, text.data());
    return text.substr(0, text.find_first_of(std::string("\n\0", 2)));
  }

private:
  const JitLink &library;
  JitLink::Handle handle = nullptr;
  bool isSound = false;
};
} // namespace

/// Opens libnvJitLink and stores the addresses of its functions in `library`.
/// Searches `folders` first, then the standard library folders. Returns false
/// if the library or a function is missing.
static bool openJitLink(const std::vector<std::string> &folders,
                        JitLink &library) {
  SharedLibrary opened("libnvJitLink.so.13", folders);
  opened.find("__nvJitLinkCreate_13_0", library.create);
  opened.find("__nvJitLinkDestroy_13_0", library.destroy);
  opened.find("__nvJitLinkAddData_13_0", library.addData);
  opened.find("__nvJitLinkComplete_13_0", library.complete);
  opened.find("__nvJitLinkGetLinkedCubinSize_13_0", library.cubinSize);
  opened.find("__nvJitLinkGetLinkedCubin_13_0", library.cubin);
  opened.find("__nvJitLinkGetErrorLogSize_13_0", library.logSize);
  opened.find("__nvJitLinkGetErrorLog_13_0", library.log);
  return !opened.firstAbsent();
}

Status emit::assemble(const std::string &ptx, const std::string &arch,
                      const std::vector<std::string> &folders,
                      std::optional<std::vector<char>> &cubin) {
  cubin.reset();
  JitLink library = {};
  if (!openJitLink(folders, library))
    return Status::success();
  Assembly assembly(library, arch);
  if (assembly.run(ptx, cubin.emplace()))
    return Status::success();
  cubin.reset();
  Status status =
      Status::error(Defect, "NVIDIA's assembler rejects kernels for " + arch);
  if (std::string said = assembly.said(); !said.empty())
    status.addNote(std::move(said));
  return status;
}
