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

/// Returns the digits of `axes`: the largest disjoint parts of mesh axes such
/// that each sub-axis in `axes` is a product of digits. For example, for an
/// axis x of size 4, the digits of {x, x:(1)2} are {x:(1)2, x:(2)2}. Digits are
/// sorted by axis name and then from major to minor. Returns std::nullopt if
/// two sub-axes do not fit together, such as halves and thirds of one mesh axis
/// of size 6.
std::optional<dist::SubAxes> digitsOf(const dist::SubAxes &axes);

/// Returns the parts of mesh axes that are in the list `a` and not in the list
/// `b`. Adjacent parts of one mesh axis are merged. Example: an axis x of size
/// 4 has the major half x:(1)2 and the minor half x:(2)2. The result of {x}
/// minus {x:(1)2} is {x:(2)2}. Returns std::nullopt if two sub-axes do not fit
/// together, such as halves and thirds of an axis of size 6.
std::optional<dist::SubAxes> subtract(const dist::SubAxes &a,
                                      const dist::SubAxes &b);

/// Returns `axes` sorted by the order of the axes of `mesh`. Parts of one mesh
/// axis are sorted from major to minor, and adjacent parts are merged.
dist::SubAxes inMeshOrder(dist::SubAxes axes, const dist::Mesh &mesh);

/// Change of one tensor from the sharding `from` to the sharding `to`. Computes
/// how many elements a rank must receive, and finds the collective that moves
/// the elements, such as an all-gather. Digits are the largest parts of mesh
/// axes that both shardings use only as a whole. To be fast with many ranks,
/// this class visits the coordinates along the digits instead of all ranks.
class Movement {
public:
  /// Prepares the change of a tensor with the dim sizes `shape`. Both shardings
  /// must be valid for `shape` and normalized by dist::canonical(). Ignores
  /// partial axes.
  Movement(const dist::Sharding &from, const dist::Sharding &to,
           const dist::Shape &shape);

  /// Returns whether the parts of mesh axes that both shardings use fit
  /// together. For example, halves and thirds of an axis of size 6 do not fit
  /// together. If the result is false, no other member function may be called.
  bool aligned() const { return isAligned; }

  /// Returns the largest number of elements that one rank needs under `to` and
  /// does not hold under `from`. In every plan, some rank receives at least
  /// this number of elements.
  int64_t lowerBound();

  /// Returns the parts of mesh axes along which elements move, as indices into
  /// `digits`. Elements move along a part of a mesh axis if a rank needs them
  /// from a rank with another coordinate along it.
  std::vector<int> communicated();

  /// Returns the kind of the collective that changes the tensor from `from` to
  /// `to` in one step. `group` must be the result of `communicated`. If no
  /// other kind fits, returns Exchange (point-to-point sends).
  dist::CollectiveKind classify(const std::vector<int> &group);

  /// Returns the parts of mesh axes along which ranks communicate in one
  /// collective of the kind `kind`. These are the parts in `group`, which must
  /// be the result of `communicated`. For a Permute, also adds the parts that
  /// split a dim under `to` but no dim under `from`.
  dist::SubAxes groupAxes(dist::CollectiveKind kind,
                          const std::vector<int> &group) const;

private:
  /// Shards of one dim under `from` or under `to`. The coordinates of a rank
  /// along the splitting axes give the index of its shard. Example: a dim is
  /// split over x and then over y of size 3. Ranks at x = 1 and y = 2 have
  /// shard 1 * 3 + 2 = 5.
  struct DimSide {
    /// Sub-axes that split the dim, major first, as indices into the list
    /// Movement::digits. A sub-axis is a mesh axis or a part of a mesh axis.
    /// For example, let Movement::digits be {x, y, z}. If the dim is split over
    /// z and then over x, this list is {2, 0}.
    std::vector<int> digits;
    /// `runs[p]` contains the indices of the dim that shard number p holds, as
    /// ranges [lo, hi).
    std::vector<dist::Runs> runs;
    /// Stride of each digit (part of a mesh axis) in Movement::digits. If a
    /// rank's coordinate along the digit grows by 1, the index of the rank's
    /// shard grows by the stride. The stride is 0 if the digit does not split
    /// the dim.
    std::vector<int64_t> strideOf;
  };
  /// One dim of the tensor: its split under `from` and its split under `to`.
  struct MovedDim {
    /// Whether `from` and `to` split the dim differently, or `to` reads the dim
    /// in windows (with halos or padding).
    bool changed = false;
    /// Number of indices in the largest shard of the dim under `to`. Example:
    /// `to` splits a dim of 5 elements over a mesh axis of size 2. The shards
    /// have 3 and 2 elements. The number is 3.
    ///
    /// If `to` reads the dim in windows (with halos or padding), the number
    /// also counts the window indices that read no element (padding).
    int64_t largestPart = 0;
    DimSide from, to;
    /// `overlaps[t * from.runs.size() + f]` is the number of indices that are
    /// both in shard number t under `to` and in shard number f under `from`. It
    /// is -1 if this number is not yet computed.
    std::vector<int64_t> overlaps;
  };

  DimSide makeSide(const dist::DimSharding &dim, int64_t size) const;
  static void seeThrough(const dist::View &view, int64_t size, MovedDim &dim);
  /// Returns the number of indices of `dim` that are both in shard number `to`
  /// of the target sharding and in shard number `from` of the source sharding.
  int64_t overlapOf(MovedDim &dim, int64_t to, int64_t from);
  int64_t missingAt(const std::vector<int64_t> &digit);
  /// Returns whether some rank needs elements from a rank with another
  /// coordinate along the sub-axis digits[digit]. A sub-axis is a mesh axis or
  /// a part of a mesh axis. For example, the result is true for x if `from`
  /// splits a dim over x and `to` splits no dim over x.
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
  /// Converts the list `group` to flags. Each entry of `group` is an index into
  /// the list `digits`. The result has one flag for each entry of `digits`.
  /// Flag i is true if `group` contains the index i.
  ///
  /// For example, if `digits` has 3 entries and `group` is {0, 2}, the result
  /// is {true, false, true}.
  std::vector<bool> membership(const std::vector<int> &group) const;

  bool isAligned = false;
  dist::Sharding from, to;
  /// Digits: disjoint parts of mesh axes, as large as possible. Each sub-axis
  /// that splits a dim under `from` or `to` consists of one or more digits.
  /// Other members refer to a digit by its index in this list.
  dist::SubAxes digits;
  /// Two lists with one entry for each sub-axis in the list `digits`.
  /// fromDim[i] is the index of the dim that the sub-axis digits[i] splits
  /// under the sharding `from`. It is -1 if the sub-axis splits no dim under
  /// `from`. toDim[i] is the index of the dim that the sub-axis digits[i]
  /// splits under the sharding `to`. It is -1 if the sub-axis splits no dim
  /// under `to`.
  std::vector<int> fromDim, toDim;
  std::vector<MovedDim> dims;
};

/// Returns the cheapest plan that changes a tensor from `from` to `to` without
/// a reduction, such as a slice and an all-gather. The shardings must have
/// equal partial axes. Sets `error` of the result if there is no plan.
ReshardPlan planMovement(const dist::Sharding &from, const dist::Sharding &to,
                         const dist::Shape &shape, int64_t elementBytes,
                         const dist::Mesh &mesh, const Prices &prices);

/// Returns the one step that changes a tensor from `from` to `to` without a
/// reduction: a slice if every rank holds all elements that it needs, else a
/// collective. `movement` must be constructed from `from` and `to`, and must be
/// aligned.
ReshardStep movementStep(Movement &movement, const dist::Sharding &from,
                         const dist::Sharding &to, const dist::Shape &shape,
                         int64_t elementBytes, const dist::Mesh &mesh);

/// Appends `step` to the steps of `plan`. If the step communicates, also adds
/// it to the totals of `plan`: calls, received bytes and seconds.
void append(ReshardPlan &plan, ReshardStep step, const Prices &prices);

/// Appends the steps of `more` to `plan`, and adds the totals of `more`. If
/// `plan` has no error, `plan` gets the error of `more`.
void append(ReshardPlan &plan, const ReshardPlan &more);

/// Returns the bytes of the largest shard that a rank has, padding included.
int64_t localBytes(const dist::Sharding &sharding, const dist::Shape &shape,
                   int64_t elementBytes);

/// Returns whether plan `a` is better than plan `b`. Any possible plan is
/// better than an impossible one. Otherwise the lower price decides, and then
/// the smaller number of collectives.
bool isCheaper(const ReshardPlan &a, const ReshardPlan &b);

/// Returns whether a slice, which needs no communication, can change a tensor
/// from `from` to `to`. Returns false if the shardings use parts of one mesh
/// axis that do not fit together, such as halves and thirds.
bool isFree(const dist::Sharding &from, const dist::Sharding &to,
            const dist::Shape &shape);

} // namespace pcc::plan

#endif // PCC_PASSES_PLAN_RESHARD_RESHARDMOVE_H
