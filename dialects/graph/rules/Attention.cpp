//===- Attention.cpp - sharding rules of attention and its gradients ------===//

#include "dialects/graph/rules/RuleBuilders.h"

using namespace mlir;
using namespace pcc::graph;

using Dims = ShardingRule::DimFactors;

namespace {
/// Factors of the sharding rules of attention and its gradients. A factor is a
/// loop index that a sharding may split over ranks. The dims of the first three
/// operands consist of these factors:
///
///   query [batch, shared own, queries, inner]
///   key   [batch, shared, keys, inner]
///   value [batch, shared, keys, outer]
///
///   shared  key heads
///   own     query heads per key head
///   inner   width of queries and keys
///   outer   width of values
///
/// `keys` and `inner` are of kind Whole: they must not be split. If the
/// attention is causal and `queries` is split, each rank needs the index of its
/// first query.
struct AttentionFactors {
  ShardingRule rule;
  Dims batch, shared, own, queries, keys, inner, outer;

  /// Adds the factors to the rule, and the dims of query, key and value.
  /// `perQuery` is the kind of the factors `own` (query heads per key head) and
  /// `queries`. `ofValues` is the kind of `outer` (the width of the values).
  AttentionFactors(AttentionOpInterface op, FactorKind perQuery,
                   FactorKind ofValues) {
    auto query = tensorType(op.getQuery()).getShape(),
         key = tensorType(op.getKey()).getShape(),
         value = tensorType(op.getValue()).getShape();
    batch = factor(query[0]);
    shared = factor(key[1]);
    own = factor(query[1] / key[1], perQuery);
    queries = factor(query[2], perQuery);
    for (int id : queries)
      rule.factors[id].needsOffset = op.getCausal();
    keys = factor(key[2], FactorKind::Whole);
    inner = factor(query[3], FactorKind::Whole);
    outer = factor(value[3], ofValues);
    rule.operands = {{batch, heads(), queries, inner},
                     {batch, shared, keys, inner},
                     {batch, shared, keys, outer}};
  }

  /// Returns the factors of the dim of query heads: `shared` (key heads) and
  /// `own` (query heads per key head).
  Dims heads() const {
    Dims heads = shared;
    heads.append(own);
    return heads;
  }
  /// Returns the factors of a tensor of softmax statistics, which has one
  /// number per query and query head.
  ShardingRule::TensorFactors rows() const { return {batch, heads(), queries}; }
  ShardingRule::TensorFactors result() const {
    return {batch, heads(), queries, outer};
  }

  /// Adds the operand `mask` at the end of the rule's operands. `mask`
  /// broadcasts to [batch, query heads, queries, keys]. Adds nothing if `mask`
  /// is null.
  void addMask(Value mask) {
    if (!mask)
      return;
    auto shape = tensorType(mask).getShape();
    // Each rank needs whole rows of the mask. The last dim of the mask
    // therefore gets a Whole factor (not to be split). It does not share the
    // factor of the keys, because ring attention (Liu et al. 2023) splits that
    // factor.
    Dims columns = factor(shape.empty() ? 1 : shape.back(), FactorKind::Whole);
    ShardingRule::TensorFactors all{batch, heads(), queries, columns},
        dims(shape.size());
    for (size_t i = 0; i < shape.size(); ++i)
      if (shape[i] > 1)
        dims[i] = all[4 - shape.size() + i];
    rule.operands.push_back(dims);
  }

private:
  /// Adds a factor of `size` to the rule and returns a list with its id. If
  /// `size` is 1, adds no factor and returns an empty list.
  Dims factor(int64_t size, FactorKind kind = FactorKind::Parallel) {
    return size > 1 ? Dims{rule.add(size, kind)} : Dims{};
  }
};
} // namespace

/// Makes all factors Parallel (ranks can split them without communication),
/// except the keys and the width of queries and keys. Attention is linear in
/// the values, so partial sums of the value operand may pass through the op.
ShardingRule AttentionOp::getShardingRule() {
  AttentionFactors all(cast<AttentionOpInterface>(getOperation()),
                       FactorKind::Parallel, FactorKind::Parallel);
  all.addMask(getMask());
  all.rule.results = {all.result()};
  all.rule.partialThrough = {2};
  return all.rule;
}

/// Makes batch, heads and queries Parallel factors (split without
/// communication). Makes the width of the values a Whole factor (not to be
/// split), because the gradient of the probabilities is a sum over that width.
ShardingRule AttentionQueryGradientOp::getShardingRule() {
  AttentionFactors all(cast<AttentionOpInterface>(getOperation()),
                       FactorKind::Parallel, FactorKind::Whole);
  all.rule.operands.push_back(all.result());
  all.addMask(getMask());
  all.rule.results = {{all.batch, all.heads(), all.queries, all.inner},
                      all.rows(),
                      all.rows(),
                      all.rows()};
  return all.rule;
}

/// Makes the queries, and the query heads per key head, Sum factors. The
/// gradients of keys and values are sums over both factors. If one of these
/// factors is split, each rank computes partial sums.
ShardingRule AttentionKeyGradientOp::getShardingRule() {
  AttentionFactors all(cast<AttentionOpInterface>(getOperation()),
                       FactorKind::Sum, FactorKind::Whole);
  all.rule.operands.append({all.result(), all.rows(), all.rows(), all.rows()});
  all.addMask(getMask());
  all.rule.results = {{all.batch, all.shared, all.keys, all.inner},
                      {all.batch, all.shared, all.keys, all.outer}};
  return all.rule;
}
