//===- Agree.h - collective agreement on success or failure ---------------===//

#ifndef PCC_RUNTIME_COMM_AGREE_H
#define PCC_RUNTIME_COMM_AGREE_H

#include "runtime/comm/Communicator.h"

namespace pcc::runtime {

/// Makes all ranks agree whether an operation has succeeded. `mine` is the
/// result on this rank. Returns success on every rank if `mine` is a success on
/// every rank; otherwise returns an error on every rank. Either all ranks
/// continue or none does. All ranks of `world` must call; the call blocks until
/// all have called, at most for the world's deadline. The errors:
///
///   on a rank that failed itself   `mine`
///   on all other ranks             message `otherwise`, with the greatest exit
///                                  code of any rank
///   if the reduction itself fails  the error of the reduction
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
