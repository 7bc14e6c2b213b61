//===- Agree.h - collective agreement on success or failure ---------------===//

#ifndef PCC_RUNTIME_COMM_AGREE_H
#define PCC_RUNTIME_COMM_AGREE_H

#include "runtime/comm/Communicator.h"

namespace pcc::runtime {

/// Makes all ranks agree whether an operation has succeeded: either all
/// continue, or all get an error. `mine` is the result on this rank. Returns
/// the first that applies:
///
/// 1. `mine`, if it is an error
/// 2. the error of the all-reduce of the exit codes, if it fails
/// 3. if another rank failed: an error with the greatest exit code and the
///    message `otherwise`
/// 4. success
///
/// All ranks of `world` must call.
inline Status agree(World &world, const Status &mine, const ActionId &action,
                    const std::string &otherwise) {
  int32_t code = mine.code();
  Status status = world.all().allReduce(&code, &code, 1, ElementType::I32,
                                        dist::ReductionKind::Max, action);
  if (mine.failed() || status.failed())
    return mine.failed() ? mine : status;
  return code == Done ? status : Status::error(ExitCode(code), otherwise);
}

} // namespace pcc::runtime

#endif // PCC_RUNTIME_COMM_AGREE_H
