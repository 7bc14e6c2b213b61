//===- verify-test.cpp - all ranks against the unpartitioned model --------===//

#include "passes/interpret/Verify.h"
#include "test/passes/interpret/Parsed.h"

#include <fstream>
#include <gtest/gtest.h>
#include <sstream>

using namespace pcc;
using namespace pcc::interpret;

// Row sums of a 4x3 matrix, then squared.
static const char *whole = R"(
  func.func @main(%x: tensor<4x3xf32> {graph.name = "x"})
      -> (tensor<4xf32> {graph.name = "y"}) {
    %s = graph.reduce sum %x over [1] : tensor<4x3xf32>
    %y = graph.mul %s, %s : tensor<4xf32>, tensor<4xf32>
    return %y : tensor<4xf32>
  })";

// Two stages, two microbatches, columns over tp. MASKED is what is summed, SUM
// what makes the partial sums whole, TABLE what stage 0 does.
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
      %p = graph.reduce sum MASKED over [1] : tensor<2x2xf32>
      SUM
      pipe.send %s to 1 value "s" : tensor<2xf32>
      return
    }
    func.func @stage_1() -> (tensor<2xf32> {graph.name = "y"})
        attributes {pipe.stage = 1 : i64} {
      %s = pipe.receive from 0 value "s" : tensor<2xf32>
      %y = graph.mul %s, %s {dist.shardings = [#out]} : tensor<2xf32>, tensor<2xf32>
      return %y : tensor<2xf32>
    }
    pipe.actions 0 stages [0] TABLE
    pipe.actions 1 stages [1] ["1F0", "1F1"]
  })mlir";

static const char *allReduce =
    "%s = dist.collective all_reduce %p from #partial to #out shape [4] "
    "received 0 value \"s\" : tensor<2xf32> to tensor<2xf32>";

/// `parts` with its holes filled.
static std::string filled(std::string masked, std::string sum,
                          std::string table) {
  std::string text = parts;
  for (auto [hole, filling] :
       {std::pair("MASKED", masked), std::pair("SUM", sum),
        std::pair("TABLE", table)})
    text.replace(text.find(hole), strlen(hole), filling);
  return text;
}

static Verdict verified(const std::string &partitioned,
                        VerifyRequest request = {}) {
  Parser parser;
  auto model = parser.parse(whole), ranks = parser.parse(partitioned);
  if (!model || !ranks)
    return {-1, "does not parse", {}};
  return compare(*model, *ranks, request);
}

static const char *inOrder = R"(["0F0", "0F1"])";

TEST(Verify, EqualIsEqual) {
  Verdict verdict = verified(filled("%m", allReduce, inOrder));
  EXPECT_EQ(verdict.exitCode, 0) << verdict.error;
}

TEST(Verify, ModelTypesAllowTheirRounding) {
  VerifyRequest request;
  request.modelTypes = true;
  EXPECT_EQ(verified(filled("%m", allReduce, inOrder), request).exitCode, 0);
}

TEST(Verify, ADroppedCollectiveIsFound) {
  Verdict verdict =
      verified(filled("%m",
                      "%one = graph.constant dense<1.0> : tensor<f32>\n"
                      "%s = graph.mul %p, %one : tensor<2xf32>, tensor<f32>",
                      inOrder));
  EXPECT_EQ(verdict.exitCode, 15);
  EXPECT_TRUE(
      verdict.error.starts_with("output 'y' differs at [0] on rank 2: "))
      << verdict.error;
}

TEST(Verify, ADoubledCollectiveIsFound) {
  std::string twice = allReduce;
  twice.replace(twice.find("%s"), 2, "%t");
  std::string second = allReduce;
  second.replace(second.find("%p"), 2, "%t");
  EXPECT_EQ(verified(filled("%m", twice + "\n" + second, inOrder)).exitCode,
            15);
}

TEST(Verify, PaddingThatCountsIsFound) {
  EXPECT_EQ(verified(filled("%x", allReduce, inOrder)).exitCode, 15);
}

TEST(Verify, AMissingActionIsNamed) {
  Verdict verdict = verified(filled("%m", allReduce, R"(["0F0"])"));
  EXPECT_EQ(verdict.exitCode, 1);
  EXPECT_EQ(verdict.error, "the partitioned model cannot be run: position 1 "
                           "waits forever before action 1F1");
}

TEST(Verify, TheReportNamesTheFirstDifference) {
  VerifyRequest request;
  request.report = ::testing::TempDir() + "verify-report.json";
  EXPECT_EQ(verified(filled("%x", allReduce, inOrder), request).exitCode, 15);
  std::stringstream text;
  text << std::ifstream(request.report).rdbuf();
  EXPECT_NE(text.str().find("\"equal\":false"), std::string::npos);
  EXPECT_NE(text.str().find("\"value\":\"y\""), std::string::npos)
      << text.str();
}
