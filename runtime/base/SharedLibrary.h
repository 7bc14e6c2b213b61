//===- SharedLibrary.h - a library that is opened when it is used ---------===//
//
// What pcc can do without is never linked: a machine that lacks it runs
// everything else.
//
//===----------------------------------------------------------------------===//

#ifndef PCC_RUNTIME_BASE_SHAREDLIBRARY_H
#define PCC_RUNTIME_BASE_SHAREDLIBRARY_H

#include <string>
#include <vector>

namespace pcc::runtime {

/// It stays open until the process ends.
class SharedLibrary {
public:
  enum class Symbols { Local, Global };

  /// Opens the first file of that name in `folders`, else what the loader
  /// finds.
  explicit SharedLibrary(const std::string &soname,
                         const std::vector<std::string> &folders = {},
                         Symbols symbols = Symbols::Local);

  bool isOpen() const { return handle; }
  /// Why it is not open.
  const std::string &error() const { return reason; }

  /// Looks a symbol up: a function, or the address of a variable.
  template <typename T> void find(const char *name, T &target) {
    target = reinterpret_cast<T>(addressOf(name));
  }
  /// The first that was looked for and is not there; null if all are.
  const char *firstAbsent() const { return absent; }

private:
  void *addressOf(const char *name);

  void *handle = nullptr;
  std::string reason;
  const char *absent = nullptr;
};

/// Where NVIDIA's libraries are looked for first: the folders of
/// PCC_CUDA_LIBRARIES, separated by colons, then those of a toolkit.
std::vector<std::string> cudaFolders();

} // namespace pcc::runtime

#endif // PCC_RUNTIME_BASE_SHAREDLIBRARY_H
