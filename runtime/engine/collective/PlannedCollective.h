//===- PlannedCollective.h - base classes of planned collectives ----------===//

#ifndef PCC_RUNTIME_ENGINE_COLLECTIVE_PLANNEDCOLLECTIVE_H
#define PCC_RUNTIME_ENGINE_COLLECTIVE_PLANNEDCOLLECTIVE_H

#include "runtime/engine/collective/CollectiveOperation.h"
#include "runtime/program/CollectivePlan.h"

namespace pcc::runtime {

/// A collective that executes a plan: the copies and messages by which this
/// rank sends its operand `in` to other ranks, and fills its result `out`.
class PlannedCollective : public CollectiveOperation {
public:
  /// Creates the operation that executes the collective `instruction`. `made`
  /// is the plan of this rank. A plan lists the copies and messages that a rank
  /// executes for a collective. `group` is the communicator of the ranks that
  /// take part. The constructor allocates one entry of the list `sends` for
  /// each message that the plan sends. The constructor also allocates one entry
  /// of the list `receives` for each message that the plan receives.
  PlannedCollective(const LoadContext &context,
                    const program::InstructionT &instruction, Group *group,
                    CollectivePlan made)
      : CollectiveOperation(context, instruction, group), plan(std::move(made)),
        sends(plan.sends.size()), receives(plan.receives.size()) {}

protected:
  /// Replaces the list `sends` with the messages of one execution. This rank
  /// sends one message for each entry of `plan.sends`. An entry is called a
  /// piece. A piece describes all elements that this rank sends to one other
  /// member. `at` has the addresses of `in` and scratch (temporary memory).
  ///
  /// - If `piece.packed` is false, the elements are contiguous in `in`. The
  ///   message is sent directly from `in`.
  /// - If `piece.packed` is true, the function copies the elements to scratch.
  ///   The message is sent from scratch.
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

  /// Sets all elements of the result `out` to 0 if the plan leaves some
  /// elements of `out` without a value. The plan is the list of the copies and
  /// messages that this rank executes for the collective. For example, `out`
  /// has padding at its end, and the plan writes all elements except the
  /// padding. The padding is then 0.
  ///
  /// If the plan writes all elements of `out`, the function does nothing. A
  /// subclass must call this function before any element of `out` is written.
  /// `at` has the address of `out`.
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
  /// Messages that this rank sends and receives in one execution of the
  /// collective. Each execution replaces the messages of the previous
  /// execution. The lists are data members, so that an execution need not
  /// allocate their memory again.
  std::vector<PeerBuffer> sends, receives;
};

/// Base class of collectives that execute a plan. A plan is a list of the
/// copies and messages of this rank. There are two ways to execute the
/// collective:
///
/// - Synchronous: the caller calls run(). This function calls start() and then
///   finish().
/// - Asynchronous: the caller calls start(), executes other instructions, and
///   later calls finish().
///
/// A subclass must implement start() and finish().
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
