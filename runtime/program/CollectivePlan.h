//===- CollectivePlan.h - copies and messages of one rank's collective ----===//
//
// A collective that changes a layout is a set of strided copies between the
// members of its group. The copies follow from the two layouts alone. Programs
// therefore store the layouts, and every rank derives its own plan when it
// loads a program.
//
// Example: [8@a] becomes [8] on an axis `a` of 2 ranks (AllGather). Every
// member holds 4 elements; member 0 contributes elements 0..3 and member 1
// elements 4..7 of `out`, so the gather can write to `out` directly.
//
//===----------------------------------------------------------------------===//

#ifndef PCC_RUNTIME_PROGRAM_COLLECTIVEPLAN_H
#define PCC_RUNTIME_PROGRAM_COLLECTIVEPLAN_H

#include "runtime/program/ShardRanges.h"
#include "sharding/CollectiveKind.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace pcc::runtime {

/// Returns the coordinates of all members of a group of ranks. `at` contains
/// the coordinates of one member. The members differ only in their coordinates
/// along the sub-axes `group`. A sub-axis is a mesh axis or a factor of a mesh
/// axis. The members are sorted by these coordinates: first by the coordinate
/// along the first sub-axis, then by the coordinate along the second sub-axis,
/// and so on.
///
/// For example, `mesh` has the axes dp=2, tp=2 and mb=8. `at` is {0, 1, 5}.
///
///   group = {tp}        {0, 0, 5}, {0, 1, 5}
///   group = {tp, dp}    {0, 0, 5}, {1, 0, 5}, {0, 1, 5}, {1, 1, 5}
std::vector<Coordinates> membersOf(const SubAxes &group, const Mesh &mesh,
                                   const Coordinates &at);

/// A collective as the program describes it, equal for all ranks.
struct CollectiveSpec {
  /// Kind of the collective, such as AllGather. Possible kinds are all values
  /// of the enum except Mask. In a Mask, one rank of the group keeps its
  /// tensor, and all other ranks replace their tensors by a constant, such as 0
  /// for a later sum. The compiled program has no collective for a Mask. The
  /// program instead has an instruction that fills memory with the constant,
  /// and an instruction that copies the tensor.
  dist::CollectiveKind kind = dist::CollectiveKind::AllReduce;
  /// Sub-axes (factors of mesh axes) along which the members of a group differ;
  /// empty for Slice, which is local.
  SubAxes group = {};
  /// Layout of the operand `in` (how the tensor is divided over ranks); empty
  /// for AllReduce and Broadcast.
  Layout from = {};
  /// Layout of the result `out` (how the tensor is divided over ranks); empty
  /// for AllReduce and Broadcast. A dim of this layout may have a view
  /// (windowed read). Ranks may then hold overlapping ranges of the dim. For
  /// example, a convolution needs the 4 rows of its rank and one row on each
  /// side (halo). With a view, the rank gets these 6 rows.
  Layout to = {};
  bool operator==(const CollectiveSpec &) const = default;
};

/// A message between this rank and one member of the group. The message
/// consists of elements that this rank sends or receives. There are two kinds
/// of messages:
///
/// - A packed message uses scratch, which is temporary memory of this rank. A
///   sender copies the elements from its operand `in` to scratch, and sends
///   from scratch. A receiver receives in scratch, and then copies or reduces
///   the elements into its result `out`.
/// - Any other message does not use scratch. A sender sends the elements
///   directly from `in`, where they are contiguous. A receiver receives the
///   elements directly in `out`, where they are contiguous.
struct PeerPiece {
  /// Index of another rank in the group of the collective. This rank sends the
  /// message to the other rank, or receives the message from the other rank. In
  /// a ReduceScatter, the index can also be that of this rank.
  int member = 0;
  /// Number of elements of the message.
  int64_t elements = 0;
  /// Whether the message uses scratch, which is temporary memory of this rank.
  ///
  /// If true, a sender copies the elements from its operand `in` to scratch,
  /// and sends from scratch. A receiver receives the elements in scratch, and
  /// then copies or reduces them into its result `out`.
  ///
  /// If false, a sender sends the elements directly from its operand `in`. A
  /// receiver receives the elements directly in its result `out`.
  bool packed = false;
  /// Index of the first element of the message. The index counts elements of
  /// the operand `in` if this rank sends the message, and elements of the
  /// result `out` if this rank receives the message. Used only if `packed` is
  /// false, because a packed message is sent from scratch (temporary memory),
  /// or received in scratch.
  int64_t offset = 0;
  /// Index in scratch of the first element of the message. Scratch is temporary
  /// memory of this rank. The index is used only if `packed` is true, because
  /// only packed messages are stored in scratch.
  int64_t scratchOffset = 0;
  /// Copies between scratch (temporary memory) and the operand `in` or the
  /// result `out` of this rank. If this rank sends the message, the copies read
  /// `in` and write scratch. If this rank receives the message, the copies read
  /// scratch and write `out`. An offset in scratch is relative to
  /// `scratchOffset`. For example, if `scratchOffset` is 100, offset 2 means
  /// element 102 of scratch.
  ///
  /// If `packed` is false, the message does not use scratch, and the list is
  /// empty.
  std::vector<StridedCopy> copies = {};
};

/// Messages and copies that one rank executes for a collective. A message sends
/// elements to another rank, or receives elements from another rank. A copy
/// moves elements between buffers of this rank.
struct CollectivePlan {
  /// Messages to send, at most one per member of the group; ordered by member.
  std::vector<PeerPiece> sends = {};
  /// Messages to receive, in the order of the members. Each member of the group
  /// sends at most one message.
  ///
  /// In a ReduceScatter, all messages are packed: this rank receives them in
  /// scratch (temporary memory), and reduces them there. This rank's own
  /// contribution is reduced too, and needs space in scratch. The list
  /// therefore also has an entry for this rank.
  std::vector<PeerPiece> receives = {};
  /// Copies of the elements that this rank both has and needs. No message is
  /// necessary for these elements. The copies read the operand `in` of this
  /// rank, and write the result `out` of this rank.
  ///
  /// In a ReduceScatter, the elements must still be reduced with elements of
  /// the other ranks. This rank therefore copies them from `in` to scratch
  /// (temporary memory), not to `out`.
  std::vector<StridedCopy> local = {};
  /// Whether the collective is an AllGather in which every member of the group
  /// sends its whole operand `in` to all members. This is the case if all
  /// members hold different shards. The lists `sends`, `receives` and `local`
  /// are then empty, because every message is a whole operand.
  bool gathers = false;
  /// Whether an AllGather receives the elements of all members directly in the
  /// result `out`. If false, the AllGather receives the elements in scratch,
  /// which is temporary memory of this rank. The copies in `unpack` then move
  /// the elements from scratch to `out`. Used only if `gathers` is true.
  bool gathersDirectly = false;
  /// Copies that this rank executes at the end of an AllGather. The copies are
  /// executed only if `gathers` is true and `gathersDirectly` is false. In this
  /// case, the rank has received the operands of all members in scratch, which
  /// is temporary memory. `unpack[m]` lists the copies that move the operand of
  /// member m from scratch to the result `out` of this rank.
  ///
  /// A source offset in `unpack[m]` is relative to the first element of member
  /// m's operand in scratch. For example, every operand has 4 elements. The
  /// operand of member 2 is then elements 8 to 11 of scratch. In `unpack[2]`,
  /// the source offset 1 means element 9 of scratch.
  std::vector<std::vector<StridedCopy>> unpack = {};
  /// Number of elements of scratch that this rank needs for the collective.
  /// Scratch is temporary memory.
  int64_t scratchElements = 0;
  /// Whether the collective gives no value to some elements of `out`, the
  /// result of this rank. For example, `out` has the rows that a convolution
  /// needs, including padding. The padding gets no value. If `hasHoles` is
  /// true, all elements of `out` are set to 0 before the collective writes to
  /// `out`.
  bool hasHoles = false;
};

/// The members of one group of ranks that execute a collective, and the shards
/// of the operand that the members hold. Each vector has one entry per member,
/// in the order of membersOf().
struct CollectiveGroup {
  /// Describes the group to which the rank at `at` belongs.
  CollectiveGroup(const CollectiveSpec &spec, const Mesh &mesh,
                  const Coordinates &at);

  std::vector<Coordinates> members;
  std::vector<int64_t> pieces; ///< number of the member's shard
  std::vector<size_t> places;  ///< index of the member among its holders

  /// A shard of the operand. `holders` has the indices of the members that hold
  /// this shard, in ascending order.
  struct Shard {
    std::vector<int> holders = {};
    bool isEmpty = false; ///< whether the shard has no elements
  };
  /// All shards by their numbers.
  std::map<int64_t, Shard> shards;
  /// Which members have elements that others need. Exists only if a member may
  /// have some of the elements that another one needs, and not all or none: not
  /// for a Slice, a ReduceScatter, or an AllGather of different shards.
  std::optional<ShardRanges> ranges;
};

/// Returns the number of elements that all copies move.
int64_t countElements(const std::vector<StridedCopy> &copies);

/// Returns whether `copies` read elements that are contiguous in memory, so
/// that they can be sent from there.
bool isContiguousSource(const std::vector<StridedCopy> &copies);

/// Returns whether `copies` write elements that are contiguous in memory, so
/// that they can be received there.
bool isContiguousTarget(const std::vector<StridedCopy> &copies);

/// Returns the copies and the messages that the rank at the coordinates `at`
/// executes for the collective `spec`. If the plan of rank 0 sends a message to
/// rank 1, the plan of rank 1 receives a message of the same size. A
/// ReduceScatter reduces the values of all members of the group. In any other
/// collective, the rank copies the elements that its operand has, and receives
/// the missing elements. If several members have an element, the ranks that
/// lack it are divided evenly between these members. Returns an empty plan for
/// AllReduce and Broadcast.
CollectivePlan planCollective(const CollectiveSpec &spec, const Mesh &mesh,
                              const Coordinates &at);

/// Returns the same plan as the function above, for member number `member` of
/// `group`. If the plans of several members are needed, this function is
/// faster, because `group` is computed only once.
CollectivePlan planCollective(const CollectiveSpec &spec, const Mesh &mesh,
                              const CollectiveGroup &group, int member);

/// Returns the number of elements of scratch that the compiler reserves for the
/// collective `spec`: the largest `scratchElements` of planCollective() on any
/// rank in any microbatch. Scratch is temporary memory of a rank. The time
/// grows with the number of messages of all members.
int64_t collectiveScratchElements(const CollectiveSpec &spec, const Mesh &mesh);

/// Returns the number of elements of scratch that an asynchronous all-reduce
/// needs. Scratch is temporary memory of a rank. `elements` is the number of
/// elements of the tensor, and `members` is the number of ranks in the group.
/// The tensor is divided into as many shares as there are ranks. Each rank
/// receives one share from every rank in scratch, and reduces the received
/// shares.
///
/// For example, 4 ranks reduce 10 elements. A share has 3 elements, which is 10
/// divided by 4, rounded up. Scratch has space for 4 shares, so the result is
/// 12.
int64_t splitAllReduceScratchElements(int64_t elements, int64_t members);

/// Row indices for a ragged collective: an AllGather or a ReduceScatter that
/// moves only the rows that masks select at run time. A row is the block of
/// elements at one index of a tensor's first dims, such as one token. Dropless
/// mixture-of-experts layers move tokens to their experts in this way
/// (MegaBlocks, Gale et al. 2023). For example, members 0 and 1 each have 3 of
/// 6 rows. Member 1 has this plan:
///
///   divided = {0, 1, 2}                 buffer with only the rows of member 1
///   whole   = {{0, 1, 2}, {3, 4, 5}}    buffer with the rows of both members
struct RowPlan {
  /// Indices of this rank's rows in the buffer that has only the rows of this
  /// rank. A row is a block of elements, such as one token. An AllGather reads
  /// this buffer. A ReduceScatter writes this buffer. Rows are sent and
  /// received in the order of this list.
  std::vector<int64_t> divided = {};
  /// List with one entry per member of the group. Entry m has the indices of
  /// member m's rows in the buffer with space for the rows of all members. A
  /// row is a block of elements, such as one token. An AllGather writes this
  /// buffer. A ReduceScatter reads this buffer. Rows are sent and received in
  /// the order of their indices in the entry.
  ///
  /// For example, {{0, 1, 2}, {3, 4, 5}} means that the rows at indices 3, 4
  /// and 5 of the buffer belong to member 1.
  std::vector<std::vector<int64_t>> whole = {};
};

/// Returns the indices of the rows in the operand and the result of the ragged
/// collective `spec`, on the rank with the coordinates `at`. A ragged
/// collective moves only the rows that masks select at run time. A row is the
/// block of elements at one index of the first `rowDims` dims: the shape [4, 8,
/// 16] with `rowDims` = 2 has 32 rows. RowPlan::divided refers to the tensor
/// that has only the rows of this rank: the operand of an AllGather, or the
/// result of a ReduceScatter. RowPlan::whole refers to the other tensor.
/// Returns std::nullopt if the other tensor lacks a row of a member.
std::optional<RowPlan> planRows(const CollectiveSpec &spec, size_t rowDims,
                                const Mesh &mesh, const Coordinates &at);

/// Returns the number of elements of one row. A row is the block of elements at
/// one index of the first `rowDims` dims of the tensor on a rank. For example,
/// the tensor has the shape [4, 8, 16] on each rank, and `rowDims` is 1. There
/// are 4 rows, and the result is 8 * 16 = 128.
int64_t rowElements(const CollectiveSpec &spec, size_t rowDims);

/// Returns the number of elements of scratch (temporary memory) that a rank
/// needs for the ragged collective `spec` if the masks select all rows. A row
/// is the block of elements at one index of the first `rowDims` dims. Scratch
/// has space for the rows that the rank sends, and for the rows that it
/// receives. Exception: if areConsecutive() is true, an AllGather receives rows
/// directly in its result. For example, in a ReduceScatter, a rank sends 3 rows
/// of 10 elements, and receives 3 rows. The result is 60. Returns 0 if
/// planRows() returns std::nullopt.
int64_t rowScratchElements(const CollectiveSpec &spec, size_t rowDims,
                           const Mesh &mesh);

/// Returns whether the rows of each member of the group follow one another in a
/// buffer with the rows of all members. A row is a block of elements, such as
/// one token. `plan.whole` lists, for each member, the indices of its rows in
/// this buffer. For example, the result is true for {{0, 1, 2}, {3, 4, 5}}, and
/// false for {{0, 2, 4}, {1, 3, 5}}.
bool areConsecutive(const RowPlan &plan);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_PROGRAM_COLLECTIVEPLAN_H
