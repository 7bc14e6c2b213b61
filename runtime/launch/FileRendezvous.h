//===- FileRendezvous.h - ranks of one host meet in a folder --------------===//

#ifndef PCC_RUNTIME_LAUNCH_FILERENDEZVOUS_H
#define PCC_RUNTIME_LAUNCH_FILERENDEZVOUS_H

#include "runtime/comm/Rendezvous.h"

#include <string>

namespace pcc::runtime {

/// Ranks meet in a folder that is theirs alone and that nobody else can read.
class FileRendezvous : public Rendezvous {
public:
  FileRendezvous(std::string folder, int rank)
      : folder(std::move(folder)), rank(rank) {}

  Status broadcast(std::span<std::byte> data, double seconds) override;

private:
  const std::string folder;
  const int rank;
  int numBroadcasts = 0;
};

} // namespace pcc::runtime

#endif // PCC_RUNTIME_LAUNCH_FILERENDEZVOUS_H
