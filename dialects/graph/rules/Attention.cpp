//===- Attention.cpp - sharding rules of attention and its gradients ------===//

#include "dialects/graph/rules/RuleBuilders.h"

using namespace mlir;
using namespace pcc::graph;

using Dims = ShardingRule::DimFactors;

namespace {
/// Sharding rule of attention or one of its gradients, with its loop indices.
/// `shared` runs over the key heads, `own` over the query heads of one key
/// head. The query is [batch, shared · own, queries, inner], the key [batch,
/// shared, keys, inner], the value [batch, shared, keys, outer]. A loop of one
/// iteration has an empty member. Only ring attention splits `keys`.
struct AttentionFactors {
  ShardingRule rule;
  Dims batch, shared, own, queries, keys, inner, outer;

  /// Creates the sharding rule of `op` with the operands query, key and value.
  /// `perQuery` says how ranks can split the loops over the queries and over
  /// the query heads of one key head. `ofValues` says how they can split the
  /// last dim of the value operand.
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

  /// Returns the factors (loop indices) of the dim of query heads. One factor
  /// runs over the key heads. The other factor runs over the query heads of one
  /// key head. With 8 query heads and 2 key heads, the factors have the sizes 2
  /// and 4. A factor of size 1 is left out.
  Dims heads() const {
    Dims heads = shared;
    heads.append(own);
    return heads;
  }
  /// Returns the factors (loop indices of the op) of each dim of a tensor
  /// [batch, query heads, queries]. An example is the tensor that holds the
  /// largest score of each query.
  ShardingRule::TensorFactors rows() const { return {batch, heads(), queries}; }
  ShardingRule::TensorFactors result() const {
    return {batch, heads(), queries, outer};
  }

  /// Adds the operand `mask` to the sharding rule, with the factors (loop
  /// indices) of each dim of the mask. The mask broadcasts to [batch, query
  /// heads, queries, keys]. A mask dim of size 1 gets no factor. Does nothing
  /// if `mask` is null.
  void addMask(Value mask) {
    if (!mask)
      return;
    auto shape = tensorType(mask).getShape();
    // Give the last dim of the mask, which runs over the keys, its own factor
    // (loop index) of kind Whole: ranks must not split it. Ring attention (Liu
    // et al. 2023) may split the factor `keys`. The keys then move from rank to
    // rank, so each rank needs the mask elements of all keys.
    Dims columns = factor(shape.empty() ? 1 : shape.back(), FactorKind::Whole);
    ShardingRule::TensorFactors all{batch, heads(), queries, columns},
        dims(shape.size());
    for (size_t i = 0; i < shape.size(); ++i)
      if (shape[i] > 1)
        dims[i] = all[4 - shape.size() + i];
    rule.operands.push_back(dims);
  }

private:
  /// Adds a factor (loop index of the op) to the sharding rule. `size` is the
  /// number of iterations of the loop. `kind` says how ranks can split the
  /// loop. Returns a list with the id of the new factor. If `size` is 1 or 0,
  /// adds no factor and returns an empty list.
  Dims factor(int64_t size, FactorKind kind = FactorKind::Parallel) {
    return size > 1 ? Dims{rule.add(size, kind)} : Dims{};
  }
};
} // namespace

/// Returns the sharding rule of attention. Ranks can split batch, heads,
/// queries and the elements of a value without communication. Only ring
/// attention (Liu et al. 2023) splits the keys. The value operand may be a
/// partial sum (one summand per rank).
ShardingRule AttentionOp::getShardingRule() {
  AttentionFactors all(cast<AttentionOpInterface>(getOperation()),
                       FactorKind::Parallel, FactorKind::Parallel);
  all.addMask(getMask());
  all.rule.results = {all.result()};
  all.rule.partialThrough = {2};
  return all.rule;
}

/// Returns the sharding rule of attention_query_gradient. Ranks can split
/// batch, heads and queries without communication. The elements of a value are
/// Whole (not to be split), because the op sums over them.
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

/// Returns the sharding rule of attention_key_gradient. Ranks can split batch
/// and key heads without communication. If ranks split the queries or the query
/// heads of one key head, each rank computes one summand of each gradient.
ShardingRule AttentionKeyGradientOp::getShardingRule() {
  AttentionFactors all(cast<AttentionOpInterface>(getOperation()),
                       FactorKind::Sum, FactorKind::Whole);
  all.rule.operands.append({all.result(), all.rows(), all.rows(), all.rows()});
  all.addMask(getMask());
  all.rule.results = {{all.batch, all.shared, all.keys, all.inner},
                      {all.batch, all.shared, all.keys, all.outer}};
  return all.rule;
}
