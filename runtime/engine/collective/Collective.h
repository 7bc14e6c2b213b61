//===- Collective.h - collectives as operations ---------------------------===//

#ifndef PCC_RUNTIME_ENGINE_COLLECTIVE_COLLECTIVE_H
#define PCC_RUNTIME_ENGINE_COLLECTIVE_COLLECTIVE_H

#include "runtime/comm/Communicator.h"
#include "runtime/device/Device.h"

namespace pcc::runtime {

/// A collective of which a rank does other things before it finishes it.
/// Members of its group start and finish theirs in the same order.
class SplitCollective {
public:
  virtual ~SplitCollective() = default;
  /// Begins to send what the others need. What the instruction names is in use
  /// until it has finished.
  virtual Status start(const RunContext &run) = 0;
  /// Moves on what travels, as far as that needs no waiting.
  virtual void advance() = 0;
  virtual Status finish(const RunContext &run) = 0;
};

/// Makes a collective ready: its plan follows from the layouts and this rank's
/// coordinates. `group` is null for Slice. Exit code 11 if the program reserves
/// too little scratch for it.
Status prepareCollective(const LoadContext &context,
                         const program::InstructionT &instruction, Group *group,
                         std::unique_ptr<Operation> &operation);

/// The same for an all-reduce, reduce-scatter or all-gather in two parts.
Status prepareSplitCollective(const LoadContext &context,
                              const program::InstructionT &instruction,
                              Group *group,
                              std::unique_ptr<SplitCollective> &collective);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_ENGINE_COLLECTIVE_COLLECTIVE_H
