//===- Attention.cpp - evaluators of attention and its gradients ----------===//

#include "dialects/graph/reference/Arithmetic.h"
#include "dialects/graph/reference/EvaluatorTable.h"
#include "dialects/graph/reference/Gemm.h"
#include "dialects/graph/reference/Strides.h"

using namespace mlir;
using namespace pcc::graph;

namespace {
/// The attention mask of one query, with one element per key.
struct MaskRow {
  /// The mask operand; null if attention has no mask.
  const HostTensor *mask;
  /// Numbers that locate the mask elements of one query in `mask`, which is
  /// row-major. The element for key t has the index `offset` + t · `step`. If
  /// one element is broadcast to all keys, `step` is 0.
  int64_t offset, step;

  /// Returns `score`, the attention score of key `t`, after masking. A float
  /// mask is added to the score. A boolean mask replaces the score by -infinity
  /// where the mask is false.
  double apply(double score, int64_t t) const {
    if (!mask)
      return score;
    int64_t place = offset + t * step;
    if (mask->kind == ElementKind::Float)
      return score + mask->floats[place];
    return mask->ints[place] ? score : -HUGE_VAL;
  }
};

/// Computes the attention scores of one query head of one batch element.
class ScoredHead {
public:
  /// Selects query head h of batch element b. `pair` is b · H + h, where H is
  /// the number of query heads. `operands` begins with the query, the key and
  /// the value. The mask is the last operand, if `op` has one.
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

  /// Returns the number of queries, S.
  int64_t numQueries() const { return query.shape[2]; }
  /// Returns a pointer to the first element of query vector `s` of this head.
  /// The vector has `depth` elements.
  const double *queryRow(int64_t s) const {
    return query.floats.data() + (firstRow + s) * depth;
  }
  /// Returns a pointer to the first element of key vector `t` of this head. The
  /// vector has `depth` elements.
  const double *keyRow(int64_t t) const {
    return key.floats.data() + (keyHead * numKeys + t) * depth;
  }
  /// Returns a pointer to the first element of value vector `t` of this head.
  /// The vector has `width` elements.
  const double *valueRow(int64_t t) const {
    return value.floats.data() + (keyHead * numKeys + t) * width;
  }

  /// Returns the matrix product q kᵀ of this head, row-major, with one row per
  /// query and one column per key.
  std::vector<double> products() const {
    std::vector<double> all(numQueries() * numKeys);
    gemm(numQueries(), numKeys, depth, {queryRow(0), depth, 1},
         {keyRow(0), 1, depth}, all.data(), numKeys);
    return all;
  }

  /// Turns `row`, the products of query `s` with all keys, into attention
  /// scores: scales, soft-caps and masks each element. If `slopes` is not null,
  /// it receives the derivative of each score with respect to its product.
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

/// Two numbers, `top` and `share`, that turn the attention scores of one query
/// into softmax weights. The weight of a score is
///
///   exp(score − top) · share
struct RowNumbers {
  /// A query has one attention score per key. `top` is the largest score of the
  /// query. `share` is 1 / Σ exp(score − top). The sum has one term per key. If
  /// the query sees no key, `top` is -infinity and `share` is 0.
  double top = -HUGE_VAL, share = 0;

  /// Computes the two softmax numbers of the `count` attention scores in `row`:
  /// `top`, the largest score, and `share`, 1 / Σ exp(score − top). If the mask
  /// hides all keys, `top` is -infinity and `share` is 0.
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

  /// Replaces `count` scores in `row` by their softmax weights. The weights sum
  /// to 1, or are 0 if the mask hides all keys.
  void weigh(double *row, int64_t count) const {
    for (int64_t t = 0; t < count; ++t)
      row[t] = top == -HUGE_VAL ? 0 : std::exp(row[t] - top) * share;
  }
};
} // namespace

/// Adds `factor` · `row` to `sum`, element by element. Both have `count`
/// elements.
static void addTo(double *sum, double factor, const double *row,
                  int64_t count) {
  for (int64_t i = 0; i < count; ++i)
    sum[i] += factor * row[i];
}

/// Returns the batch size times the number of query heads of one batch element.
/// The product is the number of query heads of all batch elements. `e`
/// evaluates attention or a gradient of attention. Operand 0 is the query. Dim
/// 0 of the query is the batch, and dim 1 is the query heads.
static int64_t numHeads(Evaluation &e) {
  return e.in(0).shape[0] * e.in(0).shape[1];
}

/// Evaluates attention, one query head of one batch element at a time.
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

/// Turns `products`, the gradient of the softmax weights of one query, into the
/// gradient of its row of q kᵀ. `slopes` are the derivatives of the scores with
/// respect to this row. If `known` is set, it replaces the mean Σ weight ·
/// product. Returns the mean.
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
/// Numbers from which a gradient of attention is computed for one query of one
/// head. `scores`, `slopes` and `products` have one element per key.
struct GradientRow {
  const ScoredHead &head;
  int64_t query, row; ///< index in the head, and among the rows of all heads
  const double *gradient;         ///< row of the result's gradient dy
  MutableArrayRef<double> scores; ///< masked scores
  ArrayRef<double> slopes;        ///< derivatives of scores by products
  std::vector<double> &products;  ///< dP = dy valueᵀ
};
} // namespace

/// Calls `body` once for each query of each query head of each batch element.
/// `e` holds an attention_query_gradient or attention_key_gradient. In both
/// ops, operand 3 is the gradient of the attention result. `body` may overwrite
/// `scores` and `products` of its GradientRow. The GradientRow is valid only
/// during the call.
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

/// Evaluates attention_query_gradient. Result 0 is the gradient of the query.
/// Results 1, 2 and 3 have one number per query: the largest score, 1 / Σ
/// exp(score − largest score), and the mean that centre() returns. Operand 3 is
/// the gradient of the attention result.
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

/// Evaluates attention_key_gradient. Results 0 and 1 are the gradients of the
/// keys and values, summed over all query heads that share a key head. Operands
/// 4, 5 and 6 are the results 1, 2 and 3 of attention_query_gradient.
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
