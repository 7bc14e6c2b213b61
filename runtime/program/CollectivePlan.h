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
/// at `at`. The members of a group differ along the sub-axes `group` only, and
/// are ordered by their coordinates along these, the first being major.
std::vector<Coordinates> membersOf(const SubAxes &group, const Mesh &mesh,
                                   const Coordinates &at);

/// A collective as the program describes it, independent of the rank.
struct CollectiveSpec {
  /// Any kind but Mask. All except AllReduce, ReduceScatter and Broadcast move
  /// elements of one global value between layouts.
  dist::CollectiveKind kind = dist::CollectiveKind::AllReduce;
  /// Sub-axes that its groups span; none for Slice.
  SubAxes group = {};
  /// Layout of the operand `in`; empty for AllReduce and Broadcast.
  Layout from = {};
  /// Layout of the result `out`, with the views (halos, slices) by which it
  /// reads the dims of the operand; empty for AllReduce and Broadcast.
  Layout to = {};
  bool operator==(const CollectiveSpec &) const = default;
};

/// Elements that this rank sends to one member, or receives from it. A packed
/// piece is contiguous in scratch and is copied between scratch and the rank's
/// buffer. A piece that is not packed is contiguous in the rank's buffer (`in`
/// for sends, `out` for receives) and needs no copy.
struct PeerPiece {
  /// Index of the peer in the group.
  int member = 0;
  /// Number of elements of the piece.
  int64_t elements = 0;
  /// Whether the piece goes through scratch.
  bool packed = false;
  /// First element in the rank's buffer, if the piece is not packed.
  int64_t offset = 0;
  /// First element in scratch, if the piece is packed.
  int64_t scratchOffset = 0;
  /// Copies of a packed piece: from the buffer to scratch for sends, from
  /// scratch to the buffer for receives. Offsets in scratch count from
  /// `scratchOffset`.
  std::vector<StridedCopy> copies = {};
};

/// One rank's part of a collective: the messages and the copies around them.
struct CollectivePlan {
  /// Pieces to send, ordered by member.
  std::vector<PeerPiece> sends = {};
  /// Pieces to receive, ordered by member. A ReduceScatter also lists the
  /// rank's own piece, and packs all of these pieces, because they are reduced
  /// in scratch.
  std::vector<PeerPiece> receives = {};
  /// Copies from the rank's own `in` to its own `out`.
  std::vector<StridedCopy> local = {};
  /// Whether the plan is a plain all-gather: every member contributes its whole
  /// `in`, in member order. Then `sends`, `receives` and `local` are empty.
  bool gathers = false;
  /// Whether the all-gather can write its result to `out`. Otherwise the result
  /// goes to scratch and `unpack` distributes it.
  bool gathersDirectly = false;
  /// Copies to `out`, by member; source offsets count from the member's
  /// contribution in scratch.
  std::vector<std::vector<StridedCopy>> unpack = {};
  /// Elements of scratch that this rank needs.
  int64_t scratchElements = 0;
  /// Whether some element of `out` is a hole of a view. The whole of `out` is
  /// then zeroed before the copies.
  bool hasHoles = false;
};

/// Plans the part of the rank at `at`. In the plan, every element that `to`
/// holds at `at` comes from exactly one member: from the rank itself if it has
/// the element, otherwise from one of the replicas that have it. Receivers are
/// distributed evenly over the replicas. Plans of different ranks match (see
/// findUnmatchedPiece). Returns an empty plan for AllReduce and Broadcast.
CollectivePlan planCollective(const CollectiveSpec &spec, const Mesh &mesh,
                              const Coordinates &at);

/// Returns the largest number of scratch elements that any rank of the mesh
/// needs in microbatch 0. The emitter reserves that many.
int64_t collectiveScratchElements(const CollectiveSpec &spec, const Mesh &mesh);

/// Checks that every piece that one member of a group sends has the size of the
/// piece that its peer expects, in the same order. Returns a description of the
/// first mismatch, or an empty string. A mismatch would deadlock the run.
std::string findUnmatchedPiece(const CollectiveSpec &spec, const Mesh &mesh);

/// Returns the scratch elements of an all-reduce of `elements` elements that
/// runs in two parts. Every member reduces one share of ceil(elements /
/// members) elements, and receives each other member's copy of that share into
/// scratch.
int64_t splitAllReduceScratchElements(int64_t elements, int64_t members);

/// Row indices of a ragged collective, which moves only the rows that its masks
/// select (`row_dims` in Program.fbs). Dropless mixture-of-experts layers, as
/// in MegaBlocks (Gale et al. 2023), use ragged collectives to move tokens to
/// their experts and back. On the divided side, the rows are split over the
/// members of the group. On the whole side, every member has space for all
/// rows. An AllGather reads the divided side and writes the whole side; a
/// ReduceScatter does the opposite.
///
/// Example: 6 rows over 2 members, seen from member 1.
///
///   divided = {0, 1, 2}                 this member's rows in its own buffer
///   whole   = {{0, 1, 2}, {3, 4, 5}}    rows of member 0, rows of member 1
struct RowPlan {
  /// Row indices on the divided side of this rank, in the order of transfer.
  std::vector<int64_t> divided = {};
  /// For each member, the row indices of its rows on the whole side, in the
  /// order of transfer.
  std::vector<std::vector<int64_t>> whole = {};
};

/// Plans the rows of an AllGather or a ReduceScatter, whose first `rowDims`
/// dims enumerate the rows. Returns nothing if the whole side has no space for
/// a row of some member.
std::optional<RowPlan> planRows(const CollectiveSpec &spec, size_t rowDims,
                                const Mesh &mesh, const Coordinates &at);

/// Returns the elements of one row: the product of the local dims behind the
/// first `rowDims` dims.
int64_t rowElements(const CollectiveSpec &spec, size_t rowDims);

/// Returns the scratch elements that every rank needs for a ragged collective:
/// space for all rows that it may send and for all rows that it may receive. An
/// AllGather whose rows are consecutive receives into `out` and needs only the
/// former. Returns 0 if there is no RowPlan.
int64_t rowScratchElements(const CollectiveSpec &spec, size_t rowDims,
                           const Mesh &mesh);

/// Returns whether the rows of each member are contiguous on the whole side.
bool areConsecutive(const RowPlan &plan);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_PROGRAM_COLLECTIVEPLAN_H
