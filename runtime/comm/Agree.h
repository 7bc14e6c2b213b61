//===- Agree.h - collective agreement on success or failure ---------------===//

#ifndef PCC_RUNTIME_COMM_AGREE_H
#define PCC_RUNTIME_COMM_AGREE_H

#include "runtime/comm/Communicator.h"

namespace pcc::runtime {

/// Makes all ranks agree whether an operation has succeeded. `mine` is the
/// result of the operation on this rank. All ranks of `world` must call
/// agree(), which makes an all-reduce. `action` identifies the all-reduce in
/// error messages.
///
/// If the operation failed on any rank, agree() returns an error on all ranks.
/// A rank on which the operation failed gets `mine`. Every other rank gets an
/// error with the message `otherwise` and the greatest exit code of all ranks.
/// If only the all-reduce fails, agree() returns the error of the all-reduce.
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
