//===- CheckIndices.h - bounds check of index tensors ---------------------===//

#ifndef PCC_RUNTIME_DEVICE_CHECKINDICES_H
#define PCC_RUNTIME_DEVICE_CHECKINDICES_H

#include "runtime/device/Device.h"

namespace pcc::runtime {

/// Creates the operation of a CheckIndices instruction, which checks the
/// elements of an index tensor, such as the token ids of an embedding. An
/// element is valid in two cases:
///
/// - it is in the range [low, high) of the instruction;
/// - it equals the instruction's ignored value.
///
/// The operation reads the host's copy of the tensor, and therefore runs on the
/// host even if the program runs on a GPU. It returns exit code 10 (BadInput)
/// if an element is invalid. Padding is not checked.
std::unique_ptr<Operation>
makeCheckIndices(const LoadContext &context,
                 const program::InstructionT &instruction);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_DEVICE_CHECKINDICES_H
