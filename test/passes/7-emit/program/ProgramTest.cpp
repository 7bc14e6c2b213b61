//===- ProgramTest.cpp - the program of one position ----------------------===//

#include "passes/7-emit/program/ProgramWriter.h"
#include "runtime/program/VerifyProgram.h"
#include "test/passes/7-emit/program/Modules.h"

#include <gtest/gtest.h>

using namespace mlir;
using namespace pcc;
using namespace pcc::emit;
using namespace pcc::test;

namespace {
class ProgramTest : public testing::Test {
protected:
  ProgramTest() { loadDialects(context); }

  /// Writes the program of a position, which the loader must accept.
  program::ProgramT &write(const std::string &text, int position = 0) {
    module = parseSourceString<ModuleOp>(text, ParserConfig(&context));
    auto read = readFacts(*module);
    EXPECT_TRUE(read) << read.status().message();
    facts = std::move(*read);
    written = PositionProgram();
    Status status = writeProgram(*facts, position, written);
    EXPECT_TRUE(status.ok()) << status.message();
    status = runtime::verifyProgram(
        written.tables, static_cast<int64_t>(written.constants.size()));
    EXPECT_TRUE(status.ok()) << status.message();
    return written.tables;
  }

  /// Returns the collectives by part and value; "compute" for other
  /// instructions.
  static std::vector<std::string> namesOf(const program::FunctionT &function) {
    std::vector<std::string> names;
    for (const auto &instruction : function.instructions) {
      const program::CollectiveT *half = instruction->body.AsCollective();
      names.push_back(
          half ? std::string(program::EnumNameCollectivePart(half->part)) +
                     " " + half->value
               : "compute");
    }
    return names;
  }

  const program::BufferT &buffer(int32_t index) {
    return *written.tables.buffers[index];
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
  std::optional<ModelFacts> facts;
  PositionProgram written;
};
} // namespace

TEST_F(ProgramTest, APositionHasItsStageAndAllPorts) {
  program::ProgramT &program = write(twoStages, 0);
  EXPECT_EQ(program.axes.size(), 2u);
  EXPECT_EQ(program.axes[0]->name, "pp");
  EXPECT_EQ(program.stage_positions, (std::vector<int32_t>{0, 1}));
  ASSERT_EQ(program.functions.size(), 1u);
  EXPECT_EQ(program.functions[0]->instructions.size(), 1u);
  EXPECT_GE(program.inputs[0]->buffer, 0);
  EXPECT_EQ(program.outputs[0]->buffer, -1);
  ASSERT_EQ(program.parameters.size(), 1u);
  EXPECT_EQ(program.parameters[0]->local_bytes, 8 * 8 * 4);
}

TEST_F(ProgramTest, InputsHaveASlotPerMicrobatch) {
  program::ProgramT &program = write(twoStages, 0);
  EXPECT_EQ(buffer(program.inputs[0]->buffer).slots, 2);
}

/// A message arrives while the one before it is used.
TEST_F(ProgramTest, MessagesHaveTwoSlots) {
  program::ProgramT &program = write(twoStages, 1);
  ASSERT_EQ(program.transfers.size(), 1u);
  EXPECT_EQ(program.transfers[0]->from_buffer, -1);
  EXPECT_EQ(buffer(program.transfers[0]->to_buffer).slots, 2);
}

TEST_F(ProgramTest, PostsAndWaitsStandBetweenActions) {
  program::ProgramT &program = write(twoStages, 1);
  std::string kinds;
  for (const auto &action : program.actions)
    kinds += program::EnumNameActionKind(action->kind)[0];
  EXPECT_EQ(kinds, "PWFWF");
}

TEST_F(ProgramTest, AnAllReduceIsInPlace) {
  program::ProgramT &program = write(twoStages, 1);
  const auto *reduce =
      program.functions[0]->instructions[1]->body.AsCollective();
  ASSERT_TRUE(reduce);
  EXPECT_EQ(buffer(reduce->in).offset, buffer(reduce->out).offset);
  EXPECT_EQ(reduce->group, 0);
  ASSERT_EQ(program.groups.size(), 1u);
}

/// There are three gradients; at most two of their reductions are in flight.
TEST_F(ProgramTest, GradientsAreReducedWhileOthersAreMade) {
  program::ProgramT &program = write(R"mlir(
#partial = #dist.sharding<"[-, -] partial sum(dp:2)">
#whole = #dist.sharding<"[-, -]">
#rows = #dist.sharding<"[4@dp:2, -]">
!t = tensor<4x4xf32>
module attributes {dist.mesh = #dist.mesh<dp = 2>, graph.outputs = [],
                   graph.inputs = [{graph.name = "x", dist.global = !t}]} {
  func.func @stage_0(%x: !t {graph.name = "x"}) -> !t attributes {pipe.stage = 0 : i64} {
    %h = graph.matmul %x, %x : !t, !t
    return %h : !t
  }
  func.func @stage_0_backward(%h: !t {pipe.held = {by = @stage_0, result = 0 : i64}})
      -> (!t, !t, !t) attributes {pipe.stage = 0 : i64, pipe.action = "B"} {
    %a = graph.matmul %h, %h : !t, !t
    %b = graph.matmul %h, %h {transpose_lhs} : !t, !t
    %c = graph.matmul %h, %h {transpose_rhs} : !t, !t
    %r = dist.collective all_reduce %c from #partial to #whole shape [4, 4] received 64 value "c" : !t to !t
    return %a, %b, %r : !t, !t, !t
  }
  func.func @stage_0_update_0(%a: !t {pipe.held = {by = @stage_0_backward, result = 0 : i64}},
                              %b: !t {pipe.held = {by = @stage_0_backward, result = 1 : i64}},
                              %c: !t {pipe.held = {by = @stage_0_backward, result = 2 : i64}})
      attributes {pipe.stage = 0 : i64, pipe.action = "U0"} {
    %s = dist.collective reduce_scatter %a from #partial to #rows shape [4, 4] received 32 value "a" : !t to tensor<2x4xf32>
    %r = dist.collective all_reduce %b from #partial to #whole shape [4, 4] received 64 value "b" : !t to !t
    %u = graph.matmul %s, %r : tensor<2x4xf32>, !t
    %v = graph.matmul %u, %c : tensor<2x4xf32>, !t
    return
  }
  pipe.actions 0 stages [0] ["0F0", "0B0", "0U0"]
})mlir");
  ASSERT_EQ(program.functions.size(), 3u);
  EXPECT_EQ(namesOf(*program.functions[1]),
            (std::vector<std::string>{"compute", "Start a", "compute",
                                      "Start b", "compute", "Finish a",
                                      "Start c", "Finish b", "Finish c"}));
  EXPECT_EQ(program.functions[2]->instructions.size(), 2u);
}

TEST_F(ProgramTest, SumsOfPartsWaitForTheirReduction) {
  program::ProgramT &program = write(R"mlir(
#partial = #dist.sharding<"[-, -] partial sum(dp:2)">
#rows = #dist.sharding<"[4@dp:2, -]">
!t = tensor<4x4xf32>
!part = tensor<2x4xf32>
module attributes {dist.mesh = #dist.mesh<mb = 2, dp = 2>, graph.outputs = [], pipe.microbatches = 2 : i64,
                   graph.inputs = [{graph.name = "x", dist.global = !t}]} {
  rank.kernel @add(%a: !part, %b: !part) -> !part {
    %s = graph.add %a, %b : !part, !part
    rank.yield %s : !part
  }
  func.func @stage_0(%x: !t {graph.name = "x"}) -> !t attributes {pipe.stage = 0 : i64} {
    %h = graph.matmul %x, %x : !t, !t
    return %h : !t
  }
  func.func @stage_0_backward(%h: !t {pipe.held = {by = @stage_0, result = 0 : i64}},
                              %a: !part {pipe.held = {by = @stage_0_backward, result = 0 : i64}})
      -> (!part, !part) attributes {pipe.stage = 0 : i64, pipe.action = "B"} {
    %da = graph.matmul %h, %h : !t, !t
    %ra = dist.collective reduce_scatter %da from #partial to #rows shape [4, 4] received 32 value "a" : !t to !part
    %sa = rank.launch @add(%a, %ra) : (!part, !part) -> !part
    %db = graph.matmul %h, %h : !t, !t
    %rb = dist.collective reduce_scatter %db from #partial to #rows shape [4, 4] received 32 value "b" : !t to !part
    %sb = graph.matmul %rb, %h : !part, !t
    return %sa, %sb : !part, !part
  }
  pipe.actions 0 stages [0] ["0F0", "0F1", "0B0", "0B1"]
})mlir");
  ASSERT_EQ(program.functions.size(), 2u);
  // A value that is no sum over microbatches is reduced at once.
  EXPECT_EQ(
      namesOf(*program.functions[1]),
      (std::vector<std::string>{"compute", "Start a", "compute", "Whole b",
                                "compute", "Finish a", "compute"}));
  const auto &instructions = program.functions[1]->instructions;
  EXPECT_TRUE(instructions.back()->body.AsKernel());
  EXPECT_EQ(instructions[1]->body.AsCollective()->only, -1);
}

// A sum that waits for one reduction is itself reduced, over another axis.
TEST_F(ProgramTest, ASumThatWaitsIsReduced) {
  program::ProgramT &program = write(R"mlir(
#partial = #dist.sharding<"[-, -] partial sum(dp:2+tp:2)">
#rows = #dist.sharding<"[4@dp:2, -] partial sum(tp:2)">
#done = #dist.sharding<"[4@dp:2, -]">
!t = tensor<4x4xf32>
!part = tensor<2x4xf32>
module attributes {dist.mesh = #dist.mesh<mb = 2, dp = 2, tp = 2>, graph.outputs = [], pipe.microbatches = 2 : i64,
                   graph.inputs = [{graph.name = "x", dist.global = !t}]} {
  rank.kernel @add(%a: !part, %b: !part) -> !part {
    %s = graph.add %a, %b : !part, !part
    rank.yield %s : !part
  }
  func.func @stage_0(%x: !t {graph.name = "x"}) -> !t attributes {pipe.stage = 0 : i64} {
    %h = graph.matmul %x, %x : !t, !t
    return %h : !t
  }
  func.func @stage_0_backward(%h: !t {pipe.held = {by = @stage_0, result = 0 : i64}},
                              %a: !part {pipe.held = {by = @stage_0_backward, result = 0 : i64}})
      -> !part attributes {pipe.stage = 0 : i64, pipe.action = "B"} {
    %da = graph.matmul %h, %h : !t, !t
    %ra = dist.collective reduce_scatter %da from #partial to #rows shape [4, 4] received 32 value "dp" : !t to !part
    %sa = rank.launch @add(%a, %ra) : (!part, !part) -> !part
    return %sa : !part
  }
  func.func @stage_0_update_0(%a: !part {pipe.held = {by = @stage_0_backward, result = 0 : i64}})
      attributes {pipe.stage = 0 : i64, pipe.action = "U0"} {
    %r = dist.collective all_reduce %a from #rows to #done shape [4, 4] received 32 value "tp" : !part to !part
    %u = graph.matmul %r, %r {transpose_rhs} : !part, !part
    return
  }
  pipe.actions 0 stages [0] ["0F0", "0F1", "0B0", "0B1", "0U0"]
})mlir");
  ASSERT_EQ(program.functions.size(), 3u);
  EXPECT_EQ(namesOf(*program.functions[1]),
            (std::vector<std::string>{"compute", "Start dp", "Finish dp",
                                      "compute", "Start tp", "Finish tp"}));
  EXPECT_EQ(
      program.functions[1]->instructions.back()->body.AsCollective()->only, 1);
}

TEST_F(ProgramTest, WeightsAreGatheredAhead) {
  program::ProgramT &program = write(R"mlir(
#rows = #dist.sharding<"[4@dp:2, -]">
#whole = #dist.sharding<"[-, -]">
!t = tensor<4x4xf32>
!part = tensor<2x4xf32>
module attributes {dist.mesh = #dist.mesh<dp = 2>,
                   graph.inputs = [{graph.name = "x", dist.global = !t}],
                   graph.outputs = [{graph.name = "z", dist.global = !t}]} {
  graph.parameter @v : !t
  graph.parameter @w : !t
  rank.kernel @half(%w: !part) -> !part {
    %h = graph.neg %w : !part
    rank.yield %h : !part
  }
  func.func @stage_0(%x: !t {graph.name = "x"}) -> (!t {graph.name = "z"}) attributes {pipe.stage = 0 : i64} {
    %v = graph.get_parameter @v {dist.shardings = [#rows]} : !part
    %gv = dist.collective all_gather %v from #rows to #whole shape [4, 4] received 32 value "v" : !part to !t
    %y = graph.matmul %x, %gv : !t, !t
    %w = graph.get_parameter @w {dist.shardings = [#rows]} : !part
    %n = rank.launch @half(%w) : (!part) -> !part
    %gw = dist.collective all_gather %n from #rows to #whole shape [4, 4] received 32 value "w" : !part to !t
    %z = graph.matmul %y, %gw : !t, !t
    %p = dist.collective slice %z from #whole to #rows shape [4, 4] received 0 value "z" : !t to !part
    %gz = dist.collective all_gather %p from #rows to #whole shape [4, 4] received 32 value "z" : !part to !t
    return %gz : !t
  }
  pipe.actions 0 stages [0] ["0F0"]
})mlir");
  EXPECT_EQ(namesOf(*program.functions[0]),
            (std::vector<std::string>{"Start v", "Finish v", "compute",
                                      "Start w", "compute", "Finish w",
                                      "compute", "Whole z", "Whole z"}));
}

TEST_F(ProgramTest, AReshapeIsNoInstruction) {
  program::ProgramT &program = write(oneRank(R"mlir(
    %t = graph.reshape %x : tensor<4x8xf32> to tensor<8x4xf32>
    %c = graph.constant dense<2.0> : tensor<4x8xf32>
    %m = graph.matmul %x, %t : tensor<4x8xf32>, tensor<8x4xf32>
    %y = graph.matmul %m, %c : tensor<4x4xf32>, tensor<4x8xf32>)mlir"));
  EXPECT_EQ(program.functions[0]->instructions.size(), 2u);
  EXPECT_EQ(written.constants.size(), 4u * 8 * 4);
}

TEST_F(ProgramTest, TransposesAreStrides) {
  program::ProgramT &program = write(oneRank(R"mlir(
    %s = graph.matmul %x, %x {transpose_rhs} : tensor<4x8xf32>, tensor<4x8xf32>
    %y = graph.matmul %s, %x {transpose_lhs} : tensor<4x4xf32>, tensor<4x8xf32>)mlir"));
  const auto *first = program.functions[0]->instructions[0]->body.AsMatmul();
  EXPECT_EQ(first->b_strides, (std::vector<int64_t>{1, 8}));
  EXPECT_EQ(first->k, 8);
  const auto *second = program.functions[0]->instructions[1]->body.AsMatmul();
  EXPECT_EQ(second->a_strides, (std::vector<int64_t>{1, 4}));
}

/// All ops in the call's body are one instruction.
TEST_F(ProgramTest, ALibraryCallIsOneInstruction) {
  program::ProgramT &program = write(oneRank(R"mlir(
    %w = graph.constant dense<1.0> : tensor<8x8xf32>
    %b = graph.constant dense<1.0> : tensor<1x8xf32>
    %y = rank.library_call(%x, %w, %b) : (tensor<4x8xf32>, tensor<8x8xf32>, tensor<1x8xf32>) -> tensor<4x8xf32> {
    ^bb0(%0: tensor<4x8xf32>, %1: tensor<8x8xf32>, %2: tensor<1x8xf32>):
      %m = graph.matmul %0, %1 : tensor<4x8xf32>, tensor<8x8xf32>
      %s = graph.add %m, %2 : tensor<4x8xf32>, tensor<1x8xf32>
      %g = graph.gelu %s {tanh} : tensor<4x8xf32>
      %r = graph.add %0, %g : tensor<4x8xf32>, tensor<4x8xf32>
      rank.yield %r : tensor<4x8xf32>
    } loc("call"))mlir"));
  ASSERT_EQ(program.functions[0]->instructions.size(), 1u);
  EXPECT_EQ(program.functions[0]->instructions[0]->node, "call");
  const auto *product = program.functions[0]->instructions[0]->body.AsMatmul();
  ASSERT_TRUE(product);
  EXPECT_EQ(product->activation, program::Activation::GeluTanh);
  EXPECT_EQ(buffer(product->bias).memory, program::Memory::Constant);
  EXPECT_EQ(product->residual, product->a);
  EXPECT_EQ(product->residual_strides, (std::vector<int64_t>{8, 1}));
}

TEST_F(ProgramTest, LayoutsInALibraryCallAreOffsetsAndStrides) {
  program::ProgramT &program = write(oneRank(R"mlir(
    %c = rank.library_call(%x) : (tensor<4x8xf32>) -> tensor<2x2x8xf32> {
    ^bb0(%0: tensor<4x8xf32>):
      %s = graph.slice %0 starts [0, 4] sizes [4, 4] steps [1, 1] : tensor<4x8xf32>
      %h = graph.reshape %s : tensor<4x4xf32> to tensor<4x2x2xf32>
      %l = graph.transpose %h [1, 2, 0] : tensor<4x2x2xf32>
      %m = graph.matmul %l, %0 : tensor<2x2x4xf32>, tensor<4x8xf32>
      %t = graph.transpose %m [1, 0, 2] : tensor<2x2x8xf32>
      rank.yield %t : tensor<2x2x8xf32>
    }
    %y = graph.reshape %c : tensor<2x2x8xf32> to tensor<4x8xf32>)mlir"));
  const auto *product = program.functions[0]->instructions[0]->body.AsMatmul();
  ASSERT_TRUE(product);
  EXPECT_EQ(product->a_offset, 4);
  EXPECT_EQ(product->a_strides, (std::vector<int64_t>{2, 1, 8}));
  EXPECT_EQ(product->b_strides, (std::vector<int64_t>{0, 8, 1}));
  EXPECT_EQ(product->c_strides, (std::vector<int64_t>{8, 16, 1}));
}

TEST_F(ProgramTest, AConvolutionHasItsBiasAndActivation) {
  program::ProgramT &program = write(oneRank(R"mlir(
    %i = graph.reshape %x : tensor<4x8xf32> to tensor<1x4x8xf32>
    %w = graph.constant dense<1.0> : tensor<4x4x1xf32>
    %b = graph.constant dense<1.0> : tensor<1x4x1xf32>
    %o = rank.library_call(%i, %w, %b) : (tensor<1x4x8xf32>, tensor<4x4x1xf32>, tensor<1x4x1xf32>) -> tensor<1x4x8xf32> {
    ^bb0(%0: tensor<1x4x8xf32>, %1: tensor<4x4x1xf32>, %2: tensor<1x4x1xf32>):
      %c = graph.conv %0, %1 {strides = array<i64: 1>, pads = array<i64: 0, 0>, dilations = array<i64: 1>}
          : tensor<1x4x8xf32>, tensor<4x4x1xf32>
      %s = graph.add %c, %2 : tensor<1x4x8xf32>, tensor<1x4x1xf32>
      %a = graph.relu %s : tensor<1x4x8xf32>
      rank.yield %a : tensor<1x4x8xf32>
    }
    %y = graph.reshape %o : tensor<1x4x8xf32> to tensor<4x8xf32>)mlir"));
  const auto *conv = program.functions[0]->instructions[0]->body.AsConv();
  ASSERT_TRUE(conv);
  EXPECT_EQ(conv->activation, program::Activation::Relu);
  EXPECT_EQ(conv->residual, -1);
  EXPECT_EQ(buffer(conv->bias).shape, (std::vector<int64_t>{1, 4, 1}));
}

/// No instruction truncates a product before it adds to it.
TEST_F(ProgramTest, ACallThatNoLibraryHasIsRefused) {
  module = parseSourceString<ModuleOp>(oneRank(R"mlir(
    %y = rank.library_call(%x) : (tensor<4x8xf32>) -> tensor<4x8xf32> {
    ^bb0(%0: tensor<4x8xf32>):
      %m = graph.matmul %0, %0 {transpose_lhs} : tensor<4x8xf32>, tensor<4x8xf32>
      %z = graph.slice %m starts [0, 0] sizes [4, 8] steps [1, 1] : tensor<8x8xf32>
      %r = graph.add %z, %0 : tensor<4x8xf32>, tensor<4x8xf32>
      rank.yield %r : tensor<4x8xf32>
    } loc("bad"))mlir"),
                                       ParserConfig(&context));
  auto read = readFacts(*module);
  ASSERT_TRUE(read) << read.status().message();
  facts = std::move(*read);
  Status status = writeProgram(*facts, 0, written);
  EXPECT_EQ(status.message(),
            "the cpu device cannot run rank.library_call (node 'bad')");
}

/// "tec,ecd->td": e and c are contiguous in both operands and are summed as one
/// dim.
TEST_F(ProgramTest, AnEinsumSumsLettersThatRunOn) {
  program::ProgramT &program = write(oneRank(R"mlir(
    %l = graph.constant dense<1.0> : tensor<4x2x3xf32>
    %r = graph.constant dense<1.0> : tensor<2x3x8xf32>
    %y = graph.einsum "tec,ecd->td" %l, %r : tensor<4x2x3xf32>, tensor<2x3x8xf32>)mlir"));
  const auto *product = program.functions[0]->instructions[0]->body.AsMatmul();
  ASSERT_TRUE(product);
  EXPECT_EQ(product->m, 4);
  EXPECT_EQ(product->k, 6);
  EXPECT_EQ(product->n, 8);
  EXPECT_EQ(product->b_strides, (std::vector<int64_t>{8, 1}));
}

/// "td,th->hd" has its result by columns. The product writes it by rows, which
/// libraries can do.
TEST_F(ProgramTest, AnEinsumWritesRows) {
  program::ProgramT &program = write(oneRank(R"mlir(
    %l = graph.constant dense<1.0> : tensor<5x8xf32>
    %r = graph.constant dense<2.0> : tensor<5x4xf32>
    %y = graph.einsum "td,th->hd" %l, %r : tensor<5x8xf32>, tensor<5x4xf32>)mlir"));
  const auto *product = program.functions[0]->instructions[0]->body.AsMatmul();
  ASSERT_TRUE(product);
  EXPECT_EQ(product->m, 4);
  EXPECT_EQ(product->n, 8);
  EXPECT_EQ(product->a_strides, (std::vector<int64_t>{1, 4}));
  EXPECT_EQ(product->b_strides, (std::vector<int64_t>{8, 1}));
  EXPECT_EQ(product->c_strides, (std::vector<int64_t>{8, 1}));
}

TEST_F(ProgramTest, AnEinsumRunsOverSharedLetters) {
  program::ProgramT &program = write(oneRank(R"mlir(
    %l = graph.constant dense<1.0> : tensor<4x5xf32>
    %r = graph.constant dense<1.0> : tensor<5x4x8xf32>
    %y = graph.einsum "tc,ctd->td" %l, %r : tensor<4x5xf32>, tensor<5x4x8xf32>)mlir"));
  const auto *product = program.functions[0]->instructions[0]->body.AsMatmul();
  ASSERT_TRUE(product);
  EXPECT_EQ(product->batch, (std::vector<int64_t>{4}));
  EXPECT_EQ(product->m, 1);
  EXPECT_EQ(product->b_strides, (std::vector<int64_t>{8, 32, 1}));
}

TEST_F(ProgramTest, ACheckOfIndicesIsAnInstruction) {
  program::ProgramT &program = write(R"mlir(
module attributes {
  graph.inputs = [{graph.name = "ids", dist.global = tensor<4xi64>}],
  graph.outputs = [{graph.name = "y", dist.global = tensor<4x8xf32>}]} {
  graph.parameter @table : tensor<50x8xf32>
  rank.kernel @k(%t: tensor<50x8xf32>, %i: tensor<4xi64>) -> tensor<4x8xf32> {
    %r = graph.gather %t, %i along 0 : tensor<50x8xf32>, tensor<4xi64>
    rank.yield %r : tensor<4x8xf32>
  }
  func.func @stage_0(%ids: tensor<4xi64> {graph.name = "ids"})
      -> (tensor<4x8xf32> {graph.name = "y"}) attributes {pipe.stage = 0 : i64} {
    %t = graph.get_parameter @table : tensor<50x8xf32>
    graph.check_indices %ids below [50] of "table" {graph.name = "ids"}
        : tensor<4xi64> loc("embed")
    %y = rank.launch @k(%t, %ids) : (tensor<50x8xf32>, tensor<4xi64>) -> tensor<4x8xf32> loc("last")
    return %y : tensor<4x8xf32>
  }
  pipe.actions 0 stages [0] ["0F0"]
})mlir");
  EXPECT_EQ(program.inputs[0]->index_bound, 50);
  const auto &instructions = program.functions[0]->instructions;
  ASSERT_EQ(instructions.size(), 2u);
  const auto *check = instructions[0]->body.AsCheckIndices();
  ASSERT_TRUE(check);
  EXPECT_EQ(check->sizes, (std::vector<int64_t>{50}));
  EXPECT_FALSE(check->from_zero);
  EXPECT_EQ(check->input, "ids");
  EXPECT_EQ(check->table_name, "table");
  EXPECT_EQ(instructions[0]->node, "embed");
}

/// Random inputs stay below the smallest dim that they index, also where a
/// kernel slices or masks them first.
TEST_F(ProgramTest, BoundsOfInputsFollowFromChecks) {
  program::ProgramT &program = write(R"mlir(
module attributes {
  graph.inputs = [{graph.name = "ids", dist.global = tensor<4x2xi64>},
                  {graph.name = "labels", dist.global = tensor<4xi64>},
                  {graph.name = "keep", dist.global = tensor<4xi1>}],
  graph.outputs = [{graph.name = "y", dist.global = tensor<4xi64>}]} {
  rank.kernel @k(%i: tensor<4x2xi64>, %l: tensor<4xi64>, %m: tensor<4xi1>)
      -> (tensor<4xi64>, tensor<4xi64>) {
    %c = graph.slice %i starts [0, 0] sizes [4, 1] steps [1, 1] : tensor<4x2xi64>
    %v = graph.reshape %c : tensor<4x1xi64> to tensor<4xi64>
    %z = graph.constant dense<0> : tensor<i64>
    %s = graph.select %m, %l, %z : tensor<4xi1>, tensor<4xi64>, tensor<i64>
    rank.yield %v, %s : tensor<4xi64>, tensor<4xi64>
  }
  func.func @stage_0(%ids: tensor<4x2xi64> {graph.name = "ids"},
                     %labels: tensor<4xi64> {graph.name = "labels"},
                     %keep: tensor<4xi1> {graph.name = "keep"})
      -> (tensor<4xi64> {graph.name = "y"}) attributes {pipe.stage = 0 : i64} {
    %v, %s = rank.launch @k(%ids, %labels, %keep)
        : (tensor<4x2xi64>, tensor<4xi64>, tensor<4xi1>) -> (tensor<4xi64>, tensor<4xi64>)
    graph.check_indices %v below [50] of "table" : tensor<4xi64>
    graph.check_indices %s below [40] of "table" : tensor<4xi64>
    graph.check_indices %s below [30] of "table" : tensor<4xi64>
    return %s : tensor<4xi64>
  }
  pipe.actions 0 stages [0] ["0F0"]
})mlir");
  EXPECT_EQ(program.inputs[0]->index_bound, 50);
  EXPECT_EQ(program.inputs[1]->index_bound, 30);
  EXPECT_EQ(program.inputs[2]->index_bound, 0);
  EXPECT_EQ(program.functions[0]->instructions.size(), 4u);
}

/// Returns a module in which x is masked from one sharding to another on
/// `mesh`, then summed.
static std::string maskOf(const std::string &mesh, const std::string &from,
                          const std::string &to) {
  return "module attributes {dist.mesh = #dist.mesh<" + mesh + R"mlir(>,
  graph.inputs = [{graph.name = "x", dist.global = tensor<4x8xf32>}],
  graph.outputs = [{graph.name = "y", dist.global = tensor<4x8xf32>}]} {
  func.func @stage_0(%x: tensor<4x8xf32> {graph.name = "x"})
      -> (tensor<4x8xf32> {graph.name = "y"}) attributes {pipe.stage = 0 : i64} {
    %m = dist.collective mask %x from <")mlir" +
         from + "\"> to <\"" + to + R"mlir(">
        shape [4, 8] received 0 value "m" : tensor<4x8xf32> to tensor<4x8xf32>
    %y = dist.collective all_reduce %m from <")mlir" +
         to + R"mlir("> to <"[-, -]">
        shape [4, 8] received 128 value "m" : tensor<4x8xf32> to tensor<4x8xf32>
    return %y : tensor<4x8xf32>
  }
  pipe.actions 0 stages [0] ["0F0"]
})mlir";
}

/// The value stays on the first rank; the others get zeros.
TEST_F(ProgramTest, AMaskIsAFillAndACopy) {
  program::ProgramT &program =
      write(maskOf("tp = 2", "[-, -]", "[-, -] partial sum(tp:2)"));
  const auto &instructions = program.functions[0]->instructions;
  ASSERT_EQ(instructions.size(), 3u);
  ASSERT_TRUE(instructions[0]->body.AsFill());
  const auto *copy = instructions[1]->body.AsCopy();
  ASSERT_TRUE(copy);
  EXPECT_EQ(copy->target_offset->high, 32);
}

/// If a value is partial over a part of an axis already, only the other part is
/// masked: ranks 0 and 2 keep their values.
TEST_F(ProgramTest, AMaskKeepsWhatWasPartialBefore) {
  program::ProgramT &program = write(
      maskOf("dp = 4", "[-, -] partial sum(dp:2)", "[-, -] partial sum(dp:4)"));
  const program::CopyT *copy = nullptr;
  for (const auto &instruction : program.functions[0]->instructions)
    if (const auto *found = instruction->body.AsCopy())
      copy = found;
  ASSERT_TRUE(copy);
  ASSERT_EQ(copy->target_offset->terms.size(), 1u);
  EXPECT_EQ(copy->target_offset->terms[0]->part->pre(), 2);
  EXPECT_EQ(copy->target_offset->terms[0]->part->size(), 2);
}

TEST_F(ProgramTest, ADeviceThatCannotRunAnOpSaysWhich) {
  module = parseSourceString<ModuleOp>(
      oneRank("%y = graph.cumsum %x along 1 : tensor<4x8xf32>\n"
              "%z = graph.softmax %x over 1 : tensor<4x8xf32> loc(\"bad\")"),
      ParserConfig(&context));
  auto read = readFacts(*module);
  ASSERT_TRUE(read) << read.status().message();
  facts = std::move(*read);
  Status status = writeProgram(*facts, 0, written);
  EXPECT_EQ(status.code(), Unsupported);
  EXPECT_EQ(status.message(),
            "the cpu device cannot run graph.softmax (node 'bad')");
}
