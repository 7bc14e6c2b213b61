//===- Attention.cpp - the meaning of attention ---------------------------===//

#include "dialects/graph/reference/Arithmetic.h"
#include "dialects/graph/reference/EvaluatorTable.h"
#include "dialects/graph/reference/Gemm.h"
#include "dialects/graph/reference/Strides.h"

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

/// The scores of one query head, row by row.
class ScoredHead {
public:
  /// The mask is the last operand.
  ScoredHead(AttentionOpInterface op, ArrayRef<const HostTensor *> operands,
             int64_t pair)
      : scale(op.getScale().convertToDouble()),
        cap(op.getSoftcap().convertToDouble()), isCausal(op.getCausal()),
        query(*operands[0]), key(*operands[1]), value(*operands[2]),
        hides(op.getMask() ? operands.back() : nullptr), numKeys(key.shape[2]),
        depth(query.shape[3]), width(value.shape[3]),
        batch(pair / query.shape[1]), head(pair % query.shape[1]),
        firstRow(pair * query.shape[2]),
        keyHead(batch * key.shape[1] + head / (query.shape[1] / key.shape[1])) {
    if (hides)
      strides = broadcastStrides(hides->shape, {query.shape[0], query.shape[1],
                                                query.shape[2], numKeys});
  }

  int64_t numQueries() const { return query.shape[2]; }
  const double *queryRow(int64_t s) const {
    return query.floats.data() + (firstRow + s) * depth;
  }
  const double *keyRow(int64_t t) const {
    return key.floats.data() + (keyHead * numKeys + t) * depth;
  }
  const double *valueRow(int64_t t) const {
    return value.floats.data() + (keyHead * numKeys + t) * width;
  }

  /// Of queries and keys: a row per query.
  std::vector<double> products() const {
    std::vector<double> all(numQueries() * numKeys);
    gemm(numQueries(), numKeys, depth, {queryRow(0), depth, 1},
         {keyRow(0), 1, depth}, all.data(), numKeys);
    return all;
  }

  /// A row of products becomes the masked scores of query `s`; `slopes`, if it
  /// is there, what they grow by with the products.
  void mask(int64_t s, double *row, double *slopes = nullptr) const {
    const MaskRow own{hides,
                      batch * strides[0] + head * strides[1] + s * strides[2],
                      strides[3]};
    const int64_t lastKey = s + numKeys - numQueries();
    for (int64_t t = 0; t < numKeys; ++t) {
      double score = scale * row[t], slope = scale;
      if (cap > 0) {
        const double inner = std::tanh(score / cap);
        score = cap * inner;
        slope *= 1 - inner * inner;
      }
      row[t] = isCausal && t > lastKey ? -HUGE_VAL : own.apply(score, t);
      if (slopes)
        slopes[t] = slope;
    }
  }

  static double dot(const double *a, const double *b, int64_t count) {
    double sum = 0;
    for (int64_t i = 0; i < count; ++i)
      sum += a[i] * b[i];
    return sum;
  }

private:
  const double scale, cap;
  const bool isCausal;
  const HostTensor &query, &key, &value;
  const HostTensor *hides;

public:
  const int64_t numKeys, depth, width, batch, head, firstRow, keyHead;

private:
  Strides strides = Strides(4, 0);
};

/// Of a row of scores: weights are exp(score − top) · share.
struct RowNumbers {
  double top = -HUGE_VAL, share = 0;

  /// A row without any visible key has a share of 0.
  static RowNumbers of(const double *row, int64_t count) {
    RowNumbers numbers;
    for (int64_t t = 0; t < count; ++t)
      numbers.top = larger(numbers.top, row[t]);
    if (numbers.top == -HUGE_VAL)
      return numbers;
    double sum = 0;
    for (int64_t t = 0; t < count; ++t)
      sum += std::exp(row[t] - numbers.top);
    numbers.share = 1 / sum;
    return numbers;
  }

  /// Scores become weights of sum 1; without any visible key they are zeros.
  void weigh(double *row, int64_t count) const {
    for (int64_t t = 0; t < count; ++t)
      row[t] = top == -HUGE_VAL ? 0 : std::exp(row[t] - top) * share;
  }
};
} // namespace

static void addTo(double *sum, double factor, const double *row,
                  int64_t count) {
  for (int64_t i = 0; i < count; ++i)
    sum[i] += factor * row[i];
}

static int64_t numHeads(Evaluation &e) {
  return e.in(0).shape[0] * e.in(0).shape[1];
}

static LogicalResult attention(Evaluation &e) {
  auto op = cast<AttentionOpInterface>(e.op);
  for (int64_t pair = 0; pair < numHeads(e); ++pair) {
    const ScoredHead own(op, e.operands, pair);
    std::vector<double> weights = own.products();
    for (int64_t s = 0; s < own.numQueries(); ++s) {
      double *row = weights.data() + s * own.numKeys;
      own.mask(s, row);
      RowNumbers::of(row, own.numKeys).weigh(row, own.numKeys);
    }
    gemm(own.numQueries(), own.width, own.numKeys,
         MatrixView<double>{weights.data(), own.numKeys, 1},
         {own.valueRow(0), own.width, 1},
         e.out().floats.data() + own.firstRow * own.width, own.width);
  }
  return success();
}

/// With `products` dP: their mean by weights, and what is left of them times
/// weights and slopes.
static double centre(ArrayRef<double> weights, ArrayRef<double> slopes,
                     std::optional<double> known,
                     std::vector<double> &products) {
  double mean = known.value_or(0);
  if (!known)
    for (auto [weight, product] : llvm::zip_equal(weights, products))
      mean += weight * product;
  for (auto [weight, slope, product] :
       llvm::zip_equal(weights, slopes, products))
    product = weight * (product - mean) * slope;
  return mean;
}

namespace {
/// What a gradient makes of one query row.
struct GradientRow {
  const ScoredHead &head;
  int64_t query, row; ///< in its head, and in all
  const double *gradient;
  MutableArrayRef<double> scores;
  ArrayRef<double> slopes;
  std::vector<double> &products; ///< dP
};
} // namespace

/// The gradient of the result is operand 3.
static LogicalResult
forEachRow(Evaluation &e, llvm::function_ref<void(const GradientRow &)> body) {
  auto op = cast<AttentionOpInterface>(e.op);
  for (int64_t pair = 0; pair < numHeads(e); ++pair) {
    const ScoredHead own(op, e.operands, pair);
    std::vector<double> scores = own.products(), slopes(own.numKeys),
                        products(own.numKeys);
    for (int64_t s = 0; s < own.numQueries(); ++s) {
      const int64_t row = own.firstRow + s;
      const double *gradient = e.in(3).floats.data() + row * own.width;
      double *first = scores.data() + s * own.numKeys;
      own.mask(s, first, slopes.data());
      for (int64_t t = 0; t < own.numKeys; ++t)
        products[t] = ScoredHead::dot(gradient, own.valueRow(t), own.width);
      body({own, s, row, gradient, MutableArrayRef(first, own.numKeys), slopes,
            products});
    }
  }
  return success();
}

static LogicalResult queryGradient(Evaluation &e) {
  return forEachRow(e, [&](const GradientRow &at) {
    const auto numbers = RowNumbers::of(at.scores.data(), at.head.numKeys);
    numbers.weigh(at.scores.data(), at.head.numKeys);
    e.out(1).floats[at.row] = numbers.top;
    e.out(2).floats[at.row] = numbers.share;
    e.out(3).floats[at.row] =
        centre(at.scores, at.slopes, std::nullopt, at.products);
    for (int64_t t = 0; t < at.head.numKeys; ++t)
      addTo(e.out().floats.data() + at.row * at.head.depth, at.products[t],
            at.head.keyRow(t), at.head.depth);
  });
}

static LogicalResult keyGradient(Evaluation &e) {
  return forEachRow(e, [&](const GradientRow &at) {
    const ScoredHead &head = at.head;
    const RowNumbers numbers{e.in(4).floats[at.row], e.in(5).floats[at.row]};
    numbers.weigh(at.scores.data(), head.numKeys);
    centre(at.scores, at.slopes, e.in(6).floats[at.row], at.products);
    for (int64_t t = 0; t < head.numKeys; ++t) {
      const int64_t place = head.keyHead * head.numKeys + t;
      addTo(e.out(0).floats.data() + place * head.depth, at.products[t],
            head.queryRow(at.query), head.depth);
      addTo(e.out(1).floats.data() + place * head.width, at.scores[t],
            at.gradient, head.width);
    }
  });
}

void pcc::graph::addAttentionEvaluators(EvaluatorTable &table) {
  table.add<AttentionOp>(attention);
  table.add<AttentionQueryGradientOp>(queryGradient);
  table.add<AttentionKeyGradientOp>(keyGradient);
}
