//===- Norms.cpp - import of normalizations -------------------------------===//
//
// Layer (Ba et al. 2016), RMS (Zhang & Sennrich 2019), batch (Ioffe & Szegedy
// 2015), instance (Ulyanov et al. 2016), group (Wu & He 2018) and local
// response normalization (Krizhevsky et al. 2012).
//
//===----------------------------------------------------------------------===//

#include "passes/1-import/build/OpTable.h"
#include "status/Counted.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

#include <cmath>

using namespace mlir;
using namespace pcc::graph;

namespace pcc::onnx_import {

/// Returns the dim indices `first`, `first` + 1, …, `rank` - 1.
static SmallVector<int64_t> dimsFrom(int64_t first, int64_t rank) {
  return llvm::to_vector(llvm::seq<int64_t>(first, std::max(first, rank)));
}

/// Reshapes `value` so that it broadcasts along dim 1 of a tensor of rank
/// `rank`. `value` has one element for each index along dim 1, which are the
/// channels. Example: if `value` has the shape [3] and `rank` is 4, the result
/// has the shape [1, 3, 1, 1]. This shape broadcasts to [8, 3, 32, 32].
static Value perChannel(NodeImport &n, Value value, int64_t rank) {
  if (n.failed())
    return {};
  SmallVector<int64_t> shape(std::max<int64_t>(rank, 2), 1);
  shape[1] = llvm::product_of(shapeOf(value));
  return n.reshape(value, shape);
}

/// Converts `x` to f32 if its type has less than 32 bits, which is too
/// imprecise for mean and variance.
static Value widen(NodeImport &n, Value x) {
  if (n.failed() ||
      tensorType(x).getElementType().getIntOrFloatBitWidth() >= 32)
    return x;
  return n.cast(x, n.getBuilder().getF32Type());
}

/// Returns the attribute `epsilon`, or `otherwise` if it is absent. Records an
/// error if it is negative, infinite or NaN: 1 / √(variance + epsilon) is then
/// no number for some variances.
static double epsilonOf(NodeImport &n, double otherwise) {
  const double epsilon = n.real("epsilon", otherwise);
  if (epsilon >= 0 && std::isfinite(epsilon))
    return epsilon;
  std::string text;
  llvm::raw_string_ostream(text) << llvm::format("%g", epsilon);
  n.invalid("attribute 'epsilon' needs a finite number of at least 0, got " +
            text);
  return otherwise;
}

/// Creates 1 / √(variance + epsilon).
static Value inverseDeviation(NodeImport &n, Value variance, double epsilon) {
  Value shifted = n.add(variance, n.scalarLike(variance, epsilon));
  return n.make<ReciprocalOp>(n.make<SqrtOp>(shifted));
}

namespace {
/// Mean, variance and inverse standard deviation of x over the dims `dims`,
/// computed with at least 32 bits. `centred` is x - mean and has the shape of
/// x. In the other members, the dims in `dims` have the size 1.
struct Moments {
  Moments(NodeImport &n, Value x, ArrayRef<int64_t> dims, double epsilon) {
    Value wide = widen(n, x);
    mean = n.reduce(ReduceKind::Mean, wide, dims, /*keep=*/true);
    centred = n.sub(wide, mean);
    variance = n.reduce(ReduceKind::Mean, n.mul(centred, centred), dims,
                        /*keep=*/true);
    inverse = inverseDeviation(n, variance, epsilon);
  }
  Value mean, centred, variance, inverse;
};
} // namespace

//===----------------------------------------------------------------------===//
// Over the last dims
//===----------------------------------------------------------------------===//

/// Returns `weight`, the scale or bias of a norm, broadcast to `shape`, the
/// sizes of the normalized dims. `weight` may have extra leading dims of size
/// 1. Records an error and returns null if `weight` does not fit.
static Value fitWeight(NodeImport &n, Value weight, ArrayRef<int64_t> shape) {
  if (n.failed() || shapeOf(weight) == shape)
    return weight;
  ArrayRef<int64_t> own = shapeOf(weight);
  while (own.size() > shape.size() && own.front() == 1)
    own = own.drop_front();
  auto both = broadcastShapes(own, shape);
  if (mlir::failed(both) || ArrayRef<int64_t>(*both) != shape)
    return n.invalid("has a scale or bias that does not fit the dims it "
                     "normalises");
  return n.broadcast(n.reshape(weight, own), shape);
}

/// Creates a layer norm over dim `dim` and all later dims. `bias` may be null.
static Value layerNorm(NodeImport &n, Value x, int64_t dim, double epsilon,
                       Value scale, Value bias) {
  if (n.failed())
    return {};
  ArrayRef<int64_t> shape = shapeOf(x).drop_front(dim);
  scale = fitWeight(n, scale, shape);
  if (bias)
    bias = fitWeight(n, bias, shape);
  return n.make<LayerNormOp>(x, scale, OptionalOperand{bias},
                             static_cast<uint64_t>(dim), APFloat(epsilon));
}

/// Imports LayerNormalization. Output 1 is the mean, and output 2 is the
/// inverse standard deviation 1 / √(variance + epsilon). Extra ops compute
/// these two outputs if the model uses them.
static Value layerNormalization(NodeImport &n) {
  Value x = n.operand(0);
  int64_t rank = shapeOf(x).size(), dim = n.dim("axis", -1, rank);
  double epsilon = epsilonOf(n, 1e-5f);
  if (n.failed())
    return {};
  if (n.isOutputUsed(1) || n.isOutputUsed(2)) {
    Moments moments(n, x, dimsFrom(dim, rank), epsilon);
    n.set(1, moments.mean);
    n.set(2, moments.inverse);
  }
  return layerNorm(n, x, dim, epsilon, n.operand(1), n.operand(2));
}

/// Creates an RMS norm over dim `dim` and all later dims.
static Value rmsNorm(NodeImport &n, Value x, int64_t dim, double epsilon,
                     Value scale) {
  if (n.failed())
    return {};
  scale = fitWeight(n, scale, shapeOf(x).drop_front(dim));
  return n.make<RmsNormOp>(x, scale, static_cast<uint64_t>(dim),
                           APFloat(epsilon));
}

/// Imports RMSNormalization. Some exporters call this op
/// SimplifiedLayerNormalization.
static Value rmsNormalization(NodeImport &n) {
  Value x = n.operand(0);
  int64_t dim = n.dim("axis", -1, shapeOf(x).size());
  return rmsNorm(n, x, dim, epsilonOf(n, 1e-5f), n.operand(1));
}

/// Imports two ops of the domain com.microsoft:
/// SkipSimplifiedLayerNormalization if `rms` is true, otherwise
/// SkipLayerNormalization. Both normalize the sum of operand 0, operand 1 and
/// an optional bias along the last dim. Output 3 is this sum.
template <bool rms> static Value skipNormalization(NodeImport &n) {
  size_t biasAt = rms ? 3 : 4;
  Value sum = n.add(n.operand(0), n.operand(1));
  if (n.has(biasAt))
    sum = n.add(sum, n.operand(biasAt));
  int64_t dim = n.normalizeDim(-1, shapeOf(sum).size());
  double epsilon = epsilonOf(n, 1e-12f);
  Value result = rms ? rmsNorm(n, sum, dim, epsilon, n.operand(2))
                     : layerNorm(n, sum, dim, epsilon, n.operand(2),
                                 n.has(3) ? n.operand(3) : Value());
  n.set(0, result);
  n.set(3, sum);
  return {};
}

//===----------------------------------------------------------------------===//
// Per channel
//===----------------------------------------------------------------------===//

/// Imports BatchNormalization in training mode, where mean and variance are
/// those of the batch. Outputs 1 and 2 are the new running mean and variance.
/// The old ones are operands 3 and 4:
///
///   new = old · momentum + value of the batch · (1 - momentum)
static Value batchNormalizationOfBatch(NodeImport &n) {
  Value x = n.operand(0);
  const int64_t rank = shapeOf(x).size();
  const double momentum = n.real("momentum", 0.9f);
  if (n.failed() || rank < 2)
    return n.invalid("normalises a tensor of " + counted(rank, "dim"));
  SmallVector<int64_t> dims = dimsFrom(2, rank);
  dims.insert(dims.begin(), 0);
  Moments moments(n, x, dims, epsilonOf(n, 1e-5f));
  const auto setRunning = [&](size_t output, size_t operand, Value statistic) {
    if (n.failed() || !n.isOutputUsed(output))
      return;
    Value given = n.operand(operand);
    statistic =
        n.cast(n.reshape(statistic, shapeOf(given)), n.elementType(operand));
    n.set(output,
          n.add(n.mul(given, n.scalarLike(given, momentum)),
                n.mul(statistic, n.scalarLike(statistic, 1 - momentum))));
  };
  setRunning(1, 3, moments.mean);
  setRunning(2, 4, moments.variance);
  if (n.failed())
    return {};
  Value unit =
      n.cast(n.mul(moments.centred, moments.inverse), n.elementType(0));
  Type type = n.elementType(0);
  return n.add(n.mul(unit, n.cast(perChannel(n, n.operand(1), rank), type)),
               n.cast(perChannel(n, n.operand(2), rank), type));
}

/// Imports BatchNormalization for inference, where mean and variance are
/// operands:
///
///   factor = scale / √(variance + epsilon)
///   result = x · factor + (bias - mean · factor)
static Value batchNormalization(NodeImport &n) {
  if (n.integer("training_mode", 0))
    return batchNormalizationOfBatch(n);
  Value x = n.operand(0);
  int64_t rank = shapeOf(x).size();
  Value inverse = inverseDeviation(n, n.operand(4), epsilonOf(n, 1e-5f));
  Value factor = n.mul(
      n.operand(1), n.failed() ? Value() : n.cast(inverse, n.elementType(1)));
  Value offset = n.sub(n.operand(2), n.mul(n.operand(3), factor));
  if (n.failed())
    return {};
  Type type = n.elementType(0);
  return n.add(n.mul(x, n.cast(perChannel(n, factor, rank), type)),
               n.cast(perChannel(n, offset, rank), type));
}

/// Imports InstanceNormalization. Mean and variance are computed for each
/// sample and channel.
static Value instanceNormalization(NodeImport &n) {
  Value x = n.operand(0);
  int64_t rank = shapeOf(x).size();
  Moments moments(n, x, dimsFrom(2, rank), epsilonOf(n, 1e-5f));
  if (n.failed())
    return {};
  Value unit =
      n.cast(n.mul(moments.centred, moments.inverse), n.elementType(0));
  return n.add(n.mul(unit, perChannel(n, n.operand(1), rank)),
               perChannel(n, n.operand(2), rank));
}

/// Imports GroupNormalization. Mean and variance are computed for each sample
/// and group of channels. Scale and bias have one element per group before
/// opset 21, and one per channel since then.
static Value groupNormalization(NodeImport &n) {
  Value x = n.operand(0), scale = n.operand(1), bias = n.operand(2);
  int64_t groups = n.integer("num_groups", 0);
  if (n.failed())
    return {};
  SmallVector<int64_t> shape(shapeOf(x));
  if (groups < 1 || shape.size() < 2 || shape[1] % groups)
    return n.invalid("makes " + counted(groups, "group") + " of channels");
  SmallVector<int64_t> grouped{shape[0], groups, shape[1] / groups};
  llvm::append_range(grouped, ArrayRef(shape).drop_front(2));
  Moments moments(n, n.reshape(x, grouped), dimsFrom(2, grouped.size()),
                  epsilonOf(n, 1e-5f));
  if (n.failed())
    return {};
  Value unit =
      n.cast(n.mul(moments.centred, moments.inverse), n.elementType(0));
  if (n.opset() < 21)
    return n.reshape(n.add(n.mul(unit, perChannel(n, scale, grouped.size())),
                           perChannel(n, bias, grouped.size())),
                     shape);
  return n.add(
      n.mul(n.reshape(unit, shape), perChannel(n, scale, shape.size())),
      perChannel(n, bias, shape.size()));
}

//===----------------------------------------------------------------------===//
// Others
//===----------------------------------------------------------------------===//

/// Imports LpNormalization, which divides elements by the L1 or L2 norm along a
/// dim. Where the norm is 0, the result is 0.
static Value lpNormalization(NodeImport &n) {
  Value x = n.operand(0);
  int64_t dim = n.dim("axis", -1, shapeOf(x).size()), p = n.integer("p", 2);
  if (p != 1 && p != 2)
    return n.invalid("p is " + Twine(p) + ", not 1 or 2");
  Value norm = p == 1 ? n.make<AbsOp>(x) : n.mul(x, x);
  norm = n.reduce(ReduceKind::Sum, norm, {dim}, /*keep=*/true);
  // Select before the root, whose slope at 0 is infinite: the gradient would be
  // 0 / 0.
  Value zero = n.compare(Predicate::Equal, norm, n.scalarLike(norm, 0));
  norm = n.select(zero, n.scalarLike(norm, 1), norm);
  return n.div(x, p == 2 ? n.make<SqrtOp>(norm) : norm);
}

/// Imports MeanVarianceNormalization, which computes (x - mean) / (deviation +
/// 1e-9). The mean and the standard deviation are computed over the dims in the
/// attribute `axes`. The default is [0, 2, 3]: each channel (index along dim 1)
/// has its own mean and its own deviation.
static Value meanVarianceNormalization(NodeImport &n) {
  Value x = n.operand(0);
  SmallVector<int64_t> dims = n.normalizeDims(
      n.integerList("axes").value_or(SmallVector<int64_t>{0, 2, 3}),
      shapeOf(x).size());
  if (n.failed())
    return {};
  Value centred = n.sub(x, n.reduce(ReduceKind::Mean, x, dims, true));
  Value variance =
      n.reduce(ReduceKind::Mean, n.mul(centred, centred), dims, true);
  Value deviation = n.make<SqrtOp>(variance);
  return n.div(centred, n.add(deviation, n.scalarLike(deviation, 1e-9)));
}

/// Imports LRN (local response normalization). It divides an element x by (bias
/// + alpha / size · sum)^beta. `sum` adds the squares of `size` adjacent
/// channels around the channel of x. Missing channels count as 0.
static Value localResponseNormalization(NodeImport &n) {
  Value x = n.operand(0);
  int64_t size = n.integer("size", 0), rank = shapeOf(x).size();
  if (n.failed() || size < 1 || size > 1024 || rank < 2)
    return n.invalid("sums over " + Twine(size) + " channels");
  // If `size` is even, the window has one more channel after the channel of x
  // than before it, as ONNX requires.
  SmallVector<int64_t> low(rank, 0), high(rank, 0);
  low[1] = (size - 1) / 2;
  high[1] = size - 1 - low[1];
  Value padded = n.make<PadOp>(PadMode::Constant, n.mul(x, x),
                               n.scalarLike(x, 0), low, high);
  Value sum;
  for (int64_t i = 0; i < size; ++i) {
    Value part = n.sliceDim(padded, 1, i, shapeOf(x)[1]);
    sum = i ? n.add(sum, part) : part;
  }
  Value base = n.add(n.mul(sum, n.scalarLike(x, n.real("alpha", 1e-4f) / size)),
                     n.scalarLike(x, n.real("bias", 1)));
  return n.div(x, n.make<PowOp>(base, n.scalarLike(x, n.real("beta", 0.75))));
}

void addNormOps(OpTable &table) {
  static constexpr OpForm forms[] = {
      {"LayerNormalization", 17, 2, 3, layerNormalization},
      {"RMSNormalization", 23, 2, 2, rmsNormalization},
      {"SimplifiedLayerNormalization", 1, 2, 2, rmsNormalization},
      {"BatchNormalization", 1, 5, 5, batchNormalization},
      {"InstanceNormalization", 1, 3, 3, instanceNormalization},
      {"GroupNormalization", 18, 3, 3, groupNormalization},
      {"LpNormalization", 1, 1, 1, lpNormalization},
      {"MeanVarianceNormalization", 9, 1, 1, meanVarianceNormalization},
      {"LRN", 1, 1, 1, localResponseNormalization},
  };
  table.add("", forms);
  static constexpr OpForm microsoft[] = {
      {"SimplifiedLayerNormalization", 1, 2, 2, rmsNormalization},
      {"SkipLayerNormalization", 1, 3, 5, skipNormalization<false>},
      {"SkipSimplifiedLayerNormalization", 1, 3, 4, skipNormalization<true>},
  };
  table.add("com.microsoft", microsoft);
}

} // namespace pcc::onnx_import
