//===- Attention.cpp - sharding rules of attention and its gradients ------===//

#include "dialects/graph/rules/RuleBuilders.h"

using namespace mlir;
using namespace pcc::graph;

using Dims = ShardingRule::DimFactors;

namespace {
/// Factors (loop indices) of the sharding rules of attention and its gradients.
/// The first three operands have these dims:
///
///   query [batch, shared · own, queries, inner]
///   key   [batch, shared, keys, inner]
///   value [batch, shared, keys, outer]
///
///   shared   key heads
///   own      query heads per key head
///   queries  number of queries
///   keys     number of keys and values
///   inner    width of queries and keys
///   outer    width of values
///
/// `keys` and `inner` are of kind Whole: they must not be split.
struct AttentionFactors {
  ShardingRule rule;
  Dims batch, shared, own, queries, keys, inner, outer;

  /// Creates a rule with all factors and with the operands query, key and
  /// value.
  ///
  ///   perQuery  kind of the factors of queries and of query heads per key head
  ///   ofValues  kind of the factor of the width of values
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

  /// Returns the factors of the dim of query heads.
  Dims heads() const {
    Dims heads = shared;
    heads.append(own);
    return heads;
  }
  /// Returns the factors of a tensor with one number per query and query head.
  ShardingRule::TensorFactors rows() const { return {batch, heads(), queries}; }
  ShardingRule::TensorFactors result() const {
    return {batch, heads(), queries, outer};
  }

  /// Adds `mask`, an operand that broadcasts to [batch, query heads, queries,
  /// keys], unless it is null.
  void addMask(Value mask) {
    if (!mask)
      return;
    auto shape = tensorType(mask).getShape();
    // Give the last dim of the mask (one entry per key) its own Whole factor
    // (not to be split). Ring attention (Liu et al. 2023) may split the factor
    // `keys`, but each rank needs the mask entries of all keys.
    Dims columns = factor(shape.empty() ? 1 : shape.back(), FactorKind::Whole);
    ShardingRule::TensorFactors all{batch, heads(), queries, columns},
        dims(shape.size());
    for (size_t i = 0; i < shape.size(); ++i)
      if (shape[i] > 1)
        dims[i] = all[4 - shape.size() + i];
    rule.operands.push_back(dims);
  }

private:
  /// Adds a factor of `size` to the rule and returns a list with its id. For
  /// size 1, adds no factor and returns an empty list.
  Dims factor(int64_t size, FactorKind kind = FactorKind::Parallel) {
    return size > 1 ? Dims{rule.add(size, kind)} : Dims{};
  }
};
} // namespace

/// Makes all factors Parallel (split without communication), except the keys
/// and the width of queries and keys. The value operand may be a partial sum.
ShardingRule AttentionOp::getShardingRule() {
  AttentionFactors all(cast<AttentionOpInterface>(getOperation()),
                       FactorKind::Parallel, FactorKind::Parallel);
  all.addMask(getMask());
  all.rule.results = {all.result()};
  all.rule.partialThrough = {2};
  return all.rule;
}

/// Makes batch, heads and queries Parallel factors (split without
/// communication). The width of the values is Whole (not to be split), because
/// the op sums over it.
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

/// Makes two dims Sum factors (split into partial sums): the queries, and the
/// query heads per key head. The gradients of keys and values are sums over all
/// queries, and over all query heads of a key head.
ShardingRule AttentionKeyGradientOp::getShardingRule() {
  AttentionFactors all(cast<AttentionOpInterface>(getOperation()),
                       FactorKind::Sum, FactorKind::Whole);
  all.rule.operands.append({all.result(), all.rows(), all.rows(), all.rows()});
  all.addMask(getMask());
  all.rule.results = {{all.batch, all.shared, all.keys, all.inner},
                      {all.batch, all.shared, all.keys, all.outer}};
  return all.rule;
}
