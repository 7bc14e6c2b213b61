//===- QueuedCollective.cpp - collectives on devices with queues ----------===//

#include "runtime/engine/collective/QueuedCollective.h"
#include "runtime/comm/QueuedGroup.h"
#include "runtime/engine/collective/PlannedCollective.h"

#include <algorithm>

namespace pcc::runtime {

/// Converts the type of `group` to QueuedGroup. A QueuedGroup is a group that
/// enqueues its all-reduces and other calls on the GPU. If the ranks have GPUs,
/// the group of every collective instruction is a QueuedGroup.
static QueuedGroup &queued(Group *group) {
  return static_cast<QueuedGroup &>(*group);
}

namespace {
/// An all-reduce that the group's library (such as NCCL) executes.
class QueuedAllReduce : public CollectiveOperation, public SplitCollective {
public:
  using CollectiveOperation::CollectiveOperation;

  Status run(const RunContext &run) override {
    Status status = start(run);
    return status.failed() ? status : finish(run);
  }

  Status start(const RunContext &run) override {
    const Addresses at = begin(run);
    return queued(group).postAllReduce(at.in, at.out, size_t(in.bytes) / size,
                                       type, kindOf(collective.reduction),
                                       action, ticket);
  }

  void advance() override {}

  Status finish(const RunContext &) override {
    return group->wait({&ticket, 1}, action);
  }

private:
  Ticket ticket = 0;
};

/// An all-gather that the group's library (such as NCCL) executes. The library
/// writes the operands of all members one after another, in the order of the
/// members. There are two cases:
///
/// - The elements of the result `out` have exactly this order. The library
///   writes directly to `out`. For example, `out` is a row-major matrix of 4
///   rows. Member 0 has rows 0 and 1, and member 1 has rows 2 and 3.
/// - The elements of `out` have another order. The library writes to scratch
///   (temporary memory). finish() then copies the elements from scratch to
///   `out`. For example, `out` is a row-major matrix of 4 columns. Member 0 has
///   columns 0 and 1, and member 1 has columns 2 and 3.
class QueuedGather : public PlannedSplit {
public:
  using PlannedSplit::PlannedSplit;

  Status start(const RunContext &run) override {
    const Addresses at = begin(run);
    return queued(group).postAllGather(at.in, allOf(at), size_t(in.bytes),
                                       action, ticket);
  }

  Status finish(const RunContext &run) override {
    const Addresses at = begin(run);
    Status status = group->wait({&ticket, 1}, action);
    if (plan.gathersDirectly)
      return status;
    for (size_t member = 0; status.ok() && member < plan.unpack.size();
         ++member)
      status = copyAll(plan.unpack[member],
                       at.scratch + member * size_t(in.bytes), at.out);
    return status;
  }

private:
  /// Returns the address at which this rank receives the operands of all
  /// members, in the order of the members. If the elements of the result
  /// `at.out` have this order, the address is `at.out`. An example is a
  /// row-major matrix whose rows are sharded. Otherwise, the address is
  /// `at.scratch` (temporary memory), and finish() copies the elements to
  /// `at.out`.
  char *allOf(const Addresses &at) const {
    return plan.gathersDirectly ? at.out : at.scratch;
  }

  Ticket ticket = 0;
};

/// A reduce-scatter that the group's library (such as NCCL) executes. The
/// library needs equal blocks, so each member's elements are packed into a
/// block of the largest size. Example with 3 members, where digit m is an
/// element of member m's result and `-` is padding:
///
///   in       [ 0 0 0 1 1 1 2 2 ]
///   scratch  [ 0 0 0 | 1 1 1 | 2 2 - ]
class QueuedReduceScatter : public PlannedSplit {
public:
  QueuedReduceScatter(const LoadContext &context,
                      const program::InstructionT &instruction, Group *group,
                      CollectivePlan made)
      : PlannedSplit(context, instruction, group, std::move(made)) {
    const program::BufferT &out =
        *context.program.buffers[size_t(collective.out)];
    room = out.bytes / int64_t(size);
    for (const PeerPiece &piece : plan.sends)
      isWhole &= piece.elements == room;
  }

  Status start(const RunContext &run) override {
    const Addresses at = begin(run);
    PCC_RETURN_IF_ERROR(pack(at));
    return queued(group).postReduceScatter(
        at.scratch, placeOf(group->index(), at), size_t(room), type,
        kindOf(collective.reduction), action, ticket);
  }

  Status finish(const RunContext &run) override {
    const Addresses at = begin(run);
    PCC_RETURN_IF_ERROR(group->wait({&ticket, 1}, action));
    return plan.receives.empty() ? Status::success()
                                 : copyAll(plan.receives[0].copies,
                                           placeOf(group->index(), at), at.out);
  }

private:
  /// Returns the address of the block for `member` in scratch (temporary
  /// memory). Scratch has one block of `room` elements per member.
  char *placeOf(int member, const Addresses &at) const {
    return at.scratch + member * room * int64_t(size);
  }

  /// Copies this rank's operand `at.in` to `at.scratch` (temporary memory).
  /// Scratch has one block of equal size per member. The block of member m gets
  /// the elements that are reduced to the result of member m. In this example,
  /// the results have 3, 3 and 2 elements. `-` is padding, which no result
  /// uses:
  ///
  ///   in       [ a b c d e f g h ]
  ///   scratch  [ a b c | d e f | g h - ]
  Status pack(const Addresses &at) const {
    if (!isWhole)
      PCC_RETURN_IF_ERROR(context.device.clear(
          at.scratch, size_t(group->size()) * size_t(room) * size));
    for (const PeerPiece &piece : plan.sends)
      PCC_RETURN_IF_ERROR(packPiece(piece, at));
    return packOwn(at);
  }

  /// Copies the elements of `piece` from `in` to scratch (temporary memory).
  /// These elements are the part of this rank's operand that is reduced to the
  /// result of member `piece.member`. Scratch has one block per member, and the
  /// elements go to the block of this member. `at` has the addresses of `in`
  /// and scratch.
  Status packPiece(const PeerPiece &piece, const Addresses &at) const {
    char *const place = placeOf(piece.member, at);
    return piece.packed ? copyAll(piece.copies, at.in, place)
                        : copyRun(at.in + piece.offset * int64_t(size), place,
                                  piece.elements * int64_t(size));
  }

  /// Copies some elements of `in` to scratch (temporary memory). These elements
  /// are reduced to the result of this rank. packPiece() copies all other
  /// elements, which are reduced to the results of other members.
  ///
  /// Scratch has one block per member. The function writes the elements to the
  /// block of this rank, from the start of the block, without gaps. `at` has
  /// the addresses of `in` and scratch.
  Status packOwn(const Addresses &at) const {
    int64_t done = 0;
    for (const StridedCopy &copy : plan.local) {
      StridedCopy dense = copy;
      dense.targetOffset = done;
      int64_t stride = 1;
      for (size_t i = dense.loops.size(); i-- > 0;) {
        dense.loops[i].targetStride = stride;
        stride *= dense.loops[i].extent;
      }
      done += stride;
      PCC_RETURN_IF_ERROR(context.device.copy(
          {&dense, 1}, at.in, placeOf(group->index(), at), size));
    }
    return Status::success();
  }

  int64_t room = 0;    ///< elements per block: those of the largest piece
  bool isWhole = true; ///< whether all pieces have `room` elements
  Ticket ticket = 0;
};
} // namespace

std::unique_ptr<Operation>
makeQueuedCollective(const LoadContext &context,
                     const program::InstructionT &instruction, Group *group,
                     const CollectivePlan &plan) {
  switch (instruction.body.AsCollective()->kind) {
  case program::CollectiveKind::AllReduce:
    return std::make_unique<QueuedAllReduce>(context, instruction, group);
  case program::CollectiveKind::ReduceScatter:
    return std::make_unique<QueuedReduceScatter>(context, instruction, group,
                                                 plan);
  case program::CollectiveKind::AllGather:
    if (plan.gathers)
      return std::make_unique<QueuedGather>(context, instruction, group, plan);
    return nullptr;
  default:
    return nullptr;
  }
}

std::unique_ptr<SplitCollective>
splitQueuedCollective(const LoadContext &context,
                      const program::InstructionT &instruction, Group *group) {
  const program::CollectiveT &collective = *instruction.body.AsCollective();
  if (collective.kind == program::CollectiveKind::AllReduce)
    return std::make_unique<QueuedAllReduce>(context, instruction, group);
  CollectivePlan plan = planCollective(
      collectiveOf(context.program, collective), context.mesh, context.at);
  if (collective.kind == program::CollectiveKind::ReduceScatter)
    return std::make_unique<QueuedReduceScatter>(context, instruction, group,
                                                 std::move(plan));
  return plan.gathers ? std::make_unique<QueuedGather>(context, instruction,
                                                       group, std::move(plan))
                      : nullptr;
}

} // namespace pcc::runtime
