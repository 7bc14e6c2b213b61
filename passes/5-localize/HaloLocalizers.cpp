//===- HaloLocalizers.cpp - ops that read split dims through halos --------===//
//
// Localization of windowed reads (halo exchange; GSPMD, Xu et al. 2021). The
// reshard in front of such an op has already moved every element that a rank
// needs to the index where the op reads it, with zeros in holes. So the local
// op does not cut, pad or shift along that dim.
//
//===----------------------------------------------------------------------===//

#include "dialects/graph/ScalarAttr.h"
#include "mlir/IR/Matchers.h"
#include "passes/5-localize/LocalOp.h"

using namespace mlir;
using namespace pcc;
using namespace pcc::localize;
using graph::Predicate;

Value pcc::localize::forwardOperand(Value operand, LocalBuilder &builder) {
  if (operand.hasOneUse())
    return operand;
  return builder.make<graph::ReshapeOp>(operand.getType(), operand);
}

/// Adapts a slice to local shapes. In a dim with a halo, a reshard has sent
/// each rank exactly the elements to read, so the local slice reads the whole
/// dim. Any other split dim consists of blocks of the slice's size, and each
/// block is split over the ranks. Example: on 2 ranks, x[64:128] becomes
/// x[32:64], because each rank has half of the block [0, 64) and half of the
/// block [64, 128). Returns null if the slice op stays. Otherwise, returns its
/// operand, because the slice would read all of it.
static Value localizeSlice(LocalOp &local, LocalBuilder &builder) {
  auto slice = cast<graph::SliceOp>(local.op);
  SmallVector<int64_t> starts(slice.getStarts()), sizes(slice.getSizes()),
      steps(slice.getSteps());
  for (auto [i, dim] : llvm::enumerate(local.rule.results[0])) {
    bool isSeen = local.windowOf(0, i);
    if (!isSeen && !local.isSplit(dim))
      continue;
    int64_t block = sizes[i];
    sizes[i] = dist::localDim(local.dimSharding(dim), block);
    starts[i] = isSeen ? 0 : starts[i] / block * sizes[i];
    if (isSeen)
      steps[i] = 1;
  }
  slice.setStarts(starts);
  slice.setSizes(sizes);
  slice.setSteps(steps);
  bool takesAll = ArrayRef<int64_t>(sizes) ==
                      graph::tensorType(slice.getInput()).getShape() &&
                  llvm::all_equal(steps) &&
                  (steps.empty() || steps.front() == 1);
  return takesAll ? forwardOperand(slice.getInput(), builder) : Value();
}

/// Builds a select of `value` where `real` is true, and of the scalar `other`
/// elsewhere. `real` is a boolean vector along dim `dim`.
static Value selectAlong(LocalBuilder &builder, Value real, int64_t dim,
                         Value value, Value other) {
  int64_t rank = graph::tensorType(value).getRank();
  return builder.make<graph::SelectOp>(builder.along(real, dim, rank), value,
                                       other);
}

/// Builds a boolean tensor: whether each of `indices` lies in [lo, hi).
static Value isWithin(LocalBuilder &builder, Value indices, int64_t lo,
                      int64_t hi) {
  Type i64 = builder.getI64Type();
  return builder.make<graph::AndOp>(
      builder.compare(Predicate::GreaterOrEqual, indices,
                      builder.scalar(i64, lo)),
      builder.compare(Predicate::Less, indices, builder.scalar(i64, hi)));
}

/// Adapts a pad to local shapes. In a split dim, a reshard has already added
/// zeros as padding, and the pad must add none. A select replaces the zeros if
/// the padding has another value.
static Value localizePad(LocalOp &local, LocalBuilder &builder) {
  auto pad = cast<graph::PadOp>(local.op);
  SmallVector<int64_t> low(pad.getLow()), high(pad.getHigh());
  Value input = pad.getInput();
  for (size_t dim = 0; dim < low.size(); ++dim) {
    if (!local.windowOf(0, dim))
      continue;
    int64_t size = local.operandTypes[0].getDimSize(dim);
    if (Value value = pad.getValue(); value && !isZero(value)) {
      Value index =
          builder.globalIndex(local.dimSharding(local.rule.results[0][dim]),
                              local.resultTypes[0].getDimSize(dim));
      input = selectAlong(builder,
                          isWithin(builder, index, low[dim], low[dim] + size),
                          dim, input, value);
    }
    low[dim] = high[dim] = 0;
  }
  auto isPadded = [](int64_t count) { return count != 0; };
  if (llvm::none_of(low, isPadded) && llvm::none_of(high, isPadded))
    return input == pad.getInput() ? forwardOperand(input, builder) : input;
  pad.getInputMutable().assign(input);
  pad.setLow(low);
  pad.setHigh(high);
  return {};
}

Value pcc::localize::localizeConstantGather(LocalOp &local,
                                            LocalBuilder &builder) {
  auto gather = cast<graph::GatherOp>(local.op);
  int64_t dim = gather.getDim();
  Value data = gather.getData();
  if (local.windowOf(0, dim))
    return forwardOperand(data, builder);
  auto type = graph::tensorType(data);
  SmallVector<int64_t> starts(type.getRank(), 0), sizes(type.getShape()),
      steps(type.getRank(), 1);
  SmallVector<Value> parts;
  for (const auto &[lo, hi, source, step] :
       local.rule.windows.front().stretches) {
    starts[dim] = source;
    sizes[dim] = hi - lo;
    steps[dim] = step;
    parts.push_back(builder.make<graph::SliceOp>(data, starts, sizes, steps));
  }
  return parts.size() == 1 ? parts.front()
                           : builder.make<graph::ConcatOp>(
                                 parts, builder.getI64IntegerAttr(dim));
}

/// Adapts a concat along a split dim to local shapes. A reshard before the
/// concat has given each operand the local shape of the result, and has moved
/// each element to its index in the result. Selects then take each element of
/// the result from the right operand. Returns null if no reshard has done this.
static Value localizeConcat(LocalOp &local, LocalBuilder &builder) {
  auto concat = cast<graph::ConcatOp>(local.op);
  int64_t dim = concat.getDim();
  if (local.rule.windows.empty() ||
      !local.windowOf(local.rule.windows.front().operand, dim))
    return {};
  Value index =
      builder.globalIndex(local.dimSharding(local.rule.results[0][dim]),
                          local.resultTypes[0].getDimSize(dim));
  Value result;
  int64_t start = 0;
  for (auto [i, input] : llvm::enumerate(concat.getInputs())) {
    int64_t size = local.operandTypes[i].getDimSize(dim);
    if (size == 0)
      continue;
    if (!result)
      result = input;
    else
      result = selectAlong(
          builder,
          builder.compare(Predicate::Less, index,
                          builder.scalar(builder.getI64Type(), start)),
          dim, result, input);
    start += size;
  }
  return llvm::is_contained(concat.getInputs(), result)
             ? forwardOperand(result, builder)
             : result;
}

/// Sets the padding of `op`, a convolution or a pool, to 0 in each dim that the
/// op reads with a halo (elements of neighbor ranks). The reshard before the op
/// has already added this padding. The attribute `pads` starts with dim 2,
/// because dims 0 and 1 are batch and channels.
template <typename Op> static void dropPads(LocalOp &local, Op op) {
  SmallVector<int64_t> pads(op.getPads());
  for (size_t i = 0; i < pads.size() / 2; ++i)
    if (local.windowOf(0, i + 2))
      pads[i] = pads[i + pads.size() / 2] = 0;
  op.setPads(pads);
}

/// Sets the number of groups of a convolution to the number of groups that this
/// rank computes.
template <typename Conv> static void keepOwnGroups(LocalOp &local, Conv conv) {
  if (conv.getGroup() > 1)
    conv.setGroup(local.localSize(local.rule.operands[0][1].front()));
}

static Value localizeConv(LocalOp &local, LocalBuilder &) {
  auto conv = cast<graph::ConvOp>(local.op);
  keepOwnGroups(local, conv);
  dropPads(local, conv);
  return {};
}

static Value localizeConvTranspose(LocalOp &local, LocalBuilder &) {
  keepOwnGroups(local, cast<graph::ConvTransposeOp>(local.op));
  return {};
}

/// Builds an i64 vector with the global indices of a rank's elements along one
/// dim after a halo exchange. An index outside of the dim stands for padding.
/// `split` is the sharding of the dim, and `split.view` describes the halo.
static Value elementsUnder(dist::DimSharding split, LocalBuilder &builder) {
  const dist::View view = *split.view;
  split.view.reset();
  Type i64 = builder.getI64Type();
  Value index = builder.globalIndex(split, view.size());
  Value length = builder.scalar(i64, view.length);
  Value block = builder.make<graph::DivOp>(index, length);
  Value shift = builder.make<graph::MulOp>(
      block, builder.scalar(i64, view.pitch - view.length));
  return builder.make<graph::AddOp>(
      builder.make<graph::AddOp>(index, shift),
      builder.scalar(i64, view.pieces.front().source));
}

/// Adapts a pool to local shapes in place, and returns null. A halo exchange
/// has already padded split dims with zeros. A max pool gets a select that
/// replaces these zeros by the lowest value, because 0 exceeds negative
/// elements.
static Value localizePool(LocalOp &local, LocalBuilder &builder) {
  auto pool = cast<graph::PoolOp>(local.op);
  ArrayRef<int64_t> pads = pool.getPads();
  size_t spatial = pads.size() / 2;
  // The loop below needs the sharding of the pool's input. Read the sharding
  // before the loop, because the loop may change the input. For a max pool, the
  // loop inserts a select that replaces padding by the lowest value. The result
  // of the select becomes the new input of the pool. This result has no
  // sharding attribute.
  const dist::ShardingAttr taken = dist::shardingOf(pool.getInput());
  for (size_t i = 0; i < spatial; ++i) {
    if (pool.getKind() != graph::PoolKind::Max || !local.windowOf(0, i + 2) ||
        pads[i] + pads[i + spatial] == 0)
      continue;
    Value input = pool.getInput();
    Type element = graph::tensorType(input).getElementType();
    Value real = isWithin(
        builder, elementsUnder(taken.getSharding().dims[i + 2], builder), 0,
        local.operandTypes[0].getDimSize(i + 2));
    pool.getInputMutable().assign(selectAlong(
        builder, real, i + 2, input,
        builder.scalar(element, graph::neutralOf(graph::FactorKind::Max))));
  }
  dropPads(local, pool);
  return {};
}

void pcc::localize::addHaloLocalizers(Localizers &localizers) {
  localizers.add<graph::SliceOp>(localizeSlice);
  localizers.add<graph::PadOp>(localizePad);
  localizers.add<graph::ConcatOp>(localizeConcat);
  localizers.add<graph::ConvOp>(localizeConv);
  localizers.add<graph::ConvTransposeOp>(localizeConvTranspose);
  localizers.add<graph::PoolOp>(localizePool);
}
