//===- BundleFolder.cpp - atomic creation of a bundle directory -----------===//

#include "passes/7-emit/bundle/BundleFolder.h"
#include "runtime/base/AtomicFile.h"
#include "runtime/program/Seal.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/JSON.h"

#include <array>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

using namespace pcc;
using namespace pcc::emit;
namespace fs = std::filesystem;

static Status failure(const std::string &what, const std::string &path,
                      const std::string &why) {
  return Status::error(InputOutput,
                       "cannot " + what + " '" + path + "': " + why);
}

/// Returns whether something exists at `path`. True for a symbolic link, even
/// if its target does not exist.
static bool exists(const std::string &path) {
  std::error_code ignored;
  return fs::exists(fs::symlink_status(path, ignored));
}

/// Returns whether `text` consists of `least` digits or more.
static bool isNumber(llvm::StringRef text, size_t least) {
  return text.size() >= least && llvm::all_of(text, llvm::isDigit);
}

/// Returns whether pcc writes a file or folder named `name` into bundles of
/// `numRanks` ranks. Names are relative to the bundle, such as
/// `weights/position-0.safetensors`. Ranks on GPUs add files such as
/// `algorithms-cublaslt-130000-NVIDIA-H100`.
static bool belongsToBundle(llvm::StringRef name, int64_t numRanks) {
  static constexpr std::array<llvm::StringLiteral, 4> names = {
      "bundle.json", "explain.json", "run", "weights"};
  if (llvm::is_contained(names, name))
    return true;
  int64_t rank = 0;
  if (name.consume_front("rank-"))
    return isNumber(name, 3) && !name.getAsInteger(10, rank) && rank < numRanks;
  if (name.consume_front("weights/position-"))
    return name.consume_back(".safetensors") && isNumber(name, 1);
  return name.consume_front("algorithms-") && !name.empty() &&
         llvm::all_of(name,
                      [](char c) { return llvm::isAlnum(c) || c == '-'; });
}

/// Returns the name of a file or folder in `bundle` that pcc did not write,
/// such as a checkpoint of the user. Returns an empty string if there is none.
/// `numRanks` is the number of ranks of the bundle.
static std::string findForeignFile(const std::string &bundle,
                                   int64_t numRanks) {
  std::error_code error;
  fs::recursive_directory_iterator entry(bundle, error);
  for (const fs::recursive_directory_iterator end; !error && entry != end;
       entry.increment(error)) {
    std::string name = entry->path().string().substr(bundle.size() + 1);
    const bool isFolder = entry->is_directory(error);
    if (!belongsToBundle(name, numRanks) || isFolder != (name == "weights"))
      return name;
  }
  return "";
}

/// Checks that pcc wrote the file bundle.json of `bundle`: it has a seal. Sets
/// `numRanks` to the number of ranks in it.
static Status checkOwn(const std::string &bundle, int64_t &numRanks) {
  std::string text;
  if (runtime::readSealedJson(bundle + "/bundle.json", text).failed())
    return failure("replace", bundle, "its bundle.json has no valid seal");
  llvm::Expected<llvm::json::Value> content = llvm::json::parse(text);
  if (!content) {
    llvm::consumeError(content.takeError());
    return failure("replace", bundle, "its bundle.json is no JSON");
  }
  const llvm::json::Object *fields = content->getAsObject();
  numRanks = fields ? fields->getInteger("world").value_or(0) : 0;
  return Status::success();
}

/// Checks whether pcc may write a bundle to `path`. Returns an error if a file
/// or directory exists at `path`, with two exceptions:
///
///  - The directory is empty.
///  - The directory is a bundle, and it contains only files that pcc wrote.
static Status checkReplaceable(const std::string &path) {
  if (!exists(path))
    return Status::success();
  std::error_code ignored;
  const bool isFolder = fs::is_directory(fs::symlink_status(path, ignored));
  if (isFolder && fs::is_empty(path, ignored))
    return Status::success();
  if (!isFolder || !exists(path + "/bundle.json"))
    return failure("write", path, "it exists and is not a bundle");
  int64_t numRanks = 0;
  PCC_RETURN_IF_ERROR(checkOwn(path, numRanks));
  const std::string foreign = findForeignFile(path, numRanks);
  if (foreign.empty())
    return Status::success();
  return failure("replace", path,
                 "it holds '" + foreign + "', which is not part of a bundle")
      .addNote("move '" + foreign + "' or choose another place with -o");
}

Status BundleFolder::create(const std::string &name) {
  bundle = name;
  while (bundle.size() > 1 && bundle.back() == '/')
    bundle.pop_back();
  PCC_RETURN_IF_ERROR(checkReplaceable(bundle));
  return temporary.createFolder(bundle);
}

std::string BundleFolder::path(std::string_view name) const {
  return temporary.path() + "/" + std::string(name);
}

Status BundleFolder::write(std::string_view name, std::string_view bytes) {
  const std::string shown = bundle + "/" + std::string(name);
  const int file =
      open(path(name).c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (file < 0)
    return failure("write", shown, std::strerror(errno));
  Status status = runtime::writeAll(file, bytes, shown);
  if (close(file) != 0 && status.ok())
    status = failure("write", shown, std::strerror(errno));
  return status;
}

Status BundleFolder::copy(const std::string &from, std::string_view name) {
  std::error_code error;
  fs::copy_file(from, path(name), error);
  return error ? failure("write", bundle + "/" + std::string(name),
                         error.message())
               : Status::success();
}

Status BundleFolder::link(std::string &existing, const std::string &name) {
  std::error_code error;
  fs::create_hard_link(path(existing), path(name), error);
  return error ? copy(path(std::exchange(existing, name)), name)
               : Status::success();
}

Status BundleFolder::makeFolder(std::string_view name) {
  std::error_code error;
  fs::create_directory(path(name), error);
  return error ? failure("write", bundle + "/" + std::string(name),
                         error.message())
               : Status::success();
}

Status BundleFolder::makeExecutable(std::string_view name) {
  // The umask can be read only by setting it. The first call reads and clears
  // it; the second call restores it.
  const mode_t mask = umask(0);
  umask(mask);
  return chmod(path(name).c_str(), 0777 & ~mask) == 0
             ? Status::success()
             : failure("write", bundle + "/" + std::string(name),
                       std::strerror(errno));
}

Status BundleFolder::remove(std::string_view name) {
  std::error_code error;
  fs::remove(path(name), error);
  return error ? failure("remove", path(name), error.message())
               : Status::success();
}

/// Before the rename, checks again, as create() did, that an older bundle
/// contains only files that pcc wrote. The user may have stored another file in
/// it since create(), and the rename would erase this file.
Status BundleFolder::finish() {
  PCC_RETURN_IF_ERROR(checkReplaceable(bundle));
  return temporary.finish();
}
