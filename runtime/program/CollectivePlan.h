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

/// Returns the coordinates of all members of the group that contains the rank
/// at `at`. The members of a group differ only along the sub-axes `group`. They
/// are ordered by their coordinates along these sub-axes; the first sub-axis is
/// the most significant.
std::vector<Coordinates> membersOf(const SubAxes &group, const Mesh &mesh,
                                   const Coordinates &at);

/// A collective as the program describes it, equal for all ranks.
struct CollectiveSpec {
  /// Kind of the collective. It is never Mask, which needs no instruction. All
  /// kinds except AllReduce, ReduceScatter and Broadcast move elements of one
  /// global value from one layout to another.
  dist::CollectiveKind kind = dist::CollectiveKind::AllReduce;
  /// Sub-axes (parts of mesh axes) along which the members of a group differ;
  /// empty for Slice, which has no group.
  SubAxes group = {};
  /// Layout of the operand `in` (how the tensor is divided over ranks); empty
  /// for AllReduce and Broadcast.
  Layout from = {};
  /// Layout of the result `out`; empty for AllReduce and Broadcast. A dim of
  /// `out` may be a view: a windowed read of the operand's dim, such as a halo
  /// or a slice.
  Layout to = {};
  bool operator==(const CollectiveSpec &) const = default;
};

/// Elements that this rank sends to one member, or receives from one member.
/// There are two kinds of pieces:
///
/// - packed: contiguous in scratch, and copied between scratch and the rank's
///   buffer;
/// - not packed: contiguous in the rank's buffer (`in` for sends, `out` for
///   receives), and sent or received there directly.
struct PeerPiece {
  /// Index in the group of the member that receives or sends the piece.
  int member = 0;
  /// Number of elements of the piece.
  int64_t elements = 0;
  /// Whether the piece is copied through scratch (packed). If false, the piece
  /// is contiguous in the rank's buffer and needs no copy.
  bool packed = false;
  /// Index of the piece's first element in the rank's buffer. Used only if
  /// `packed` is false.
  int64_t offset = 0;
  /// Index of the piece's first element in scratch. Used only if `packed` is
  /// true.
  int64_t scratchOffset = 0;
  /// Copies of a packed piece: from `in` to scratch for a send, from scratch to
  /// `out` for a receive. Offsets in scratch count from `scratchOffset`.
  std::vector<StridedCopy> copies = {};
};

/// The messages that one rank sends and receives in a collective, and the local
/// copies before and after the messages.
struct CollectivePlan {
  /// Messages to send, at most one per member of the group; ordered by member.
  std::vector<PeerPiece> sends = {};
  /// Messages to receive, at most one per member of the group; ordered by
  /// member. In a ReduceScatter, the list also has an entry for this rank's own
  /// contribution. All entries of a ReduceScatter are packed, because the
  /// contributions are reduced in scratch.
  std::vector<PeerPiece> receives = {};
  /// Copies of the elements that this rank has in its `in` and needs in its
  /// `out`. They need no message.
  std::vector<StridedCopy> local = {};
  /// Whether the collective is a plain all-gather: every member sends its whole
  /// `in` to all members, and the elements arrive in member order. `sends`,
  /// `receives` and `local` are then empty.
  bool gathers = false;
  /// Whether the plain all-gather writes its result directly to `out`. If
  /// false, it writes the result to scratch, and the copies in `unpack` move
  /// the result to `out`.
  bool gathersDirectly = false;
  /// Copies from scratch to `out` after an all-gather; one list per member.
  /// Source offsets count from the beginning of that member's elements in
  /// scratch.
  std::vector<std::vector<StridedCopy>> unpack = {};
  /// Elements of scratch that this rank needs.
  int64_t scratchElements = 0;
  /// Whether some element of `out` is a hole: no element of the operand is
  /// copied to it, as in the padding of a view (windowed read). All of `out` is
  /// then set to zero before the copies.
  bool hasHoles = false;
};

/// Plans the copies and messages of the rank at `at`. Each element of the
/// rank's `out` comes from one member:
///
/// - from this rank, if the element is in its `in` (a local copy);
/// - otherwise from one of the members that hold the element. The receivers are
///   distributed evenly over these members.
///
/// A ReduceScatter is an exception: each element is the sum of contributions of
/// all members. Plans of different ranks match (see findUnmatchedPiece).
/// Returns an empty plan for AllReduce and Broadcast.
CollectivePlan planCollective(const CollectiveSpec &spec, const Mesh &mesh,
                              const Coordinates &at);

/// Returns the largest number of scratch elements that any rank of the mesh
/// needs in any microbatch. The compiler reserves that many.
int64_t collectiveScratchElements(const CollectiveSpec &spec, const Mesh &mesh);

/// Checks that members agree on their messages: if member r expects messages
/// from member s, then s sends to r messages of the same sizes in the same
/// order. A mismatch would deadlock the run. Returns a description of the first
/// mismatch, or an empty string.
std::string findUnmatchedPiece(const CollectiveSpec &spec, const Mesh &mesh);

/// Returns the number of scratch elements of an asynchronous all-reduce of
/// `elements` elements. Every member reduces one share of ceil(elements /
/// members) elements. For that it receives the share's values from all members.
/// Example: 10 elements and 4 members give shares of 3 elements and 12 scratch
/// elements.
int64_t splitAllReduceScratchElements(int64_t elements, int64_t members);

/// Row indices of a ragged collective, which moves only the rows that its masks
/// select (`row_dims` in Program.fbs). Dropless mixture-of-experts layers, as
/// in MegaBlocks (Gale et al. 2023), use ragged collectives to move tokens to
/// their experts and back. The operand and the result of a ragged collective
/// are:
///
/// - the divided side: a buffer with this rank's rows. An AllGather reads it, a
///   ReduceScatter writes it.
/// - the whole side: a buffer with space for the rows of all members. An
///   AllGather writes it, a ReduceScatter reads it.
///
/// Example: 6 rows over 2 members, seen from member 1.
///
///   divided = {0, 1, 2}                 this member's rows in its own buffer
///   whole   = {{0, 1, 2}, {3, 4, 5}}    rows of member 0, rows of member 1
struct RowPlan {
  /// Indices of this rank's rows in its buffer on the divided side, in the
  /// order of transfer.
  std::vector<int64_t> divided = {};
  /// For each member, the indices of that member's rows in this rank's buffer
  /// on the whole side, in the order of transfer.
  std::vector<std::vector<int64_t>> whole = {};
};

/// Plans the rows of an AllGather or a ReduceScatter. The first `rowDims` dims
/// enumerate the rows; the remaining dims are the elements of a row. Returns
/// std::nullopt if this rank's buffer on the whole side lacks some row of some
/// member.
std::optional<RowPlan> planRows(const CollectiveSpec &spec, size_t rowDims,
                                const Mesh &mesh, const Coordinates &at);

/// Returns the number of elements of one row on this rank: the product of all
/// local dims after the first `rowDims` dims.
int64_t rowElements(const CollectiveSpec &spec, size_t rowDims);

/// Returns the number of scratch elements that every rank needs for a ragged
/// collective. The scratch has space for all rows that the rank may send and
/// for all rows that it may receive. If planRows() finds no plan, returns 0. An
/// AllGather needs only the space for sent rows if areConsecutive() is true,
/// because rows are then received directly in `out`.
int64_t rowScratchElements(const CollectiveSpec &spec, size_t rowDims,
                           const Mesh &mesh);

/// Returns whether, in `plan.whole`, the rows of each member have consecutive
/// indices.
bool areConsecutive(const RowPlan &plan);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_PROGRAM_COLLECTIVEPLAN_H
