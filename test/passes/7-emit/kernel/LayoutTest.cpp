//===- LayoutTest.cpp - compiled layout and indexing ops ------------------===//

#include "test/passes/7-emit/KernelRun.h"
#include <gtest/gtest.h>

using namespace pcc::emit;

static std::string kernel(const std::string &arguments,
                          const std::string &result, const std::string &body) {
  return "rank.kernel @k(" + arguments + ") -> " + result + " {\n" + body +
         "\n  rank.yield %r : " + result + "\n}\n";
}

TEST(Layout, Transpose) {
  for (std::string type : {"f32", "bf16", "i1", "i64"})
    EXPECT_EQ(difference(kernel("%a: tensor<3x5x17x" + type + ">",
                                "tensor<17x3x5x" + type + ">",
                                "%r = graph.transpose %a [2, 0, 1] : "
                                "tensor<3x5x17x" +
                                    type + ">")),
              "");
}

/// Whole and partial tiles, transposed along several dims, with ops before and
/// after, and together with an operand in the order of the result.
TEST(Layout, TransposesOfManyElements) {
  for (std::string type : {"f32", "bf16", "i1"}) {
    EXPECT_EQ(
        difference(kernel(
            "%a: tensor<64x32x" + type + ">", "tensor<32x64x" + type + ">",
            "%r = graph.transpose %a [1, 0] : tensor<64x32x" + type + ">")),
        "");
    EXPECT_EQ(difference(kernel("%a: tensor<35x3x50x" + type + ">",
                                "tensor<50x3x35x" + type + ">",
                                "%r = graph.transpose %a [2, 1, 0] : "
                                "tensor<35x3x50x" +
                                    type + ">")),
              "");
  }
  EXPECT_EQ(difference(R"(
    rank.kernel @k(%a: tensor<3x40x20xf32>, %b: tensor<20x3x40xf32>, %c: tensor<20x1x1xbf16>)
        -> (tensor<20x3x40xf32>, tensor<20x3x40xbf16>) {
      %0 = graph.neg %a : tensor<3x40x20xf32>
      %1 = graph.transpose %0 [2, 0, 1] : tensor<3x40x20xf32>
      %2 = graph.add %1, %b : tensor<20x3x40xf32>, tensor<20x3x40xf32>
      %3 = graph.cast %2 : tensor<20x3x40xf32> to tensor<20x3x40xbf16>
      %4 = graph.mul %3, %c : tensor<20x3x40xbf16>, tensor<20x1x1xbf16>
      rank.yield %2, %4 : tensor<20x3x40xf32>, tensor<20x3x40xbf16>
    })"),
            "");
}

TEST(Layout, ReshapeOfATranspose) {
  EXPECT_EQ(difference(kernel("%a: tensor<2x3x4x8xf32>", "tensor<2x4x24xf32>",
                              R"(
      %0 = graph.transpose %a [0, 2, 1, 3] : tensor<2x3x4x8xf32>
      %r = graph.reshape %0 : tensor<2x4x3x8xf32> to tensor<2x4x24xf32>)")),
            "");
}

TEST(Layout, ReshapesThatDoNotAlign) {
  EXPECT_EQ(difference(kernel("%a: tensor<6x10xf32>", "tensor<5x3x4xf32>", R"(
      %0 = graph.reshape %a : tensor<6x10xf32> to tensor<4x15xf32>
      %1 = graph.transpose %0 [1, 0] : tensor<4x15xf32>
      %r = graph.reshape %1 : tensor<15x4xf32> to tensor<5x3x4xf32>)")),
            "");
}

TEST(Layout, Slices) {
  EXPECT_EQ(difference(kernel("%a: tensor<7x20xf32>", "tensor<3x5xf32>", R"(
      %r = graph.slice %a starts [6, 2] sizes [3, 5] steps [-2, 3] : tensor<7x20xf32>)")),
            "");
}

TEST(Layout, Broadcast) {
  EXPECT_EQ(difference(kernel("%a: tensor<3x1xf32>", "tensor<2x3x5xf32>", R"(
      %r = graph.broadcast %a : tensor<3x1xf32> to tensor<2x3x5xf32>)")),
            "");
}

TEST(Layout, Concat) {
  EXPECT_EQ(difference(kernel("%a: tensor<2x3xf32>, %b: tensor<2x1xf32>, %c: "
                              "tensor<2x4xf32>",
                              "tensor<2x8xf32>", R"(
      %r = graph.concat %a, %b, %c along 1 : tensor<2x3xf32>, tensor<2x1xf32>, tensor<2x4xf32>)")),
            "");
  EXPECT_EQ(difference(kernel("%a: tensor<2x3xi64>, %b: tensor<1x3xi64>",
                              "tensor<3x3xi64>", R"(
      %n = graph.neg %a : tensor<2x3xi64>
      %r = graph.concat %n, %b along 0 : tensor<2x3xi64>, tensor<1x3xi64>)")),
            "");
}

TEST(Layout, Pad) {
  for (std::string mode : {"edge", "reflect", "wrap"})
    EXPECT_EQ(difference(kernel("%a: tensor<4x5xf32>", "tensor<7x10xf32>",
                                "%r = graph.pad " + mode +
                                    " %a low [1, 3] high [2, 2] : "
                                    "tensor<4x5xf32>")),
              "")
        << mode;
  EXPECT_EQ(difference(kernel("%a: tensor<4x5xf32>", "tensor<5x4xf32>", R"(
      %v = graph.constant dense<7.0> : tensor<f32>
      %r = graph.pad constant %a with %v : tensor<f32>, low [2, -1] high [-1, 0] : tensor<4x5xf32>)")),
            "");
}

TEST(Layout, Rotary) {
  for (std::string interleaved : {"", " interleaved"})
    EXPECT_EQ(difference(kernel("%a: tensor<2x3x5x8xf32>, %c: tensor<5x8xf32>, "
                                "%s: tensor<5x8xf32>",
                                "tensor<2x3x5x8xf32>",
                                "%r = graph.rotary %a, %c, %s" + interleaved +
                                    " : tensor<2x3x5x8xf32>, tensor<5x8xf32>, "
                                    "tensor<5x8xf32>")),
              "")
        << interleaved;
}

TEST(Indexing, Gather) {
  EXPECT_EQ(difference(kernel("%a: tensor<10x17xf32>, %i: tensor<2x3xi64>",
                              "tensor<2x3x17xf32>", R"(
      %r = graph.gather %a, %i along 0 : tensor<10x17xf32>, tensor<2x3xi64>)")),
            "");
  EXPECT_EQ(difference(kernel("%a: tensor<3x7x2xi64>, %i: tensor<i32>",
                              "tensor<3x2xi64>", R"(
      %r = graph.gather %a, %i along 1 : tensor<3x7x2xi64>, tensor<i32>)")),
            "");
}

TEST(Indexing, GatherElements) {
  EXPECT_EQ(difference(kernel("%a: tensor<6x4xf32>, %i: tensor<3x4xi64>",
                              "tensor<3x4xf32>", R"(
      %r = graph.gather_elements %a, %i along 0 : tensor<6x4xf32>, tensor<3x4xi64>)")),
            "");
}

TEST(Indexing, GatherNd) {
  EXPECT_EQ(difference(kernel("%a: tensor<2x6x7x3xf32>, %i: tensor<2x5x2xi64>",
                              "tensor<2x5x3xf32>", R"(
      %r = graph.gather_nd %a, %i {batch_dims = 1 : i64} : tensor<2x6x7x3xf32>, tensor<2x5x2xi64>)")),
            "");
}

TEST(Indexing, OneHot) {
  EXPECT_EQ(difference(kernel("%i: tensor<6xi64>", "tensor<6x4xf32>", R"(
      %on = graph.constant dense<2.0> : tensor<f32>
      %off = graph.constant dense<-1.0> : tensor<f32>
      %r = graph.one_hot %i, %on, %off along 1 : tensor<6xi64>, tensor<f32>, tensor<f32> to tensor<6x4xf32>)"),
                       {.least = -6, .most = 6}),
            "");
}

TEST(Leaves, CausalMask) {
  EXPECT_EQ(difference(kernel("%a: tensor<2x9x9xf32>", "tensor<2x9x9xf32>", R"(
      %q = graph.iota 0 : tensor<9x9xi64>
      %k = graph.iota 1 : tensor<9x9xi64>
      %m = graph.compare le %k, %q : tensor<9x9xi64>, tensor<9x9xi64>
      %v = graph.constant dense<0xFF800000> : tensor<f32>
      %r = graph.select %m, %a, %v : tensor<9x9xi1>, tensor<2x9x9xf32>, tensor<f32>)")),
            "");
}

// 12 elements as 3 blocks of 4 over 2 ranks: the second rank holds 2, 3, 6, 7,
// 10 and 11.
TEST(Leaves, GlobalIndex) {
  EXPECT_EQ(results(kernel("", "tensor<6xi64>", R"(
      %r = dist.global_index #dist.sharding<"[3|4@tp:2]"> of 12 : tensor<6xi64>)"),
                    {.scalars = {2}}),
            (std::vector<int64_t>{2, 3, 6, 7, 10, 11}));
}
