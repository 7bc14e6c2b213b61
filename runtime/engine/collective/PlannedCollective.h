//===- PlannedCollective.h - base classes of planned collectives ----------===//

#ifndef PCC_RUNTIME_ENGINE_COLLECTIVE_PLANNEDCOLLECTIVE_H
#define PCC_RUNTIME_ENGINE_COLLECTIVE_PLANNEDCOLLECTIVE_H

#include "runtime/engine/collective/CollectiveOperation.h"
#include "runtime/program/CollectivePlan.h"

namespace pcc::runtime {

/// A collective that executes the copies and messages of a CollectivePlan,
/// which this rank has derived from the layouts of `in` and `out`.
class PlannedCollective : public CollectiveOperation {
public:
  /// Allocates the message lists `sends` and `receives`, with one entry per
  /// message of the plan.
  PlannedCollective(const LoadContext &context,
                    const program::InstructionT &instruction, Group *group,
                    CollectivePlan made)
      : CollectiveOperation(context, instruction, group), plan(std::move(made)),
        sends(plan.sends.size()), receives(plan.receives.size()) {}

protected:
  /// Fills the message list `sends` with one entry per piece (the elements for
  /// one peer) of the plan. A piece that is not contiguous in `in` is first
  /// packed into scratch.
  Status packSends(const Addresses &at) {
    for (size_t i = 0; i < plan.sends.size(); ++i) {
      const PeerPiece &piece = plan.sends[i];
      char *packed = at.scratch + piece.scratchOffset * int64_t(size);
      if (piece.packed)
        PCC_RETURN_IF_ERROR(copyAll(piece.copies, at.in, packed));
      char *direct = const_cast<char *>(at.in) + piece.offset * int64_t(size);
      sends[i] = {piece.member, piece.packed ? packed : direct,
                  size_t(piece.elements) * size};
    }
    return Status::success();
  }

  /// Sets the whole buffer `out` to zero if the plan writes only some elements
  /// of `out`. Does nothing otherwise.
  Status clearHoles(const Addresses &at) const {
    return plan.hasHoles
               ? context.device.clear(
                     at.out,
                     size_t(context.program.buffers[size_t(collective.out)]
                                ->bytes))
               : Status::success();
  }

  /// Returns the address at which a piece (the elements from one peer) is
  /// received. A piece that must be unpacked is received in scratch, any other
  /// piece directly in `out`.
  char *placeOf(const PeerPiece &piece, const Addresses &at) const {
    return piece.packed ? at.scratch + piece.scratchOffset * int64_t(size)
                        : at.out + piece.offset * int64_t(size);
  }

  CollectivePlan plan;
  /// Messages of the current execution. They are data members so that their
  /// allocations are reused.
  std::vector<PeerBuffer> sends, receives;
};

/// A collective that executes a CollectivePlan, and that can be executed
/// asynchronously. Subclasses implement start() and finish(); run() calls both.
class PlannedSplit : public PlannedCollective, public SplitCollective {
public:
  using PlannedCollective::PlannedCollective;

  Status run(const RunContext &run) override {
    Status status = start(run);
    return status.failed() ? status : finish(run);
  }

  void advance() override { group->advance(); }

protected:
  /// Begins the messages in `sends` and `receives`.
  Status post() {
    return communicates() ? group->post(sends, receives, action, ticket)
                          : Status::success();
  }
  /// Blocks until the messages that post() has begun are complete.
  Status waitForAll() {
    return communicates() ? group->wait({&ticket, 1}, action)
                          : Status::success();
  }

private:
  /// Returns whether this rank sends or receives any message. A rank without
  /// messages makes no call of the group.
  bool communicates() const { return !sends.empty() || !receives.empty(); }

  Ticket ticket = 0; ///< from post() to waitForAll()
};

} // namespace pcc::runtime

#endif // PCC_RUNTIME_ENGINE_COLLECTIVE_PLANNEDCOLLECTIVE_H
