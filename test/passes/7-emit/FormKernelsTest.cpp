//===- FormKernelsTest.cpp - kernels compute what their ops did -----------===//

#include "test/passes/7-emit/KernelRun.h"
#include <gtest/gtest.h>

using namespace pcc::emit;

TEST(FormKernels, BlockOfATransformer) {
  EXPECT_EQ(functionDifference(R"(
    func.func @main(%x: tensor<2x5x12xf32>, %w: tensor<12x36xf32>, %b: tensor<36xf32>, %s: tensor<12xf32>)
        -> (tensor<2x5x12xf32>, tensor<2x5x12xf32>) {
      %n = graph.layer_norm %x, %s, %s from 2 epsilon 1.0e-5 : tensor<2x5x12xf32>, tensor<12xf32>, tensor<12xf32>
      %m = graph.matmul %n, %w : tensor<2x5x12xf32>, tensor<12x36xf32>
      %a = graph.add %m, %b : tensor<2x5x36xf32>, tensor<36xf32>
      %q = graph.slice %a starts [0, 0, 0] sizes [2, 5, 12] steps [1, 1, 1] : tensor<2x5x36xf32>
      %k = graph.slice %a starts [0, 0, 12] sizes [2, 5, 12] steps [1, 1, 1] : tensor<2x5x36xf32>
      %q1 = graph.reshape %q : tensor<2x5x12xf32> to tensor<2x5x3x4xf32>
      %k1 = graph.reshape %k : tensor<2x5x12xf32> to tensor<2x5x3x4xf32>
      %q2 = graph.transpose %q1 [0, 2, 1, 3] : tensor<2x5x3x4xf32>
      %k2 = graph.transpose %k1 [0, 2, 1, 3] : tensor<2x5x3x4xf32>
      %o = graph.attention %q2, %k2, %k2 {scale = 0.5 : f64, causal} : tensor<2x3x5x4xf32>, tensor<2x3x5x4xf32>, tensor<2x3x5x4xf32>
      %o1 = graph.transpose %o [0, 2, 1, 3] : tensor<2x3x5x4xf32>
      %o2 = graph.reshape %o1 : tensor<2x5x3x4xf32> to tensor<2x5x12xf32>
      %r = graph.add %o2, %x : tensor<2x5x12xf32>, tensor<2x5x12xf32>
      %z = graph.rms_norm %r, %s from 2 epsilon 1.0e-6 : tensor<2x5x12xf32>, tensor<12xf32>
      return %r, %z : tensor<2x5x12xf32>, tensor<2x5x12xf32>
    })"),
            "");
}

TEST(FormKernels, AttentionWithSharedHeadsAndHiddenRows) {
  EXPECT_EQ(functionDifference(R"(
    func.func @main(%q: tensor<2x6x3x4xf32>, %k: tensor<2x2x5x4xf32>, %v: tensor<2x2x5x7xf32>, %m: tensor<2x1x3x5xi1>)
        -> tensor<2x6x3x7xf32> {
      %o = graph.attention %q, %k, %v mask %m : tensor<2x1x3x5xi1>, {scale = 0.5 : f64, softcap = 2.0 : f64} : tensor<2x6x3x4xf32>, tensor<2x2x5x4xf32>, tensor<2x2x5x7xf32>
      return %o : tensor<2x6x3x7xf32>
    })"),
            "");
}

// In a square matrix, rows and columns differ only by their positions.
TEST(FormKernels, StatisticsOfASquare) {
  EXPECT_EQ(functionDifference(R"(
    func.func @main(%x: tensor<6x6xf32>) -> (tensor<6x6xf32>, tensor<6x6xf32>) {
      %m = graph.reduce max %x over [1] : tensor<6x6xf32>
      %a = graph.sub %x, %m : tensor<6x6xf32>, tensor<6xf32>
      %k = graph.reduce max %x over [0] keep : tensor<6x6xf32>
      %b = graph.sub %x, %k : tensor<6x6xf32>, tensor<1x6xf32>
      return %a, %b : tensor<6x6xf32>, tensor<6x6xf32>
    })"),
            "");
}

TEST(FormKernels, DecomposedSoftmaxOverAMiddleDim) {
  EXPECT_EQ(functionDifference(R"(
    func.func @main(%x: tensor<3x7x5xf32>) -> tensor<3x7x5xf32> {
      %e = graph.exp %x : tensor<3x7x5xf32>
      %s = graph.reduce sum %e over [1] keep : tensor<3x7x5xf32>
      %r = graph.div %e, %s : tensor<3x7x5xf32>, tensor<3x1x5xf32>
      return %r : tensor<3x7x5xf32>
    })"),
            "");
}

TEST(FormKernels, AScalarFromEverything) {
  EXPECT_EQ(functionDifference(R"(
    func.func @main(%x: tensor<9x11xf32>, %y: tensor<9x11xf32>) -> tensor<f32> {
      %d = graph.sub %x, %y : tensor<9x11xf32>, tensor<9x11xf32>
      %q = graph.mul %d, %d : tensor<9x11xf32>, tensor<9x11xf32>
      %m = graph.reduce mean %q over [0, 1] : tensor<9x11xf32>
      %r = graph.sqrt %m : tensor<f32>
      return %r : tensor<f32>
    })"),
            "");
}

TEST(FormKernels, EmbeddingOfASplitTable) {
  EXPECT_EQ(functionDifference(R"(
    func.func @main(%t: tensor<10x16xf32>, %i: tensor<2x3xi64>) -> tensor<2x3x16xf32> {
      %o = graph.constant dense<4> : tensor<i64>
      %z = graph.constant dense<0> : tensor<i64>
      %n = graph.constant dense<10> : tensor<i64>
      %f = graph.constant dense<0.0> : tensor<f32>
      %l = graph.sub %i, %o : tensor<2x3xi64>, tensor<i64>
      %a = graph.compare ge %l, %z : tensor<2x3xi64>, tensor<i64>
      %b = graph.compare lt %l, %n : tensor<2x3xi64>, tensor<i64>
      %c = graph.and %a, %b : tensor<2x3xi1>, tensor<2x3xi1>
      %s = graph.select %c, %l, %z : tensor<2x3xi1>, tensor<2x3xi64>, tensor<i64>
      %g = graph.gather %t, %s along 0 : tensor<10x16xf32>, tensor<2x3xi64>
      %u = graph.reshape %c : tensor<2x3xi1> to tensor<2x3x1xi1>
      %r = graph.select %u, %g, %f : tensor<2x3x1xi1>, tensor<2x3x16xf32>, tensor<f32>
      return %r : tensor<2x3x16xf32>
    })",
                               {.least = 0, .most = 20}),
            "");
}

TEST(Contractions, Einsums) {
  struct Case {
    const char *equation, *operands, *types, *result;
  } cases[] = {{"abc->ca", "%x", "tensor<3x4x5xf32>", "tensor<5x3xf32>"},
               {"tec,ecd->td", "%x, %y", "tensor<3x4x5xf32>, tensor<4x5x6xf32>",
                "tensor<3x6xf32>"},
               {"tce,ecd->td", "%x, %y", "tensor<3x5x4xf32>, tensor<4x5x6xf32>",
                "tensor<3x6xf32>"},
               {"ab,cd->db", "%x, %y", "tensor<3x4xf32>, tensor<5x6xf32>",
                "tensor<6x4xf32>"},
               {"ab,bc,cd->ad", "%x, %y, %z",
                "tensor<3x4xf32>, tensor<4x5xf32>, tensor<5x2xf32>",
                "tensor<3x2xf32>"},
               {"abk,akc->acb", "%x, %y",
                "tensor<2x3x4xi64>, tensor<2x4x5xi64>", "tensor<2x5x3xi64>"}};
  for (const Case &c : cases) {
    std::string arguments, types = c.types;
    for (char name : std::string("xyz")) {
      if (std::string(c.operands).find(name) == std::string::npos)
        continue;
      size_t end = types.find('>') + 1;
      arguments += (arguments.empty() ? "%" : ", %") + std::string(1, name) +
                   ": " + types.substr(0, end);
      types = types.substr(std::min(types.size(), end + 2));
    }
    std::string text = "func.func @main(" + arguments + ") -> " + c.result +
                       " { %r = graph.einsum \"" + c.equation + "\" " +
                       c.operands + " : " + c.types +
                       "\n return %r : " + c.result + " }";
    EXPECT_EQ(functionDifference(text), "") << c.equation;
  }
}

TEST(Contractions, ProductOfIntegers) {
  EXPECT_EQ(functionDifference(R"(
    func.func @main(%x: tensor<2x3x4xi64>, %y: tensor<5x4xi64>) -> tensor<2x3x5xi64> {
      %r = graph.matmul %x, %y {transpose_rhs} : tensor<2x3x4xi64>, tensor<5x4xi64>
      return %r : tensor<2x3x5xi64>
    })"),
            "");
}

TEST(FormKernels, NoElements) {
  EXPECT_EQ(functionDifference(R"(
    func.func @main(%x: tensor<0x4xf32>) -> (tensor<0x4xf32>, tensor<4xf32>) {
      %a = graph.exp %x : tensor<0x4xf32>
      %b = graph.reduce sum %a over [0] : tensor<0x4xf32>
      return %a, %b : tensor<0x4xf32>, tensor<4xf32>
    })"),
            "");
}

/// One dim of each kind of sampling, edges included.
static std::string resized(const std::string &mode, const std::string &words,
                           const std::string &type = "f32") {
  return functionDifference(
      "func.func @main(%x: tensor<2x3x5x7x" + type + ">) -> tensor<2x3x8x4x" +
      type + "> {\n  %r = graph.resize " + mode + " %x {" + words +
      ", scales = array<f64: 1.0, 1.0, 1.6, 0.58>} : "
      "tensor<2x3x5x7x" +
      type + "> to tensor<2x3x8x4x" + type +
      ">\n  return %r : tensor<2x3x8x4x" + type + ">\n}");
}

TEST(FormKernels, ResizesBecomeGathersAndSums) {
  for (std::string mode : {"nearest", "linear", "cubic"})
    for (std::string place :
         {"half_pixel", "asymmetric", "align_corners", "pytorch_half_pixel"})
      EXPECT_EQ(resized(mode, "coordinates = \"" + place +
                                  "\", rounding = \"floor\""),
                "")
          << mode << " " << place;
  const std::string words =
      "coordinates = \"half_pixel\", rounding = \"round_prefer_ceil\"";
  EXPECT_EQ(resized("cubic", words + ", exclude_outside"), "");
  for (std::string type : {"i64", "bf16", "f64"}) {
    EXPECT_EQ(resized("linear", words, type), "") << type;
    EXPECT_EQ(resized("nearest", words, type), "") << type;
  }
}

/// Returns a function with `n` outputs, each x times a scale of its own.
static std::string scaled(int n, const std::string &type) {
  std::string ops, names, types;
  for (int i = 0; i < n; ++i) {
    const std::string number = std::to_string(i), y = "%y" + number;
    ops += "%s" + number + " = graph.constant dense<" + number +
           (type == "i64" ? "" : ".5") + "> : tensor<" + type + ">\n" + y +
           " = graph.mul %x, %s" + number + " : tensor<2x3x" + type +
           ">, tensor<" + type + ">\n";
    names += (i ? ", " : "") + y;
    types += (i ? ", tensor<2x3x" : "tensor<2x3x") + type + ">";
  }
  return "func.func @main(%x: tensor<2x3x" + type + ">) -> (" + types +
         ") {\n" + ops + "return " + names + " : " + types + "\n}";
}

TEST(FormKernels, ManyKernelsTakeTheirScalarsAsOperands) {
  for (std::string type : {"f32", "f64", "bf16", "i64"})
    for (std::string target : {"cpu", "cuda"})
      EXPECT_EQ(functionDifference("module attributes {dist.target = \"" +
                                   target + "\"} {\n" + scaled(40, type) + "}"),
                "")
          << type << " " << target;
}
