//===- Collective.cpp - operations that execute collective instructions ---===//

#include "runtime/engine/collective/Collective.h"
#include "runtime/comm/TreeReduce.h"
#include "runtime/engine/collective/PlannedCollective.h"
#include "runtime/engine/collective/QueuedCollective.h"
#include "runtime/engine/collective/RaggedCollective.h"
#include "runtime/tensor/ElementDispatch.h"
#include "status/Counted.h"

#include <algorithm>
#include <cstring>
#include <iterator>

namespace pcc::runtime {

namespace {
/// An all-reduce by a single call of the communicator.
class AllReduce : public CollectiveOperation {
public:
  using CollectiveOperation::CollectiveOperation;

  Status run(const RunContext &run) override {
    const Addresses at = begin(run);
    return group->allReduce(at.in, at.out, size_t(in.bytes) / size, type,
                            kindOf(collective.reduction), action);
  }
};

/// An asynchronous all-reduce on the host. Each member reduces one share of the
/// elements. For example, with 10 elements and 4 members, member 0 reduces
/// elements 0 to 2, and member 3 reduces element 9. start() begins to send each
/// share of the operand to the member that reduces the share. finish() waits
/// for this member's share from all other members, reduces it, and exchanges
/// the results. The operand and the result may be the same buffer.
class SplitAllReduce : public CollectiveOperation, public SplitCollective {
public:
  SplitAllReduce(const LoadContext &context,
                 const program::InstructionT &instruction, Group *group)
      : CollectiveOperation(context, instruction, group),
        count(size_t(in.bytes) / size) {
    const auto members = size_t(group->size());
    sends.reserve(members);
    receives.reserve(members);
    inputs.resize(members);
  }

  Status start(const RunContext &run) override {
    const Addresses at = begin(run);
    const int self = group->index();
    inputs[size_t(self)] = at.in + first(self) * size;
    clear();
    for (int member = 0; member < group->size(); ++member) {
      if (member == self)
        continue;
      char *piece = at.scratch + size_t(member) * bytes(self);
      inputs[size_t(member)] = piece;
      add(sends, member, const_cast<char *>(at.in) + first(member) * size,
          bytes(member));
      add(receives, member, piece, bytes(self));
    }
    return group->post(sends, receives, action, ticket);
  }

  void advance() override { group->advance(); }

  Status finish(const RunContext &run) override {
    const Addresses at = begin(run);
    PCC_RETURN_IF_ERROR(group->wait({&ticket, 1}, action));
    const int self = group->index();
    char *own = at.out + first(self) * size;
    void *output = own;
    reduceInTree(inputs, {&output, 1}, 0, bytes(self) / size, type,
                 kindOf(collective.reduction));
    clear();
    for (int member = 0; member < group->size(); ++member) {
      if (member == self)
        continue;
      add(sends, member, own, bytes(self));
      add(receives, member, at.out + first(member) * size, bytes(member));
    }
    return group->exchange(sends, receives, action);
  }

  Status run(const RunContext &run) override {
    Status status = start(run);
    return status.failed() ? status : finish(run);
  }

private:
  /// Empties the lists of messages, and keeps their allocations.
  void clear() {
    sends.clear();
    receives.clear();
  }

  /// Appends one message to the list `pieces`, unless `bytes` is 0. The list
  /// has either the messages that this rank sends, or the messages that this
  /// rank receives. `member` is the index of the other rank in the group.
  /// `data` is the address of the message in the memory of this rank. `bytes`
  /// is the size of the message.
  static void add(std::vector<PeerBuffer> &pieces, int member, char *data,
                  size_t bytes) {
    if (bytes > 0)
      pieces.push_back({member, data, bytes});
  }

  /// Returns the index of the first element that `member` reduces. Each member
  /// reduces a contiguous range of elements. The length of a range is the
  /// number of elements divided by the number of members, rounded up. The last
  /// ranges may be shorter or empty.
  ///
  /// For example, 4 members reduce 10 elements. 10 / 4 is 2.5, so the length is
  /// 3. The ranges begin at elements 0, 3, 6 and 9. The last range has only 1
  /// element.
  size_t first(int member) const {
    const auto members = size_t(group->size());
    return std::min(count, (count + members - 1) / members * size_t(member));
  }
  /// Returns the size in bytes of the share of `member`. Each member reduces
  /// one share of the elements. For example, 10 elements of 4 bytes and 4
  /// members give shares of 3, 3, 3 and 1 elements. The result is then 12 for
  /// member 0, and 4 for member 3.
  size_t bytes(int member) const {
    return (first(member + 1) - first(member)) * size;
  }

  size_t count; ///< elements of `in`
  std::vector<PeerBuffer> sends, receives;
  std::vector<const void *> inputs;
  Ticket ticket = 0;
};

/// A broadcast by a single call of the communicator. The call works in the
/// buffer of the result. The root therefore first copies its operand to its
/// result, unless both are the same buffer.
class Broadcast : public CollectiveOperation {
public:
  using CollectiveOperation::CollectiveOperation;

  Status run(const RunContext &run) override {
    const Addresses at = begin(run);
    if (group->index() == collective.root && at.in != at.out)
      PCC_RETURN_IF_ERROR(copyRun(at.in, at.out, in.bytes));
    return group->broadcast(at.out, size_t(in.bytes), collective.root, action);
  }
};

/// Copies a part of the operand `in` to the result `out`, without
/// communication.
class Slice : public PlannedCollective {
public:
  using PlannedCollective::PlannedCollective;

  Status run(const RunContext &run) override {
    const Addresses at = begin(run);
    Status status = clearHoles(at);
    return status.failed() ? status : copyAll(plan.local, at.in, at.out);
  }
};

/// An all-gather in which every member sends its whole operand `in` to all
/// members. There are two cases:
///
/// - The operands of the members follow one another in the result `out`. This
///   rank receives directly in `out`. For example, 2 members gather a row-major
///   matrix of 4 rows. Member 0 has rows 0 and 1, and member 1 has rows 2 and
///   3.
/// - The operands are interleaved in `out`. This rank receives in scratch
///   (temporary memory), and then copies the elements to `out`. For example, 2
///   members gather a row-major matrix of 4 columns. Member 0 has columns 0 and
///   1, and member 1 has columns 2 and 3.
class Gather : public PlannedSplit {
public:
  Gather(const LoadContext &context, const program::InstructionT &instruction,
         Group *group, CollectivePlan made)
      : PlannedSplit(context, instruction, group, std::move(made)) {
    sends.reserve(size_t(group->size()));
    receives.reserve(size_t(group->size()));
  }

  Status run(const RunContext &run) override {
    const Addresses at = begin(run);
    Status status =
        group->allGather(at.in, allOf(at), size_t(in.bytes), action);
    return status.failed() ? status : unpack(at);
  }

  Status start(const RunContext &run) override {
    const Addresses at = begin(run);
    const auto bytes = size_t(in.bytes);
    sends.clear();
    receives.clear();
    for (int member = 0; member < group->size(); ++member) {
      char *place = allOf(at) + size_t(member) * bytes;
      if (member == group->index()) {
        PCC_RETURN_IF_ERROR(copyRun(at.in, place, in.bytes));
        continue;
      }
      sends.push_back({member, const_cast<char *>(at.in), bytes});
      receives.push_back({member, place, bytes});
    }
    return post();
  }

  Status finish(const RunContext &run) override {
    const Addresses at = begin(run);
    Status status = waitForAll();
    return status.failed() ? status : unpack(at);
  }

private:
  /// Returns the address at which this rank receives the operands of all
  /// members, one after another. The address is that of the result if the
  /// elements of the result have exactly this order. For example, the result is
  /// a row-major matrix, and each member has some of its rows. Otherwise the
  /// address is that of scratch (temporary memory), and unpack() later copies
  /// the elements to the result.
  char *allOf(const Addresses &at) const {
    return plan.gathersDirectly ? at.out : at.scratch;
  }

  /// Copies the received operands of all members from scratch (temporary
  /// memory) to the result. Does nothing if this rank has received the operands
  /// directly in the result. `at` has the addresses of scratch and the result.
  Status unpack(const Addresses &at) const {
    if (!plan.gathersDirectly)
      for (size_t member = 0; member < plan.unpack.size(); ++member)
        PCC_RETURN_IF_ERROR(copyAll(plan.unpack[member],
                                    at.scratch + member * size_t(in.bytes),
                                    at.out));
    return Status::success();
  }
};

/// A change of layout. A layout says which elements of a tensor each member
/// holds. Each member sends at most one message to each other member. If the
/// elements of a message are not contiguous in the sender's operand, the sender
/// first copies them to scratch (temporary memory). If they are not contiguous
/// in the receiver's result, the receiver receives them in scratch, and then
/// copies them to the result.
///
/// This class executes AllToAll, Permute and Exchange, and an AllGather if two
/// members hold the same elements.
class Redistribution : public PlannedSplit {
public:
  using PlannedSplit::PlannedSplit;

  Status start(const RunContext &run) override {
    const Addresses at = begin(run);
    PCC_RETURN_IF_ERROR(packSends(at));
    PCC_RETURN_IF_ERROR(clearHoles(at));
    for (size_t i = 0; i < plan.receives.size(); ++i)
      receives[i] = {plan.receives[i].member, placeOf(plan.receives[i], at),
                     size_t(plan.receives[i].elements) * size};
    PCC_RETURN_IF_ERROR(copyAll(plan.local, at.in, at.out));
    return post();
  }

  Status finish(const RunContext &run) override {
    const Addresses at = begin(run);
    PCC_RETURN_IF_ERROR(waitForAll());
    for (const PeerPiece &piece : plan.receives)
      if (piece.packed)
        PCC_RETURN_IF_ERROR(copyAll(piece.copies, placeOf(piece, at), at.out));
    return Status::success();
  }
};

/// A reduce-scatter on the host. Collects in scratch all members' contributions
/// to this rank's result, then reduces them in a fixed order. The result thus
/// does not depend on the order of arrival.
class ReduceScatter : public PlannedSplit {
public:
  ReduceScatter(const LoadContext &context,
                const program::InstructionT &instruction, Group *group,
                CollectivePlan made)
      : PlannedSplit(context, instruction, group, std::move(made)) {
    receives.clear();
    receives.reserve(plan.receives.size());
    inputs.reserve(plan.receives.size());
  }

  Status start(const RunContext &run) override {
    const Addresses at = begin(run);
    PCC_RETURN_IF_ERROR(packSends(at));
    receives.clear();
    for (const PeerPiece &piece : plan.receives) {
      if (piece.member == group->index())
        pack(plan.local, at.in, placeOf(piece, at));
      else
        receives.push_back(
            {piece.member, placeOf(piece, at), size_t(piece.elements) * size});
    }
    return post();
  }

  Status finish(const RunContext &run) override {
    const Addresses at = begin(run);
    PCC_RETURN_IF_ERROR(waitForAll());
    if (plan.receives.empty())
      return Status::success();
    reduce(at);
    return copyAll(plan.receives[0].copies, placeOf(plan.receives[0], at),
                   at.out);
  }

private:
  /// Copies elements from `source` to `target`. The elements become contiguous
  /// in `target`. Each entry of `copies` is a loop nest with strides. Each
  /// innermost iteration copies one element. The elements of the first entry
  /// come first in `target`.
  ///
  /// For example, an entry has one loop with 3 iterations and stride 4. The
  /// entry begins at element 0 of `source`. pack() then copies elements 0, 4
  /// and 8 of `source` to elements 0, 1 and 2 of `target`.
  void pack(const std::vector<StridedCopy> &copies, const char *source,
            char *target) const {
    int64_t done = 0;
    for (const StridedCopy &copy : copies) {
      appendDensely(copy.loops, source + copy.sourceOffset * int64_t(size),
                    target, done);
    }
  }

  /// Executes one loop nest that reads elements with strides. Writes the
  /// elements contiguously to `target`. `loops` lists the loops, outermost loop
  /// first. `source` is the address of the first element to read. `done` is the
  /// number of elements that `target` already has. Adds the number of copied
  /// elements to `done`.
  ///
  /// For example, the outer loop has 2 iterations with stride 4, and the inner
  /// loop has 3 iterations with stride 1. The loops read elements 0, 1, 2, 4, 5
  /// and 6. If `done` is 10, the elements go to indices 10 to 15 of `target`,
  /// and `done` becomes 16.
  void appendDensely(std::span<const CopyLoop> loops, const char *source,
                     char *target, int64_t &done) const {
    if (loops.empty() || (loops.size() == 1 && loops[0].sourceStride == 1)) {
      const int64_t count = loops.empty() ? 1 : loops[0].extent;
      std::memcpy(target + done * int64_t(size), source, size_t(count) * size);
      done += count;
      return;
    }
    for (int64_t i = 0; i < loops[0].extent; ++i)
      appendDensely(loops.subspan(1),
                    source + i * loops[0].sourceStride * int64_t(size), target,
                    done);
  }

  /// Reduces the contributions of all members to this rank's result. All
  /// contributions are in scratch (temporary memory). `at` has the address of
  /// scratch. The function overwrites the first contribution with the result.
  /// For example, the contributions are [1, 2] and [10, 20], and the reduction
  /// is a sum. The function then writes [11, 22] in place of [1, 2].
  void reduce(const Addresses &at) {
    inputs.clear();
    for (const PeerPiece &piece : plan.receives)
      inputs.push_back(placeOf(piece, at));
    void *output = placeOf(plan.receives[0], at);
    reduceInTree(inputs, {&output, 1}, 0, size_t(plan.receives[0].elements),
                 type, kindOf(collective.reduction));
  }

  std::vector<const void *> inputs;
};

/// An operation that executes a collective with different copies and messages
/// in each microbatch. The list `operations` has one operation per microbatch.
/// run() executes the operation of the current microbatch.
///
/// For example, a Slice copies 4 rows of a tensor with 8 rows. The operation of
/// microbatch 0 copies rows 0 to 3. The operation of microbatch 1 copies rows 4
/// to 7.
class PerMicrobatch : public Operation {
public:
  /// Appends a null pointer to the list `operations`, which has one pointer per
  /// microbatch. Returns a reference to the new pointer. The caller then
  /// creates the operation that executes the collective in this microbatch, and
  /// assigns the operation to the reference.
  std::unique_ptr<Operation> &add() { return operations.emplace_back(); }

  Status run(const RunContext &run) override {
    return operations[size_t(run.microbatch)]->run(run);
  }

private:
  std::vector<std::unique_ptr<Operation>> operations;
};

/// Pointer to a function that creates an object of class Operation. The run()
/// function of this object executes one instruction of the program. `makers`
/// has one such pointer for each kind of collective, such as AllReduce.
using Make = std::unique_ptr<Operation> (*)(const LoadContext &,
                                            const program::InstructionT &,
                                            Group *, CollectivePlan &&);

/// Creates an object of class `Kind`, which executes the collective
/// `instruction` over the ranks of `group`. `Kind` is AllReduce or Broadcast.
/// `context` has the program and the device.
///
/// The last parameter is a plan: the list of the copies and messages of this
/// rank. The function ignores the plan, because AllReduce and Broadcast only
/// call one function of the communicator. The parameter is necessary because
/// all functions in the table `makers` must have the same parameters.
template <typename Kind>
std::unique_ptr<Operation> plain(const LoadContext &context,
                                 const program::InstructionT &instruction,
                                 Group *group, CollectivePlan &&) {
  return std::make_unique<Kind>(context, instruction, group);
}

/// Creates an object of class `Kind`, which executes one collective. An example
/// of `Kind` is ReduceScatter. `plan` lists the copies and messages that the
/// object executes. The result is a pointer to `Base`, a base class of `Kind`:
///
/// - If one instruction executes the whole collective, `Base` is Operation.
/// - If one instruction starts the collective and a later instruction finishes
///   it, `Base` is SplitCollective.
template <typename Base, typename Kind>
std::unique_ptr<Base> planned(const LoadContext &context,
                              const program::InstructionT &instruction,
                              Group *group, CollectivePlan &&plan) {
  return std::make_unique<Kind>(context, instruction, group, std::move(plan));
}

/// Creates an object that executes an all-gather with the copies and messages
/// in `plan`. If `plan.gathers` is true, all members hold different elements.
/// The class is then Gather: every member sends its whole operand to all
/// members. Otherwise the class is Redistribution: a member receives elements
/// that several members hold from only one of them. `Base` is Operation if one
/// instruction executes the whole collective. `Base` is SplitCollective if one
/// instruction starts the collective and another instruction finishes it.
template <typename Base>
std::unique_ptr<Base> gather(const LoadContext &context,
                             const program::InstructionT &instruction,
                             Group *group, CollectivePlan &&plan) {
  return (plan.gathers ? planned<Base, Gather>
                       : planned<Base, Redistribution>)(context, instruction,
                                                        group, std::move(plan));
}
} // namespace

/// Functions that create the operations, indexed by CollectiveKind.
static constexpr Make makers[] = {plain<AllReduce>,
                                  gather<Operation>,
                                  planned<Operation, ReduceScatter>,
                                  planned<Operation, Redistribution>,
                                  planned<Operation, Redistribution>,
                                  planned<Operation, Redistribution>,
                                  plain<Broadcast>,
                                  planned<Operation, Slice>};
static_assert(std::size(makers) == size_t(program::CollectiveKind::MAX) + 1);

/// Returns exit code 11 if the program reserves less scratch (temporary memory)
/// than `elements` elements.
static Status checkScratch(const LoadContext &context,
                           const program::CollectiveT &collective,
                           int64_t elements) {
  const auto &buffers = context.program.buffers;
  const auto size =
      int64_t(sizeOf(typeOf(buffers[size_t(collective.in)]->type)));
  const int64_t reserved =
      collective.scratch < 0 ? 0 : buffers[size_t(collective.scratch)]->bytes;
  if (elements * size <= reserved)
    return Status::success();
  return Status::error(DamagedBundle,
                       "the program reserves " + counted(reserved, "byte") +
                           " for the collective of '" + collective.value +
                           "', which needs " + std::to_string(elements * size));
}

/// Sets `operation` to a new operation that executes the collective
/// `instruction` on the rank with the mesh coordinates `at`. The last
/// coordinate is the microbatch. `spec` has the layouts of the operand and of
/// the result. `group` is the communicator, or null if the collective only
/// copies locally. On a GPU, the operation calls a library function, such as
/// ncclAllGather, if one function can execute the whole collective.
///
/// Returns an error with exit code 11 if the program reserves too little
/// temporary memory for the collective.
static Status prepareAt(const Coordinates &at, const CollectiveSpec &spec,
                        const LoadContext &context,
                        const program::InstructionT &instruction, Group *group,
                        std::unique_ptr<Operation> &operation) {
  const program::CollectiveT &collective = *instruction.body.AsCollective();
  CollectivePlan plan = planCollective(spec, context.mesh, at);
  PCC_RETURN_IF_ERROR(checkScratch(context, collective, plan.scratchElements));
  if (!context.device.sharesHostMemory())
    operation = makeQueuedCollective(context, instruction, group, plan);
  if (!operation)
    operation = makers[size_t(collective.kind)](context, instruction, group,
                                                std::move(plan));
  return Status::success();
}

Status prepareCollective(const LoadContext &context,
                         const program::InstructionT &instruction, Group *group,
                         std::unique_ptr<Operation> &operation) {
  const CollectiveSpec spec =
      collectiveOf(context.program, *instruction.body.AsCollective());
  const program::CollectiveT &collective = *instruction.body.AsCollective();
  // Some collectives move only selected rows of a tensor. A row is the block of
  // elements at one index of the first `row_dims` dims. For example, a tensor
  // of shape [4, 8] has 4 rows of 8 elements if `row_dims` is 1. The program
  // selects the rows at run time. prepareRaggedCollective() creates the
  // operation for a collective that moves only selected rows. If a collective
  // moves all elements, `row_dims` is 0.
  if (collective.row_dims > 0) {
    const auto rowDims = size_t(collective.row_dims);
    PCC_RETURN_IF_ERROR(checkScratch(
        context, collective, rowScratchElements(spec, rowDims, context.mesh)));
    return prepareRaggedCollective(context, instruction, spec, group,
                                   operation);
  }
  // A layout tells how a tensor is divided over ranks and microbatches.
  // `spec.from` is the layout of the operand, and `spec.to` is the layout of
  // the result. All microbatches need the same copies and messages in two
  // cases:
  //
  // - The operand and the result have the same layout.
  // - Neither layout divides a dim over microbatches.
  //
  // In both cases, create one operation for all microbatches. Otherwise, create
  // one operation per microbatch. For example, the operand has 8 rows in every
  // microbatch. The result has rows 0 to 3 in microbatch 0, and rows 4 to 7 in
  // microbatch 1. The two microbatches thus copy different rows.
  if (spec.from == spec.to ||
      (!isCutByMicrobatch(spec.from) && !isCutByMicrobatch(spec.to)))
    return prepareAt(context.at, spec, context, instruction, group, operation);
  auto each = std::make_unique<PerMicrobatch>();
  Coordinates at = context.at;
  for (int64_t &m = microbatchOf(at) = 0; m < context.program.microbatches; ++m)
    PCC_RETURN_IF_ERROR(
        prepareAt(at, spec, context, instruction, group, each->add()));
  operation = std::move(each);
  return Status::success();
}

Status prepareSplitCollective(const LoadContext &context,
                              const program::InstructionT &instruction,
                              Group *group,
                              std::unique_ptr<SplitCollective> &split) {
  const program::CollectiveT &collective = *instruction.body.AsCollective();
  if (!context.device.sharesHostMemory())
    split = splitQueuedCollective(context, instruction, group);
  if (split)
    return Status::success();
  if (collective.kind == program::CollectiveKind::AllReduce) {
    const auto &in = *context.program.buffers[size_t(collective.in)];
    const int64_t count = in.bytes / int64_t(sizeOf(typeOf(in.type)));
    split = std::make_unique<SplitAllReduce>(context, instruction, group);
    return checkScratch(context, collective,
                        splitAllReduceScratchElements(count, group->size()));
  }
  CollectivePlan plan = planCollective(
      collectiveOf(context.program, collective), context.mesh, context.at);
  const int64_t scratch = plan.scratchElements;
  const bool reduces =
      collective.kind == program::CollectiveKind::ReduceScatter;
  split = (reduces ? planned<SplitCollective, ReduceScatter>
                   : gather<SplitCollective>)(context, instruction, group,
                                              std::move(plan));
  return checkScratch(context, collective, scratch);
}

} // namespace pcc::runtime
