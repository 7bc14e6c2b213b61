//===- MappedFile.cpp - read-only memory mapping of a file ----------------===//

#include "runtime/base/MappedFile.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace pcc::runtime {

MappedFile &MappedFile::operator=(MappedFile &&other) noexcept {
  std::swap(data, other.data);
  std::swap(size, other.size);
  std::swap(modified, other.modified);
  return *this;
}

MappedFile::~MappedFile() {
  if (data)
    munmap(const_cast<std::byte *>(data), size);
}

/// Returns the error (exit code 7) of a file that cannot be read because of
/// `why`.
static Status cannotRead(const std::string &path, const std::string &why) {
  return Status::error(InputOutput, "cannot read \"" + path + "\": " + why);
}

/// The file descriptor is closed in all cases, because a mapping stays valid
/// without it. A mapping of zero bytes is invalid, so an empty file is not
/// mapped.
Status MappedFile::open(const std::string &path, MappedFile &file) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0)
    return cannotRead(path, std::strerror(errno));
  MappedFile opened;
  struct stat info = {};
  Status status = Status::success();
  if (fstat(descriptor, &info) != 0) {
    status = cannotRead(path, std::strerror(errno));
  } else if (!S_ISREG(info.st_mode)) {
    status = cannotRead(path, "it is not a regular file");
  } else if (info.st_size > 0) {
    void *mapped = mmap(nullptr, size_t(info.st_size), PROT_READ, MAP_PRIVATE,
                        descriptor, 0);
    if (mapped == MAP_FAILED) {
      status = cannotRead(path, std::strerror(errno));
    } else {
      opened.data = static_cast<const std::byte *>(mapped);
      opened.size = size_t(info.st_size);
    }
  }
  opened.modified =
      int64_t(info.st_mtim.tv_sec) * 1000000000 + int64_t(info.st_mtim.tv_nsec);
  close(descriptor);
  if (status.ok())
    file = std::move(opened);
  return status;
}

void MappedFile::release(size_t offset, size_t length) const {
  const size_t page = size_t(sysconf(_SC_PAGESIZE));
  const size_t begin = (offset + page - 1) / page * page;
  const size_t end = (offset + length) / page * page;
  if (begin < end)
    madvise(const_cast<std::byte *>(data) + begin, end - begin, MADV_DONTNEED);
}

} // namespace pcc::runtime
