//===- CheckIndices.h - bounds check of index tensors ---------------------===//

#ifndef PCC_RUNTIME_DEVICE_CHECKINDICES_H
#define PCC_RUNTIME_DEVICE_CHECKINDICES_H

#include "runtime/device/Device.h"

namespace pcc::runtime {

/// Creates the operation of a CheckIndices instruction. The operation checks
/// the elements of an index tensor, such as the token numbers for an embedding
/// table, and returns exit code 10 (BadInput) if one is out of range. On a GPU,
/// an input is checked before the step, because the host has a copy of it. A
/// value that the GPU computes is checked after the step.
Status prepareCheckIndices(const LoadContext &context,
                           const program::InstructionT &instruction,
                           std::unique_ptr<Operation> &operation);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_DEVICE_CHECKINDICES_H
