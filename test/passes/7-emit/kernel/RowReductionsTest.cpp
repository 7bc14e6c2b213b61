//===- RowReductionsTest.cpp - compiled reductions and norms --------------===//

#include "test/passes/7-emit/KernelRun.h"
#include <gtest/gtest.h>

using namespace pcc::emit;

static std::string kernel(const std::string &arguments,
                          const std::string &result, const std::string &body) {
  return "rank.kernel @k(" + arguments + ") -> " + result + " {\n" + body +
         "\n  rank.yield %r : " + result + "\n}\n";
}

TEST(Reduce, TrailingDims) {
  for (std::string kind : {"sum", "mean", "max", "min", "prod"})
    for (std::string type : {"f32", "f64", "bf16", "i64", "i32"})
      EXPECT_EQ(difference(kernel("%a: tensor<3x5x17x" + type + ">",
                                  "tensor<3x1x1x" + type + ">",
                                  "%r = graph.reduce " + kind +
                                      " %a over [1, 2] keep : tensor<3x5x17x" +
                                      type + ">"),
                           {.low = 0.5, .high = 1.2}, 1e-5),
                "")
          << kind << " " << type;
}

TEST(Reduce, LeadingAndMiddleDims) {
  EXPECT_EQ(difference(kernel("%a: tensor<100x17xf32>", "tensor<17xf32>",
                              "%r = graph.reduce sum %a over [0] : "
                              "tensor<100x17xf32>"),
                       {}, 1e-5),
            "");
  EXPECT_EQ(difference(kernel("%a: tensor<4x3x5x6xf32>", "tensor<3x6xf32>",
                              "%r = graph.reduce max %a over [0, 2] : "
                              "tensor<4x3x5x6xf32>")),
            "");
}

static std::string columnKernel(const std::string &kind,
                                const std::string &columns,
                                const std::string &type) {
  const std::string size = columns + "x" + type + ">";
  return kernel("%a: tensor<5x3x" + size, "tensor<1x3x" + size,
                "%r = graph.reduce " + kind +
                    " %a over [0] keep : tensor<5x3x" + size);
}

/// Fewer columns, as many, and more than are reduced side by side.
TEST(Reduce, Columns) {
  const Inputs inputs = {.low = 0.5, .high = 1.2};
  for (std::string columns : {"8", "64", "100", "128"})
    EXPECT_EQ(difference(columnKernel("sum", columns, "f32"), inputs, 1e-5), "")
        << columns;
  for (std::string kind : {"mean", "max", "min", "prod"})
    for (std::string type : {"f32", "bf16", "i64"})
      EXPECT_EQ(difference(columnKernel(kind, "100", type), inputs, 1e-5), "")
          << kind << type;
}

/// The reductions depend on elements and columns, some of them on earlier
/// columns.
TEST(Reduce, ColumnsThatDependOnEachOther) {
  EXPECT_EQ(difference(R"(
    rank.kernel @k(%a: tensor<6x5x70xf32>, %b: tensor<70xf32>)
        -> (tensor<6x5x70xf32>, tensor<70xf32>, tensor<6x5x70xf32>, tensor<1x1x70xf32>) {
      %0 = graph.add %a, %b : tensor<6x5x70xf32>, tensor<70xf32>
      %m = graph.reduce mean %0 over [0, 1] : tensor<6x5x70xf32>
      %k = graph.reshape %m : tensor<70xf32> to tensor<1x1x70xf32>
      %d = graph.sub %0, %k : tensor<6x5x70xf32>, tensor<1x1x70xf32>
      %s = graph.mul %d, %d : tensor<6x5x70xf32>, tensor<6x5x70xf32>
      %v = graph.reduce mean %s over [0, 1] keep : tensor<6x5x70xf32>
      %q = graph.sqrt %v : tensor<1x1x70xf32>
      %r = graph.div %d, %q : tensor<6x5x70xf32>, tensor<1x1x70xf32>
      rank.yield %0, %m, %r, %q : tensor<6x5x70xf32>, tensor<70xf32>, tensor<6x5x70xf32>, tensor<1x1x70xf32>
    })",
                       {}, 3e-6),
            "");
}

/// The columns are reduced in the same kernel as rows, which run one after
/// another.
TEST(Reduce, ColumnsBesideASoftmax) {
  EXPECT_EQ(difference(R"(
    rank.kernel @k(%a: tensor<20x16xf32>) -> (tensor<20x16xf32>, tensor<16xf32>) {
      %0 = graph.softmax %a over 0 : tensor<20x16xf32>
      %1 = graph.reduce sum %a over [0] : tensor<20x16xf32>
      rank.yield %0, %1 : tensor<20x16xf32>, tensor<16xf32>
    })",
                       {}, 3e-6),
            "");
}

TEST(Reduce, EverythingToAScalar) {
  EXPECT_EQ(difference(kernel("%a: tensor<33x31xf32>", "tensor<f32>",
                              "%r = graph.reduce mean %a over [0, 1] : "
                              "tensor<33x31xf32>")),
            "");
}

TEST(Reduce, GivenDivisor) {
  EXPECT_EQ(difference(kernel("%a: tensor<3x8xf32>", "tensor<3xf32>",
                              "%r = graph.reduce mean %a over [1] divisor 6 : "
                              "tensor<3x8xf32>")),
            "");
}

TEST(Reduce, ArgReduce) {
  for (std::string kind : {"max", "min"})
    for (std::string last : {"", " last"})
      for (std::string type : {"f32", "i64"})
        EXPECT_EQ(difference(kernel(
                      "%a: tensor<5x100x3x" + type + ">", "tensor<5x3xi64>",
                      "%r = graph.arg_reduce " + kind + " %a over 1" + last +
                          " : tensor<5x100x3x" + type + ">")),
                  "")
            << kind << last << type;
}

TEST(Softmax, AnyDim) {
  for (std::string op : {"softmax", "log_softmax"})
    for (std::string dim : {"0", "1", "2"})
      for (std::string type : {"f32", "f64", "bf16"})
        EXPECT_EQ(difference(kernel("%a: tensor<3x5x17x" + type + ">",
                                    "tensor<3x5x17x" + type + ">",
                                    "%r = graph." + op + " %a over " + dim +
                                        " : tensor<3x5x17x" + type + ">")),
                  "")
            << op << dim << type;
}

TEST(Softmax, LongRows) {
  EXPECT_EQ(difference(kernel("%a: tensor<2x10000xf32>", "tensor<2x10000xf32>",
                              "%r = graph.softmax %a over 1 : "
                              "tensor<2x10000xf32>")),
            "");
}

TEST(Softmax, ScaledAndMasked) {
  EXPECT_EQ(difference(kernel("%a: tensor<2x3x9x9xf32>, %m: tensor<2x1x1x9xi1>",
                              "tensor<2x3x9x9xf32>", R"(
      %s = graph.constant dense<0.125> : tensor<f32>
      %v = graph.constant dense<-1.0e4> : tensor<f32>
      %0 = graph.mul %a, %s : tensor<2x3x9x9xf32>, tensor<f32>
      %1 = graph.select %m, %0, %v : tensor<2x1x1x9xi1>, tensor<2x3x9x9xf32>, tensor<f32>
      %r = graph.softmax %1 over 3 : tensor<2x3x9x9xf32>)")),
            "");
}

TEST(Norms, LayerNormOfASum) {
  EXPECT_EQ(difference(R"(
    rank.kernel @k(%a: tensor<2x5x100xf32>, %b: tensor<2x5x100xf32>, %s: tensor<100xf32>, %c: tensor<100xf32>)
        -> (tensor<2x5x100xf32>, tensor<2x5x100xf32>) {
      %0 = graph.add %a, %b : tensor<2x5x100xf32>, tensor<2x5x100xf32>
      %1 = graph.layer_norm %0, %s, %c from 2 epsilon 1.0e-5 : tensor<2x5x100xf32>, tensor<100xf32>, tensor<100xf32>
      rank.yield %0, %1 : tensor<2x5x100xf32>, tensor<2x5x100xf32>
    })",
                       {}, 3e-6),
            "");
}

TEST(Norms, RmsNorm) {
  for (std::string type : {"f32", "f64", "bf16"})
    EXPECT_EQ(difference(kernel("%a: tensor<7x33x" + type +
                                    ">, %s: tensor<33x" + type + ">",
                                "tensor<7x33x" + type + ">",
                                "%r = graph.rms_norm %a, %s from 1 epsilon "
                                "1.0e-6 : tensor<7x33x" +
                                    type + ">, tensor<33x" + type + ">"),
                         {}, 3e-6),
              "");
}

TEST(Norms, DecomposedWithStatistics) {
  EXPECT_EQ(difference(R"(
    rank.kernel @k(%a: tensor<6x19xf32>) -> (tensor<6xf32>, tensor<6x19xf32>) {
      %m = graph.reduce mean %a over [1] : tensor<6x19xf32>
      %k = graph.reshape %m : tensor<6xf32> to tensor<6x1xf32>
      %d = graph.sub %a, %k : tensor<6x19xf32>, tensor<6x1xf32>
      %s = graph.mul %d, %d : tensor<6x19xf32>, tensor<6x19xf32>
      %v = graph.reduce mean %s over [1] keep : tensor<6x19xf32>
      %q = graph.sqrt %v : tensor<6x1xf32>
      %r = graph.div %d, %q : tensor<6x19xf32>, tensor<6x1xf32>
      rank.yield %m, %r : tensor<6xf32>, tensor<6x19xf32>
    })",
                       {}, 3e-6),
            "");
}
