//===- CheckIndices.h - refuses indices outside their table ---------------===//

#ifndef PCC_RUNTIME_DEVICE_CHECKINDICES_H
#define PCC_RUNTIME_DEVICE_CHECKINDICES_H

#include "runtime/device/Device.h"

namespace pcc::runtime {

/// Looks at an input where the host has it, whatever the device; exit code 10
/// if an index lies outside its table.
std::unique_ptr<Operation>
makeCheckIndices(const LoadContext &context,
                 const program::InstructionT &instruction);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_DEVICE_CHECKINDICES_H
