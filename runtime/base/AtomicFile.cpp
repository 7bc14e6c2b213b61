//===- AtomicFile.cpp - atomic replacement of a file ----------------------===//

#include "runtime/base/AtomicFile.h"

#include "runtime/base/Unfinished.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <poll.h>
#include <unistd.h>

namespace pcc::runtime {
namespace fs = std::filesystem;

static Status cannotWrite(const std::string &path, int error) {
  return Status::error(InputOutput,
                       "cannot write '" + path + "': " + std::strerror(error));
}

/// Waits until a descriptor of a full pipe in non-blocking mode takes bytes.
static void waitUntilWritable(int file) {
  pollfd wanted{file, POLLOUT, 0};
  poll(&wanted, 1, -1);
}

Status writeAll(int file, std::string_view text, const std::string &path) {
  while (!text.empty()) {
    const ssize_t written = write(file, text.data(), text.size());
    if (written >= 0)
      text.remove_prefix(size_t(written));
    else if (errno == EAGAIN)
      waitUntilWritable(file);
    else if (errno != EINTR)
      return cannotWrite(path, errno);
  }
  return Status::success();
}

/// Writes `text` to the device or pipe at `path`.
static Status writeInPlace(const std::string &path, std::string_view text) {
  const int file = open(path.c_str(), O_WRONLY | O_CLOEXEC);
  if (file < 0)
    return cannotWrite(path, errno);
  Status status = writeAll(file, text, path);
  if (close(file) != 0 && status.ok())
    status = cannotWrite(path, errno);
  return status;
}

Status writeFileAtomically(const std::string &path, std::string_view text) {
  std::error_code ignored;
  const fs::file_status found = fs::status(path, ignored);
  if (fs::exists(found) && !fs::is_regular_file(found))
    return writeInPlace(path, text);
  const bool isLink = fs::is_symlink(fs::symlink_status(path, ignored));
  Unfinished file;
  PCC_RETURN_IF_ERROR(file.createFile(
      isLink ? fs::weakly_canonical(path, ignored).string() : path));
  PCC_RETURN_IF_ERROR(writeAll(file.descriptor(), text, path));
  return file.finish();
}

} // namespace pcc::runtime
