//===- SlurmNodeList.h - lists of hosts as Slurm writes them --------------===//

#ifndef PCC_RUNTIME_LAUNCH_RENDEZVOUS_SLURMNODELIST_H
#define PCC_RUNTIME_LAUNCH_RENDEZVOUS_SLURMNODELIST_H

#include <optional>
#include <string>
#include <string_view>

namespace pcc::runtime {

struct SlurmNodeList {
  std::string first;
  bool isOnlyOne = true;
};

/// Reads "gpu[007-009,12],login": its first host is gpu007. Nothing if it is no
/// such list.
std::optional<SlurmNodeList> readSlurmNodeList(std::string_view text);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_LAUNCH_RENDEZVOUS_SLURMNODELIST_H
