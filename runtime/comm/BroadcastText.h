//===- BroadcastText.h - sends a text from one rank to all ----------------===//

#ifndef PCC_RUNTIME_COMM_BROADCASTTEXT_H
#define PCC_RUNTIME_COMM_BROADCASTTEXT_H

#include "runtime/comm/Communicator.h"

#include <string>

namespace pcc::runtime {

/// Sends `text` from rank `root` to all other ranks. On the other ranks,
/// replaces the contents of `text` by the text of `root`. All ranks of `world`
/// must call this function. The text may contain any bytes. `action` identifies
/// the communication in error messages.
inline Status broadcastText(World &world, int root, std::string &text,
                            const ActionId &action) {
  // Use the group of all ranks, because the text is in host memory. With NCCL,
  // all other groups can send only GPU memory.
  Group &all = world.all();
  auto length = uint64_t(text.size());
  PCC_RETURN_IF_ERROR(all.broadcast(&length, sizeof length, root, action));
  text.resize(length);
  return all.broadcast(text.data(), text.size(), root, action);
}

} // namespace pcc::runtime

#endif // PCC_RUNTIME_COMM_BROADCASTTEXT_H
