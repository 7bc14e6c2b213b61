//===- CheckIndices.h - bounds check of index tensors ---------------------===//

#ifndef PCC_RUNTIME_DEVICE_CHECKINDICES_H
#define PCC_RUNTIME_DEVICE_CHECKINDICES_H

#include "runtime/device/Device.h"

namespace pcc::runtime {

/// Creates the operation of a CheckIndices instruction. The operation checks
/// each element of an index tensor, such as token numbers. It returns exit code
/// 10 (BadInput) if an element is out of range. An index tensor that a GPU
/// computes is checked only at the end of the step.
Status prepareCheckIndices(const LoadContext &context,
                           const program::InstructionT &instruction,
                           std::unique_ptr<Operation> &operation);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_DEVICE_CHECKINDICES_H
