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

/// Returns the parts of the sub-axes `a` that the sub-axes `b` do not cover.
/// Neighbours are merged. For example, the whole axis x of size 4 minus its
/// major half x:(1)2 is its minor half x:(2)2. Returns std::nullopt if the
/// sub-axes do not align, such as halves and thirds of an axis of 6.
std::optional<dist::SubAxes> subtract(const dist::SubAxes &a,
                                      const dist::SubAxes &b);

/// Returns the sub-axes (parts of mesh axes) in the order of the mesh. Adjacent
/// parts of one axis are merged into one sub-axis.
dist::SubAxes inMeshOrder(dist::SubAxes axes, const dist::Mesh &mesh);

/// A movement of the elements of one tensor from sharding `from` to sharding
/// `to`. The member functions compute with digits (the largest sub-axes of
/// which all sub-axes of both shardings consist) and with the parts into which
/// a dim is split. They do not enumerate the ranks of the mesh.
class Movement {
public:
  /// Prepares the movement of a tensor of `shape`. `from` and `to` must be
  /// valid for `shape` and in the form that `canonical` returns. Their partial
  /// axes are ignored.
  Movement(const dist::Sharding &from, const dist::Sharding &to,
           const dist::Shape &shape);

  /// Returns whether the sub-axes of the two shardings align. Halves and thirds
  /// of an axis of 6 do not align. If false, no other member may be called.
  bool aligned() const { return isAligned; }

  /// Returns the largest number of elements that a rank needs under `to` and
  /// does not hold under `from`. In every plan, the rank with this number
  /// receives at least as many elements.
  int64_t lowerBound();

  /// Returns the digits (common sub-axes of both shardings) along which some
  /// rank needs elements from another rank, as indices into `digits`. Along any
  /// other digit, a rank receives only from ranks with its own coordinate.
  std::vector<int> communicated();

  /// Returns the kind of collective that performs the whole movement in a
  /// single step. `group` is the result of `communicated`.
  dist::CollectiveKind classify(const std::vector<int> &group);

  /// Returns the sub-axes over which a collective of `kind` communicates if it
  /// performs the whole movement. `group` is the result of `communicated`.
  dist::SubAxes groupAxes(dist::CollectiveKind kind,
                          const std::vector<int> &group) const;

private:
  /// The split of one dim into parts, under `from` or under `to`. A digit is a
  /// common sub-axis of both shardings. The coordinates of a rank along the
  /// digits that split the dim, major first, give the index of its part. For
  /// example, digits of sizes 2 and 3 with the coordinates 1 and 2 give part 5
  /// (1 * 3 + 2).
  struct DimSide {
    /// Digits that split the dim, major first, as indices into
    /// Movement::digits.
    std::vector<int> digits;
    /// runs[p] holds the indices of the dim that belong to part p, as ranges
    /// [lo, hi).
    std::vector<dist::Runs> runs;
    /// For each digit: difference of the indices of two parts whose coordinates
    /// along the digit differ by 1; 0 for a digit that does not split the dim.
    /// For example, digits of sizes 2 and 3 have the strides 3 and 1.
    std::vector<int64_t> strideOf;
  };
  /// One dim of the tensor: its split under `from` and its split under `to`.
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
  /// Returns the number of indices of `dim` that two parts share: part number
  /// `to` of the target sharding and part number `from` of the source sharding.
  int64_t overlapOf(MovedDim &dim, int64_t to, int64_t from);
  int64_t missingAt(const std::vector<int64_t> &digit);
  /// Returns whether some rank needs elements from a rank with another
  /// coordinate along `digit` (index of a common sub-axis of both shardings).
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
  /// Converts a list of digits to flags: element i of the result is true if the
  /// list `group` contains i. A digit is a common sub-axis of both shardings.
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

/// Returns the cheapest plan between two shardings that are partial along equal
/// axes, so the plan needs no reduction. If no plan exists, `error` of the
/// result is set.
ReshardPlan planMovement(const dist::Sharding &from, const dist::Sharding &to,
                         const dist::Shape &shape, int64_t elementBytes,
                         const dist::Mesh &mesh, const Prices &prices);

/// Appends one step to a plan. If the step communicates, adds its call, bytes
/// and price to those of the plan.
void append(ReshardPlan &plan, ReshardStep step, const Prices &prices);

/// Appends all steps of the plan `more` to `plan` and adds calls, bytes and
/// prices. If `plan` has no error, it gets the error of `more`.
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
