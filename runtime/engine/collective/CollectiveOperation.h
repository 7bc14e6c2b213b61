//===- CollectiveOperation.h - base class of collective operations --------===//

#ifndef PCC_RUNTIME_ENGINE_COLLECTIVE_COLLECTIVEOPERATION_H
#define PCC_RUNTIME_ENGINE_COLLECTIVE_COLLECTIVEOPERATION_H

#include "runtime/engine/collective/Collective.h"

#include <vector>

namespace pcc::runtime {

/// Base class of operations that execute a collective, such as an all-gather. A
/// collective reads the buffer `in` (the operand), and writes the buffer `out`
/// (the result). Some collectives also use the buffer `scratch` (temporary
/// memory).
///
/// A buffer may have a different address in each microbatch. The function
/// begin() returns the addresses of the three buffers in one microbatch. The
/// functions copyAll() and copyRun() copy elements from one buffer to another
/// buffer.
class CollectiveOperation : public Operation {
public:
  /// Stores references to the objects in `context`, and to `instruction` and
  /// `group`. These objects must outlive this operation. `context` has the
  /// program, the mesh and the device. `instruction` is a collective
  /// instruction of the program. `group` is the communicator of the ranks that
  /// take part. `group` is null if the kind of the collective is Slice. A Slice
  /// copies a part of the operand to the result on the same rank, without
  /// communication.
  CollectiveOperation(const LoadContext &context,
                      const program::InstructionT &instruction, Group *group)
      : context(context), collective(*instruction.body.AsCollective()),
        group(group), in(*context.program.buffers[size_t(collective.in)]),
        type(typeOf(in.type)), size(sizeOf(type)) {
    action.value = collective.value;
  }

protected:
  /// Addresses of the collective's buffers in one microbatch: the operand `in`,
  /// the result `out` and `scratch` (temporary memory). A buffer may have a
  /// different address in each microbatch.
  struct Addresses {
    const char *in;
    char *out;
    char *scratch; ///< null if the instruction has no scratch
  };

  /// Returns the addresses of the operand, the result and the scratch
  /// (temporary memory) in the current microbatch. `run.microbatch` is the
  /// number of this microbatch. A buffer may have a different address in each
  /// microbatch.
  ///
  /// Also copies `run.action` to `action.action`. Error messages contain this
  /// text. The text names an action of the pipeline schedule. For example,
  /// "0F3" is the forward pass (F) of microbatch 3 on stage 0.
  ///
  /// A subclass must call this function at the beginning of run(), start() and
  /// finish().
  Addresses begin(const RunContext &run) {
    action.action = run.action;
    const BufferTable &buffers = context.buffers;
    const auto at = [&](int32_t buffer) {
      return static_cast<char *>(buffers.at(buffer, run.microbatch));
    };
    return {at(collective.in), at(collective.out),
            collective.scratch < 0 ? nullptr : at(collective.scratch)};
  }

  /// Executes strided copies of elements from `source` to `target`.
  Status copyAll(const std::vector<StridedCopy> &copies, const char *source,
                 char *target) const {
    return context.device.copy(copies, source, target, size);
  }

  /// Copies `bytes` contiguous bytes from `source` to `target`.
  Status copyRun(const char *source, char *target, int64_t bytes) const {
    const StridedCopy run{0, 0, {{bytes, 1, 1}}};
    return context.device.copy({&run, 1}, source, target, 1);
  }

  LoadContext context;
  const program::CollectiveT &collective;
  Group *group;               ///< null for a Slice
  const program::BufferT &in; ///< input buffer
  ElementType type;           ///< element type of the input
  size_t size;                ///< bytes per element
  ActionId action;            ///< names the execution in messages
};

} // namespace pcc::runtime

#endif // PCC_RUNTIME_ENGINE_COLLECTIVE_COLLECTIVEOPERATION_H
