//===- BufferPlanTest.cpp - how long values hold their bytes --------------===//

#include "passes/7-emit/program/ProgramWriter.h"
#include "test/passes/7-emit/program/Modules.h"

#include <gtest/gtest.h>

using namespace mlir;
using namespace pcc;
using namespace pcc::emit;
using namespace pcc::test;

static program::ProgramT programOf(const std::string &text) {
  MLIRContext context;
  loadDialects(context);
  auto module = parseSourceString<ModuleOp>(text, ParserConfig(&context));
  const auto facts = readFacts(*module);
  EXPECT_TRUE(facts) << facts.status().message();
  PositionProgram written;
  const Status status = writeProgram(*facts, 0, written);
  EXPECT_TRUE(status.ok()) << status.message();
  return std::move(written.tables);
}

static int64_t arenaOf(const std::string &text) {
  return programOf(text).arena_bytes;
}

/// x and y have 128 bytes, a and b 64. %a is dead when %y is written.
TEST(BufferPlan, AnOutputTakesNoRoomBeforeItIsWritten) {
  EXPECT_EQ(arenaOf(oneRank(R"mlir(
    %a = graph.matmul %x, %x {transpose_rhs} : tensor<4x8xf32>, tensor<4x8xf32>
    %b = graph.matmul %a, %a : tensor<4x4xf32>, tensor<4x4xf32>
    %y = graph.matmul %b, %x : tensor<4x4xf32>, tensor<4x8xf32>)mlir")),
            128 + 64 + 128);
}

/// There are two microbatches of 64 bytes each. When %a and %b, also 64 bytes,
/// are computed in the last one, the output of the first is live and its own is
/// not yet.
TEST(BufferPlan, TheLastSlotOfAnOutputIsFreeUntilItIsWritten) {
  EXPECT_EQ(arenaOf(R"mlir(
module attributes {
  dist.mesh = #dist.mesh<mb = 2>, pipe.microbatches = 2 : i64,
  graph.inputs = [{graph.name = "x", dist.global = tensor<4x8xf32>,
                   dist.sharding = #dist.sharding<"[4@mb:2, -]">}],
  graph.outputs = [{graph.name = "y", dist.global = tensor<4x8xf32>,
                    dist.sharding = #dist.sharding<"[4@mb:2, -]">}]} {
  func.func @stage_0(%x: tensor<2x8xf32> {graph.name = "x"})
      -> (tensor<2x8xf32> {graph.name = "y"}) attributes {pipe.stage = 0 : i64} {
    %a = graph.matmul %x, %x {transpose_rhs} : tensor<2x8xf32>, tensor<2x8xf32>
    %b = graph.matmul %a, %a : tensor<2x2xf32>, tensor<2x2xf32>
    %y = graph.matmul %b, %x : tensor<2x2xf32>, tensor<2x8xf32>
    return %y : tensor<2x8xf32>
  }
  pipe.actions 0 stages [0] ["0F0", "0F1"]
})mlir"),
            2 * 64 + 64 + 64 + 64);
}

/// %s, 64 bytes, is live together with t, x and y, in one slot for both
/// microbatches. %a, from which it is computed, is where y is written later.
TEST(BufferPlan, WhatMicrobatchesShareIsHeldOnce) {
  EXPECT_EQ(arenaOf(R"mlir(
module attributes {
  dist.mesh = #dist.mesh<mb = 2>, pipe.microbatches = 2 : i64,
  graph.inputs = [{graph.name = "t", dist.global = tensor<4x8xf32>},
                  {graph.name = "x", dist.global = tensor<8x4xf32>,
                   dist.sharding = #dist.sharding<"[8@mb:2, -]">}],
  graph.outputs = [{graph.name = "y", dist.global = tensor<8x4xf32>,
                    dist.sharding = #dist.sharding<"[8@mb:2, -]">}]} {
  func.func @stage_0_shared(%t: tensor<4x8xf32> {graph.name = "t"})
      -> tensor<4x4xf32> attributes {pipe.stage = 0 : i64, pipe.action = "UNSHARD"} {
    %a = graph.matmul %t, %t {transpose_rhs} : tensor<4x8xf32>, tensor<4x8xf32>
    %s = graph.matmul %a, %a : tensor<4x4xf32>, tensor<4x4xf32>
    return %s : tensor<4x4xf32>
  }
  func.func @stage_0(%x: tensor<4x4xf32> {graph.name = "x"},
                     %s: tensor<4x4xf32> {pipe.held = {by = @stage_0_shared, result = 0 : i64}})
      -> (tensor<4x4xf32> {graph.name = "y"}) attributes {pipe.stage = 0 : i64} {
    %y = graph.matmul %x, %s : tensor<4x4xf32>, tensor<4x4xf32>
    return %y : tensor<4x4xf32>
  }
  pipe.actions 0 stages [0] ["0UNSHARD", "0F0", "0F1"]
})mlir"),
            128 + 2 * 64 + 64 + 2 * 64);
}

/// x has a slot of 64 bytes for each of the two microbatches. In one
/// microbatch, %h is held for W and %k for I. They, %d and the gradient take 64
/// bytes each. Six matmuls make a step of 4 samples.
TEST(BufferPlan, ActionsSayWhatTheyUse) {
  const program::ProgramT program = programOf(R"mlir(
module attributes {
  dist.mesh = #dist.mesh<mb = 2>, pipe.microbatches = 2 : i64, rank.random_weights = 1 : i64,
  graph.inputs = [{graph.name = "x", dist.global = tensor<4x4xf32>, graph.batch_dim = 0 : i64, graph.labels,
                   dist.sharding = #dist.sharding<"[4@mb:2, -]">}],
  graph.outputs = []} {
  graph.parameter @w : tensor<4x4xf32> trained
  func.func @stage_0(%x: tensor<2x4xf32> {graph.name = "x"})
      -> (tensor<2x4xf32>, tensor<2x2xf32>) attributes {pipe.stage = 0 : i64} {
    %w = graph.get_parameter @w : tensor<4x4xf32>
    %h = graph.matmul %x, %w : tensor<2x4xf32>, tensor<4x4xf32>
    %k = graph.matmul %h, %h {transpose_rhs} : tensor<2x4xf32>, tensor<2x4xf32>
    return %h, %k : tensor<2x4xf32>, tensor<2x2xf32>
  }
  func.func @stage_0_input_gradient(%k: tensor<2x2xf32> {pipe.held = {by = @stage_0, result = 1 : i64}})
      attributes {pipe.stage = 0 : i64, pipe.action = "I"} {
    %d = graph.matmul %k, %k : tensor<2x2xf32>, tensor<2x2xf32>
    return
  }
  func.func @stage_0_weight_gradient(%h: tensor<2x4xf32> {pipe.held = {by = @stage_0, result = 0 : i64}})
      -> tensor<4x4xf32> attributes {pipe.stage = 0 : i64, pipe.action = "W"} {
    %g = graph.matmul %h, %h {transpose_lhs} : tensor<2x4xf32>, tensor<2x4xf32>
    return %g : tensor<4x4xf32>
  }
  func.func @stage_0_update_0(%g: tensor<4x4xf32> {pipe.held = {by = @stage_0_weight_gradient, result = 0 : i64}})
      attributes {pipe.stage = 0 : i64, pipe.action = "U0"} {
    graph.set_parameter @w, %g : tensor<4x4xf32>
    return
  }
  pipe.actions 0 stages [0] ["0F0", "0I0", "0W0", "0F1", "0I1", "0W1", "0U0"]
})mlir");
  ASSERT_EQ(program.stages.size(), 1u);
  const program::StageT &stage = *program.stages[0];
  std::string used;
  for (const auto &action : program.actions)
    used += std::to_string(action->bytes_during) + "/" +
            std::to_string(action->bytes_after) + " " +
            std::to_string(action->gradients_during) + "/" +
            std::to_string(action->gradients_after) + "; ";
  EXPECT_EQ(used, "256/256 0/0; 320/192 0/0; 256/128 64/0; "
                  "256/256 0/0; 320/192 0/0; 256/192 64/64; "
                  "192/128 64/0; ");
  EXPECT_EQ(stage.flops,
            2 * 2 * (2 * 4 * 4 + 2 * 2 * 4 + 2 * 2 * 2 + 4 * 4 * 2));
  EXPECT_EQ(program.samples, 4);
  EXPECT_EQ(program.peak_flops, 0) << "nobody has given a cluster";
  EXPECT_EQ(program.inputs[0]->batch_dim, 0);
  EXPECT_TRUE(program.inputs[0]->is_labels);
}

static std::string updateOf(const std::string &update,
                            const std::string &behind = "") {
  return R"mlir(
module attributes {dist.mesh = #dist.mesh<tp = 1>, graph.inputs = [], graph.outputs = []} {
  graph.parameter @w : tensor<4x8xf32> trained
  rank.kernel @halve(%w: tensor<4x8xf32>) -> tensor<4x8xf32> {
    %h = graph.add %w, %w : tensor<4x8xf32>, tensor<4x8xf32>
    rank.yield %h : tensor<4x8xf32>
  }
  rank.kernel @turn(%w: tensor<4x8xf32>) -> tensor<4x8xf32> {
    %r = graph.slice %w starts [3, 0] sizes [4, 8] steps [-1, 1] : tensor<4x8xf32>
    rank.yield %r : tensor<4x8xf32>
  }
  func.func @stage_0() attributes {pipe.stage = 0 : i64} {
    %w = graph.get_parameter @w : tensor<4x8xf32>
    %m = graph.matmul %w, %w {transpose_rhs} : tensor<4x8xf32>, tensor<4x8xf32>
    return
  }
  func.func @stage_0_update_0() attributes {pipe.stage = 0 : i64, pipe.action = "U0"} {
    %w = graph.get_parameter @w : tensor<4x8xf32>
    %n = rank.launch )mlir" +
         update + R"mlir((%w) : (tensor<4x8xf32>) -> tensor<4x8xf32>
    )mlir" +
         behind +
         R"mlir(
    graph.set_parameter @w, %n : tensor<4x8xf32>
    return
  }
  pipe.actions 0 stages [0] ["0F0", "0U0"]
})mlir";
}

static bool copies(const program::ProgramT &program) {
  return llvm::any_of(program.functions[1]->instructions,
                      [](const auto &instruction) {
                        return instruction->body.AsCopy() != nullptr;
                      });
}

/// The arena holds the product of the forward pass.
TEST(BufferPlan, AWeightIsUpdatedWhereItLies) {
  const program::ProgramT program = programOf(updateOf("@halve"));
  EXPECT_FALSE(copies(program));
  EXPECT_EQ(program.arena_bytes, 64);
}

/// Bytes must stay if they are read at other places than written, or by an op
/// after the update.
TEST(BufferPlan, AWeightThatIsReadBehindItsUpdateIsCopied) {
  EXPECT_TRUE(copies(programOf(updateOf("@turn"))));
  EXPECT_TRUE(copies(programOf(updateOf(
      "@halve", "%m = graph.matmul %w, %w {transpose_rhs} : tensor<4x8xf32>, "
                "tensor<4x8xf32>"))));
}
