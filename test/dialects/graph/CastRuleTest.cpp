//===- CastRuleTest.cpp - partial sums that may pass through a cast -------===//

#include "dialects/graph/GraphDialect.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/OwningOpRef.h"
#include <gtest/gtest.h>

using namespace mlir;
using namespace pcc;

/// Returns whether partial sums may pass through a cast between two types.
static bool letsSumsPass(Builder &builder, Type from, Type to) {
  OpBuilder ops(builder.getContext());
  const Location location = builder.getUnknownLoc();
  OwningOpRef<ModuleOp> module = ModuleOp::create(location);
  ops.setInsertionPointToEnd(module->getBody());
  auto value = graph::IotaOp::create(
      ops, location, RankedTensorType::get({4}, from), /*dim=*/0);
  auto cast = graph::CastOp::create(ops, location,
                                    RankedTensorType::get({4}, to), value);
  return !cast.getShardingRule().partialThrough.empty();
}

// 4-shard lets no sum over ranks pass a cast that rounds (partial-sums.mlir).
TEST(CastRule, SumsOfFloatsPass) {
  MLIRContext context;
  context.loadDialect<graph::GraphDialect>();
  Builder b(&context);
  const Type bf16 = b.getBF16Type(), f16 = b.getF16Type(), f32 = b.getF32Type(),
             f64 = b.getF64Type(), i32 = b.getI32Type(), i64 = b.getI64Type();
  EXPECT_TRUE(letsSumsPass(b, bf16, f32));
  EXPECT_TRUE(letsSumsPass(b, f16, f32));
  EXPECT_TRUE(letsSumsPass(b, f32, f64));
  EXPECT_TRUE(letsSumsPass(b, f16, bf16));
  EXPECT_TRUE(letsSumsPass(b, f32, bf16));
  EXPECT_FALSE(letsSumsPass(b, i32, f32));
  EXPECT_FALSE(letsSumsPass(b, f32, i32));
  EXPECT_FALSE(letsSumsPass(b, i32, i64));
}
