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

/// Returns the coordinates of all members of the group of the rank at `at`. The
/// members differ only along the sub-axes `group`, and are ordered by these
/// coordinates. The first sub-axis is the most significant.
std::vector<Coordinates> membersOf(const SubAxes &group, const Mesh &mesh,
                                   const Coordinates &at);

/// A collective as the program describes it, equal for all ranks.
struct CollectiveSpec {
  /// Kind of the collective; never Mask, which needs no instruction.
  dist::CollectiveKind kind = dist::CollectiveKind::AllReduce;
  /// Sub-axes (factors of mesh axes) along which the members of a group differ;
  /// empty for Slice, which is local.
  SubAxes group = {};
  /// Layout of the operand `in` (how the tensor is divided over ranks); empty
  /// for AllReduce and Broadcast.
  Layout from = {};
  /// Layout of the result `out`; empty for AllReduce and Broadcast. A dim may
  /// be a view: a windowed read of the operand's dim, such as a halo or a
  /// slice.
  Layout to = {};
  bool operator==(const CollectiveSpec &) const = default;
};

/// Elements that this rank sends to one member, or receives from one member:
///
/// - packed: copied between scratch and the rank's buffer, and contiguous in
///   scratch;
/// - not packed: contiguous in the rank's buffer (`in` for sends, `out` for
///   receives), and sent or received there directly.
struct PeerPiece {
  /// Index in the group of the member that receives or sends the piece.
  int member = 0;
  /// Number of elements of the piece.
  int64_t elements = 0;
  /// Whether the elements are copied through scratch.
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

/// The messages of one rank in a collective, and its local copies.
struct CollectivePlan {
  /// Messages to send, at most one per member of the group; ordered by member.
  std::vector<PeerPiece> sends = {};
  /// Messages to receive, at most one per member of the group; ordered by
  /// member. A ReduceScatter also has an entry for this rank's own
  /// contribution. Its entries are all packed, because it reduces in scratch.
  std::vector<PeerPiece> receives = {};
  /// Copies from this rank's own `in` to its `out`, which need no message.
  std::vector<StridedCopy> local = {};
  /// Whether the collective is a plain all-gather: every member sends its whole
  /// `in` to all members. `sends`, `receives` and `local` are then empty.
  bool gathers = false;
  /// Whether a plain all-gather writes directly to `out`. If false, it writes
  /// to scratch, and the copies in `unpack` follow.
  bool gathersDirectly = false;
  /// Copies from scratch to `out` after an all-gather; one list per member.
  /// Source offsets count from the first element of the member.
  std::vector<std::vector<StridedCopy>> unpack = {};
  /// Elements of scratch that this rank needs.
  int64_t scratchElements = 0;
  /// Whether some element of `out` receives no value, as in the padding of a
  /// view (windowed read). All of `out` is then set to zero first.
  bool hasHoles = false;
};

/// Plans the copies and messages of the rank at `at`. Each element of the
/// rank's `out` has one source:
///
/// - this rank, if the element is in its `in` (a local copy);
/// - otherwise one of the members that hold the element, chosen evenly;
/// - in a ReduceScatter, all members, whose contributions are added.
///
/// Plans of different ranks match (see findUnmatchedPiece). Returns an empty
/// plan for AllReduce and Broadcast.
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

/// Row indices of a ragged collective, which moves only the rows that its masks
/// select. Dropless mixture-of-experts layers, as in MegaBlocks (Gale et al.
/// 2023), move tokens to their experts and back in this way. The buffers are:
///
/// - the divided side with this rank's rows: read by an AllGather, written by a
///   ReduceScatter;
/// - the whole side with space for the rows of all members: written by an
///   AllGather, read by a ReduceScatter.
///
/// Example: 6 rows over 2 members, seen from member 1.
///
///   divided = {0, 1, 2}                 this member's rows in its own buffer
///   whole   = {{0, 1, 2}, {3, 4, 5}}    rows of member 0, rows of member 1
struct RowPlan {
  /// Indices of this rank's rows in its buffer on the divided side, in the
  /// order of transfer.
  std::vector<int64_t> divided = {};
  /// For each member, the indices of its rows in this rank's buffer on the
  /// whole side, in the order of transfer.
  std::vector<std::vector<int64_t>> whole = {};
};

/// Plans the rows of an AllGather or a ReduceScatter. The first `rowDims` dims
/// enumerate the rows; the remaining dims are the elements of a row. Returns
/// std::nullopt if this rank lacks space for some row of some member.
std::optional<RowPlan> planRows(const CollectiveSpec &spec, size_t rowDims,
                                const Mesh &mesh, const Coordinates &at);

/// Returns the number of elements of one row: the product of all local dims
/// after the first `rowDims` dims.
int64_t rowElements(const CollectiveSpec &spec, size_t rowDims);

/// Returns the number of scratch elements that every rank needs for a ragged
/// collective: space for all rows that it may send or receive. Returns 0 if
/// planRows() finds no plan. An AllGather receives consecutive rows
/// (areConsecutive) directly in `out`, without scratch.
int64_t rowScratchElements(const CollectiveSpec &spec, size_t rowDims,
                           const Mesh &mesh);

/// Returns whether, in `plan.whole`, the rows of each member have consecutive
/// indices.
bool areConsecutive(const RowPlan &plan);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_PROGRAM_COLLECTIVEPLAN_H
