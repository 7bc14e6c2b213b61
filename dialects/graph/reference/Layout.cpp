//===- Layout.cpp - evaluators of ops that move elements ------------------===//

#include "dialects/graph/ops/Padding.h"
#include "dialects/graph/reference/EvaluatorTable.h"
#include "dialects/graph/reference/Strides.h"

using namespace mlir;
using namespace pcc::graph;

/// Evaluates an op that copies operand elements at constant strides. Result
/// element (i, j, …) is the element of operand 0 with the row-major index
///   offset + i · strides[0] + j · strides[1] + …
static LogicalResult readStrided(Evaluation &e, int64_t offset,
                                 Strides strides) {
  HostTensor &out = e.out();
  if (out.numElements() == 0)
    return success();
  withStorage(out.kind, [&](auto zero) {
    using T = decltype(zero);
    copyStrided(out.shape, out.data<T>(), rowMajor(out.shape),
                e.in(0).data<T>() + offset, std::move(strides));
  });
  return success();
}

static LogicalResult transpose(Evaluation &e) {
  Strides own = rowMajor(e.in(0).shape), strides;
  for (int64_t dim : cast<TransposeOp>(e.op).getPerm())
    strides.push_back(own[dim]);
  return readStrided(e, 0, std::move(strides));
}

static LogicalResult reshape(Evaluation &e) {
  e.out().floats = e.in(0).floats;
  e.out().ints = e.in(0).ints;
  return success();
}

static LogicalResult broadcast(Evaluation &e) {
  return readStrided(e, 0, broadcastStrides(e.in(0).shape, e.out().shape));
}

static LogicalResult slice(Evaluation &e) {
  auto op = cast<SliceOp>(e.op);
  Strides strides = rowMajor(e.in(0).shape);
  int64_t offset = 0;
  for (size_t i = 0; i < strides.size(); ++i) {
    offset += op.getStarts()[i] * strides[i];
    strides[i] *= op.getSteps()[i];
  }
  return readStrided(e, offset, std::move(strides));
}

/// Evaluates concat: copies each operand to its range of the concatenated dim.
static LogicalResult concat(Evaluation &e) {
  HostTensor &out = e.out();
  Strides strides = rowMajor(out.shape);
  int64_t dim = cast<ConcatOp>(e.op).getDim(), offset = 0;
  for (const HostTensor *part : e.operands) {
    if (part->numElements() == 0)
      continue;
    withStorage(out.kind, [&](auto zero) {
      using T = decltype(zero);
      copyStrided(part->shape, out.data<T>() + offset, strides, part->data<T>(),
                  rowMajor(part->shape));
    });
    offset += part->shape[dim] * strides[dim];
  }
  return success();
}

//===----------------------------------------------------------------------===//
// pad
//===----------------------------------------------------------------------===//

/// Returns one vector per dim of a pad: for each index of `out`, the index of
/// `in` from which the pad copies, or -1 for the fill value. For 2 elements in
/// front of a dim of 3, mode constant gives (-1 -1 0 1 2) and mode edge gives
/// (0 0 0 1 2).
static SmallVector<std::vector<int64_t>>
paddedIndices(PadOp op, const HostTensor &in, const HostTensor &out) {
  SmallVector<std::vector<int64_t>> sources(out.shape.size());
  for (auto [dim, source] : llvm::enumerate(sources))
    for (int64_t i = 0; i < out.shape[dim]; ++i)
      source.push_back(
          paddedIndex(op.getMode(), i - op.getLow()[dim], in.shape[dim]));
  return sources;
}

/// Evaluates pad. A negative number of added elements removes elements. If
/// operand 0 is empty, the modes edge, reflect and wrap add zeros.
static LogicalResult pad(Evaluation &e) {
  auto op = cast<PadOp>(e.op);
  const HostTensor &in = e.in(0);
  HostTensor &out = e.out();
  auto sources = paddedIndices(op, in, out);
  Strides strides = rowMajor(in.shape);
  withStorage(out.kind, [&](auto zero) {
    using T = decltype(zero);
    T fill = op.getValue() ? e.in(1).data<T>()[0] : T();
    SmallVector<int64_t> index(out.shape.size(), 0);
    for (int64_t i = 0, count = out.numElements(); i < count; ++i) {
      int64_t offset = 0;
      bool inside = true;
      for (size_t dim = 0; dim < index.size(); ++dim) {
        inside &= sources[dim][index[dim]] >= 0;
        offset += sources[dim][index[dim]] * strides[dim];
      }
      out.data<T>()[i] = inside ? in.data<T>()[offset] : fill;
      for (size_t dim = index.size(); dim-- > 0;) {
        if (++index[dim] < out.shape[dim])
          break;
        index[dim] = 0;
      }
    }
  });
  return success();
}

//===----------------------------------------------------------------------===//
// rotary
//===----------------------------------------------------------------------===//

/// Returns `in` with each pair (p, q) along the last dim replaced by (−q, p).
/// If the dim has 8 elements, the pairs are:
///
///   interleaved      elements 0 and 1, 2 and 3, 4 and 5, 6 and 7
///   not interleaved  elements 0 and 4, 1 and 5, 2 and 6, 3 and 7
static std::vector<double> rotated(const HostTensor &in, bool interleaved) {
  int64_t size = in.shape.back(), half = size / 2;
  std::vector<double> result(in.floats.size());
  for (int64_t row = 0; row < in.numElements(); row += size)
    for (int64_t i = 0; i < half; ++i) {
      int64_t first = row + (interleaved ? 2 * i : i),
              second = row + (interleaved ? 2 * i + 1 : i + half);
      result[first] = -in.floats[second];
      result[second] = in.floats[first];
    }
  return result;
}

/// Evaluates rotary, a rotary position embedding: x · cos + rotated(x) · sin.
/// The products are element-wise, and cos and sin are broadcast to the shape of
/// x.
static LogicalResult rotary(Evaluation &e) {
  const HostTensor &in = e.in(0), &cos = e.in(1), &sin = e.in(2);
  HostTensor &out = e.out();
  std::vector<double> turned =
      rotated(in, cast<RotaryOp>(e.op).getInterleaved());
  forEachRow<3>(out.shape,
                {rowMajor(out.shape), broadcastStrides(cos.shape, out.shape),
                 broadcastStrides(sin.shape, out.shape)},
                [&](auto at, int64_t count, auto step) {
                  for (int64_t i = 0; i < count; ++i)
                    out.floats[at[0] + i] =
                        in.floats[at[0] + i] * cos.floats[at[1] + i * step[1]] +
                        turned[at[0] + i] * sin.floats[at[2] + i * step[2]];
                });
  return success();
}

void pcc::graph::addLayoutEvaluators(EvaluatorTable &table) {
  table.add<TransposeOp>(transpose);
  table.add<ReshapeOp>(reshape);
  table.add<BroadcastOp>(broadcast);
  table.add<SliceOp>(slice);
  table.add<ConcatOp>(concat);
  table.add<PadOp>(pad);
  table.add<RotaryOp>(rotary);
}
