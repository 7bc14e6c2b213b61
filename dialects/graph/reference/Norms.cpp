//===- Norms.cpp - evaluators of softmaxes and norms ----------------------===//

#include "dialects/graph/reference/Arithmetic.h"
#include "dialects/graph/reference/EvaluatorTable.h"
#include "dialects/graph/reference/Strides.h"

using namespace mlir;
using namespace pcc::graph;

/// Computes the softmax of `size` elements, or its logarithm if `logarithm` is
/// true. In `in` and `out`, the elements are `step` apart. The largest element
/// is subtracted first, because exp() could overflow.
static void softmaxLine(const double *in, double *out, int64_t size,
                        int64_t step, bool logarithm) {
  double top = -HUGE_VAL, sum = 0;
  for (int64_t i = 0; i < size; ++i)
    top = larger(top, in[i * step]);
  for (int64_t i = 0; i < size; ++i)
    sum += out[i * step] = std::exp(in[i * step] - top);
  double logSum = std::log(sum);
  for (int64_t i = 0; i < size; ++i)
    out[i * step] =
        logarithm ? in[i * step] - top - logSum : out[i * step] / sum;
}

/// Evaluates softmax along the op's dim, or log_softmax if `logarithm` is true.
template <typename Op, bool logarithm>
static LogicalResult softmax(Evaluation &e) {
  DimView view(e.in(0).shape, cast<Op>(e.op).getDim());
  if (view.size == 0)
    return success();
  for (int64_t outer = 0; outer < view.numOuter; ++outer)
    for (int64_t inner = 0; inner < view.numInner; ++inner) {
      int64_t first = view.at(outer, 0, inner);
      softmaxLine(e.in(0).floats.data() + first, e.out().floats.data() + first,
                  view.size, view.numInner, logarithm);
    }
  return success();
}

/// Evaluates rms_norm, or layer_norm without its bias if `centred` is true.
/// Operand 1 is the scale of a row. With Numerics::Model, the intermediate
/// results of a row are rounded to f32, unless operand 0 is f64.
static void normalise(Evaluation &e, bool centred, double epsilon) {
  const std::vector<double> &in = e.in(0).floats, &scale = e.in(1).floats;
  const bool rounds =
      e.numerics == Numerics::Model && !e.elementType(0).isF64();
  const auto rounded = [rounds](double number) {
    return rounds ? static_cast<double>(static_cast<float>(number)) : number;
  };
  size_t size = scale.size();
  for (size_t row = 0; row + size <= in.size() && size; row += size) {
    double mean = 0, square = 0;
    for (size_t i = 0; centred && i < size; ++i)
      mean += in[row + i];
    mean = rounded(mean / size);
    for (size_t i = 0; i < size; ++i) {
      const double difference = rounded(in[row + i] - mean);
      square += difference * difference;
    }
    double factor = rounded(1 / std::sqrt(rounded(square / size) + epsilon));
    for (size_t i = 0; i < size; ++i)
      e.out().floats[row + i] = rounded(in[row + i] - mean) * factor * scale[i];
  }
}

static LogicalResult layerNorm(Evaluation &e) {
  auto op = cast<LayerNormOp>(e.op);
  normalise(e, /*centred=*/true, op.getEpsilon().convertToDouble());
  if (!op.getBias())
    return success();
  const std::vector<double> &bias = e.in(2).floats;
  for (size_t i = 0; i < e.out().floats.size(); ++i)
    e.out().floats[i] += bias[i % bias.size()];
  return success();
}

static LogicalResult rmsNorm(Evaluation &e) {
  normalise(e, /*centred=*/false,
            cast<RmsNormOp>(e.op).getEpsilon().convertToDouble());
  return success();
}

void pcc::graph::addNormEvaluators(EvaluatorTable &table) {
  table.add<SoftmaxOp>(softmax<SoftmaxOp, false>);
  table.add<LogSoftmaxOp>(softmax<LogSoftmaxOp, true>);
  table.add<LayerNormOp>(layerNorm);
  table.add<RmsNormOp>(rmsNorm);
}
