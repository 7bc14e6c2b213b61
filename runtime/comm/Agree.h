//===- Agree.h - collective agreement on success or failure ---------------===//

#ifndef PCC_RUNTIME_COMM_AGREE_H
#define PCC_RUNTIME_COMM_AGREE_H

#include "runtime/comm/Communicator.h"

namespace pcc::runtime {

/// Makes all ranks agree whether an operation has succeeded. `mine` is the
/// operation's result on this rank. If the operation has failed on any rank,
/// all ranks get an error, so either all ranks continue or none does. Returns
/// the first of these results that applies:
///
/// 1. `mine`, if it is an error
/// 2. the error of the all-reduce of the exit codes, if it fails
/// 3. an error with the message `otherwise` and the greatest exit code of any
///    rank, if the operation has failed on another rank
/// 4. success
///
/// All ranks of `world` must call. The call blocks until all have called, at
/// most for the world's deadline.
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
