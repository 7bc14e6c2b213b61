//===- Collective.h - collectives as operations ---------------------------===//

#ifndef PCC_RUNTIME_ENGINE_COLLECTIVE_H
#define PCC_RUNTIME_ENGINE_COLLECTIVE_H

#include "runtime/comm/Communicator.h"
#include "runtime/device/Device.h"

namespace pcc::runtime {

/// Makes a collective ready: its plan follows from the layouts and this rank's
/// coordinates. `group` is null for Slice. Exit code 11 if the program reserves
/// too little scratch for it.
Status prepareCollective(const LoadContext &context,
                         const program::InstructionT &instruction, Group *group,
                         std::unique_ptr<Operation> &operation);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_ENGINE_COLLECTIVE_H
