//===- PlannedCollective.h - base classes of planned collectives ----------===//

#ifndef PCC_RUNTIME_ENGINE_COLLECTIVE_PLANNEDCOLLECTIVE_H
#define PCC_RUNTIME_ENGINE_COLLECTIVE_PLANNEDCOLLECTIVE_H

#include "runtime/engine/collective/CollectiveOperation.h"
#include "runtime/program/CollectivePlan.h"

namespace pcc::runtime {

/// A collective that executes a plan: the copies and messages that turn the
/// layout of `in` into the layout of `out` on this rank.
class PlannedCollective : public CollectiveOperation {
public:
  /// Allocates the lists `sends` and `receives` for the messages of the plan.
  PlannedCollective(const LoadContext &context,
                    const program::InstructionT &instruction, Group *group,
                    CollectivePlan made)
      : CollectiveOperation(context, instruction, group), plan(std::move(made)),
        sends(plan.sends.size()), receives(plan.receives.size()) {}

protected:
  /// Fills `sends` with one message per piece (the elements for one peer).
  /// Packs a piece that is not contiguous in `in` into scratch (temporary
  /// memory).
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
  /// of it, as with padding.
  Status clearHoles(const Addresses &at) const {
    return plan.hasHoles
               ? context.device.clear(
                     at.out,
                     size_t(context.program.buffers[size_t(collective.out)]
                                ->bytes))
               : Status::success();
  }

  /// Returns the address at which this rank receives `piece`. A piece has all
  /// elements that one member of the group sends to this rank. `at` has the
  /// addresses of `out` and of scratch (temporary memory).
  ///
  /// - If `piece.packed` is false, the elements are contiguous in `out`. The
  ///   address is in `out`.
  /// - If `piece.packed` is true, the address is in scratch. The subclass must
  ///   later read the elements from scratch, and write to `out`.
  char *placeOf(const PeerPiece &piece, const Addresses &at) const {
    return piece.packed ? at.scratch + piece.scratchOffset * int64_t(size)
                        : at.out + piece.offset * int64_t(size);
  }

  CollectivePlan plan;
  /// Messages of the current execution; data members so that their memory is
  /// reused.
  std::vector<PeerBuffer> sends, receives;
};

/// A planned collective that can also run asynchronously. Subclasses implement
/// start() and finish(); run() calls both.
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
  /// Returns whether this rank sends or receives any message.
  bool communicates() const { return !sends.empty() || !receives.empty(); }

  Ticket ticket = 0; ///< from post() to waitForAll()
};

} // namespace pcc::runtime

#endif // PCC_RUNTIME_ENGINE_COLLECTIVE_PLANNEDCOLLECTIVE_H
