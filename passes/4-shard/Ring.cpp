//===- Ring.cpp - attention whose keys visit its queries ------------------===//

#include "passes/4-shard/Ring.h"
#include "dialects/graph/TensorBytes.h"

using namespace mlir;
using namespace pcc;
using namespace pcc::shard;
using graph::ShardingRule;

std::optional<Ring> pcc::shard::ringOf(const ShardedOp &op) {
  if (!isa_and_nonnull<graph::AttentionOp>(op.op))
    return std::nullopt;
  const ShardingRule::DimFactors &queries = op.rule->operands[0][2],
                                 &keys = op.rule->operands[1][2];
  if (queries.size() != 1 || keys.size() != 1 ||
      op.rule->factors[queries.front()].size !=
          op.rule->factors[keys.front()].size)
    return std::nullopt;
  return Ring{queries.front(), keys.front()};
}

dist::SubAxes pcc::shard::ringAxes(const ShardedOp &op) {
  auto ring = ringOf(op);
  return ring ? op.axes[ring->keys] : dist::SubAxes();
}

bool pcc::shard::ringPacks(const ShardedOp &op) {
  return llvm::all_of(op.rule->operands[2][3],
                      [&](int factor) { return op.axes[factor].empty(); });
}

/// `sharding` of a tensor whose dim 2 has `parts` of `size`, and the same with
/// every part where the one before it was.
static InnerReshard oneStep(dist::Sharding sharding, dist::Shape shape,
                            const dist::SubAxes &axes, int64_t bytes) {
  const int64_t parts = dist::numParts(axes),
                size = llvm::divideCeil(shape[2], parts), all = parts * size;
  shape[2] = all;
  sharding.dims[2] = dist::splitOver(all, axes);
  InnerReshard step{sharding, sharding, shape, bytes};
  step.to.dims[2].view = {
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
                   axes, graph::elementBytes(type));
  };
  SmallVector<InnerReshard, 2> step{messageOf(1), messageOf(2)};
  if (ringPacks(op)) {
    step[0].shape[3] += step[1].shape[3];
    step.pop_back();
  }
  for (int64_t i = 1; i < dist::numParts(axes); ++i)
    llvm::append_range(reshards, step);
  return reshards;
}
