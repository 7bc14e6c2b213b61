//===- IndexingTest.cpp - gradients of gathers and scatters ---------------===//

#include "test/dialects/graph/gradients/Cases.h"
#include <gtest/gtest.h>

using namespace pcc::graph;

static std::vector<GradientCase> gathers() {
  return {{"gather_rows", "%x: tensor<4x3xf64>", R"(
            %i = graph.constant dense<[[0, 2, -1], [2, 2, 1]]> : tensor<2x3xi64>
            %y = graph.gather %x, %i along 0 : tensor<4x3xf64>,
                                               tensor<2x3xi64>)"},
          {"gather_inner", "%x: tensor<2x4x3xf64>", R"(
            %i = graph.constant dense<[[0, 2], [-4, 1]]> : tensor<2x2xi32>
            %y = graph.gather %x, %i along 1 : tensor<2x4x3xf64>,
                                               tensor<2x2xi32>)"},
          {"gather_last", "%x: tensor<2x4xf64>", R"(
            %i = graph.constant dense<[3, 3, 0]> : tensor<3xi64>
            %y = graph.gather %x, %i along 1 : tensor<2x4xf64>,
                                               tensor<3xi64>)"},
          {"gather_one", "%x: tensor<2x4x3xf64>", R"(
            %i = graph.constant dense<-2> : tensor<i64>
            %y = graph.gather %x, %i along 1 : tensor<2x4x3xf64>,
                                               tensor<i64>)"},
          {"gather_elements", "%x: tensor<3x4xf64>", R"(
            %i = graph.constant dense<[[0, 3], [1, 1], [-1, 2]]> : tensor<3x2xi64>
            %y = graph.gather_elements %x, %i along 1 : tensor<3x4xf64>,
                                                        tensor<3x2xi64>)"},
          {"gather_elements_one_each", "%x: tensor<3x4xf64>", R"(
            %i = graph.constant dense<[[0], [3], [-2]]> : tensor<3x1xi64>
            %y = graph.gather_elements %x, %i along 1 : tensor<3x4xf64>,
                                                        tensor<3x1xi64>)"},
          {"gather_elements_of_some_rows", "%x: tensor<3x4xf64>", R"(
            %i = graph.constant dense<[[2], [-1]]> : tensor<2x1xi64>
            %y = graph.gather_elements %x, %i along 1 : tensor<3x4xf64>,
                                                        tensor<2x1xi64>)"},
          {"gather_nd", "%x: tensor<3x4x2xf64>", R"(
            %i = graph.constant dense<[[0, 3], [-1, 1], [0, 3]]> : tensor<3x2xi64>
            %y = graph.gather_nd %x, %i : tensor<3x4x2xf64>,
                                          tensor<3x2xi64>)"},
          {"gather_nd_batched", "%x: tensor<2x2x3xf64>", R"(
            %i = graph.constant dense<[[[1], [1]], [[0], [-3]]]> : tensor<2x2x1xi64>
            %a = graph.reshape %x : tensor<2x2x3xf64> to tensor<2x6xf64>
            %y = graph.gather_nd %a, %i {batch_dims = 1 : i64}
                 : tensor<2x6xf64>, tensor<2x2x1xi64>)"}};
}

static std::vector<GradientCase> scatters() {
  const char *rows = "%x: tensor<3x4xf64>, %u: tensor<2x4xf64>";
  const char *elements = "%x: tensor<3x4xf64>, %u: tensor<3x2xf64>";
  return {{"scatter_elements", elements, R"(
            %i = graph.constant dense<[[0, 3], [1, 2], [-1, 2]]> : tensor<3x2xi64>
            %y = graph.scatter_elements set %x, %i, %u along 1
                 : tensor<3x4xf64>, tensor<3x2xi64>, tensor<3x2xf64>)"},
          {"scatter_elements_adds", elements, R"(
            %i = graph.constant dense<[[0, 0], [1, 2], [-1, 2]]> : tensor<3x2xi64>
            %y = graph.scatter_elements add %x, %i, %u along 1
                 : tensor<3x4xf64>, tensor<3x2xi64>, tensor<3x2xf64>)"},
          {"scatter_nd", rows, R"(
            %i = graph.constant dense<[[2], [0]]> : tensor<2x1xi64>
            %y = graph.scatter_nd set %x, %i, %u
                 : tensor<3x4xf64>, tensor<2x1xi64>, tensor<2x4xf64>)"},
          {"scatter_nd_adds", rows, R"(
            %i = graph.constant dense<[[-1], [2]]> : tensor<2x1xi64>
            %y = graph.scatter_nd add %x, %i, %u
                 : tensor<3x4xf64>, tensor<2x1xi64>, tensor<2x4xf64>)"},
          {"one_hot", "%on: tensor<f64>, %off: tensor<f64>", R"(
            %i = graph.constant dense<[0, -1, 7, 1]> : tensor<4xi64>
            %y = graph.one_hot %i, %on, %off along 0 : tensor<4xi64>,
                 tensor<f64>, tensor<f64> to tensor<3x4xf64>)"}};
}

std::vector<GradientCase> pcc::graph::indexingCases() {
  std::vector<GradientCase> cases = gathers();
  for (GradientCase &c : scatters())
    cases.push_back(std::move(c));
  return cases;
}

TEST(IndexingGradients, OnePlacePerRowIsElementWise) {
  EXPECT_EQ(opsBuilt({"", "%x: tensor<3x4xf64>, %i: tensor<3x1xi64>",
                      "%y = graph.gather_elements %x, %i along 1 : "
                      "tensor<3x4xf64>, tensor<3x1xi64>"},
                     {0}),
            "graph.constant graph.constant graph.compare graph.add "
            "graph.select graph.iota graph.compare graph.constant "
            "graph.select");
}

TEST(IndexingGradients, CombinedUpdatesHaveNone) {
  EXPECT_EQ(gradientsAt({"", "%x: tensor<3xf64>, %u: tensor<2xf64>", R"(
              %i = graph.constant dense<[[2], [0]]> : tensor<2x1xi64>
              %y = graph.scatter_nd max %x, %i, %u
                   : tensor<3xf64>, tensor<2x1xi64>, tensor<2xf64>)"},
                        {{1, 2, 3}, {4, 5}}),
            "error: 'graph.scatter_nd' op has no gradient for kind max");
}
