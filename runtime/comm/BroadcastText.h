//===- BroadcastText.h - sends a text from one rank to all ----------------===//

#ifndef PCC_RUNTIME_COMM_BROADCASTTEXT_H
#define PCC_RUNTIME_COMM_BROADCASTTEXT_H

#include "runtime/comm/Communicator.h"

#include <string>

namespace pcc::runtime {

/// Sends `text` from rank `root` to all other ranks, where `text` becomes the
/// sent one. All ranks of `world` must call this function. The text may contain
/// any bytes. `action` identifies the communication in error messages.
inline Status broadcastText(World &world, int root, std::string &text,
                            const ActionId &action) {
  // The group of all ranks: with NCCL, other groups send only GPU memory.
  Group &all = world.all();
  auto length = uint64_t(text.size());
  PCC_RETURN_IF_ERROR(all.broadcast(&length, sizeof length, root, action));
  text.resize(length);
  return all.broadcast(text.data(), text.size(), root, action);
}

} // namespace pcc::runtime

#endif // PCC_RUNTIME_COMM_BROADCASTTEXT_H
