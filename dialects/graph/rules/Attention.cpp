//===- Attention.cpp - sharding rules of attention ------------------------===//

#include "dialects/graph/rules/RuleBuilders.h"

using namespace mlir;
using namespace pcc::graph;

using Dims = ShardingRule::DimFactors;

namespace {
/// What attention and its gradients have in common. Query heads are [key heads,
/// queries per key head]; keys stay whole, and so do the elements of a key.
/// Queries that are split have to know where they are if they see only the keys
/// before them.
struct AttentionFactors {
  ShardingRule rule;
  Dims batch, shared, own, queries, keys, inner, outer;

  /// `perQuery` is what splitting the queries of a key head does, `ofValues`
  /// what splitting the elements of a value does.
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

  Dims heads() const {
    Dims heads = shared;
    heads.append(own);
    return heads;
  }
  ShardingRule::TensorFactors rows() const { return {batch, heads(), queries}; }
  ShardingRule::TensorFactors result() const {
    return {batch, heads(), queries, outer};
  }

  /// The last operand, if there is one.
  void addMask(Value mask) {
    if (!mask)
      return;
    auto shape = tensorType(mask).getShape();
    // Whoever splits queries and keys alike wants rows of the mask.
    Dims columns = factor(shape.empty() ? 1 : shape.back(), FactorKind::Whole);
    ShardingRule::TensorFactors all{batch, heads(), queries, columns},
        dims(shape.size());
    for (size_t i = 0; i < shape.size(); ++i)
      if (shape[i] > 1)
        dims[i] = all[4 - shape.size() + i];
    rule.operands.push_back(dims);
  }

private:
  /// The factor of a dim of `size`, as a list; a dim of size 1 has none.
  Dims factor(int64_t size, FactorKind kind = FactorKind::Parallel) {
    return size > 1 ? Dims{rule.add(size, kind)} : Dims{};
  }
};
} // namespace

ShardingRule AttentionOp::getShardingRule() {
  AttentionFactors all(cast<AttentionOpInterface>(getOperation()),
                       FactorKind::Parallel, FactorKind::Parallel);
  all.addMask(getMask());
  all.rule.results = {all.result()};
  all.rule.partialThrough = {2};
  return all.rule;
}

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

ShardingRule AttentionKeyGradientOp::getShardingRule() {
  AttentionFactors all(cast<AttentionOpInterface>(getOperation()),
                       FactorKind::Sum, FactorKind::Whole);
  all.rule.operands.append({all.result(), all.rows(), all.rows(), all.rows()});
  all.addMask(getMask());
  all.rule.results = {{all.batch, all.shared, all.keys, all.inner},
                      {all.batch, all.shared, all.keys, all.outer}};
  return all.rule;
}
