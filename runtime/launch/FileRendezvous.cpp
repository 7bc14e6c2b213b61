//===- FileRendezvous.cpp - ranks of one host meet in a folder ------------===//

#include "runtime/launch/FileRendezvous.h"
#include "runtime/program/WholeFile.h"

#include <chrono>
#include <fcntl.h>
#include <thread>
#include <unistd.h>

namespace pcc::runtime {

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
    return writeWholeFile(
        path,
        std::string(reinterpret_cast<const char *>(data.data()), data.size()));
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
