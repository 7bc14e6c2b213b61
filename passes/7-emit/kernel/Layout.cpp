//===- Layout.cpp - code of layout ops, pads and rotary embeddings --------===//

#include "dialects/graph/GraphDialect.h"
#include "passes/7-emit/kernel/Writer.h"

using namespace mlir;
using namespace pcc::graph;
using namespace pcc::emit;

static Value transpose(KernelWriter &w, Operation *op, ArrayRef<Index> at) {
  MultiIndex place(at.size());
  for (auto [i, dim] : llvm::enumerate(cast<TransposeOp>(op).getPerm()))
    place[dim] = at[i];
  return w.read(op->getOperand(0), place);
}

static Value reshape(KernelWriter &w, Operation *op, ArrayRef<Index> at) {
  Index position =
      w.indices.linearise(at, tensorType(op->getResult(0)).getShape());
  Value input = op->getOperand(0);
  return w.read(input,
                w.indices.delinearise(position, tensorType(input).getShape()));
}

static Value broadcast(KernelWriter &w, Operation *op, ArrayRef<Index> at) {
  return w.readBroadcast(op->getOperand(0), at);
}

static Value slice(KernelWriter &w, Operation *op, ArrayRef<Index> at) {
  auto slice = cast<SliceOp>(op);
  MultiIndex place;
  for (auto [index, start, step] :
       llvm::zip_equal(at, slice.getStarts(), slice.getSteps()))
    place.push_back(w.indices.add(w.indices.scale(index, step),
                                  IndexSpace::constant(start)));
  return w.read(op->getOperand(0), place);
}

//===----------------------------------------------------------------------===//
// Parts
//===----------------------------------------------------------------------===//

/// Returns an index with the value of `index` and with bounds within [0, size).
/// The value must be in [0, size) at run time. Narrow bounds simplify later
/// divisions, such as i / 4 to 0.
static Index within(KernelWriter &w, const Index &index, int64_t size) {
  IndexRange range = rangeOf(index);
  if (range.low >= 0 && range.high < size)
    return index;
  return w.indices.leaf(w.materialise(index), 0, size - 1);
}

/// Emits index < bound, an i1.
static Value isBelow(KernelWriter &w, const Index &index, int64_t bound) {
  ScalarBuilder s = w.scalar();
  return s.compare(arith::CmpIPredicate::slt, w.materialise(index),
                   s.integer(w.builder.getI64Type(), bound));
}

/// Emits the element at `at` of the result of the concatenation `op`. Returns
/// the element. The caller guarantees that the element comes from operand
/// number `first` or a later operand. `offset` is the index, along the
/// concatenated dim of the result, at which operand number `first` begins. If
/// the operand is known only at run time, the code branches between operand
/// number `first` and the later operands.
static Value readPart(KernelWriter &w, ConcatOp op, size_t first,
                      int64_t offset, MultiIndex at) {
  int64_t dim = op.getDim();
  Value part = op.getInputs()[first];
  int64_t size = tensorType(part).getDimSize(dim);
  auto own = [&] {
    MultiIndex place(at);
    place[dim] = w.indices.add(place[dim], IndexSpace::constant(-offset));
    place[dim] = within(w, place[dim], size);
    return w.read(part, place);
  };
  auto others = [&] { return readPart(w, op, first + 1, offset + size, at); };
  IndexRange range = rangeOf(at[dim]);
  if (first + 1 == op.getInputs().size() || range.high < offset + size)
    return own();
  if (range.low >= offset + size)
    return others();
  Value inside = isBelow(w, at[dim], offset + size);
  Type type = computeType(tensorType(part).getElementType());
  return w.branch(inside, type, own, others);
}

static Value concat(KernelWriter &w, Operation *op, ArrayRef<Index> at) {
  return readPart(w, cast<ConcatOp>(op), 0, 0, MultiIndex(at));
}

//===----------------------------------------------------------------------===//
// pad
//===----------------------------------------------------------------------===//

/// Returns the index of the operand element, along one dim of `size` elements,
/// that a pad op copies to `index`. Index 0 is the first operand element.
/// Example for the operand [a, b, c]:
///
///   index                  −3 −2 −1  0  1  2  3  4  5
///   `mode` edge             a  a  a  a  b  c  c  c  c
///   `mode` wrap             a  b  c  a  b  c  a  b  c
///   `mode` reflect          b  c  b  a  b  c  b  a  b
static Index reflected(KernelWriter &w, PadMode mode, const Index &index,
                       int64_t size) {
  IndexRange range = rangeOf(index);
  if ((range.low >= 0 && range.high < size) || size == 0)
    return index;
  ScalarBuilder s = w.scalar();
  Type i64 = w.builder.getI64Type();
  Value at = w.materialise(index), last = s.integer(i64, size - 1);
  if (mode == PadMode::Edge)
    at = s.smaller(s.larger(at, s.integer(i64, 0), false), last, false);
  else {
    int64_t period =
        mode == PadMode::Wrap ? size : std::max<int64_t>(1, 2 * size - 2);
    // The padded operand repeats after `period` elements, so compute `at`
    // modulo `period`. RemUIOp needs a dividend that is not negative. Therefore
    // first add `away` periods to `at`, enough for the smallest index.
    int64_t away = (std::max<int64_t>(0, -range.low) + period - 1) / period;
    Value shifted = s.add(at, s.integer(i64, away * period));
    at = arith::RemUIOp::create(w.builder, w.loc, shifted,
                                s.integer(i64, period));
    // In mode reflect, a period consists of the operand, and then its inner
    // elements in reverse order. For the operand [a, b, c], it is [a, b, c, b].
    // `at` is an index in the period, and `last` is the index of the last
    // operand element, here 2. If `at` is larger than `last`, use the mirrored
    // index `period` − `at`: index 1 for `at` = 3. In mode wrap, `at` is never
    // larger than `last`.
    Value mirrored = s.sub(s.integer(i64, period), at);
    Value inside = s.compare(arith::CmpIPredicate::sle, at, last);
    at = s.select(inside, at, mirrored);
  }
  return w.indices.leaf(at, 0, size - 1);
}

/// Emits the element at `place` of the result of a pad op that fills the
/// padding with a constant. `place` counts from the first operand element, and
/// is negative in the padding before the operand.
static Value readPadded(KernelWriter &w, PadOp op, MultiIndex place) {
  ScalarBuilder s = w.scalar();
  ArrayRef<int64_t> shape = tensorType(op.getInput()).getShape();
  Value inside;
  for (auto [index, size] : llvm::zip_equal(place, shape)) {
    IndexRange range = rangeOf(index);
    if (range.low >= 0 && range.high < size)
      continue;
    // Emit the test 0 ≤ index < size by one comparison of unsigned numbers:
    // index < size. The comparison is false for a negative index, since the
    // bits of a negative index form an unsigned number of at least 2^63.
    Value test = s.compare(arith::CmpIPredicate::ult, w.materialise(index),
                           s.integer(w.builder.getI64Type(), size));
    inside = inside ? s.both(inside, test) : test;
  }
  if (!inside)
    return w.read(op.getInput(), place);
  Type type = computeType(tensorType(op.getInput()).getElementType());
  return w.branch(
      inside, type,
      [&] {
        for (auto [index, size] : llvm::zip_equal(place, shape))
          index = size == 0 ? index : within(w, index, size);
        return w.read(op.getInput(), place);
      },
      [&] {
        return op.getValue() ? w.readScalar(op.getValue())
                             : w.scalar().zero(type);
      });
}

static Value pad(KernelWriter &w, Operation *op, ArrayRef<Index> at) {
  auto pad = cast<PadOp>(op);
  ArrayRef<int64_t> shape = tensorType(pad.getInput()).getShape();
  MultiIndex place;
  for (auto [index, low] : llvm::zip_equal(at, pad.getLow()))
    place.push_back(w.indices.add(index, IndexSpace::constant(-low)));
  if (pad.getMode() == PadMode::Constant)
    return readPadded(w, pad, place);
  for (auto [index, size] : llvm::zip_equal(place, shape))
    index = reflected(w, pad.getMode(), index, size);
  return w.read(pad.getInput(), place);
}

//===----------------------------------------------------------------------===//
// rotary
//===----------------------------------------------------------------------===//

/// Returns the index of the element that a rotary embedding pairs with element
/// `index`. Also returns whether `index` is the first element of the pair (an
/// i1). If `interleaved` is true, pairs are neighbors, such as (0, 1). If not,
/// the elements of a pair are `size` / 2 apart.
static std::pair<Index, Value> partner(KernelWriter &w, const Index &index,
                                       int64_t size, bool interleaved) {
  ScalarBuilder s = w.scalar();
  Type i64 = w.builder.getI64Type();
  Value at = w.materialise(index), isFirst, other;
  if (interleaved) {
    Value one = s.integer(i64, 1);
    isFirst =
        s.compare(arith::CmpIPredicate::eq, s.both(at, one), s.integer(i64, 0));
    other = s.exclusive(at, one);
  } else {
    Value half = s.integer(i64, size / 2);
    isFirst = s.compare(arith::CmpIPredicate::slt, at, half);
    other = s.select(isFirst, s.add(at, half), s.sub(at, half));
  }
  return {w.indices.leaf(other, 0, size - 1), isFirst};
}

/// Emits the element at `at` of the result of a rotary position embedding
/// (RoFormer, Su et al. 2021). The result has a · cos − b · sin and
/// b · cos + a · sin for each pair (a, b) of the input.
static Value rotary(KernelWriter &w, Operation *op, ArrayRef<Index> at) {
  auto rotary = cast<RotaryOp>(op);
  int64_t size = tensorType(rotary.getInput()).getShape().back();
  Value x = w.read(rotary.getInput(), at);
  Value cos = w.readBroadcast(rotary.getCos(), at);
  Value sin = w.readBroadcast(rotary.getSin(), at);
  MultiIndex place(at);
  auto [other, isFirst] = partner(w, at.back(), size, rotary.getInterleaved());
  place.back() = other;
  Value turned = w.read(rotary.getInput(), place);
  ScalarBuilder s = w.scalar();
  turned = s.select(isFirst, s.neg(turned), turned);
  return s.add(s.mul(x, cos), s.mul(turned, sin));
}

void pcc::emit::addLayoutReads(ReadTable &table) {
  table.add<TransposeOp>(transpose);
  table.add<ReshapeOp>(reshape);
  table.add<BroadcastOp>(broadcast);
  table.add<SliceOp>(slice);
  table.add<ConcatOp>(concat);
  table.add<PadOp>(pad);
  table.add<RotaryOp>(rotary);
}
