//===- RankLinker.cpp - in-process linking of rank executables ------------===//

#include "passes/7-emit/link/RankLinker.h"
#include "lld/Common/Driver.h"
#include "runtime/base/Exhaustion.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

#include <array>
#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <optional>
#include <unistd.h>

LLD_HAS_DRIVER(elf)

using namespace pcc;
using namespace pcc::emit;

namespace {
/// Shared library that rank executables need at run time.
struct RequiredLibrary {
  const char *soname;
  /// Name of the Debian package that installs this shared library. If the
  /// shared library is missing, the error message names this package.
  const char *package;
  /// Whether only executables for CPUs need this shared library.
  bool isOfCpu = false;
};
} // namespace

static constexpr std::array<RequiredLibrary, 7> libraries = {
    {{"libdnnl.so.2", "libdnnl2", true},
     {"libgomp.so.1", "libgomp1", true},
     {"libstdc++.so.6", "libstdc++6"},
     {"libm.so.6", "libc6"},
     {"libgcc_s.so.1", "libgcc-s1"},
     {"libc.so.6", "libc6"},
     {"ld-linux-x86-64.so.2", "libc6"}}};

/// Folders in which findLibrary() searches for shared libraries, in this order.
static constexpr std::array<const char *, 6> folders = {
    "/lib/x86_64-linux-gnu",
    "/usr/lib/x86_64-linux-gnu",
    "/lib64",
    "/usr/lib64",
    "/usr/lib",
    "/lib"};

static std::string join(const std::string &folder, const char *name) {
  return folder + "/" + name;
}

/// Returns the path of the pcc library, or of this process's executable if pcc
/// is linked statically.
static std::string ownFile() {
  Dl_info information = {};
  link_map *map = nullptr;
  const bool isKnown =
      dladdr1(reinterpret_cast<const void *>(&emit::findSupportFolder),
              &information, reinterpret_cast<void **>(&map),
              RTLD_DL_LINKMAP) != 0;
  if (!isKnown || !map || map->l_name[0] == '\0')
    return llvm::sys::fs::getMainExecutable(nullptr, nullptr);
  llvm::SmallString<256> path;
  return llvm::sys::fs::real_path(map->l_name, path) ? map->l_name
                                                     : path.str().str();
}

Status emit::findSupportFolder(std::string &folder) {
  const std::string binary = ownFile();
  const llvm::StringRef prefix =
      llvm::sys::path::parent_path(llvm::sys::path::parent_path(binary));
  folder = prefix.str() + "/lib/pcc";
  for (const char *target : {"cpu", "cuda"})
    if (std::string main = rankMain(folder, target);
        !llvm::sys::fs::exists(main))
      return Status::error(Defect, "the installation is incomplete: " + main +
                                       " is missing");
  return Status::success();
}

std::string emit::rankMain(const std::string &folder,
                           const std::string &target) {
  return folder + "/rank-main-" + target + ".o";
}

/// Returns the path of the shared library `soname`, preferably of the one in
/// the folder `own`; std::nullopt if the library is not installed.
static std::optional<std::string> findLibrary(const std::string &own,
                                              const char *soname) {
  if (std::string path = join(own, soname); llvm::sys::fs::exists(path))
    return path;
  for (const char *folder : folders)
    if (std::string path = join(folder, soname); llvm::sys::fs::exists(path))
      return path;
  return std::nullopt;
}

/// Appends to `arguments` the paths of the shared libraries that the executable
/// of a rank needs. `arguments` is the command line of the linker. `target` is
/// "cpu" or "cuda". Some libraries are only needed for "cpu". Returns exit code
/// 13 if a needed library is not installed.
///
/// A package of pcc has libraries in its folder `own`, beside the pcc library.
/// If the executable needs one of them, it records the path of this folder as
/// DT_RPATH. Unlike DT_RUNPATH, DT_RPATH is also used to find the libraries
/// that those libraries need.
static Status addLibraries(const std::string &own, const std::string &target,
                           std::vector<std::string> &arguments) {
  bool usesOwn = false;
  for (const RequiredLibrary &library : libraries) {
    if (library.isOfCpu && target != "cpu")
      continue;
    std::optional<std::string> path = findLibrary(own, library.soname);
    if (!path)
      return Status::error(
          NoDevice,
          std::string("the library ") + library.soname +
              ", which rank executables need, is not installed",
          {std::string("on Debian it is in the package ") + library.package});
    usesOwn |= llvm::sys::path::parent_path(*path) == own;
    arguments.push_back(*path);
  }
  if (usesOwn)
    arguments.insert(arguments.end(),
                     {"--disable-new-dtags", "--rpath=" + own});
  return Status::success();
}

/// Finds out why the linker could not write the file `path` completely: appends
/// up to 1 MiB to the file, until a write fails. Returns the error number of
/// this write, such as ENOSPC. Returns 0 if no write fails, or if the file
/// cannot be opened.
static int findWriteError(const std::string &path) {
  constexpr size_t pages = 256;
  const std::string page(4096, '\0');
  const int file = open(path.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC);
  int error = 0;
  for (size_t i = 0; i < pages && file >= 0 && error == 0; ++i)
    if (write(file, page.data(), page.size()) < 0)
      error = errno;
  if (file >= 0)
    close(file);
  return error;
}

/// Returns the error for a failure of the linker lld. `line` is the first line
/// that lld printed, or empty. `output` is the file that lld should have
/// written. Exit codes: 7 if `output` cannot be written, 13 if memory or open
/// files run out, otherwise 1.
static Status errorOf(llvm::StringRef line, const std::string &output) {
  if (line.contains("failed to ") &&
      line.contains(llvm::sys::path::filename(output)))
    return Status::error(
        InputOutput, "cannot write '" +
                         llvm::sys::path::filename(output).str() +
                         "' of the bundle: " + line.rsplit(": ").second.str());
  const bool lacksMemory = line.contains("Cannot allocate memory");
  if (lacksMemory || line.contains("Too many open files")) {
    Status status = Status::error(NoDevice, "cannot link a rank executable: " +
                                                line.rsplit(": ").second.str());
    return lacksMemory ? status.addNote(runtime::describeMemory()) : status;
  }
  // The linker does not say why it could not write its output.
  if (int error = line.empty() ? findWriteError(output) : 0)
    return Status::error(InputOutput,
                         "cannot write '" +
                             llvm::sys::path::filename(output).str() +
                             "' of the bundle: " + std::strerror(error));
  // The linker may fail without a message if the process reaches its memory
  // limit. If there is no message and the process has a memory limit
  // (RLIMIT_AS or RLIMIT_DATA), report that memory ran out.
  if (line.empty() && runtime::isMemoryLimited())
    return runtime::outOfMemory().prefixed("cannot link a rank executable: ");
  return Status::error(Defect, "cannot link a rank executable: " + line.str());
}

namespace {
/// Path by which the linker lld accesses a folder. The ordinary path of the
/// folder may contain characters that are special to lld, such as % and @. The
/// constructor therefore opens the folder, and gets a file descriptor N. Linux
/// then makes the folder accessible at the path `/proc/self/fd/N`, which
/// contains no special characters. Example: if N is 5, lld gets the path
/// `/proc/self/fd/5` instead of `/data/a@b`.
class PlainPath {
public:
  explicit PlainPath(llvm::StringRef folder)
      : descriptor(open(folder.str().c_str(), O_PATH | O_DIRECTORY)) {}
  ~PlainPath() {
    if (descriptor >= 0)
      close(descriptor);
  }
  PlainPath(const PlainPath &) = delete;
  PlainPath &operator=(const PlainPath &) = delete;

  /// Returns `/proc/self/fd/N/NAME` for a file in the folder. N is the
  /// descriptor of the folder, and NAME is the file name at the end of `path`.
  std::string of(llvm::StringRef path) const {
    return "/proc/self/fd/" + std::to_string(descriptor) + "/" +
           llvm::sys::path::filename(path).str();
  }

private:
  int descriptor; ///< of the folder
};
} // namespace

Status emit::linkRank(const std::string &folder, const std::string &target,
                      const std::vector<std::string> &objects,
                      const std::string &output) {
  const PlainPath plain(llvm::sys::path::parent_path(output));
  std::vector<std::string> arguments = {
      "ld.lld", "-shared",
      // In lld 22, this option keeps the output in memory, and the opposite one
      // maps the file. A store to a mapped file raises SIGBUS if the disk is
      // full.
      "--mmap-output-file", "-o", plain.of(output), "-e", "_start",
      "--gc-sections", "--strip-all", "--hash-style=gnu", "--eh-frame-hdr",
      "--build-id=none", "-Bsymbolic", "-z", "now", "-z", "relro", "-z",
      "noexecstack", "-z", "defs", "--as-needed", "--no-dependent-libraries",
      "--version-script=" + join(folder, "rank.exports"),
      join(folder, "start/Scrt1.o"), join(folder, "start/crti.o"),
      join(folder, "start/crtbeginS.o")};
  for (const std::string &object : objects)
    arguments.push_back(plain.of(object));
  arguments.push_back(rankMain(folder, target));
  PCC_RETURN_IF_ERROR(addLibraries(llvm::sys::path::parent_path(folder).str(),
                                   target, arguments));
  for (const char *name : {"start/libc_nonshared.a", "start/libgcc.a",
                           "start/crtendS.o", "start/crtn.o"})
    arguments.push_back(join(folder, name));

  std::vector<const char *> pointers;
  for (const std::string &argument : arguments)
    pointers.push_back(argument.c_str());
  std::string said;
  llvm::raw_string_ostream stream(said);
  const lld::Result result =
      lld::lldMain(pointers, stream, stream, {{lld::Gnu, &lld::elf::link}});
  if (result.retCode == 0 && result.canRunAgain)
    return Status::success();
  return errorOf(llvm::StringRef(said).trim().split('\n').first, output);
}
