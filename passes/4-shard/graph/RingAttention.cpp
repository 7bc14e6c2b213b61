//===- RingAttention.cpp - ring attention: keys rotate past the queries ---===//

#include "passes/4-shard/graph/RingAttention.h"
#include "dialects/graph/TensorBytes.h"
#include "passes/4-shard/graph/Stripes.h"

#include <cassert>

using namespace mlir;
using namespace pcc;
using namespace pcc::shard;
using graph::ShardingRule;

std::optional<Ring> pcc::shard::ringOf(const ShardedOp &op) {
  if (!isa_and_nonnull<graph::AttentionOp>(op.op))
    return std::nullopt;
  const ShardingRule::DimFactors &queries = op.rule->operands[0][2],
                                 &keys = op.rule->operands[1][2];
  auto sizesOf = [&](const ShardingRule::DimFactors &dim) {
    return llvm::map_to_vector(
        dim, [&](int factor) { return op.rule->factors[factor].size; });
  };
  // With stripes (contiguous ranges of tokens), the token dim has two loop
  // dims: stripes, and tokens of one stripe. The dim of the stripes must not be
  // split over ranks.
  const bool inStripes = queries.size() == 2 &&
                         cast<graph::AttentionOp>(op.op).getCausal() &&
                         keys.size() == 2 && op.axes[queries.front()].empty() &&
                         op.axes[keys.front()].empty();
  if ((queries.size() != 1 && !inStripes) || sizesOf(queries) != sizesOf(keys))
    return std::nullopt;
  return Ring{queries.back(), keys.back()};
}

dist::SubAxes pcc::shard::ringAxes(const ShardedOp &op) {
  auto ring = ringOf(op);
  return ring ? op.axes[ring->keys] : dist::SubAxes();
}

bool pcc::shard::ringPacksKeysAndValues(const ShardedOp &op) {
  assert(isa_and_nonnull<graph::AttentionOp>(op.op) && "no attention");
  return llvm::all_of(op.rule->operands[2][3],
                      [&](int factor) { return op.axes[factor].empty(); });
}

/// Returns one move of keys or values to the previous rank, as a reshard of a
/// tensor of rank 5. `shape` is the shape of the keys or values: [batch, heads,
/// tokens, width]. The tokens form `stripes` contiguous ranges of equal length
/// (stripes), and the mesh axes `axes` split each stripe. The tensor of the
/// reshard has the shape [batch, heads, stripes, tokens per stripe, width].
static InnerReshard oneStep(dist::Sharding sharding, dist::Shape shape,
                            int64_t stripes, const dist::SubAxes &axes,
                            int64_t bytes) {
  const int64_t parts = dist::numParts(axes),
                size = llvm::divideCeil(shape[2] / stripes, parts),
                all = parts * size;
  shape[2] = all;
  shape.insert(shape.begin() + 2, stripes);
  sharding.dims[2] = dist::splitOver(all, axes);
  sharding.dims.insert(sharding.dims.begin() + 2, dist::DimSharding());
  InnerReshard step{sharding, sharding, shape, bytes};
  // Each rank receives the shard of the next rank, and the last rank receives
  // the shard of rank 0.
  step.to.dims[3].view = {
      1, all, 0, all, {{0, all - size, size, 1}, {all - size, all, 0, 1}}};
  step.from = canonical(step.from);
  step.to = canonical(step.to);
  return step;
}

SmallVector<InnerReshard, 2> pcc::shard::ringReshards(const ShardedOp &op) {
  const dist::SubAxes axes = ringAxes(op);
  SmallVector<InnerReshard, 2> reshards;
  if (axes.empty())
    return reshards;
  auto messageOf = [&](unsigned operand) {
    auto type = graph::tensorType(op.op->getOperand(operand));
    return oneStep(op.operandSharding(operand), dist::shapeOf(type.getShape()),
                   stripesOf(op), axes, graph::elementBytes(type));
  };
  SmallVector<InnerReshard, 2> step{messageOf(1), messageOf(2)};
  // Keys and values are sent as one tensor, concatenated along the last dim.
  // For example, if a key has 64 elements and a value has 32, the last dim has
  // 96.
  if (ringPacksKeysAndValues(op)) {
    step[0].shape[4] += step[1].shape[4];
    step.pop_back();
  }
  for (int64_t i = 1; i < dist::numParts(axes); ++i)
    llvm::append_range(reshards, step);
  return reshards;
}
