//===- FileChanges.cpp - durable changes of the file system ---------------===//

#include "runtime/checkpoint/FileChanges.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <sys/stat.h>
#include <unistd.h>

namespace pcc::runtime {

/// Returns an error with exit code 7 (InputOutput) for a failed operation.
/// `what` is the operation, such as "sync". `path` is the path of the file or
/// folder. `error` is a value of errno, such as ENOSPC.
static Status failure(const char *what, const std::string &path, int error) {
  return Status::error(InputOutput, std::string("cannot ") + what + " '" +
                                        path + "': " + std::strerror(error));
}

void FileChanges::announce(const char *change, const std::string &path) const {
  if (listener)
    listener(change, path);
}

Status FileChanges::makeFolder(const std::string &path) const {
  announce("make", path);
  if (mkdir(path.c_str(), 0777) == 0 || errno == EEXIST)
    return Status::success();
  return failure("make", path, errno);
}

Status FileChanges::syncFolder(const std::string &path) const {
  announce("sync", path);
  const int folder = open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  // fsync() sets errno to EINVAL or EROFS if the file system cannot sync
  // folders. Ignore this error, because a save must also be possible on such a
  // file system.
  const bool synced =
      folder >= 0 && (fsync(folder) == 0 || errno == EINVAL || errno == EROFS);
  const int error = errno;
  if (folder >= 0)
    close(folder);
  return synced ? Status::success() : failure("sync", path, error);
}

Status FileChanges::rename(const std::string &from,
                           const std::string &to) const {
  announce("rename", from);
  return std::rename(from.c_str(), to.c_str()) == 0
             ? Status::success()
             : failure("write", to, errno);
}

Status FileChanges::remove(const std::string &path) const {
  announce("remove", path);
  std::error_code error;
  std::filesystem::remove_all(path, error);
  return error ? failure("remove", path, error.value()) : Status::success();
}

Status FileChanges::replaceFile(const std::string &path,
                                const std::string &text) const {
  const std::string unfinished = path + ".part";
  NewFile file(*this);
  Status status = file.create(unfinished);
  if (status.ok())
    status = file.write(std::as_bytes(std::span(text)));
  if (status.ok())
    status = file.finish();
  if (status.ok())
    status = rename(unfinished, path);
  if (status.failed())
    unlink(unfinished.c_str());
  return status;
}

NewFile::~NewFile() {
  if (descriptor >= 0)
    close(descriptor);
}

Status NewFile::create(const std::string &name) {
  changes.announce("create", name);
  path = name;
  descriptor =
      open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  return descriptor >= 0 ? Status::success() : failure("write", path, errno);
}

/// Largest number of bytes that NewFile::write() passes to one call of
/// write(2): 64 MiB. For example, 200 MiB are written by 4 calls. Linux itself
/// writes at most about 2 GiB per call.
static constexpr size_t kLargestWrite = size_t(64) << 20;

Status NewFile::write(std::span<const std::byte> bytes) {
  changes.announce("write", path);
  while (!bytes.empty()) {
    const ssize_t written = ::write(descriptor, bytes.data(),
                                    std::min(bytes.size(), kLargestWrite));
    if (written < 0 && errno == EINTR)
      continue;
    if (written < 0)
      return failure("write", path, errno);
    bytes = bytes.subspan(size_t(written));
  }
  return Status::success();
}

Status NewFile::finish() {
  changes.announce("sync", path);
  const bool synced = fsync(descriptor) == 0;
  const int error = errno;
  const bool closed = close(descriptor) == 0;
  descriptor = -1;
  if (synced && closed)
    return Status::success();
  return failure("write", path, synced ? errno : error);
}

} // namespace pcc::runtime
