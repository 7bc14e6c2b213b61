//===- VerificationTest.cpp - all ranks against the unpartitioned model ---===//

#include "passes/interpret/Verification.h"
#include "passes/interpret/elements/NpyFiles.h"
#include "passes/interpret/simulate/UnpartitionedRun.h"
#include "test/passes/interpret/Parsed.h"

#include <cmath>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <sstream>

using namespace pcc;
using namespace pcc::interpret;

// Row sums of a 4x3 matrix, then squared.
static const char *whole = R"(
  func.func @main(%x: tensor<4x3xf32> {graph.name = "x"})
      -> (tensor<4xf32> {graph.name = "y"}) {
    %s = graph.reduce sum %x over [1] {graph.name = "s"} : tensor<4x3xf32> loc("sums")
    %y = graph.mul %s, %s {graph.name = "y"} : tensor<4xf32>, tensor<4xf32>
    return %y : tensor<4xf32>
  })";

// Two stages and two microbatches, with columns split over tp. MASKED stands
// for the summed value, SUM for the op that reduces the partial sums, TABLE for
// the actions of stage 0.
static const char *parts = R"mlir(
  #mesh = #dist.mesh<mb = 2, tp = 2>
  #in = #dist.sharding<"[4@mb:2, 3@tp:2]">
  #out = #dist.sharding<"[4@mb:2]">
  #partial = #dist.sharding<"[4@mb:2] partial sum(tp:2)">
  module attributes {dist.mesh = #mesh} {
    func.func @stage_0(%x: tensor<2x2xf32> {graph.name = "x", dist.sharding = #in})
        attributes {pipe.stage = 0 : i64} {
      %i = dist.global_index <"[3@tp:2]"> of 3 : tensor<2xi64>
      %n = graph.constant dense<3> : tensor<i64>
      %real = graph.compare lt %i, %n : tensor<2xi64>, tensor<i64>
      %zero = graph.constant dense<0.0> : tensor<f32>
      %m = graph.select %real, %x, %zero : tensor<2xi1>, tensor<2x2xf32>, tensor<f32>
      %p = graph.reduce sum MASKED over [1] {dist.shardings = [#partial], graph.name = "s"} : tensor<2x2xf32>
      SUM
      pipe.send %s to 1 value "s" : tensor<2xf32>
      return
    }
    func.func @stage_1() -> (tensor<2xf32> {graph.name = "y"})
        attributes {pipe.stage = 1 : i64} {
      %s = pipe.receive from 0 value "s" : tensor<2xf32>
      %y = graph.mul %s, %s {dist.shardings = [#out], graph.name = "y"} : tensor<2xf32>, tensor<2xf32>
      return %y : tensor<2xf32>
    }
    pipe.actions 0 stages [0] TABLE
    pipe.actions 1 stages [1] ["1F0", "1F1"]
  })mlir";

static const char *allReduce =
    "%s = dist.collective all_reduce %p from #partial to #out shape [4] "
    "received 0 value \"s\" {dist.shardings = [#out]} : tensor<2xf32> to "
    "tensor<2xf32> loc(\"sums\")";

/// Returns `parts` with its placeholders replaced.
static std::string filled(const std::string &masked, const std::string &sum,
                          const std::string &table) {
  std::string text = parts;
  for (const auto &[hole, filling] :
       {std::pair("MASKED", masked), std::pair("SUM", sum),
        std::pair("TABLE", table)})
    text.replace(text.find(hole), strlen(hole), filling);
  return text;
}

namespace {
/// Both forms of the model, and the result of the verification.
struct Verified {
  explicit Verified(const std::string &partitioned,
                    graph::Numerics numerics = graph::Numerics::Exact)
      : model(parser.parse(whole)), ranks(parser.parse(partitioned)),
        verification(*model, numerics) {
    status = verification.simulate(*ranks, {});
    if (status.ok())
      status = verification.verdict();
  }

  Parser parser;
  mlir::OwningOpRef<mlir::ModuleOp> model, ranks;
  Verification verification;
  Status status = Status::success();
};
} // namespace

static const char *inOrder = R"(["0F0", "0F1"])";

/// Partial sums that are scaled by one, but not reduced.
static const char *dropped =
    "%one = graph.constant dense<1.0> : tensor<f32>\n"
    "%s = graph.mul %p, %one : tensor<2xf32>, tensor<f32>";

TEST(Verify, EqualIsEqual) {
  Verified equal(filled("%m", allReduce, inOrder));
  EXPECT_TRUE(equal.status.ok()) << equal.status.message();
}

TEST(Verify, ModelTypesAllowTheirRounding) {
  Verified equal(filled("%m", allReduce, inOrder), graph::Numerics::Model);
  EXPECT_TRUE(equal.status.ok()) << equal.status.message();
}

TEST(Verify, AnOutputIsAsPreciseAsWhatItIsComputedFrom) {
  Parser parser;
  auto module = parser.parse(R"(
    func.func @main(%x: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>) {
      %0 = graph.cast %x : tensor<2xf32> to tensor<2xbf16>
      %1 = graph.exp %0 : tensor<2xbf16>
      %2 = graph.cast %1 : tensor<2xbf16> to tensor<2xf32>
      return %2, %x : tensor<2xf32>, tensor<2xf32>
    })");
  auto *end =
      module->lookupSymbol<mlir::func::FuncOp>("main").front().getTerminator();
  const auto bf16 = mlir::BFloat16Type::get(&parser.context);
  const auto f32 = mlir::Float32Type::get(&parser.context);
  EXPECT_EQ(toleranceOf(end->getOperand(0), graph::Numerics::Model),
            toleranceOf(bf16, graph::Numerics::Model));
  EXPECT_EQ(toleranceOf(end->getOperand(1), graph::Numerics::Model),
            toleranceOf(f32, graph::Numerics::Model));
  EXPECT_EQ(toleranceOf(end->getOperand(0), graph::Numerics::Exact), 1e-12);
}

// A value that is folded in f32 for the partitioned form; it would differ in
// f64.
TEST(Verify, WhatFoldsIsRounded) {
  Parser parser;
  auto run = [&](const std::string &y) {
    return parser.parse("func.func @main() -> (tensor<f32> {graph.name = "
                        "\"y\"}) {\n" +
                        y + "\nreturn %y : tensor<f32>\n}");
  };
  auto model = run("%x = graph.constant dense<0.5> : tensor<f32>\n"
                   "%y = graph.tanh %x : tensor<f32>");
  auto folded = run("%y = graph.constant dense<0.462117165> : tensor<f32>");
  std::vector<std::vector<double>> values;
  for (mlir::ModuleOp module : {*model, *folded}) {
    auto results = runUnpartitioned(module, {}, graph::Numerics::Exact, {});
    ASSERT_TRUE(results) << results.status().message();
    values.push_back(results->front()->floats);
  }
  EXPECT_EQ(values[0], values[1]);
}

TEST(Compare, OnlyNanEqualsNan) {
  const double nan = std::nan("");
  const auto tensor = [](const std::vector<double> &elements) {
    return graph::HostTensor::ofFloats({int64_t(elements.size())}, elements);
  };
  const auto compare = [&](const std::vector<double> &wanted, double got) {
    Comparison comparison(tensor(wanted), 1e-12, /*noise=*/1e300);
    comparison.add(tensor({1, got}), allIndices({2}), /*rank=*/0);
    return comparison;
  };
  EXPECT_FALSE(compare({1, nan}, 2).isEqual());
  EXPECT_FALSE(compare({1, 2}, nan).isEqual());
  const Comparison equal = compare({1, nan}, nan);
  EXPECT_TRUE(equal.isEqual());
  EXPECT_EQ(equal.nans().count, 1);
  EXPECT_EQ(equal.nans().first[0], 1);
}

TEST(Verify, ADroppedCollectiveIsFound) {
  Verified different(filled("%m", dropped, inOrder));
  EXPECT_EQ(different.status.code(), ValuesDiffer);
  EXPECT_TRUE(different.status.message().starts_with(
      "output 'y' differs at [0] on rank 2: "))
      << different.status.message();
}

// Ranks write an output in the sharding of the stage's result, not in that of
// the op.
TEST(Verify, AnOutputThatLiesOtherwiseIsFound) {
  std::string text = filled("%m", allReduce, inOrder);
  const std::string declared = "{graph.name = \"y\"})";
  text.replace(text.find(declared), declared.size(),
               "{graph.name = \"y\", dist.sharding = "
               "#dist.sharding<\"[4@tp:2]\">})");
  EXPECT_EQ(Verified(text).status.code(), ValuesDiffer);
}

TEST(Verify, ADoubledCollectiveIsFound) {
  std::string twice = allReduce;
  twice.replace(twice.find("%s"), 2, "%t");
  std::string second = allReduce;
  second.replace(second.find("%p"), 2, "%t");
  EXPECT_EQ(
      Verified(filled("%m", twice + "\n" + second, inOrder)).status.code(),
      ValuesDiffer);
}

TEST(Verify, PaddingThatCountsIsFound) {
  EXPECT_EQ(Verified(filled("%x", allReduce, inOrder)).status.code(),
            ValuesDiffer);
}

TEST(Verify, AMissingActionIsNamed) {
  Verified stuck(filled("%m", allReduce, R"(["0F0"])"));
  EXPECT_EQ(stuck.status.code(), Defect);
  EXPECT_EQ(stuck.status.message(),
            "the partitioned model cannot be run: position 1 "
            "waits forever before action 1F1");
}

// The sum is wrong first, on the ranks of the stage before that of the output.
TEST(Verify, TheFirstValueThatDiffersIsNamed) {
  Verified different(filled("%x", allReduce, inOrder));
  const auto &first = different.verification.findings().first;
  ASSERT_TRUE(first);
  EXPECT_EQ(first->name, "s");
  EXPECT_EQ(first->comparison.firstDifference()->rank, 0);
  ASSERT_EQ(different.status.notes().size(), 1u);
  EXPECT_TRUE(different.status.notes()[0].starts_with(
      "the first value that differs is 's' of node 'sums': it differs at [0]"))
      << different.status.notes()[0];
}

// Partial sums are no values of the model. Their sum is missing, so the output
// is the first value that can be found to be wrong.
TEST(Verify, PartialSumsAreNoDifference) {
  Verified different(filled("%m", dropped, inOrder));
  const auto &first = different.verification.findings().first;
  ASSERT_TRUE(first);
  EXPECT_EQ(first->name, "y");
}

TEST(Verify, TheReportNamesTheFirstDifference) {
  std::string path = ::testing::TempDir() + "verify-report.json";
  Verified different(filled("%x", allReduce, inOrder));
  ASSERT_TRUE(writeReport(path, different.verification.findings()).ok());
  std::stringstream text;
  text << std::ifstream(path).rdbuf();
  EXPECT_NE(text.str().find("\"equal\":false"), std::string::npos);
  EXPECT_NE(text.str().find("\"node\":\"sums\""), std::string::npos)
      << text.str();
}

namespace {
/// A folder with the outputs of executables.
class Executed : public ::testing::Test {
protected:
  void SetUp() override {
    std::filesystem::create_directories(folder);
    ASSERT_TRUE(equal.status.ok()) << equal.status.message();
  }
  void TearDown() override { std::filesystem::remove_all(folder); }

  std::string folder = ::testing::TempDir() + "pcc-verify-executed";
  Verified equal = Verified(filled("%m", allReduce, inOrder));
};
} // namespace

TEST_F(Executed, OutputsAreComparedInTheModelsTypes) {
  graph::HostTensor y =
      equal.verification.findings().outputs[0].comparison.whole();
  auto type = mlir::RankedTensorType::get(
      {4}, mlir::Float32Type::get(&equal.parser.context));
  ASSERT_TRUE(writeNpy(folder + "/y.npy", type, y).ok());
  ASSERT_TRUE(equal.verification.compareExecuted({folder, {}}).ok());
  EXPECT_TRUE(equal.verification.verdict().ok());
}

TEST_F(Executed, AWrongElementIsNamedWithItsRank) {
  graph::HostTensor y =
      equal.verification.findings().outputs[0].comparison.whole();
  y.floats[2] += 1;
  auto type = mlir::RankedTensorType::get(
      {4}, mlir::Float32Type::get(&equal.parser.context));
  ASSERT_TRUE(writeNpy(folder + "/y.npy", type, y).ok());
  ASSERT_TRUE(equal.verification.compareExecuted({folder, {}}).ok());
  Status status = equal.verification.verdict();
  EXPECT_EQ(status.code(), ValuesDiffer);
  EXPECT_TRUE(status.message().starts_with(
      "output 'y' of the executables differs at [2] on rank 2: "))
      << status.message();
}

TEST_F(Executed, AMissingFileIsADefect) {
  EXPECT_EQ(equal.verification.compareExecuted({folder, {}}).code(), Defect);
}

TEST_F(Executed, InputsAreWrittenAsTheyWereUsed) {
  std::map<std::string, std::string> files;
  ASSERT_TRUE(equal.verification.writeInputs(folder, files).ok());
  Verification again(*equal.model, graph::Numerics::Exact);
  std::string given = "x=" + files["x"];
  ASSERT_TRUE(again.simulate(*equal.ranks, {given}).ok());
  EXPECT_EQ(again.findings().outputs[0].comparison.whole().floats,
            equal.verification.findings().outputs[0].comparison.whole().floats);
}

// A step of one rank that halves a weight.
static const char *training = R"(
  module {
    graph.parameter @w : tensor<2xf32> fill 4.0 trained
    func.func @main() -> (tensor<f32> {graph.name = "loss"}) {
      %w = graph.get_parameter @w : tensor<2xf32>
      %h = graph.constant dense<0.5> : tensor<f32>
      %n = graph.mul %w, %h : tensor<2xf32>, tensor<f32>
      graph.set_parameter @w, %n : tensor<2xf32>
      %l = graph.reduce sum %w over [0] : tensor<2xf32>
      return %l : tensor<f32>
    }
  })";

static const char *trainingOfRanks = R"(
  module {
    graph.parameter @w : tensor<2xf32> fill 4.0 trained
    func.func @stage_0() -> (tensor<f32> {graph.name = "loss"}) attributes {pipe.stage = 0 : i64} {
      %w = graph.get_parameter @w : tensor<2xf32>
      %h = graph.constant dense<0.5> : tensor<f32>
      %n = graph.mul %w, %h : tensor<2xf32>, tensor<f32>
      graph.set_parameter @w, %n : tensor<2xf32>
      %l = graph.reduce sum %w over [0] : tensor<2xf32>
      return %l : tensor<f32>
    }
    pipe.actions 0 stages [0] ["0F0"]
  })";

/// Returns the verdict on executables that wrote the loss `loss` of the last of
/// three steps and the weight `w` after it.
static Status verdictOn(double loss, std::vector<double> w) {
  const std::string folder = ::testing::TempDir() + "pcc-verify-training";
  std::filesystem::create_directories(folder);
  Parser parser;
  auto model = parser.parse(training);
  Verification verification(*model, graph::Numerics::Exact);
  EXPECT_TRUE(verification.simulate(*parser.parse(trainingOfRanks), {}).ok());
  EXPECT_EQ(verification.steps(), 3);
  const auto f32 = mlir::Float32Type::get(&parser.context);
  EXPECT_TRUE(writeNpy(folder + "/loss.npy",
                       mlir::RankedTensorType::get({}, f32),
                       graph::HostTensor::ofFloats({}, {loss}))
                  .ok());
  EXPECT_TRUE(writeNpy(folder + "/0.npy", mlir::RankedTensorType::get({2}, f32),
                       graph::HostTensor::ofFloats({2}, std::move(w)))
                  .ok());
  EXPECT_TRUE(
      verification.compareExecuted({folder, {{"w", folder + "/0.npy"}}}).ok());
  std::filesystem::remove_all(folder);
  return verification.verdict();
}

TEST(ExecutedTraining, LastLossAndParametersAreCompared) {
  EXPECT_TRUE(verdictOn(2, {0.5, 0.5}).ok());
  EXPECT_TRUE(verdictOn(4, {0.5, 0.5})
                  .message()
                  .starts_with("output 'loss of step 3' of the executables"));
  EXPECT_EQ(verdictOn(2, {0.5, 1}).message(),
            "output 'w' of the executables differs at [1]: expected 0.5, got 1 "
            "(relative error 1)");
}
