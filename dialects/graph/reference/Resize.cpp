//===- Resize.cpp - evaluator of resize -----------------------------------===//

#include "dialects/graph/ops/Resampling.h"
#include "dialects/graph/reference/Arithmetic.h"
#include "dialects/graph/reference/EvaluatorTable.h"
#include "dialects/graph/reference/Strides.h"

using namespace mlir;
using namespace pcc::graph;

/// Returns `in` with dim `dim` resized. Each element of the result is a
/// weighted sum of elements of `in` along the dim.
static HostTensor resizeDim(ResizeOp op, const HostTensor &in, int64_t dim) {
  SmallVector<int64_t> shape(in.shape);
  shape[dim] = tensorType(op.getResult()).getDimSize(dim);
  HostTensor out = HostTensor::zeros(shape, ElementKind::Float);
  DimView from(in.shape, dim), to(shape, dim);
  for (int64_t i = 0; i < shape[dim]; ++i)
    for (Tap tap : tapsOf(op, dim, i))
      for (int64_t outer = 0; outer < to.numOuter; ++outer) {
        const double *source = in.floats.data() + from.at(outer, tap.index, 0);
        double *target = out.floats.data() + to.at(outer, i, 0);
        for (int64_t inner = 0; inner < to.numInner; ++inner)
          target[inner] += tap.weight * source[inner];
      }
  return out;
}

/// Evaluates resize, one dim after another. Integer operands are converted to
/// floats first, and their results are truncated toward zero.
static LogicalResult resize(Evaluation &e) {
  auto op = cast<ResizeOp>(e.op);
  HostTensor tensor = e.in(0);
  if (tensor.kind != ElementKind::Float)
    tensor = HostTensor::ofFloats(tensor.shape,
                                  {tensor.ints.begin(), tensor.ints.end()});
  for (int64_t dim = 0; dim < tensorType(op.getInput()).getRank(); ++dim) {
    if (tensor.shape[dim] == 0 && e.out().shape[dim] > 0)
      return e.fail("enlarges dim " + Twine(dim) + ", which has no elements");
    if (isResized(op, dim))
      tensor = resizeDim(op, tensor, dim);
  }
  if (e.out().kind == ElementKind::Float)
    e.out() = std::move(tensor);
  else
    llvm::transform(tensor.floats, e.out().ints.begin(),
                    [](double x) { return truncated(x); });
  return success();
}

void pcc::graph::addResizeEvaluators(EvaluatorTable &table) {
  table.add<ResizeOp>(resize);
}
