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

#include "runtime/program/Layout.h"
#include "sharding/CollectiveKind.h"

#include <cstdint>
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
  /// Kind of the collective, such as AllGather. The kind Mask does not occur
  /// here, because the compiler writes a fill and a copy instead. In a Mask,
  /// one rank of the group keeps its tensor. All other ranks get the neutral
  /// element of a reduction, such as 0 for a sum.
  dist::CollectiveKind kind = dist::CollectiveKind::AllReduce;
  /// Sub-axes (factors of mesh axes) along which the members of a group differ;
  /// empty for Slice, which is local.
  SubAxes group = {};
  /// Layout of the operand `in` (how the tensor is divided over ranks); empty
  /// for AllReduce and Broadcast.
  Layout from = {};
  /// Layout of the result `out` (how the tensor is divided over ranks); empty
  /// for AllReduce and Broadcast. A dim of this layout may have a view
  /// (windowed read). Ranks may then hold overlapping parts of the dim. For
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
  /// Index in the group of the member that receives or sends the piece.
  int member = 0;
  /// Number of elements of the piece.
  int64_t elements = 0;
  /// Whether the message uses scratch (temporary memory of this rank). If true,
  /// a sender copies the elements from `in` to scratch, and sends from scratch.
  /// A receiver receives in scratch, and then copies or reduces the elements
  /// into `out`. If false, the message is sent directly from `in`, or received
  /// directly in `out`.
  bool packed = false;
  /// Index of the first element of the message. The index counts elements of
  /// the operand `in` if this rank sends the message, and elements of the
  /// result `out` if this rank receives the message. Used only if `packed` is
  /// false, because a packed message is sent from scratch (temporary memory),
  /// or received in scratch.
  int64_t offset = 0;
  /// Index of the piece's first element in scratch. Used only if `packed` is
  /// true.
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

/// The messages of one rank in a collective, and its local copies.
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
  /// Copies from this rank's own `in` to its `out`, which need no message.
  std::vector<StridedCopy> local = {};
  /// Whether the collective is a plain all-gather: every member sends its whole
  /// `in` to all members. `sends`, `receives` and `local` are then empty.
  bool gathers = false;
  /// Whether a plain all-gather writes directly to `out`. If false, it writes
  /// to scratch, and the copies in `unpack` follow.
  bool gathersDirectly = false;
  /// Copies after a plain all-gather that receives in scratch (temporary
  /// memory). `unpack[m]` copies the shard of member m from scratch to `out`.
  /// The source offset 0 is the first element of this shard. For example, every
  /// shard has 4 elements. In `unpack[2]`, the source offset 1 then means
  /// element 9 of scratch. If `gathersDirectly` is true, the copies are not
  /// executed.
  std::vector<std::vector<StridedCopy>> unpack = {};
  /// Number of elements of scratch that this rank needs for the collective.
  /// Scratch is temporary memory.
  int64_t scratchElements = 0;
  /// Whether some element of `out` receives no value, as in the padding of a
  /// view (windowed read). All of `out` is then set to zero first.
  bool hasHoles = false;
};

/// Returns the plan of the rank at the coordinates `at`: the copies and the
/// messages that this rank executes for the collective `spec`. An element of
/// this rank's result `out` comes from one of these sources:
///
/// - In a ReduceScatter, the element comes from all members of the group. Their
///   values are reduced.
/// - In any other collective, the element comes from this rank if its operand
///   `in` has the element.
/// - Otherwise the element comes from another member whose `in` has it. If
///   several members have the element, each of them sends to about the same
///   number of ranks.
///
/// If the plan of a rank has a message to a second rank, the plan of the second
/// rank receives a message of the same size. Returns an empty plan for
/// AllReduce and Broadcast.
CollectivePlan planCollective(const CollectiveSpec &spec, const Mesh &mesh,
                              const Coordinates &at);

/// Returns the largest number of scratch elements that any rank of the mesh
/// needs in any microbatch. The compiler reserves that many.
int64_t collectiveScratchElements(const CollectiveSpec &spec, const Mesh &mesh);

/// Checks that the messages of all ranks match: if r expects messages from s, s
/// sends messages of the same sizes in the same order. A mismatch would
/// deadlock the run. Returns a description of the first mismatch, or an empty
/// string.
std::string findUnmatchedPiece(const CollectiveSpec &spec, const Mesh &mesh);

/// Returns the number of scratch elements of an asynchronous all-reduce of
/// `elements` elements. Every member receives one share of the elements from
/// all members, and reduces it. For example, 10 elements and 4 members give
/// shares of 3 elements and 12 scratch elements.
int64_t splitAllReduceScratchElements(int64_t elements, int64_t members);

/// Row indices for a ragged collective. A row is the block of elements at one
/// index of a tensor's first dims, such as one token. A ragged collective is an
/// AllGather or a ReduceScatter that moves only some rows. Masks select these
/// rows at run time. Dropless mixture-of-experts layers move tokens to their
/// experts in this way (MegaBlocks, Gale et al. 2023).
///
/// Every rank has two buffers for rows:
///
/// - The divided buffer has the rows of this rank. An AllGather reads this
///   buffer. A ReduceScatter writes this buffer.
/// - The whole buffer has space for the rows of all members of the group. An
///   AllGather writes this buffer. A ReduceScatter reads this buffer.
///
/// For example, a tensor has 6 rows. Member 0 has the first 3 rows, and member
/// 1 has the last 3 rows. Member 1 has this plan, in which `divided` lists
/// indices in the divided buffer, and `whole` lists indices in the whole
/// buffer:
///
///   divided = {0, 1, 2}                 rows of member 1
///   whole   = {{0, 1, 2}, {3, 4, 5}}    rows of member 0, rows of member 1
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

/// Returns the indices at which the rank with the coordinates `at` finds rows
/// in its two tensors, the operand and the result of the ragged collective
/// `spec`. A ragged collective is an AllGather or a ReduceScatter that moves
/// only the rows that masks select at run time. A row is the block of elements
/// at one index of a tensor's first `rowDims` dims. For example, a tensor of
/// shape [4, 8, 16] with `rowDims` = 2 has 32 rows of 16 elements.
///
/// One of the two tensors contains only the rows of this rank: the operand of
/// an AllGather, or the result of a ReduceScatter. RowPlan::divided lists the
/// indices of these rows in this tensor. The other tensor contains the rows of
/// all members of the group. RowPlan::whole lists, for each member, the indices
/// of the rows of this member in the other tensor. The layouts in `spec`
/// determine all indices. If the other tensor lacks a row of some member, the
/// function returns std::nullopt.
std::optional<RowPlan> planRows(const CollectiveSpec &spec, size_t rowDims,
                                const Mesh &mesh, const Coordinates &at);

/// Returns the number of elements of one row: the product of all local dims
/// after the first `rowDims` dims.
int64_t rowElements(const CollectiveSpec &spec, size_t rowDims);

/// Returns the number of scratch elements that a rank needs for the ragged
/// collective `spec`. Scratch is temporary memory. A row is the block of
/// elements at one index of a tensor's first `rowDims` dims. A ragged
/// collective is an AllGather or a ReduceScatter that moves only the rows that
/// masks select at run time. The result is large enough for masks that select
/// all rows. Scratch has space for these rows:
///
/// - The rows that the rank sends. They are copied to scratch first.
/// - The rows that the rank receives. Exception: an AllGather receives in `out`
///   if the rows of each member have consecutive indices there.
///
/// For example, each of 2 members has 3 rows of 10 elements. A ReduceScatter
/// needs 30 elements to send and 30 elements to receive, so the result is 60.
///
/// Returns 0 if planRows() returns std::nullopt.
int64_t rowScratchElements(const CollectiveSpec &spec, size_t rowDims,
                           const Mesh &mesh);

/// Returns whether, in `plan.whole`, the rows of each member have consecutive
/// indices.
bool areConsecutive(const RowPlan &plan);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_PROGRAM_COLLECTIVEPLAN_H
