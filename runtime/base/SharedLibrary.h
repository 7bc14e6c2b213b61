//===- SharedLibrary.h - dynamic loading of optional libraries ------------===//
//
// Optional libraries (CUDA, NCCL, MPI) are opened with dlopen instead of being
// linked. An executable therefore starts on a machine that lacks them, and only
// the features that need them fail.
//
//===----------------------------------------------------------------------===//

#ifndef PCC_RUNTIME_BASE_SHAREDLIBRARY_H
#define PCC_RUNTIME_BASE_SHAREDLIBRARY_H

#include <string>
#include <vector>

namespace pcc::runtime {

/// A library that has been opened with dlopen. The library is never closed: it
/// stays loaded until the process ends, even after this object is destroyed.
class SharedLibrary {
public:
  /// Visibility of the library's symbols. Local (RTLD_LOCAL): for this object
  /// only. Global (RTLD_GLOBAL): also for libraries that are loaded later.
  enum class Symbols { Local, Global };

  /// Opens the library with file name `soname`, such as "libnccl.so.2".
  /// Searches `folders` first, then the path of the dynamic loader. Resolves
  /// all undefined symbols at once. On failure isOpen() is false.
  explicit SharedLibrary(const std::string &soname,
                         const std::vector<std::string> &folders = {},
                         Symbols symbols = Symbols::Local);

  /// Returns whether the library was opened.
  bool isOpen() const { return handle; }
  /// Returns why the library could not be opened; empty if it is open.
  const std::string &error() const { return reason; }

  /// Assigns the address of symbol `name`, a function or a variable, to
  /// `target`. Assigns null if the library has no such symbol; firstAbsent()
  /// reports the first missing symbol.
  template <typename T> void find(const char *name, T &target) {
    target = reinterpret_cast<T>(addressOf(name));
  }
  /// Returns the first symbol name that find() did not find in the library;
  /// null if find() has found all symbols so far. A caller can thus call find()
  /// for many symbols, and check for a missing symbol once at the end.
  const char *firstAbsent() const { return absent; }

private:
  /// Returns the address of the symbol `name`. If the library is not open or
  /// has no such symbol, returns null. The first time that this happens, stores
  /// `name` in the member `absent`; later failures do not change `absent`.
  void *addressOf(const char *name);

  /// Handle that dlopen() returned; null if the library is not open.
  void *handle = nullptr;
  std::string reason;
  const char *absent = nullptr;
};

/// Returns the folders to search first for NVIDIA's libraries:
///
/// - the folders in the environment variable PCC_CUDA_LIBRARIES, separated by
///   colons
/// - then `lib64` of the CUDA toolkit, which is at CUDA_HOME, or at
///   /usr/local/cuda if CUDA_HOME is not set
std::vector<std::string> cudaFolders();

} // namespace pcc::runtime

#endif // PCC_RUNTIME_BASE_SHAREDLIBRARY_H
