//===- NodeList.h - lists of hosts as Slurm writes them -------------------===//

#ifndef PCC_RUNTIME_LAUNCH_RENDEZVOUS_NODELIST_H
#define PCC_RUNTIME_LAUNCH_RENDEZVOUS_NODELIST_H

#include <optional>
#include <string>
#include <string_view>

namespace pcc::runtime {

struct NodeList {
  std::string first;
  bool isOnlyOne = true;
};

/// Reads "gpu[007-009,12],login": its first host is gpu007. Nothing if it is no
/// such list.
std::optional<NodeList> readNodeList(std::string_view text);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_LAUNCH_RENDEZVOUS_NODELIST_H
