//===- AtomicFile.cpp - atomic replacement of a file ----------------------===//

#include "runtime/base/AtomicFile.h"

#include "runtime/base/Unfinished.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <climits>
#include <csignal>
#include <ctime>
#include <fcntl.h>
#include <filesystem>
#include <poll.h>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>

namespace pcc::runtime {
namespace fs = std::filesystem;

/// Waits until a write to the file descriptor `file` does not block, but at
/// most `seconds` seconds. Returns false if a write would still block after
/// this time, otherwise true. A write to a regular file never blocks.
static bool waitUntilWritable(int file, double seconds) {
  pollfd wanted{file, POLLOUT, 0};
  constexpr double longest = 1e6; // seconds; fits in an int of milliseconds
  int ready = 0;
  do
    ready = poll(&wanted, 1, int(std::min(seconds, longest) * 1000));
  while (ready < 0 && errno == EINTR);
  return ready != 0;
}

/// Writes to a pipe in portions of at most PIPE_BUF bytes (4096 bytes on
/// Linux). One large write could block forever if no process reads from the
/// pipe. Before each portion, the function waits at most `seconds` seconds
/// until poll() reports the pipe as writable. A writable pipe has space for
/// PIPE_BUF bytes, so that the call of write() does not block.
///
/// If `file` is a regular file, the function does not wait, and passes all
/// remaining bytes to each call of write(). A write to a regular file needs no
/// reader.
Status writeAll(int file, std::string_view text, const std::string &path,
                double seconds) {
  struct stat info = {};
  const bool isFile = fstat(file, &info) == 0 && S_ISREG(info.st_mode);
  while (!text.empty()) {
    if (!isFile && !waitUntilWritable(file, seconds))
      return writeFailure(path, ETIMEDOUT);
    const ssize_t written =
        write(file, text.data(),
              isFile ? text.size() : std::min(text.size(), size_t(PIPE_BUF)));
    if (written >= 0)
      text.remove_prefix(size_t(written));
    else if (errno != EINTR && errno != EAGAIN)
      return writeFailure(path, errno);
  }
  return Status::success();
}

Status openOutput(const std::string &path, int flags, int &file) {
  constexpr std::chrono::seconds longest(5);
  const auto begin = std::chrono::steady_clock::now();
  // Without O_NONBLOCK, open() would wait forever for a process that reads from
  // the pipe. With O_NONBLOCK, open() fails with ENXIO if there is no such
  // process.
  while ((file = open(path.c_str(), flags | O_WRONLY | O_NONBLOCK | O_CLOEXEC,
                      0666)) < 0 &&
         errno == ENXIO && std::chrono::steady_clock::now() - begin < longest)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  if (file >= 0)
    return Status::success();
  return errno == ENXIO ? Status::error(InputOutput, "cannot write '" + path +
                                                         "': no process reads "
                                                         "this pipe")
                        : writeFailure(path, errno);
}

namespace {
/// Blocks SIGPIPE in this thread while the object lives. A write to a pipe
/// without a reader then fails with EPIPE, and the process goes on.
class PipeSignalBlock {
public:
  PipeSignalBlock() {
    sigemptyset(&pipe);
    sigaddset(&pipe, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &pipe, &before);
  }
  PipeSignalBlock(const PipeSignalBlock &) = delete;
  PipeSignalBlock &operator=(const PipeSignalBlock &) = delete;

  ~PipeSignalBlock() {
    const timespec now = {};
    while (sigtimedwait(&pipe, nullptr, &now) < 0 && errno == EINTR)
      ;
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
  }

private:
  sigset_t pipe = {}, before = {};
};
} // namespace

/// Writes `text` to the device or pipe at `path`.
static Status writeInPlace(const std::string &path, std::string_view text) {
  const PipeSignalBlock block;
  int file = -1;
  PCC_RETURN_IF_ERROR(openOutput(path, 0, file));
  Status status = writeAll(file, text, path);
  if (close(file) != 0 && status.ok())
    status = writeFailure(path, errno);
  return status;
}

bool isWrittenInPlace(const std::string &path) {
  std::error_code ignored;
  const fs::file_status found = fs::status(path, ignored);
  return fs::exists(found) && !fs::is_regular_file(found);
}

Status writeFileAtomically(const std::string &path, std::string_view text) {
  if (path == "-")
    return writeAll(STDOUT_FILENO, text, "stdout");
  if (isWrittenInPlace(path))
    return writeInPlace(path, text);
  std::error_code ignored, problem;
  const bool isLink = fs::is_symlink(fs::symlink_status(path, ignored));
  const std::string target =
      isLink ? fs::weakly_canonical(path, problem).string() : path;
  if (problem)
    return writeFailure(path, problem.value());
  Unfinished file;
  PCC_RETURN_IF_ERROR(file.createFile(target));
  PCC_RETURN_IF_ERROR(writeAll(file.descriptor(), text, path));
  return file.finish();
}

} // namespace pcc::runtime
