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

/// Divides sub-axes into digits. A sub-axis is a mesh axis or a part of a mesh
/// axis. Digits are the largest sub-axes that do not overlap and of which each
/// entry of `axes` is a list. Example: an axis x of size 4 has the major half
/// x:(1)2 and the minor half x:(2)2. The digits of {x, x:(1)2} are the two
/// halves.
///
/// The result is sorted by the name of the mesh axis, and then from major to
/// minor. Returns std::nullopt if two entries do not fit together, such as
/// halves and thirds of an axis of size 6.
std::optional<dist::SubAxes> digitsOf(const dist::SubAxes &axes);

/// Returns the parts of mesh axes that are in the list `a` and not in the list
/// `b`. Adjacent parts of one mesh axis are merged into one entry. Example: an
/// axis x of size 4 has the major half x:(1)2 and the minor half x:(2)2. The
/// result of {x} minus {x:(1)2} is {x:(2)2}. Returns std::nullopt if two
/// entries do not fit together, such as halves and thirds of an axis of size 6.
std::optional<dist::SubAxes> subtract(const dist::SubAxes &a,
                                      const dist::SubAxes &b);

/// Returns the sub-axes in `axes`, sorted and merged. A sub-axis is a mesh axis
/// or a part of a mesh axis. The sub-axes are sorted by the position of their
/// mesh axis in `mesh`. Parts of one mesh axis are sorted from major to minor.
/// Adjacent parts of one mesh axis are merged into one sub-axis.
///
/// Example: `mesh` is {x=2, y=4}. `axes` has the minor half of y, the major
/// half of y, and x. The result is {x, y}.
dist::SubAxes inMeshOrder(dist::SubAxes axes, const dist::Mesh &mesh);

/// Change of one tensor from the sharding `from` to the sharding `to`. The
/// class computes how many elements a rank must receive, and finds the
/// collective that moves them, such as an all-gather. It divides mesh axes into
/// digits, which are the largest parts that both shardings use only as a whole.
/// It visits the coordinates along the digits, not every rank of the mesh.
/// Example: under `from`, the axis x of size 4 splits dim 0. Under `to`, the
/// major half of x splits dim 0, and the minor half splits dim 1. The digits
/// are the two halves.
class Movement {
public:
  /// Prepares the change of a tensor with the dim sizes `shape`. Both shardings
  /// must be valid for `shape` and must be results of dist::canonical, which
  /// uses as few factors as possible. The size of a dim is the product of its
  /// factors. For example, a dim of 12 elements has the factors 4 and 3, and
  /// only the factor 4 is split over an axis x of size 2. dist::canonical
  /// merges them into one factor 12, split over x. The constructor ignores
  /// partial axes, along which the tensor still needs a reduction, such as a
  /// sum.
  Movement(const dist::Sharding &from, const dist::Sharding &to,
           const dist::Shape &shape);

  /// Returns false if the class cannot compare the two shardings, because they
  /// use parts of one mesh axis that do not fit together. No other member
  /// function may then be called. Returns true otherwise.
  ///
  /// Example of parts that do not fit together: a mesh axis has the coordinates
  /// 0 to 5. `from` splits a dim into 2 parts, one for the coordinates {0, 1,
  /// 2} and one for the coordinates {3, 4, 5}. `to` splits a dim into 3 parts,
  /// one each for the coordinates {0, 1}, {2, 3} and {4, 5}. The coordinates 2
  /// and 3 belong to one part under `to`, but to two parts under `from`.
  bool aligned() const { return isAligned; }

  /// Returns the largest number of elements that one rank must receive. A rank
  /// must receive each element that it needs under the sharding `to` and does
  /// not hold under the sharding `from`. Different ranks can have different
  /// numbers of these elements. The result is the largest of these numbers.
  ///
  /// Example: rank 0 must receive 4 elements, and rank 1 must receive 6
  /// elements. The result is 6. In every plan, rank 1 receives at least 6
  /// elements.
  int64_t lowerBound();

  /// Returns the sub-axes along which ranks exchange elements, as indices into
  /// the list `digits`. A sub-axis is a mesh axis or a part of a mesh axis.
  /// Ranks exchange elements along a sub-axis if some rank needs elements from
  /// a rank with another coordinate along the sub-axis.
  ///
  /// Example: `digits` is {x, y}. `from` splits dim 0 over x and dim 1 over y.
  /// `to` splits only dim 1, over y. The result is {0}, because ranks exchange
  /// elements only along x.
  std::vector<int> communicated();

  /// Returns the kind of the collective that changes the tensor from `from` to
  /// `to` in one step. `group` must be the result of `communicated`. If no
  /// other kind fits, the result is Exchange (point-to-point sends). Examples,
  /// where [x, -] splits only dim 0, over the mesh axis x:
  ///
  ///     [x, -] to [-, -]    AllGather
  ///     [x, -] to [-, x]    AllToAll
  ///     [x, -] to [y, -]    Permute, if x and y have equal sizes
  ///     [-, -] to [x, -]    Slice
  dist::CollectiveKind classify(const std::vector<int> &group);

  /// Returns the sub-axes along which ranks communicate if one collective of
  /// the kind `kind` changes the tensor from the sharding `from` to the
  /// sharding `to`. A sub-axis is a mesh axis or a part of a mesh axis.
  ///
  /// `group` has the sub-axes along which ranks exchange elements, as indices
  /// into the list `digits`. `group` must be the result of the member function
  /// `communicated`. Each sub-axis in `group` splits a dim under `from`.
  ///
  /// The result contains all sub-axes in `group`. If `kind` is Permute, the
  /// result also contains each sub-axis that splits a dim only under `to`.
  /// Example: `from` splits dim 0 over x, and `to` splits dim 0 over y. `group`
  /// has only x. If `kind` is Permute, the result is {x, y}.
  dist::SubAxes groupAxes(dist::CollectiveKind kind,
                          const std::vector<int> &group) const;

private:
  /// Describes how one of the shardings `from` and `to` splits one dim into
  /// parts. The parts have the numbers 0, 1, 2, and so on. The dim is split
  /// over mesh axes or parts of mesh axes. The coordinates of a rank along
  /// these axes say which part belongs to the rank.
  ///
  /// Example: a dim is split over x, which has size 2, and then over y, which
  /// has size 3. The dim has 6 parts. Part 1 * 3 + 2 = 5 belongs to the ranks
  /// at the coordinates x = 1 and y = 2.
  struct DimSide {
    /// Sub-axes that split the dim, major first, as indices into the list
    /// Movement::digits. A sub-axis is a mesh axis or a part of a mesh axis.
    /// For example, let Movement::digits be {x, y, z}. If the dim is split over
    /// z and then over x, this list is {2, 0}.
    std::vector<int> digits;
    /// runs[p]: the indices of the dim in part p, as ranges [lo, hi).
    std::vector<dist::Runs> runs;
    /// Strides: one number for each sub-axis in the list Movement::digits. A
    /// sub-axis is a mesh axis or a part of a mesh axis. If the coordinate of a
    /// rank along the sub-axis grows by 1, the number of the part of the rank
    /// grows by the stride. The stride is 0 if the sub-axis does not split the
    /// dim.
    ///
    /// Example: a dim is split over x, which has size 2, and then over y, which
    /// has size 3. Part x * 3 + y belongs to the ranks at the coordinates x and
    /// y. The stride of x is 3, and the stride of y is 1.
    std::vector<int64_t> strideOf;
  };
  /// One dim of the tensor: its split under `from` and its split under `to`.
  struct MovedDim {
    /// Whether `from` and `to` split the dim differently, or `to` reads the dim
    /// through a view (a window with halos).
    bool changed = false;
    /// Number of indices in the largest part of the dim under `to`. Example:
    /// `to` splits a dim of 5 elements over a mesh axis of size 2. The parts
    /// have 3 and 2 elements. The number is 3.
    ///
    /// If `to` reads the dim through a view (a window with halos), the number
    /// also counts the indices of the view that read no element (padding).
    int64_t largestPart = 0;
    DimSide from, to;
    /// overlaps[t * from.runs.size() + f]: number of indices that part t under
    /// `to` and part f under `from` share; -1 if not yet computed.
    std::vector<int64_t> overlaps;
  };

  DimSide makeSide(const dist::DimSharding &dim, int64_t size) const;
  static void seeThrough(const dist::View &view, int64_t size, MovedDim &dim);
  /// Returns the number of indices of `dim` that two parts share: part `to` of
  /// the target sharding and part `from` of the source sharding.
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
  /// Sub-axes (parts of mesh axes) that do not overlap, called digits. Each
  /// sub-axis that splits a dim under `from` or `to` consists of one or more
  /// adjacent digits. The digits are as large as possible. For example, let the
  /// mesh axis x have size 4. If `from` splits a dim over x, and `to` splits a
  /// dim over the major half of x, the digits are the major half x:(1)2 and the
  /// minor half x:(2)2. Other members refer to a digit by its index in this
  /// list.
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

/// Returns the cheapest plan that changes a tensor from the sharding `from` to
/// the sharding `to`. A plan is a list of steps, such as a slice or an
/// all-gather. No step of the plan is a reduction. Sets `error` of the result
/// if there is no plan.
///
/// The ranks along a partial axis hold partial tensors that still need a
/// reduction, such as a sum. `from` and `to` must have equal partial axes.
ReshardPlan planMovement(const dist::Sharding &from, const dist::Sharding &to,
                         const dist::Shape &shape, int64_t elementBytes,
                         const dist::Mesh &mesh, const Prices &prices);

/// Appends `step` to the steps of `plan`. If ranks communicate in the step, the
/// function also changes three totals of the plan:
///
///  - It adds 1 to `plan.calls`, the number of steps that communicate.
///  - It adds the received bytes of the step to `plan.receivedBytes`.
///  - It adds the price of the step to `plan.seconds`. The price is computed
///    from `prices`, the prices of communication along the mesh axes.
void append(ReshardPlan &plan, ReshardStep step, const Prices &prices);

/// Appends the plan `more` to the plan `plan`. The function changes these
/// members of `plan`:
///
///  - `steps`: the function appends the steps of `more`.
///  - `calls`, `receivedBytes` and `seconds`: the function adds the number of
///    `more` to the number of `plan`.
///  - `error`: if `plan` has no error, `plan` gets the error of `more`.
void append(ReshardPlan &plan, const ReshardPlan &more);

/// Returns the bytes of the largest shard that a rank has, padding included.
int64_t localBytes(const dist::Sharding &sharding, const dist::Shape &shape,
                   int64_t elementBytes);

/// Returns whether plan `a` is better than plan `b`. The function uses the
/// first of these rules that makes a difference between the plans:
///
///  1. A plan without an error is better than a plan with an error.
///  2. A plan with a lower price (`seconds`) is better.
///  3. A plan with fewer collectives (`calls`) is better.
///
/// Returns false if there is no difference.
bool isCheaper(const ReshardPlan &a, const ReshardPlan &b);

/// Returns whether a slice can change a tensor from the sharding `from` to the
/// sharding `to`. In a slice, each rank keeps a part of the elements that it
/// holds. Ranks do not communicate. The dims of the tensor have the sizes
/// `shape`. The result is true if each rank needs, under `to`, only elements
/// that it also holds under `from`.
///
/// The result is false if the two shardings use parts of one mesh axis that do
/// not fit together, such as halves and thirds of a mesh axis of size 6.
bool isFree(const dist::Sharding &from, const dist::Sharding &to,
            const dist::Shape &shape);

} // namespace pcc::plan

#endif // PCC_PASSES_PLAN_RESHARD_RESHARDMOVE_H
