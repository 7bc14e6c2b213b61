//===- InPlaceTest.cpp - results that lie where operands do ---------------===//

#include "dialects/dist/DistDialect.h"
#include "dialects/graph/GraphDialect.h"
#include "dialects/rank/RankDialect.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "test/passes/7-emit/gpu/kernel/EmulatedGpu.h"
#include <gtest/gtest.h>

using namespace pcc;

/// Gradients are accumulated in place: surplus threads of a block must not add
/// a row once more.
TEST(GpuInPlace, EachRowIsAddedOnce) {
  mlir::MLIRContext context;
  context
      .loadDialect<graph::GraphDialect, dist::DistDialect, rank::RankDialect>();
  auto module = mlir::parseSourceString<mlir::ModuleOp>(R"(
    rank.kernel @k(%before: tensor<5xf32>, %x: tensor<5x8xf32>) -> tensor<5xf32> {
      %0 = graph.reduce sum %x over [1] : tensor<5x8xf32>
      %r = graph.add %before, %0 : tensor<5xf32>, tensor<5xf32>
      rank.yield %r : tensor<5xf32>
    })",
                                                        &context);
  ASSERT_TRUE(module);
  alignas(16) float sums[5] = {1, 2, 3, 4, 5};
  alignas(16) float x[40];
  for (int i = 0; i < 40; ++i) {
    const int row = i / 8;
    x[i] = float(row);
  }
  emit::EmulatedGpu gpu(*module);
  ASSERT_EQ(gpu.run(0, {sums, x, sums}, {}), "");
  for (int i = 0; i < 5; ++i)
    EXPECT_EQ(sums[i], float(i + 1 + 8 * i)) << i;
}
