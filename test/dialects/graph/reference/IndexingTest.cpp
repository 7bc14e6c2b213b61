//===- IndexingTest.cpp - the meaning of gathers and scatters -------------===//

#include "test/dialects/graph/reference/Evaluated.h"
#include <gtest/gtest.h>

using namespace pcc::graph;

/// Returns the result of `ops` after %x = [[1, 2, 3], [4, 5, 6]].
static std::string onMatrix(const std::string &ops) {
  return evaluated("%x = graph.constant dense<[[1, 2, 3], [4, 5, 6]]> : "
                   "tensor<2x3xi64>\n" +
                   ops);
}

TEST(Indexing, GatherCountsFromTheEndToo) {
  EXPECT_EQ(onMatrix(R"(
    %i = graph.constant dense<[[2, -3]]> : tensor<1x2xi64>
    %y = graph.gather %x, %i along 1 : tensor<2x3xi64>, tensor<1x2xi64>)"),
            "2x1x2: 3 1 6 4");
  EXPECT_EQ(onMatrix(R"(
    %i = graph.constant dense<-3> : tensor<i32>
    %y = graph.gather %x, %i along 0 : tensor<2x3xi64>, tensor<i32>)"),
            "error: has index -3 outside [-2, 2) of dim 0");
}

TEST(Indexing, GatherElements) {
  EXPECT_EQ(onMatrix(R"(
    %i = graph.constant dense<[[2, 0], [-1, 1]]> : tensor<2x2xi64>
    %y = graph.gather_elements %x, %i along 1 : tensor<2x3xi64>, tensor<2x2xi64>)"),
            "2x2: 3 1 6 5");
  EXPECT_EQ(onMatrix(R"(
    %i = graph.constant dense<[[1, 0, 2]]> : tensor<1x3xi64>
    %y = graph.gather_elements %x, %i along 0 : tensor<2x3xi64>, tensor<1x3xi64>)"),
            "error: has index 2 outside [-2, 2) of dim 0");
}

TEST(Indexing, GatherNd) {
  EXPECT_EQ(onMatrix(R"(
    %i = graph.constant dense<[[0, 2], [1, -3]]> : tensor<2x2xi64>
    %y = graph.gather_nd %x, %i : tensor<2x3xi64>, tensor<2x2xi64>)"),
            "2: 3 4");
  EXPECT_EQ(onMatrix(R"(
    %i = graph.constant dense<[[1], [2]]> : tensor<2x1xi64>
    %y = graph.gather_nd %x, %i {batch_dims = 1} : tensor<2x3xi64>, tensor<2x1xi64>)"),
            "2: 2 6");
  EXPECT_EQ(onMatrix(R"(
    %i = graph.constant dense<[[1]]> : tensor<1x1xi64>
    %y = graph.gather_nd %x, %i : tensor<2x3xi64>, tensor<1x1xi64>)"),
            "1x3: 4 5 6");
}

TEST(Indexing, ScattersReplaceOrCombine) {
  const char *at = R"(
    %i = graph.constant dense<[[1, 1]]> : tensor<1x2xi64>
    %u = graph.constant dense<[[10, 20]]> : tensor<1x2xi64>
    %y = graph.scatter_elements )";
  const char *types = " %x, %i, %u along 1 : tensor<2x3xi64>, tensor<1x2xi64>, "
                      "tensor<1x2xi64>";
  auto scattered = [&](const std::string &kind) {
    return onMatrix(at + kind + types);
  };
  EXPECT_EQ(scattered("set"), "2x3: 1 20 3 4 5 6");
  EXPECT_EQ(scattered("add"), "2x3: 1 32 3 4 5 6");
  EXPECT_EQ(scattered("mul"), "2x3: 1 400 3 4 5 6");
  EXPECT_EQ(scattered("min"), "2x3: 1 2 3 4 5 6");
}

TEST(Indexing, ScatterNdWritesSlices) {
  EXPECT_EQ(onMatrix(R"(
    %i = graph.constant dense<[[-1]]> : tensor<1x1xi64>
    %u = graph.constant dense<[[7, 1, 9]]> : tensor<1x3xi64>
    %y = graph.scatter_nd max %x, %i, %u : tensor<2x3xi64>, tensor<1x1xi64>, tensor<1x3xi64>)"),
            "2x3: 1 2 3 7 5 9");
}

TEST(Indexing, OneHotIgnoresIndicesOutside) {
  EXPECT_EQ(evaluated(R"(
    %i = graph.constant dense<[1, -1, 3]> : tensor<3xi64>
    %a = graph.constant dense<5.0> : tensor<f32>
    %b = graph.constant dense<0.0> : tensor<f32>
    %y = graph.one_hot %i, %a, %b along 0 : tensor<3xi64>, tensor<f32>, tensor<f32> to tensor<3x3xf32>)"),
            "3x3: 0 0 0 5 0 0 0 5 0");
}

TEST(Indexing, Iota) {
  EXPECT_EQ(evaluated("%y = graph.iota 0 : tensor<2x2xf32>"), "2x2: 0 0 1 1");
}
