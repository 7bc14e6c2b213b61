//===- Attention.cpp - sharding rules of attention and its gradients ------===//

#include "dialects/graph/rules/RuleBuilders.h"

using namespace mlir;
using namespace pcc::graph;

using Dims = ShardingRule::DimFactors;

namespace {
/// Sharding rule of attention or of one of its gradients, with the factors
/// (loop indices) of the rule. A member is empty if its loop has only one
/// iteration. The operands have these dims:
///
///   query [batch, shared · own, queries, inner]
///   key   [batch, shared, keys, inner]
///   value [batch, shared, keys, outer]
///
/// `shared` runs over the key heads, and `own` runs over the query heads of one
/// key head. With 8 query heads and 2 key heads, `shared` has size 2 and `own`
/// has size 4. `keys` and `inner` have the kind Whole: ranks must not split
/// them. Only ring attention (Liu et al. 2023) splits `keys`.
struct AttentionFactors {
  ShardingRule rule;
  Dims batch, shared, own, queries, keys, inner, outer;

  /// Creates the sharding rule of `op`, an attention or a gradient of
  /// attention. Adds all factors and the operands query, key and value to the
  /// rule. A factor is a loop index of the op. The kind of a factor says how
  /// ranks can split the factor. The caller chooses the kind of three factors:
  ///
  ///   factor   loop over                    kind
  ///   queries  queries of one head          perQuery
  ///   own      query heads of one key head  perQuery
  ///   outer    elements of one value        ofValues
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

  /// Returns the factors (loop indices) that form the dim of query heads. One
  /// factor runs over the key heads. The other factor runs over the query heads
  /// of one key head. With 8 query heads and 2 key heads, the factors have the
  /// sizes 2 and 4. A factor of size 1 is left out.
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
    // Create a new factor (loop index) for the last dim of the mask, which has
    // one entry per key. The kind of the new factor is Whole: ranks must not
    // split it. The keys themselves have the factor `keys`. Ring attention (Liu
    // et al. 2023) may split `keys`. The keys then move from rank to rank, and
    // every rank sees every key. Each rank therefore needs the mask entries of
    // all keys.
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
  /// loop. Returns a list with one entry: the id of the new factor. If `size`
  /// is 1 or 0, adds no factor and returns an empty list.
  Dims factor(int64_t size, FactorKind kind = FactorKind::Parallel) {
    return size > 1 ? Dims{rule.add(size, kind)} : Dims{};
  }
};
} // namespace

/// Returns the sharding rule of attention. The rule gives each factor (loop
/// index of the op) a kind:
///
///   Parallel  batch, heads, queries, elements of a value
///   Whole     keys, elements of a query or key, last dim of the mask
///
/// Ranks can split a Parallel factor without communication. Ranks must not
/// split a Whole factor. Ring attention (Liu et al. 2023) is an exception: it
/// splits the keys.
///
/// The value operand may be a partial sum: each rank has one summand of the
/// values. The result is then a partial sum, too.
ShardingRule AttentionOp::getShardingRule() {
  AttentionFactors all(cast<AttentionOpInterface>(getOperation()),
                       FactorKind::Parallel, FactorKind::Parallel);
  all.addMask(getMask());
  all.rule.results = {all.result()};
  all.rule.partialThrough = {2};
  return all.rule;
}

/// Returns the sharding rule of attention_query_gradient, the op that computes
/// the gradient of attention by the queries. The rule gives each factor (loop
/// index of the op) a kind:
///
///   Parallel  batch, heads, queries
///   Whole     keys, elements of a query, key or value, last dim of the mask
///
/// Ranks can split a Parallel factor without communication. Ranks must not
/// split a Whole factor. The elements of a value are Whole, because the op sums
/// over these elements.
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

/// Returns the sharding rule of attention_key_gradient, the op that computes
/// the gradients of attention by the keys and by the values. The rule gives
/// each factor (loop index of the op) a kind:
///
///   Parallel  batch, key heads
///   Sum       queries, query heads of one key head
///   Whole     keys, elements of a query, key or value, last dim of the mask
///
/// Ranks can split a Parallel factor without communication. If ranks split a
/// Sum factor, each rank computes one summand of each gradient. Ranks must not
/// split a Whole factor.
ShardingRule AttentionKeyGradientOp::getShardingRule() {
  AttentionFactors all(cast<AttentionOpInterface>(getOperation()),
                       FactorKind::Sum, FactorKind::Whole);
  all.rule.operands.append({all.result(), all.rows(), all.rows(), all.rows()});
  all.addMask(getMask());
  all.rule.results = {{all.batch, all.shared, all.keys, all.inner},
                      {all.batch, all.shared, all.keys, all.outer}};
  return all.rule;
}
