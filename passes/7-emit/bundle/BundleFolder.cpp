//===- BundleFolder.cpp - atomic creation of a bundle directory -----------===//

#include "passes/7-emit/bundle/BundleFolder.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <sys/stat.h>
#include <unistd.h>

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

/// Returns whether a new bundle may replace `path`. True for an older bundle or
/// an empty directory, false for a symbolic link to one of them.
static bool isReplaceable(const std::string &path) {
  std::error_code ignored;
  return fs::is_directory(fs::symlink_status(path, ignored)) &&
         (exists(path + "/bundle.json") || fs::is_empty(path, ignored));
}

Status BundleFolder::create(const std::string &name) {
  bundle = name;
  while (bundle.size() > 1 && bundle.back() == '/')
    bundle.pop_back();
  if (exists(bundle) && !isReplaceable(bundle))
    return failure("write", bundle, "it exists and is not a bundle");
  std::string made = bundle + ".part-" + std::to_string(getpid());
  std::error_code error;
  fs::remove_all(made, error);
  if (!fs::create_directory(made, error))
    return failure("write", bundle, error.message());
  temporary.take(std::move(made));
  return Status::success();
}

std::string BundleFolder::path(std::string_view name) const {
  return temporary.path() + "/" + std::string(name);
}

Status BundleFolder::write(std::string_view name, std::string_view bytes) {
  std::FILE *file = std::fopen(path(name).c_str(), "wb");
  const bool written =
      file && std::fwrite(bytes.data(), 1, bytes.size(), file) == bytes.size();
  const int problem = errno;
  const bool closed = file && std::fclose(file) == 0;
  if (written && closed)
    return Status::success();
  return failure("write", bundle + "/" + std::string(name),
                 std::strerror(written ? errno : problem));
}

Status BundleFolder::copy(const std::string &from, std::string_view name) {
  std::error_code error;
  fs::copy_file(from, path(name), error);
  return error ? failure("write", bundle + "/" + std::string(name),
                         error.message())
               : Status::success();
}

Status BundleFolder::link(std::string_view existing, std::string_view name) {
  std::error_code error;
  fs::create_hard_link(path(existing), path(name), error);
  return error ? copy(path(existing), name) : Status::success();
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

/// Replaces an old bundle in three steps, since rename() cannot replace a
/// directory that contains files. Renames the old bundle, renames the new
/// bundle to its final path, and erases the old bundle.
Status BundleFolder::finish() {
  std::error_code error;
  const std::string old = temporary.path() + ".old";
  const bool replaces = exists(bundle);
  if (replaces)
    fs::rename(bundle, old, error);
  if (!error)
    fs::rename(temporary.path(), bundle, error);
  std::error_code ignored;
  if (error) {
    if (replaces)
      fs::rename(old, bundle, ignored);
    return failure("write", bundle, error.message());
  }
  temporary.keep();
  if (replaces)
    fs::remove_all(old, ignored);
  return Status::success();
}
