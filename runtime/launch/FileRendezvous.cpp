//===- FileRendezvous.cpp - ranks of one host meet in a folder ------------===//

#include "runtime/launch/FileRendezvous.h"

#include <cerrno>
#include <chrono>
#include <cstring>
#include <fcntl.h>
#include <thread>
#include <unistd.h>

namespace pcc::runtime {

/// The file appears whole.
static Status writeWhole(const std::string &path,
                         std::span<const std::byte> data) {
  const std::string unfinished = path + ".unfinished";
  const int file =
      open(unfinished.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  const bool isWritten = file >= 0 && write(file, data.data(), data.size()) ==
                                          ssize_t(data.size());
  if (file >= 0)
    close(file);
  if (isWritten && rename(unfinished.c_str(), path.c_str()) == 0)
    return Status::success();
  return Status::error(InputOutput, "cannot write \"" + path +
                                        "\": " + std::strerror(errno));
}

/// False while it is not there.
static bool readWhole(const std::string &path, std::span<std::byte> data) {
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0)
    return false;
  const ssize_t bytes = read(file, data.data(), data.size());
  close(file);
  return bytes == ssize_t(data.size());
}

Status FileRendezvous::broadcast(std::span<std::byte> data, double seconds) {
  using Clock = std::chrono::steady_clock;
  const std::string path =
      folder + "/rendezvous." + std::to_string(numBroadcasts++);
  if (rank == 0)
    return writeWhole(path, data);
  const auto begin = Clock::now();
  while (!readWhole(path, data)) {
    if (std::chrono::duration<double>(Clock::now() - begin).count() > seconds)
      return Status::error(PeerLost, "rank " + std::to_string(rank) +
                                         ": rank 0 did not come to the "
                                         "rendezvous in time");
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return Status::success();
}

} // namespace pcc::runtime
