//===- Agree.h - all ranks go on, or none does ----------------------------===//

#ifndef PCC_RUNTIME_COMM_AGREE_H
#define PCC_RUNTIME_COMM_AGREE_H

#include "runtime/comm/Communicator.h"

namespace pcc::runtime {

/// Collective over the world: success on all ranks, or an error on all. A rank
/// that succeeded itself says `otherwise`, with the greatest of the exit codes.
inline Status agree(World &world, const Status &mine, const ActionId &action,
                    const std::string &otherwise) {
  int32_t code = mine.code();
  Status status = world.all().allReduce(&code, &code, 1, ElementType::I32,
                                        Reduction::Max, action);
  if (mine.failed() || status.failed())
    return mine.failed() ? mine : status;
  return code == Done ? status : Status::error(ExitCode(code), otherwise);
}

} // namespace pcc::runtime

#endif // PCC_RUNTIME_COMM_AGREE_H
