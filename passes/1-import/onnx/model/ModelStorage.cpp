//===- ModelStorage.cpp - memory that the views of a model refer to -------===//

#include "passes/1-import/onnx/model/ModelStorage.h"
#include "passes/1-import/onnx/model/MessageText.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace pcc;
using namespace pcc::onnx;

/// Returns pcc's exit code for the system error `number` (an errno):
/// InputOutput if the operating system refuses access or resources, otherwise
/// CannotRead.
static ExitCode exitCodeOf(int number) {
  return number == EACCES || number == EPERM || number == EIO ||
                 number == EMFILE || number == ENFILE || number == ENOMEM
             ? InputOutput
             : CannotRead;
}

static Status systemError(const std::string &path, int number) {
  return Status::error(exitCodeOf(number), "cannot read " + quoted(path) +
                                               ": " + std::strerror(number));
}

/// Maps the file and closes the file descriptor. The mapping stays valid
/// without the descriptor.
Status ModelStorage::map(const std::string &path) {
  // Without O_NONBLOCK, open() of a named pipe would block until another
  // process writes to the pipe.
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0)
    return systemError(path, errno);
  struct stat status;
  Status error;
  if (fstat(fd, &status) != 0)
    error = systemError(path, errno);
  else if (!S_ISREG(status.st_mode))
    error = Status::error(CannotRead, "cannot read " + quoted(path) +
                                          ": not a regular file");
  else if (status.st_size != 0) {
    const auto size = static_cast<size_t>(status.st_size);
    void *address = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (address == MAP_FAILED) {
      error = systemError(path, errno);
    } else {
      mapping = address;
      content = {static_cast<const char *>(address), size};
    }
  }
  close(fd);
  return error;
}

ModelStorage::~ModelStorage() {
  if (mapping)
    munmap(mapping, content.size());
}
