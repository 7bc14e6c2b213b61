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

/// Divides the dims of this view and the dims `to` into groups, from the last
/// dims to the first. In a group, both have the same product. Example: [2, 3,
/// 4] and `to` = [6, 4] give the groups 4 = 4 and 2 · 3 = 6. Returns
/// std::nullopt if dims of this view in one group, such as 2 and 3, are not
/// contiguous in memory.
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
    // Form one group from the last dims that are in no group yet. `ownSize` is
    // the product of the dims of this view in the group. `left` is `ownSize`
    // divided by the product of the dims of `to` in the group. The group is
    // complete if `left` is 1. Example: this view has the dims 2 and 3, and
    // `to` has the dim 6. `left` is first 3, then 2 · 3 = 6, then 6 / 6 = 1.
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
