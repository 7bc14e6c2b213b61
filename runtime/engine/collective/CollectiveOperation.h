//===- CollectiveOperation.h - what all collectives share -----------------===//

#ifndef PCC_RUNTIME_ENGINE_COLLECTIVE_COLLECTIVEOPERATION_H
#define PCC_RUNTIME_ENGINE_COLLECTIVE_COLLECTIVEOPERATION_H

#include "runtime/engine/collective/Collective.h"

#include <vector>

namespace pcc::runtime {

/// What all kinds of collectives share. `out` and `scratch` are arena buffers.
class CollectiveOperation : public Operation {
public:
  CollectiveOperation(const LoadContext &context,
                      const program::InstructionT &instruction, Group *group)
      : context(context), collective(*instruction.body.AsCollective()),
        group(group), in(*context.program.buffers[size_t(collective.in)]),
        type(typeOf(in.type)), size(sizeOf(type)) {
    action.value = collective.value;
  }

protected:
  struct Addresses {
    const char *in;
    char *out;
    char *scratch;
  };

  /// Also notes what the rank is doing, for messages.
  Addresses begin(const RunContext &run) {
    action.action = run.action;
    const BufferTable &buffers = context.buffers;
    const auto at = [&](int32_t buffer) {
      return static_cast<char *>(buffers.at(buffer, run.microbatch));
    };
    return {at(collective.in), at(collective.out),
            collective.scratch < 0 ? nullptr : at(collective.scratch)};
  }

  Status copyAll(const std::vector<StridedCopy> &copies, const char *source,
                 char *target) const {
    return context.device.copy(copies, source, target, size);
  }

  Status copyRun(const char *source, char *target, int64_t bytes) const {
    const StridedCopy run{0, 0, {{bytes, 1, 1}}};
    return context.device.copy({&run, 1}, source, target, 1);
  }

  LoadContext context;
  const program::CollectiveT &collective;
  Group *group;
  const program::BufferT &in;
  ElementType type;
  size_t size;
  ActionId action;
};

} // namespace pcc::runtime

#endif // PCC_RUNTIME_ENGINE_COLLECTIVE_COLLECTIVEOPERATION_H
