//===- WarpShuffles.cpp - reductions over lanes of a warp by shuffles -----===//

#include "passes/7-emit/gpu/kernel/WarpShuffles.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "passes/7-emit/kernel/Writer.h"

using namespace mlir;
using namespace pcc::emit;

using Values = SmallVector<Value>;

/// Emits a butterfly shuffle of an i32 or f32: thread i of the warp gets the
/// value of thread i xor `mask`.
static Value shuffleWord(KernelWriter &w, Value value, int64_t mask) {
  ScalarBuilder s = w.scalar();
  Type i32 = w.builder.getI32Type();
  return NVVM::ShflOp::create(w.builder, w.loc, value.getType(),
                              s.integer(i32, -1), value, s.integer(i32, mask),
                              s.integer(i32, lanesOfWarp - 1),
                              NVVM::ShflKind::bfly, UnitAttr());
}

/// Emits a butterfly shuffle of a value of any type: thread i of the warp gets
/// the value of thread i xor `mask`. Shuffles 64-bit values in two halves.
static Value shuffle(KernelWriter &w, Value value, int64_t mask) {
  Type type = value.getType(), i32 = w.builder.getI32Type(),
       i64 = w.builder.getI64Type();
  if (type == i32 || type.isF32())
    return shuffleWord(w, value, mask);
  if (type.isF64()) {
    Value bits = arith::BitcastOp::create(w.builder, w.loc, i64, value);
    return arith::BitcastOp::create(w.builder, w.loc, type,
                                    shuffle(w, bits, mask));
  }
  if (type != i64) {
    Value wide = arith::ExtUIOp::create(w.builder, w.loc, i32, value);
    return arith::TruncIOp::create(w.builder, w.loc, type,
                                   shuffleWord(w, wide, mask));
  }
  Value half = w.scalar().integer(i64, 32);
  auto part = [&](Value from) -> Value {
    Value word = arith::TruncIOp::create(w.builder, w.loc, i32, from);
    return arith::ExtUIOp::create(w.builder, w.loc, i64,
                                  shuffleWord(w, word, mask));
  };
  Value high = part(arith::ShRUIOp::create(w.builder, w.loc, value, half));
  return w.scalar().either(part(value),
                           arith::ShLIOp::create(w.builder, w.loc, high, half));
}

Values pcc::emit::reduceLanes(KernelWriter &w, ValueRange own, int64_t lanes,
                              MergeBody merge) {
  Values so(own);
  for (int64_t mask = 1; mask < lanes; mask *= 2) {
    Values other;
    for (Value value : so)
      other.push_back(shuffle(w, value, mask));
    so = merge(so, other);
  }
  return so;
}
