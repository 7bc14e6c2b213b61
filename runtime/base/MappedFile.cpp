//===- MappedFile.cpp - read-only memory mapping of a file ----------------===//

#include "runtime/base/MappedFile.h"
#include "runtime/base/Exhaustion.h"
#include "runtime/base/MissingFile.h"
#include "status/Counted.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace pcc::runtime {

MappedFile &MappedFile::operator=(MappedFile &&other) noexcept {
  std::swap(path, other.path);
  std::swap(device, other.device);
  std::swap(inode, other.inode);
  std::swap(data, other.data);
  std::swap(size, other.size);
  std::swap(modified, other.modified);
  guard = std::move(other.guard);
  return *this;
}

MappedFile::~MappedFile() {
  guard.release();
  if (data)
    munmap(const_cast<std::byte *>(data), size);
}

/// Returns an error with exit code `code`. The message of the error says that
/// the file at `path` cannot be read. `why` is the reason at the end of the
/// message, such as "it is not a regular file".
static Status cannotRead(const std::string &path, const std::string &why,
                         ExitCode code) {
  return Status::error(code, "cannot read '" + path + "': " + why);
}

/// Returns the error of a system call that failed for the file at `path` and
/// has set errno. The exit code depends on errno:
///
/// - 7 if permission is denied (EACCES, EPERM), reading fails (EIO), or
///   descriptors have run out (EMFILE, ENFILE)
/// - 13 if memory has run out (ENOMEM)
/// - `unusable` for any other errno, such as ENOENT (no such file)
static Status systemError(const std::string &path, ExitCode unusable) {
  if (errno == ENOMEM)
    return cannotRead(path, "out of memory", NoDevice)
        .addNote(describeMemory());
  if (errno == ENOENT)
    return cannotRead(path, "it " + describeMissing(path), unusable);
  const bool isRefusal = errno == EACCES || errno == EPERM || errno == EIO ||
                         errno == EMFILE || errno == ENFILE;
  return cannotRead(path, std::strerror(errno),
                    isRefusal ? InputOutput : unusable);
}

static int64_t modificationTime(const struct stat &info) {
  return int64_t(info.st_mtim.tv_sec) * 1000000000 +
         int64_t(info.st_mtim.tv_nsec);
}

/// Closes the file descriptor before returning, because a mapping stays valid
/// without the descriptor. The number of mapped files is therefore not bounded
/// by the limit on open descriptors (ulimit -n).
///
/// If the file is empty, the function succeeds but does not call mmap().
/// mmap() would reject a length of 0 bytes. bytes() then returns an empty span.
Status MappedFile::open(const std::string &path, MappedFile &file,
                        ExitCode unusable) {
  const int descriptor =
      ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  if (descriptor < 0)
    return systemError(path, unusable);
  MappedFile opened;
  Status status = opened.map(path, descriptor, unusable);
  close(descriptor);
  if (status.ok())
    file = std::move(opened);
  return status;
}

Status MappedFile::map(const std::string &name, int descriptor,
                       ExitCode unusable) {
  struct stat info = {};
  if (fstat(descriptor, &info) != 0)
    return systemError(name, unusable);
  if (!S_ISREG(info.st_mode))
    return cannotRead(name, "it is not a regular file", unusable);
  path = name;
  device = info.st_dev;
  inode = info.st_ino;
  modified = modificationTime(info);
  if (info.st_size == 0)
    return Status::success();
  void *mapped = mmap(nullptr, size_t(info.st_size), PROT_READ, MAP_PRIVATE,
                      descriptor, 0);
  if (mapped == MAP_FAILED)
    return systemError(name, unusable);
  data = static_cast<const std::byte *>(mapped);
  size = size_t(info.st_size);
  guard = MappingGuard(mapped, size, PROT_READ);
  return Status::success();
}

Status MappedFile::slice(uint64_t offset, uint64_t length, ExitCode code,
                         std::span<const std::byte> &part) const {
  if (offset > size || length > size - offset)
    return Status::error(code, "'" + path + "' has " + counted(size, "byte") +
                                   ", needs " + std::to_string(length) +
                                   " at byte " + std::to_string(offset));
  part = bytes().subspan(offset, length);
  return Status::success();
}

Status MappedFile::checkUnchanged(ExitCode code) const {
  std::string how;
  if (struct stat info = {}; !path.empty() && stat(path.c_str(), &info) == 0 &&
                             info.st_dev == device && info.st_ino == inode) {
    if (size_t(info.st_size) != size)
      how = "it had " + counted(size, "byte") + " and has " +
            std::to_string(info.st_size);
    else if (modificationTime(info) != modified)
      how = "it was written to";
  }
  return how.empty() ? checkRead(code) : changed(code, how);
}

Status MappedFile::checkRead(ExitCode code) const {
  return guard.hasFailed() ? changed(code, "a part of it cannot be read")
                           : Status::success();
}

Status MappedFile::changed(ExitCode code, const std::string &how) const {
  return Status::error(code,
                       "'" + path + "' changed while it was read: " + how);
}

void MappedFile::release(size_t offset, size_t length) const {
  const size_t page = size_t(sysconf(_SC_PAGESIZE));
  const size_t begin = (offset + page - 1) / page * page;
  const size_t end = (offset + length) / page * page;
  if (begin < end)
    madvise(const_cast<std::byte *>(data) + begin, end - begin, MADV_DONTNEED);
}

Status readTextFile(const std::string &path, size_t mostBytes,
                    std::string &text, ExitCode unusable) {
  MappedFile file;
  PCC_RETURN_IF_ERROR(MappedFile::open(path, file, unusable));
  if (file.bytes().size() > mostBytes)
    return cannotRead(path,
                      "it has " + counted(file.bytes().size(), "byte") +
                          ", more than " + std::to_string(mostBytes),
                      unusable);
  text = file.text();
  return file.checkUnchanged(unusable);
}

} // namespace pcc::runtime
