//===- CheckIndices.h - bounds check of index tensors ---------------------===//

#ifndef PCC_RUNTIME_DEVICE_CHECKINDICES_H
#define PCC_RUNTIME_DEVICE_CHECKINDICES_H

#include "runtime/device/Device.h"

namespace pcc::runtime {

/// Prepares a CheckIndices instruction, which checks that the elements of an
/// index tensor are valid indices, such as token numbers for an embedding
/// table. The operation reads the host's copy of the tensor and therefore runs
/// on the host, whatever the device. The operation fails with exit code 10
/// (BadInput) if an index lies outside its table. Padding of the local piece is
/// not checked.
std::unique_ptr<Operation>
makeCheckIndices(const LoadContext &context,
                 const program::InstructionT &instruction);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_DEVICE_CHECKINDICES_H
