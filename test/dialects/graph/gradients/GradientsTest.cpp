//===- GradientsTest.cpp - gradients against central differences ----------===//

#include "dialects/graph/GraphDialect.h"
#include "test/dialects/graph/gradients/Cases.h"
#include "llvm/ADT/STLExtras.h"
#include <gtest/gtest.h>
#include <set>

using namespace pcc::graph;

struct Gradients : testing::TestWithParam<GradientCase> {};

TEST_P(Gradients, AgreeWithDifferences) {
  EXPECT_EQ(compareWithDifferences(GetParam()), "");
}

static std::string nameOf(const testing::TestParamInfo<GradientCase> &info) {
  return info.param.name;
}

#define PCC_FAMILY(NAME, CASES)                                                \
  INSTANTIATE_TEST_SUITE_P(NAME, Gradients, testing::ValuesIn(CASES()), nameOf)
PCC_FAMILY(ElementWise, elementWiseCases);
PCC_FAMILY(Contractions, contractionCases);
PCC_FAMILY(Reductions, reductionCases);
PCC_FAMILY(Layout, layoutCases);
PCC_FAMILY(Indexing, indexingCases);
PCC_FAMILY(Attention, attentionCases);
PCC_FAMILY(Windows, windowCases);
PCC_FAMILY(Blocks, blockCases);
#undef PCC_FAMILY

static std::vector<GradientCase> allCases() {
  std::vector<GradientCase> all;
  for (auto family :
       {elementWiseCases, contractionCases, reductionCases, layoutCases,
        indexingCases, attentionCases, windowCases, blockCases})
    llvm::append_range(all, family());
  return all;
}

TEST(Coverage, EachDifferentiableOpHasACase) {
  std::set<std::string> covered;
  for (const GradientCase &c : allCases())
    for (const std::string &name : opsOf(c))
      covered.insert(name);
  auto context = makeContext();
  int count = 0;
  for (mlir::RegisteredOperationName name :
       context->getRegisteredOperationsByDialect("graph")) {
    if (!name.hasInterface<GradientOpInterface>())
      continue;
    ++count;
    EXPECT_TRUE(covered.contains(name.getStringRef().str()))
        << name.getStringRef().str();
  }
  EXPECT_GT(count, 0);
}

//===----------------------------------------------------------------------===//
// The backward pass
//===----------------------------------------------------------------------===//

static const char *vector = "%x: tensor<2xf64>";

TEST(Differentiate, AddsWhatFlowsFromSeveralUsers) {
  EXPECT_EQ(gradientsAt({"", vector, R"(
      %a = graph.mul %x, %x : tensor<2xf64>, tensor<2xf64>
      %b = graph.add %a, %x : tensor<2xf64>, tensor<2xf64>
      %y = graph.mul %b, %a : tensor<2xf64>, tensor<2xf64>)"},
                        {{1, 2}}),
            "7 44");
}

/// The gradients of %x, from log and from neg, are added at the earlier user.
TEST(Differentiate, TellsWhichOpEachNewOneBelongsTo) {
  GradientCase c{"", vector, R"(
      %a = graph.neg %x : tensor<2xf64>
      %b = graph.log %x : tensor<2xf64>
      %y = graph.sub %a, %b : tensor<2xf64>, tensor<2xf64>)"};
  EXPECT_EQ(opsBuilt(c, {0}), "graph.neg graph.div graph.neg graph.add");
  EXPECT_EQ(opsMirrored(c, {0}), "graph.sub graph.log graph.neg graph.neg");
}

TEST(Differentiate, LeavesAloneWhatDoesNotReachTheTarget) {
  EXPECT_EQ(opsBuilt({"", vector, R"(
      %a = graph.exp %x : tensor<2xf64>
      %b = graph.log %a : tensor<2xf64>
      %y = graph.mul %x, %x : tensor<2xf64>, tensor<2xf64>)"},
                     {0}),
            "graph.mul graph.mul graph.add");
}

TEST(Differentiate, BuildsNothingForWhatIsNotWanted) {
  GradientCase product{"", "%x: tensor<2x3xf64>, %w: tensor<3x4xf64>",
                       "%y = graph.matmul %x, %w : tensor<2x3xf64>, "
                       "tensor<3x4xf64>"};
  EXPECT_EQ(opsBuilt(product, {1}), "graph.matmul");
  EXPECT_EQ(opsBuilt(product, {}), "");
}

TEST(Differentiate, NothingFlowsThroughIntegersAndTests) {
  EXPECT_EQ(gradientsAt({"", vector, R"(
      %i = graph.cast %x : tensor<2xf64> to tensor<2xi64>
      %y = graph.cast %i : tensor<2xi64> to tensor<2xf64>)"},
                        {{1, 2}}),
            "none");
}

TEST(Differentiate, WhatIsWantedMayBeTheTarget) {
  EXPECT_EQ(opsBuilt({"", vector, "%y = graph.exp %x : tensor<2xf64>"}, {}),
            "");
}

TEST(Differentiate, AnOpWithoutGradientIsAnError) {
  EXPECT_EQ(gradientsAt({"", "%g: tensor<2x3xf64>",
                         "%t, %e, %y, %c = graph.group_rows %g chosen 1 : "
                         "tensor<2x3xf64>\n"
                         "%z = graph.exp %y : tensor<2xf64>"},
                        {{1, 0, 0, 0, 0, 1}}),
            "error: 'graph.group_rows' op has no gradient");
}
