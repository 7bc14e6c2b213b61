//===- Agree.h - collective agreement on success or failure ---------------===//

#ifndef PCC_RUNTIME_COMM_AGREE_H
#define PCC_RUNTIME_COMM_AGREE_H

#include "runtime/comm/Communicator.h"

namespace pcc::runtime {

/// Makes all ranks agree whether an operation has succeeded. `mine` is the
/// result of the operation on this rank. All ranks of `world` must call
/// agree(). `action` identifies the communication in error messages.
///
/// If the operation failed on any rank, all ranks return the error of the
/// lowest failed rank, with its notes. If the communication fails, returns the
/// error of the communication, or `mine` if `mine` is an error.
Status agree(World &world, const Status &mine, const ActionId &action);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_COMM_AGREE_H
