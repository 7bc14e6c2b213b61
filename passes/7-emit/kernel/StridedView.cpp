//===- StridedView.cpp - layout ops as offset and strides -----------------===//

#include "passes/7-emit/kernel/StridedView.h"
#include "dialects/graph/GraphDialect.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"

using namespace mlir;
using namespace pcc;
using namespace pcc::emit;

StridedView StridedView::dense(ArrayRef<int64_t> shape) {
  StridedView view;
  view.shape.assign(shape.begin(), shape.end());
  view.strides.assign(shape.size(), 1);
  for (size_t i = shape.size(); i-- > 1;)
    view.strides[i - 1] = view.strides[i] * std::max<int64_t>(shape[i], 1);
  return view;
}

StridedView StridedView::transposed(ArrayRef<int64_t> perm) const {
  StridedView view;
  view.offset = offset;
  for (int64_t dim : perm) {
    view.shape.push_back(shape[dim]);
    view.strides.push_back(strides[dim]);
  }
  return view;
}

StridedView StridedView::sliced(ArrayRef<int64_t> starts,
                                ArrayRef<int64_t> sizes,
                                ArrayRef<int64_t> steps) const {
  StridedView view = *this;
  for (size_t i = 0; i < shape.size(); ++i) {
    view.offset += starts[i] * strides[i];
    view.shape[i] = sizes[i];
    view.strides[i] *= steps[i];
  }
  return view;
}

/// Computes the strides of the reshaped view. The old dims are the dims before
/// the reshape, and the new dims are the dims after the reshape. A group
/// consists of neighboring old dims and neighboring new dims. The product of
/// the old dims in a group is equal to the product of the new dims in the
/// group. The function forms one group after another, and begins with the
/// last dims. Example: a reshape from [4, 6] to [2, 2, 6] has two groups:
///
///   group    old dims   new dims
///   first    6          6
///   second   4          2, 2
///
/// If a group has several old dims, these dims must be contiguous in memory.
/// Example: dims [2, 3] with strides [3, 1] are contiguous. Dims [2, 3] with
/// strides [5, 1] are not contiguous, since a gap follows every 3 elements. If
/// the old dims of a group are not contiguous, the reshaped view has no
/// strides, and the function returns std::nullopt.
///
/// An old dim of size 1 belongs to no group.
std::optional<StridedView> StridedView::reshaped(ArrayRef<int64_t> to) const {
  StridedView view = dense(to);
  view.offset = offset;
  if (llvm::is_contained(shape, 0))
    return view;
  SmallVector<std::pair<int64_t, int64_t>> from;
  for (auto [size, stride] : llvm::zip_equal(shape, strides))
    if (size != 1)
      from.push_back({size, stride});
  size_t next = to.size();
  while (!from.empty()) {
    auto [left, stride] = from.pop_back_val();
    // Form one group. A group consists of dims of this view and dims of the new
    // shape `to`. `ownSize` is the product of the dims of this view in the
    // group. `left` is `ownSize` divided by the product of the dims of `to` in
    // the group. The group is complete if `left` is 1.
    //
    // Begin with the last dim of this view that is in no group yet. While
    // `left` is not 1, add a dim of `to`: the last dim that is in no group yet.
    // If the size of this dim does not divide `left`, first add the preceding
    // dim of this view. Two examples, each with one line per state of the
    // group:
    //
    //   reshape            dims of this view   dims of `to`   ownSize   left
    //   [12] to [3, 4]     12                                 12        12
    //                      12                  4              12        3
    //                      12                  3, 4           12        1
    //   [4, 6] to [8, 3]   6                                  6         6
    //                      6                   3              6         2
    //                      4, 6                3              24        8
    //                      4, 6                8, 3           24        1
    int64_t ownSize = left;
    while (left > 1) {
      const int64_t size = to[--next];
      while (left % size != 0) {
        if (from.empty() || from.back().second != stride * ownSize)
          return std::nullopt;
        auto [size2, stride2] = from.pop_back_val();
        left *= size2;
        ownSize *= size2;
      }
      view.strides[next] = stride * (ownSize / left);
      left /= size;
    }
  }
  return view;
}

std::optional<StridedView> StridedView::through(Operation *op) const {
  if (auto transpose = dyn_cast<graph::TransposeOp>(op))
    return transposed(transpose.getPerm());
  if (auto slice = dyn_cast<graph::SliceOp>(op))
    return sliced(slice.getStarts(), slice.getSizes(), slice.getSteps());
  if (auto reshape = dyn_cast<graph::ReshapeOp>(op))
    return reshaped(graph::tensorType(reshape.getResult()).getShape());
  return std::nullopt;
}

SmallVector<Operation *> pcc::emit::layoutOpsAfter(Value value) {
  SmallVector<Operation *> ops;
  while (value.hasOneUse() &&
         (*value.user_begin())->hasTrait<graph::KeepsElements>()) {
    ops.push_back(*value.user_begin());
    value = ops.back()->getResult(0);
  }
  return ops;
}

std::optional<StridedView> pcc::emit::storedView(Value value,
                                                 ArrayRef<Operation *> ops) {
  Value last = ops.empty() ? value : ops.back()->getResult(0);
  std::optional<StridedView> view =
      StridedView::dense(graph::tensorType(last).getShape());
  for (Operation *op : llvm::reverse(ops)) {
    if (auto transpose = dyn_cast<graph::TransposeOp>(op))
      view = view->transposed(invertPermutationVector(transpose.getPerm()));
    else if (isa<graph::ReshapeOp>(op))
      view = view->reshaped(graph::tensorType(op->getOperand(0)).getShape());
    if (!view)
      return std::nullopt;
  }
  return view;
}
