//===- SlurmNodeList.h - parser of Slurm's compressed host lists ----------===//

#ifndef PCC_RUNTIME_LAUNCH_RENDEZVOUS_SLURMNODELIST_H
#define PCC_RUNTIME_LAUNCH_RENDEZVOUS_SLURMNODELIST_H

#include <optional>
#include <string>
#include <string_view>

namespace pcc::runtime {

/// The facts that the rendezvous needs about a list of hosts.
struct SlurmNodeList {
  /// Name of the first host.
  std::string first;
  /// Whether the list has one host only.
  bool isOnlyOne = true;
};

/// Parses a list such as "gpu[007-009,12],login", whose first host is gpu007.
/// Returns empty for malformed text.
std::optional<SlurmNodeList> readSlurmNodeList(std::string_view text);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_LAUNCH_RENDEZVOUS_SLURMNODELIST_H
