//===- FirstDifferenceTest.cpp - edits of ops without a name --------------===//

#include "passes/interpret/compare/FirstDifference.h"
#include "passes/interpret/compare/VerdictText.h"
#include "test/passes/interpret/Parsed.h"

#include <gtest/gtest.h>

using namespace pcc;
using namespace pcc::interpret;

// A step that changes a weight. Only the output has a name.
static const char *whole = R"(
  module {
    graph.parameter @w : tensor<4xf32> fill 0.25 trained
    graph.parameter @sum : tensor<4xf32> fill 0.0
    func.func @main(%x: tensor<6x4xf32> {graph.name = "x"}) -> (tensor<4xf32> {graph.name = "y"}) {
      %w = graph.get_parameter @w : tensor<4xf32> loc("read")
      %y = graph.mul %w, %w {graph.name = "y"} : tensor<4xf32>, tensor<4xf32> loc("square")
      %g = graph.reduce sum %x over [0] : tensor<6x4xf32> loc("gradient")
      %e = graph.exp %w : tensor<4xf32> loc("exp")
      %h = graph.mul %g, %e : tensor<4xf32>, tensor<4xf32> loc("scaled")
      %s = graph.get_parameter @sum : tensor<4xf32> loc("optimizer"("m":0:0))
      %t = graph.add %s, %h : tensor<4xf32>, tensor<4xf32> loc("optimizer"("m":0:0))
      %n = graph.sub %w, %t : tensor<4xf32>, tensor<4xf32> loc("optimizer"("m":0:0))
      graph.set_parameter @sum, %t : tensor<4xf32> loc("optimizer"("m":0:0))
      graph.set_parameter @w, %n : tensor<4xf32> loc("write")
      return %y : tensor<4xf32>
    }
  })";

// Two ranks split the rows of x, which three microbatches divide. The ranks
// compute exp by three ops.
static const char *parts = R"mlir(
  #mesh = #dist.mesh<mb = 3, dp = 2>
  #x = #dist.sharding<"[6@mb:3+dp:2, -]">
  #whole = #dist.sharding<"[-]">
  #terms = #dist.sharding<"[-] partial sum(mb:3+dp:2)">
  #sum = #dist.sharding<"[-] partial sum(dp:2)">
  module attributes {dist.mesh = #mesh} {
    graph.parameter @w : tensor<4xf32> fill 0.25 trained
    graph.parameter @sum : tensor<4xf32> fill 0.0
    func.func @stage_0() -> (tensor<4xf32> {graph.name = "y"}) attributes {pipe.stage = 0 : i64} {
      %w = graph.get_parameter @w {dist.shardings = [#whole]} : tensor<4xf32> loc("read")
      %y = graph.mul %w, %w {dist.shardings = [#whole], graph.name = "y"} : tensor<4xf32>, tensor<4xf32> loc("square")
      return %y : tensor<4xf32>
    }
    func.func @stage_0_backward(%all: tensor<4xf32> {dist.sharding = #sum, pipe.held = {by = @stage_0_backward, result = 0 : i64}}, %x: tensor<1x4xf32> {graph.name = "x", dist.sharding = #x})
        -> tensor<4xf32> attributes {pipe.action = "B", pipe.stage = 0 : i64} {
      %g = graph.reduce sum %x over [0] {dist.shardings = [#terms]} : tensor<1x4xf32> loc("gradient")
      %r = graph.add %all, %g {dist.shardings = [#sum]} : tensor<4xf32>, tensor<4xf32> loc("gradient")
      return %r : tensor<4xf32>
    }
    func.func @stage_0_update_0(%r: tensor<4xf32> {dist.sharding = #sum, pipe.held = {by = @stage_0_backward, result = 0 : i64}})
        attributes {pipe.action = "U0", pipe.stage = 0 : i64} {
      %a = dist.collective all_reduce %r from #sum to #whole shape [4] received 0 value "g" {dist.shardings = [#whole]} : tensor<4xf32> to tensor<4xf32> loc("gradient")
      %w = graph.get_parameter @w {dist.shardings = [#whole]} : tensor<4xf32> loc("read")
      %2 = graph.constant dense<0.5> : tensor<f32>
      %d = graph.mul %w, %2 {dist.shardings = [#whole]} : tensor<4xf32>, tensor<f32> loc("exp")
      %f = graph.exp %d {dist.shardings = [#whole]} : tensor<4xf32> loc("exp")
      %e = graph.mul %f, %f {dist.shardings = [#whole]} : tensor<4xf32>, tensor<4xf32> loc("exp")
      %h = graph.mul %a, %e {dist.shardings = [#whole]} : tensor<4xf32>, tensor<4xf32> loc("scaled")
      %s = graph.get_parameter @sum {dist.shardings = [#whole]} : tensor<4xf32> loc("optimizer"("m":0:0))
      %t = graph.add %s, %h {dist.shardings = [#whole]} : tensor<4xf32>, tensor<4xf32> loc("optimizer"("m":0:0))
      %n = graph.sub %w, %t {dist.shardings = [#whole]} : tensor<4xf32>, tensor<4xf32> loc("optimizer"("m":0:0))
      graph.set_parameter @sum, %t {dist.placement = #whole} : tensor<4xf32> loc("optimizer"("m":0:0))
      graph.set_parameter @w, %n {dist.placement = #whole} : tensor<4xf32> loc("write")
      return
    }
    pipe.actions 0 stages [0] ["0F0", "0F1", "0F2", "0B0", "0B1", "0B2", "0U0"]
  })mlir";

/// Returns what is said of the first difference after `old`, a text in the
/// partitioned step, was replaced by `edited`; "none" if nothing is.
static std::string blamed(const std::string &old, const std::string &edited) {
  std::string text = parts;
  text.replace(text.find(old), old.size(), edited);
  Parser parser;
  auto model = parser.parse(whole);
  auto ranks = parser.parse(text);
  Inputs inputs;
  EXPECT_TRUE(
      makeInputs(model->lookupSymbol<mlir::func::FuncOp>("main"), {}, inputs)
          .ok());
  const auto first =
      findFirstDifference(*model, *ranks, inputs, graph::Numerics::Exact,
                          /*numSteps=*/3, /*numSamples=*/10);
  if (!first)
    return "none";
  const std::string said = describeFirst(*first);
  return said.substr(0, said.find(':'));
}

TEST(FirstDifference, RightValuesAreNotBlamed) {
  EXPECT_EQ(blamed("graph.exp", "graph.exp"), "none");
}

TEST(FirstDifference, TermsOfASumAreAddedOverRanksAndMicrobatches) {
  EXPECT_EQ(blamed("graph.reduce sum", "graph.reduce max"), "none");
  EXPECT_EQ(blamed("%g = graph.reduce sum %x over [0]",
                   "%v = graph.neg %x {dist.shardings = [#x]} : "
                   "tensor<1x4xf32> loc(\"other\")\n"
                   "%g = graph.reduce sum %v over [0]"),
            "the first value that differs is the result of graph.reduce at "
            "node 'gradient'");
}

TEST(FirstDifference, ASumThatLacksATermIsBlamed) {
  EXPECT_EQ(blamed("graph.add %all, %g", "graph.add %g, %g"),
            "the first value that differs is the result of graph.add at node "
            "'gradient'");
}

// The ranks alone compute exp(w / 2). Its square is right.
TEST(FirstDifference, PartsOfADividedOpAreNotBlamed) {
  EXPECT_EQ(blamed("%t = graph.add", "%t = graph.sub"),
            "the first value that differs is the result of graph.sub in the "
            "optimizer step");
}

// The wrong value equals an operand of its op, which the model computes, too.
TEST(FirstDifference, AnOpWithoutAnEffectIsBlamed) {
  EXPECT_EQ(blamed("graph.mul %a, %e", "graph.min %a, %a"),
            "the first value that differs is the result of graph.min at node "
            "'scaled'");
}

TEST(FirstDifference, PartsOfAWrongOpHaveItsPlace) {
  EXPECT_NE(
      blamed("%e = graph.mul %f", "%e = graph.sub %f").find("at node 'exp'"),
      std::string::npos);
}

// The state is 0 before the second step.
TEST(FirstDifference, LaterStepsAreCompared) {
  EXPECT_EQ(blamed("%t = graph.add %s,",
                   "%q = graph.neg %s {dist.shardings = [#whole]} : "
                   "tensor<4xf32> loc(\"optimizer\"(\"m\":0:0))\n"
                   "%t = graph.add %q,"),
            "the first value that differs is the result of graph.neg in the "
            "optimizer step");
}

TEST(FirstDifference, AWriteOfARightValueToAnotherParameterIsBlamed) {
  EXPECT_EQ(blamed("set_parameter @w, %n", "set_parameter @w, %t"),
            "the first value that differs is 'w', written by "
            "graph.set_parameter at node 'write'");
}
