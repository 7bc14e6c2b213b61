//===- Attention.cpp - the meaning of attention ---------------------------===//

#include "dialects/graph/meaning/Arithmetic.h"
#include "dialects/graph/meaning/Gemm.h"
#include "dialects/graph/meaning/MeaningTable.h"
#include "dialects/graph/meaning/Strides.h"

using namespace mlir;
using namespace pcc::graph;

namespace {
/// The mask of one query row: element t of the keys.
struct MaskRow {
  const HostTensor *mask;
  int64_t offset, step;

  double apply(double score, int64_t t) const {
    if (!mask)
      return score;
    int64_t place = offset + t * step;
    if (mask->kind == ElementKind::Float)
      return score + mask->floats[place];
    return mask->ints[place] ? score : -HUGE_VAL;
  }
};
} // namespace

/// Turns a row of scores into weights that sum to 1; without any visible key
/// they are zeros.
static void softmaxRow(double *row, int64_t count) {
  double top = -HUGE_VAL, sum = 0;
  for (int64_t t = 0; t < count; ++t)
    top = larger(top, row[t]);
  for (int64_t t = 0; t < count; ++t)
    sum += row[t] = top == -HUGE_VAL ? 0 : std::exp(row[t] - top);
  for (int64_t t = 0; t < count; ++t)
    row[t] = sum == 0 ? 0 : row[t] / sum;
}

/// Scales, caps and masks one row of scores.
static void maskRow(AttentionOp op, double *row, int64_t numKeys,
                    int64_t lastKey, MaskRow mask) {
  double scale = op.getScale().convertToDouble(),
         cap = op.getSoftcap().convertToDouble();
  for (int64_t t = 0; t < numKeys; ++t) {
    double score = row[t] * scale;
    if (cap > 0)
      score = cap * std::tanh(score / cap);
    row[t] = op.getCausal() && t > lastKey ? -HUGE_VAL : mask.apply(score, t);
  }
}

static LogicalResult attention(Evaluation &e) {
  auto op = cast<AttentionOp>(e.op);
  const HostTensor &query = e.in(0), &key = e.in(1), &value = e.in(2);
  const HostTensor *mask = op.getMask() ? &e.in(3) : nullptr;
  int64_t numHeads = query.shape[1], numKeyHeads = key.shape[1],
          queries = query.shape[2], keys = key.shape[2], depth = query.shape[3],
          width = value.shape[3];
  Strides strides(4, 0);
  if (mask)
    strides = broadcastStrides(mask->shape,
                               {query.shape[0], numHeads, queries, keys});
  std::vector<double> scores(queries * keys);
  for (int64_t pair = 0; pair < query.shape[0] * numHeads; ++pair) {
    int64_t batch = pair / numHeads, head = pair % numHeads;
    int64_t keyHead = batch * numKeyHeads + head / (numHeads / numKeyHeads);
    llvm::fill(scores, 0);
    gemm(queries, keys, depth,
         {query.floats.data() + pair * queries * depth, depth, 1},
         {key.floats.data() + keyHead * keys * depth, 1, depth}, scores.data(),
         keys);
    for (int64_t s = 0; s < queries; ++s) {
      int64_t offset = batch * strides[0] + head * strides[1] + s * strides[2];
      double *row = scores.data() + s * keys;
      maskRow(op, row, keys, s + keys - queries, {mask, offset, strides[3]});
      softmaxRow(row, keys);
    }
    gemm(queries, width, keys, MatrixView<double>{scores.data(), keys, 1},
         {value.floats.data() + keyHead * keys * width, width, 1},
         e.out().floats.data() + pair * queries * width, width);
  }
  return success();
}

void pcc::graph::addAttentionMeanings(MeaningTable &table) {
  table.add<AttentionOp>(attention);
}
