//===- SlurmNodeList.h - parser of Slurm's compressed host lists ----------===//

#ifndef PCC_RUNTIME_LAUNCH_RENDEZVOUS_SLURMNODELIST_H
#define PCC_RUNTIME_LAUNCH_RENDEZVOUS_SLURMNODELIST_H

#include <optional>
#include <string>
#include <string_view>

namespace pcc::runtime {

/// First host of a Slurm job, and whether it is the only one.
struct SlurmNodeList {
  /// Name of the first host in the list.
  std::string first;
  /// Whether the list contains exactly one host.
  bool isOnlyOne = true;
};

/// Parses a list of hosts as Slurm writes it, such as "gpu[007-009,12],login",
/// whose first host is gpu007. Returns std::nullopt if the text is malformed.
std::optional<SlurmNodeList> readSlurmNodeList(std::string_view text);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_LAUNCH_RENDEZVOUS_SLURMNODELIST_H
