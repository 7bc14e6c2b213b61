//===- Agree.h - collective agreement on success or failure ---------------===//

#ifndef PCC_RUNTIME_COMM_AGREE_H
#define PCC_RUNTIME_COMM_AGREE_H

#include "runtime/comm/Communicator.h"

namespace pcc::runtime {

/// Makes all ranks agree whether an operation has succeeded. `mine` is the
/// result of the operation on this rank. All ranks of `world` must call
/// agree(). The ranks compare their exit codes by an all-reduce. `action`
/// identifies the all-reduce in error messages.
///
/// If the operation succeeded on all ranks, agree() returns success on all
/// ranks. If the operation failed on at least one rank, agree() returns an
/// error on all ranks:
///
/// - On a rank on which the operation failed, agree() returns `mine`.
/// - On every other rank, agree() returns an error with the message
///   `otherwise`. The exit code is the greatest exit code of all ranks.
///
/// For example, the operation fails on rank 1 with exit code 7 and on rank 2
/// with exit code 11. On rank 0, agree() then returns an error with exit code
/// 11 and the message `otherwise`.
///
/// If the all-reduce fails and `mine` is success, agree() returns the error of
/// the all-reduce.
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
