//===- OnlineSoftmax.cpp - online softmax over tiles of scores ------------===//

#include "passes/7-emit/gpu/kernel/OnlineSoftmax.h"
#include "passes/7-emit/gpu/kernel/WarpShuffles.h"
#include "passes/7-emit/kernel/AttentionScores.h"
#include <cmath>

using namespace mlir;
using namespace pcc::emit;

OnlineSoftmax OnlineSoftmax::start(KernelWriter &w) {
  ScalarBuilder s = w.scalar();
  Type f32 = w.builder.getF32Type();
  Value none = s.number(f32, -HUGE_VAL), zero = s.zero(f32);
  return {{none, none}, {zero, zero}};
}

OnlineSoftmax OnlineSoftmax::from(ValueRange values) {
  return {{values[0], values[1]}, {values[2], values[3]}};
}

OnlineSoftmax::Halves
OnlineSoftmax::update(KernelWriter &w, ArrayRef<WarpProduct::Sums> scores) {
  ScalarBuilder s = w.scalar();
  auto larger = [&](Value a, Value b) {
    return s.larger(a, b, /*isUnsigned=*/false);
  };
  SmallVector<Value> tops{top[0], top[1]};
  for (const WarpProduct::Sums &own : scores)
    for (auto [place, value] : llvm::enumerate(own))
      tops[place / 2] = larger(tops[place / 2], value);
  tops = reduceLanes(
      w, tops, WarpProduct::lanesOfRow, [&](ValueRange a, ValueRange b) {
        return SmallVector<Value>{larger(a[0], b[0]), larger(a[1], b[1])};
      });
  Halves scale;
  for (int64_t half : {0, 1}) {
    scale[half] = weightOf(w, top[half], tops[half]);
    top[half] = tops[half];
    total[half] = s.mul(total[half], scale[half]);
  }
  return scale;
}
