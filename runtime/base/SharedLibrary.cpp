//===- SharedLibrary.cpp - dynamic loading of optional libraries ----------===//

#include "runtime/base/SharedLibrary.h"

#include <cstdlib>
#include <dlfcn.h>
#include <sstream>
#include <unistd.h>

namespace pcc::runtime {

/// Searches `folders`, in their order, for a readable file with the name
/// `soname`, and returns the path of the first such file. If no folder has the
/// file, returns `soname` itself. dlopen() accepts both: for a plain file name,
/// dlopen() searches the library path of the system.
static std::string fileIn(const std::vector<std::string> &folders,
                          const std::string &soname) {
  for (const std::string &folder : folders)
    if (std::string path = folder + "/" + soname;
        access(path.c_str(), R_OK) == 0)
      return path;
  return soname;
}

SharedLibrary::SharedLibrary(const std::string &soname,
                             const std::vector<std::string> &folders,
                             Symbols symbols) {
  const int visible = symbols == Symbols::Global ? RTLD_GLOBAL : RTLD_LOCAL;
  handle = dlopen(fileIn(folders, soname).c_str(), RTLD_NOW | visible);
  if (handle)
    return;
  const char *said = dlerror();
  reason = "cannot open " + soname + ": " + (said ? said : "no reason given");
}

void *SharedLibrary::addressOf(const char *name) {
  void *address = handle ? dlsym(handle, name) : nullptr;
  if (!address && !absent)
    absent = name;
  return address;
}

std::vector<std::string> cudaFolders() {
  std::vector<std::string> folders;
  if (const char *given = std::getenv("PCC_CUDA_LIBRARIES")) {
    std::istringstream list(given);
    for (std::string folder; std::getline(list, folder, ':');)
      if (!folder.empty())
        folders.push_back(folder);
  }
  const char *toolkit = std::getenv("CUDA_HOME");
  folders.push_back(std::string(toolkit ? toolkit : "/usr/local/cuda") +
                    "/lib64");
  return folders;
}

} // namespace pcc::runtime
