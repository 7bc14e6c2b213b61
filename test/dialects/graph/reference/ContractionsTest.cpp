//===- ContractionsTest.cpp - the meaning of sums of products -------------===//

#include "dialects/graph/reference/Gemm.h"
#include "test/dialects/graph/reference/Evaluated.h"
#include <gtest/gtest.h>
#include <vector>

using namespace pcc::graph;

TEST(Gemm, EveryEdgeOfTheTiles) {
  for (int64_t m : {1, 4, 5, 130})
    for (int64_t n : {1, 8, 9, 515})
      for (int64_t k : {0, 1, 300}) {
        std::vector<double> lhs(m * k), rhs(k * n), out(m * n, 1);
        for (size_t i = 0; i < lhs.size(); ++i)
          lhs[i] = static_cast<double>(i % 7) - 3;
        for (size_t i = 0; i < rhs.size(); ++i)
          rhs[i] = static_cast<double>(i % 5) - 2;
        gemm(m, n, k, {lhs.data(), 1, m}, {rhs.data(), n, 1}, out.data(), n);
        for (int64_t i = 0; i < m; ++i)
          for (int64_t j = 0; j < n; ++j) {
            double sum = 1;
            for (int64_t p = 0; p < k; ++p)
              sum += lhs[p * m + i] * rhs[p * n + j];
            ASSERT_EQ(out[i * n + j], sum) << m << " " << n << " " << k;
          }
      }
}

TEST(Matmul, TransposedOperands) {
  EXPECT_EQ(evaluated(R"(
    %a = graph.constant dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>
    %b = graph.constant dense<[[1.0, 0.0], [10.0, 1.0]]> : tensor<2x2xf32>
    %c = graph.matmul %a, %b {transpose_rhs} : tensor<2x2xf32>, tensor<2x2xf32>)"),
            "2x2: 1 12 3 34");
  EXPECT_EQ(evaluated(R"(
    %a = graph.constant dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>
    %b = graph.constant dense<[[1.0, 0.0], [10.0, 1.0]]> : tensor<2x2xf32>
    %c = graph.matmul %a, %b {transpose_lhs} : tensor<2x2xf32>, tensor<2x2xf32>)"),
            "2x2: 31 3 42 4");
}

TEST(Matmul, BatchesBroadcastBothWays) {
  EXPECT_EQ(evaluated(R"(
    %a = graph.constant dense<[[[[1, 2]]], [[[3, 4]]]]> : tensor<2x1x1x2xi64>
    %b = graph.constant dense<[[[1], [0]], [[0], [1]]]> : tensor<2x2x1xi64>
    %c = graph.matmul %a, %b : tensor<2x1x1x2xi64>, tensor<2x2x1xi64>)"),
            "2x2x1x1: 1 2 3 4");
  EXPECT_EQ(evaluated(R"(
    %a = graph.constant dense<[[[1.0, 2.0]], [[3.0, 4.0]]]> : tensor<2x1x2xf32>
    %b = graph.constant dense<[[1.0], [10.0]]> : tensor<2x1xf32>
    %c = graph.matmul %a, %b : tensor<2x1x2xf32>, tensor<2x1xf32>)"),
            "2x1x1: 21 43");
}

TEST(Einsum, BatchContractionAndOuterProduct) {
  const char *operands = R"(
    %a = graph.constant dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>
    %b = graph.constant dense<[[5.0, 6.0], [7.0, 8.0]]> : tensor<2x2xf32>
  )";
  auto einsum = [&](const std::string &equation) {
    return evaluated(operands + ("%c = graph.einsum \"" + equation) +
                     "\" %a, %b : tensor<2x2xf32>, tensor<2x2xf32>");
  };
  EXPECT_EQ(einsum("ij,jk->ik"), "2x2: 19 22 43 50");
  EXPECT_EQ(einsum("ij,jk->ki"), "2x2: 19 43 22 50");
  EXPECT_EQ(einsum("bi,bi->b"), "2: 17 53");
  EXPECT_EQ(einsum("ij,kl->jk"), "2x2: 44 60 66 90");
}

TEST(Einsum, OneAndThreeOperands) {
  EXPECT_EQ(evaluated(R"(
    %a = graph.constant dense<[[1, 2], [3, 4]]> : tensor<2x2xi64>
    %c = graph.einsum "ij->j" %a : tensor<2x2xi64>)"),
            "2: 4 6");
  EXPECT_EQ(evaluated(R"(
    %a = graph.constant dense<[1, 2]> : tensor<2xi64>
    %b = graph.constant dense<[[1, 2], [3, 4]]> : tensor<2x2xi64>
    %c = graph.einsum "i,ij,j->" %a, %b, %a : tensor<2xi64>, tensor<2x2xi64>, tensor<2xi64>)"),
            ": 27");
}

/// Returns the attention of one query and two keys, with the scores 0 and ln 3.
static std::string attention(const std::string &mask, const std::string &type,
                             const std::string &attributes) {
  std::string ops = R"(
    %q = graph.constant dense<[[[[1.0]], [[0.0]]]]> : tensor<1x2x1x1xf64>
    %k = graph.constant dense<[[[[0.0], [1.0986122886681098]]]]> : tensor<1x1x2x1xf64>
    %v = graph.constant dense<[[[[4.0], [8.0]]]]> : tensor<1x1x2x1xf64>
  )";
  if (!mask.empty())
    ops += "%m = graph.constant dense<" + mask + "> : " + type + "\n";
  ops += "%y = graph.attention %q, %k, %v ";
  if (!mask.empty())
    ops += "mask %m : " + type + ", ";
  return evaluated(ops + "{scale = 1.0 : f64" + attributes +
                   "} : tensor<1x2x1x1xf64>, tensor<1x1x2x1xf64>, "
                   "tensor<1x1x2x1xf64>");
}

TEST(Attention, HeadsShareKeys) {
  EXPECT_EQ(attention("", "", ""), "1x2x1x1: 7 6");
}

TEST(Attention, MasksKeepOrAdd) {
  EXPECT_EQ(attention("[true, false]", "tensor<2xi1>", ""), "1x2x1x1: 4 4");
  EXPECT_EQ(attention("[[[[0.0, 0.0]], [[0.0, 0xFFF0000000000000]]]]",
                      "tensor<1x2x1x2xf64>", ""),
            "1x2x1x1: 7 4");
  EXPECT_EQ(attention("false", "tensor<1x2xi1>", ""), "1x2x1x1: 0 0");
}

TEST(Attention, TheLastQuerySeesAllKeys) {
  EXPECT_EQ(attention("", "", ", causal"), "1x2x1x1: 7 6");
  EXPECT_EQ(evaluated(R"(
    %q = graph.constant dense<0.0> : tensor<1x1x3x1xf64>
    %v = graph.constant dense<[[[[3.0], [6.0], [9.0]]]]> : tensor<1x1x3x1xf64>
    %y = graph.attention %q, %q, %v {scale = 1.0 : f64, causal}
      : tensor<1x1x3x1xf64>, tensor<1x1x3x1xf64>, tensor<1x1x3x1xf64>)"),
            "1x1x3x1: 3 4.5 6");
}

TEST(Attention, SoftcapBoundsScores) {
  // tanh(ln 3) = 0.8; exp(0.8) / (1 + exp(0.8)) = 0.689974.
  EXPECT_EQ(attention("", "", ", softcap = 1.0 : f64"), "1x2x1x1: 6.7599 6");
}
