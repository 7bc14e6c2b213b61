//===- CollectivePlan.h - who sends which elements to whom ----------------===//
//
// A collective that changes a layout is a set of strided copies between the
// members of its group; they follow from the two layouts alone, so programs
// carry layouts and every rank derives its own plan when it loads.
//
//===----------------------------------------------------------------------===//

#ifndef PCC_RUNTIME_PROGRAM_COLLECTIVEPLAN_H
#define PCC_RUNTIME_PROGRAM_COLLECTIVEPLAN_H

#include "runtime/program/Layout.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace pcc::runtime {

enum class CollectiveKind : uint8_t {
  AllReduce,
  AllGather,
  ReduceScatter,
  AllToAll,
  Permute,
  Exchange,
  Broadcast,
  Slice
};

/// Ranks that differ only in these digits, ordered by them (first is major).
struct GroupSpec {
  std::vector<AxisPart> parts;
  bool operator==(const GroupSpec &) const = default;
};

int64_t groupSize(const GroupSpec &group);
/// Coordinates of all members of the group that `at` belongs to, in order.
std::vector<Coordinates> membersOf(const GroupSpec &group, const Mesh &mesh,
                                   const Coordinates &at);
int64_t memberIndex(const GroupSpec &group, const Mesh &mesh,
                    const Coordinates &at);

struct CollectiveSpec {
  CollectiveKind kind = CollectiveKind::AllReduce;
  GroupSpec group = {}; ///< empty for Slice
  Layout from = {};
  Layout to = {};
  /// How `to` sees the dims; empty: as they are.
  std::vector<View> views = {};
  bool operator==(const CollectiveSpec &) const = default;
};

/// Elements that go to, or come from, one member. Packed: through `elements`
/// elements of scratch from `scratchOffset` on; else directly at `offset` of
/// the rank's own buffer, where they lie densely.
struct PeerPiece {
  int member = 0;
  int64_t elements = 0;
  bool packed = false;
  int64_t offset = 0;
  int64_t scratchOffset = 0;
  /// Own buffer to scratch for sends, scratch to own buffer for receives;
  /// offsets within the piece's scratch. Empty if not packed.
  std::vector<StridedCopy> copies = {};
};

/// One rank's part. `local` copies go from `in` to `out`. Sums of a reduce
/// scatter always receive into scratch.
struct CollectivePlan {
  std::vector<PeerPiece> sends = {};
  std::vector<PeerPiece> receives = {};
  std::vector<StridedCopy> local = {};
  /// AllGather only: every member's whole `in` goes to `out` (direct) or to
  /// scratch, from where `unpack[member]` takes it.
  bool gathers = false;
  bool gathersDirectly = false;
  std::vector<std::vector<StridedCopy>> unpack = {};
  int64_t scratchElements = 0;
  /// Some element of `to` is a hole of a view: all of it is zeroed first.
  bool hasHoles = false;
};

/// Every element that `to` holds here comes from exactly one member, from
/// itself where it can; members whose `from` pieces are equal share the work.
/// For AllReduce the plan is empty.
CollectivePlan planCollective(const CollectiveSpec &spec, const Mesh &mesh,
                              const Coordinates &at);

/// Largest number of scratch elements that any rank of the mesh needs: what the
/// emitter reserves.
int64_t collectiveScratchElements(const CollectiveSpec &spec, const Mesh &mesh);

/// Two members of a group of which one sends the other pieces of other sizes,
/// or in another order, than it receives; empty if there are none.
std::string findUnmatchedPiece(const CollectiveSpec &spec, const Mesh &mesh);

/// Scratch elements of an all-reduce in two parts: room for everybody's piece
/// of one share.
int64_t splitAllReduceScratchElements(int64_t elements, int64_t members);

/// Where rows lie that travel one by one (`row_dims` in Program.fbs): on one
/// side they are divided over the members of a group, on the other one every
/// member has room for all of them.
struct RowPlan {
  /// Rows of the divided side, in the order in which they travel.
  std::vector<int64_t> divided = {};
  /// Per member, in the same order, where its rows are on the whole side.
  std::vector<std::vector<int64_t>> whole = {};
};

/// The rows of an AllGather or a ReduceScatter that the first `rowDims` dims
/// count. Nothing if a rank has no room for a row of another one.
std::optional<RowPlan> planRows(const CollectiveSpec &spec, size_t rowDims,
                                const Mesh &mesh, const Coordinates &at);

/// Elements of one row.
int64_t rowElements(const CollectiveSpec &spec, size_t rowDims);

/// Scratch elements that every rank needs for rows: all that it can send, and
/// all that it can receive unless they arrive where they belong.
int64_t rowScratchElements(const CollectiveSpec &spec, size_t rowDims,
                           const Mesh &mesh);

/// Whether the rows of each member follow one another on the whole side.
bool areConsecutive(const RowPlan &plan);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_PROGRAM_COLLECTIVEPLAN_H
