//===- ReshardMove.h - movements of shards as index sets per dim ----------===//
//
// Internal to the reshard planner. Each of the shardings `from` and `to` splits
// one tensor into disjoint parts. The ranks with equal coordinates along the
// splitting axes are replicas: they hold the same part. The elements that a
// rank lacks of its part of `to` are the disjoint union of boxes, one per part
// of `from`.
//
// If `to` sees a dim through a view, the indices of that dim are those of the
// view, for both shardings: a part of `from` is then the set of view indices
// whose elements it holds.
//
// Axes are cut into *digits*: the coarsest sub-axes of which every axis of both
// shardings is a list. Each digit splits at most one dim of `from` and at most
// one dim of `to`. Example: an axis x of size 4 splits dim 0 of `from`; `to`
// splits dim 0 over x:(1)2 and dim 1 over x:(2)2. The digits are x:(1)2 and
// x:(2)2. Sub-axes that have no common digits, such as halves and thirds of an
// axis of 6, do not *align*.
//
//===----------------------------------------------------------------------===//
#ifndef PCC_PASSES_PLAN_RESHARD_RESHARDMOVE_H
#define PCC_PASSES_PLAN_RESHARD_RESHARDMOVE_H

#include "passes/plan/reshard/Reshard.h"

#include <optional>

namespace pcc::plan {

/// Cuts the given sub-axes (parts of mesh axes) into digits: sub-axes as large
/// as possible, such that every given sub-axis is a sequence of whole digits.
/// For example, if x (a whole axis of size 4) and x:(1)2 (its major half) are
/// given, the digits are its two halves, x:(1)2 and x:(2)2. The digits are
/// sorted by axis name, then major to minor. Returns std::nullopt if two
/// sub-axes do not align, such as halves and thirds of an axis of 6.
std::optional<dist::SubAxes> digitsOf(const dist::SubAxes &axes);

/// Returns what is left of the sub-axes `a` without the sub-axes `b`, with
/// neighbours merged: the whole axis x of size 4 minus its major half x:(1)2 is
/// x:(2)2. Returns std::nullopt if the sub-axes do not align.
std::optional<dist::SubAxes> subtract(const dist::SubAxes &a,
                                      const dist::SubAxes &b);

/// Returns the sub-axes in the order of the mesh; neighbours are merged into
/// one sub-axis.
dist::SubAxes inMeshOrder(dist::SubAxes axes, const dist::Mesh &mesh);

/// A movement of the elements of one tensor from sharding `from` to sharding
/// `to`. The member functions compute with digits (the largest sub-axes of
/// which all sub-axes of both shardings consist) and with the parts into which
/// a dim is split. They do not enumerate the ranks of the mesh.
class Movement {
public:
  /// Both shardings must be canonical and valid for a tensor of `shape`. Their
  /// partial axes are ignored.
  Movement(const dist::Sharding &from, const dist::Sharding &to,
           const dist::Shape &shape);

  /// Returns false if some sub-axes of the two shardings do not align, such as
  /// halves and thirds of an axis of 6. If so, no other member may be called.
  bool aligned() const { return isAligned; }

  /// Returns how many elements of its shard under `to` a rank does not hold
  /// under `from`, as the maximum over all ranks. In every plan, that rank
  /// receives at least as many elements.
  int64_t lowerBound();

  /// Returns the digits (common sub-axes of both shardings) along which some
  /// rank needs elements from another rank, as indices into `digits`. A rank
  /// takes elements only from ranks that differ from it along these digits.
  std::vector<int> communicated();

  /// Returns the kind of collective that performs the whole movement in a
  /// single step. `group` is the result of `communicated`.
  dist::CollectiveKind classify(const std::vector<int> &group);

  /// Returns the sub-axes over which a step of `kind` communicates.
  dist::SubAxes groupAxes(dist::CollectiveKind kind,
                          const std::vector<int> &group) const;

private:
  /// The split of one dim under `from` or under `to`. The digits that split the
  /// dim number its parts: the values of these digits, major first, form the
  /// index of a part. For example, digits of sizes 2 and 3 with the values 1
  /// and 2 give part 5.
  struct DimSide {
    /// Digits that split the dim, major first, as indices into
    /// Movement::digits.
    std::vector<int> digits;
    /// runs[p] holds the indices of the dim that belong to part p, as ranges
    /// [lo, hi).
    std::vector<dist::Runs> runs;
    /// For each digit: by how much the index of a part grows when the value of
    /// the digit grows by 1; 0 for a digit that does not split the dim.
    std::vector<int64_t> strideOf;
  };
  /// One dim of the tensor, as `from` and as `to` split it.
  struct MovedDim {
    /// Whether the two shardings split the dim differently, or `to` has a view
    /// (windowed read) of the dim.
    bool changed = false;
    /// Number of indices, padding included, in the largest part of the dim
    /// under `to`.
    int64_t largestPart = 0;
    DimSide from, to;
    /// overlaps[t * from.runs.size() + f] is the number of indices that part t
    /// under `to` and part f under `from` share. -1 stands for an entry that
    /// has not been computed yet.
    std::vector<int64_t> overlaps;
  };

  DimSide makeSide(const dist::DimSharding &dim, int64_t size) const;
  static void seeThrough(const dist::View &view, int64_t size, MovedDim &dim);
  /// Returns the number of indices of `dim` that part number `to` under the
  /// target sharding and part number `from` under the source sharding share.
  int64_t overlapOf(MovedDim &dim, int64_t to, int64_t from);
  int64_t missingAt(const std::vector<int64_t> &digit);
  /// Returns whether some rank needs elements from a rank at another coordinate
  /// along `digit` (index of a common sub-axis of both shardings).
  bool isCommunicated(int digit);
  bool positionsDiffer(MovedDim &dim, int digit);
  std::vector<bool> valuesOf(const DimSide &side, int digit) const;
  bool isGather(const std::vector<bool> &inGroup) const;
  bool isAllToAll(const std::vector<bool> &inGroup) const;
  bool isPermute() const;
  bool isRotation();
  dist::Coordinates sourceOf(dist::CollectiveKind kind,
                             const std::vector<int64_t> &parts,
                             const dist::Mesh &mesh,
                             const dist::Coordinates &where) const;
  /// Returns, for each digit (common sub-axis of both shardings), whether its
  /// index is in the list `group`.
  std::vector<bool> membership(const std::vector<int> &group) const;

  bool isAligned = false;
  dist::Sharding from, to;
  /// All digits: the largest sub-axes of which all sub-axes of both shardings
  /// consist. Other members refer to a digit by its index in this list.
  dist::SubAxes digits;
  /// For each digit: the dim that the digit splits under `from`, and the dim
  /// that it splits under `to`; -1 if it splits none.
  std::vector<int> fromDim, toDim;
  std::vector<MovedDim> dims;
};

/// Returns the cheapest plan between two shardings that have equal partial
/// axes, so no reduction is needed. If no plan exists, `error` of the result is
/// set.
ReshardPlan planMovement(const dist::Sharding &from, const dist::Sharding &to,
                         const dist::Shape &shape, int64_t elementBytes,
                         const dist::Mesh &mesh, const Prices &prices);

/// Appends one step to a plan and adds the price of the step to that of the
/// plan.
void append(ReshardPlan &plan, ReshardStep step, const Prices &prices);

/// Appends all steps of the plan `more` to `plan` and adds the prices. If only
/// `more` has an error, `plan` gets that error.
void append(ReshardPlan &plan, const ReshardPlan &more);

/// Returns the bytes of the largest shard that a rank has, padding included.
int64_t localBytes(const dist::Sharding &sharding, const dist::Shape &shape,
                   int64_t elementBytes);

/// Returns whether plan `a` is better than plan `b`. A plan without an error is
/// better than one with an error. Otherwise the plan with fewer seconds is
/// better and, at equal seconds, the one with fewer calls.
bool isCheaper(const ReshardPlan &a, const ReshardPlan &b);

/// Returns whether every rank already holds all elements of its shard under
/// `to` when the tensor is sharded by `from`. If so, a slice changes `from` to
/// `to` without communication.
bool isFree(const dist::Sharding &from, const dist::Sharding &to,
            const dist::Shape &shape);

} // namespace pcc::plan

#endif // PCC_PASSES_PLAN_RESHARD_RESHARDMOVE_H
