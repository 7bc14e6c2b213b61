//===- NativeCodeTest.cpp - compiled kernels compute what ops mean --------===//

#include "test/passes/7-emit/KernelRun.h"
#include <gtest/gtest.h>
#include <limits>

using namespace pcc::emit;

/// Returns a kernel of one op on operands of one type.
static std::string kernel(const std::string &type, int numOperands,
                          const std::string &op, const std::string &result) {
  std::string arguments;
  for (int i = 0; i < numOperands; ++i)
    arguments +=
        (i ? ", %" : "%") + std::string(1, char('a' + i)) + ": " + type;
  return "rank.kernel @k(" + arguments + ") -> " + result + " {\n  %r = " + op +
         "\n  rank.yield %r : " + result + "\n}\n";
}

static std::string unary(const std::string &op, const std::string &type) {
  return kernel(type, 1, "graph." + op + " %a : " + type, type);
}
static std::string binary(const std::string &op, const std::string &type) {
  return kernel(type, 2, "graph." + op + " %a, %b : " + type + ", " + type,
                type);
}

TEST(ElementWise, FloatFunctions) {
  for (const char *op :
       {"neg",  "abs",     "exp",  "sqrt",     "reciprocal", "tanh",
        "erf",  "sigmoid", "relu", "softplus", "sin",        "cos",
        "tan",  "atan",    "sinh", "cosh",     "asinh",      "floor",
        "ceil", "round",   "sign", "gelu",     "log"})
    for (const char *type : {"tensor<100xf32>", "tensor<3x17xf32>",
                             "tensor<17xf64>", "tensor<33xbf16>"})
      EXPECT_EQ(difference(unary(op, type)), "") << op << " " << type;
}

TEST(ElementWise, FunctionsOfSmallArguments) {
  Inputs inputs{.low = -1, .high = 1};
  for (const char *op : {"asin", "acos", "atanh"})
    EXPECT_EQ(difference(unary(op, "tensor<100xf32>"), inputs), "") << op;
  EXPECT_EQ(difference(unary("acosh", "tensor<100xf32>"), {.low = 1}), "");
}

TEST(ElementWise, FunctionsOfLargeArguments) {
  Inputs inputs{.low = -3000, .high = 3000};
  for (const char *op :
       {"sin", "cos", "exp", "tanh", "erf", "sigmoid", "gelu", "softplus"})
    EXPECT_EQ(difference(unary(op, "tensor<1000xf32>"), inputs), "") << op;
}

TEST(ElementWise, Arithmetic) {
  for (const char *op :
       {"add", "sub", "mul", "div", "max", "min", "pow", "mod"})
    for (const char *type :
         {"tensor<100xf32>", "tensor<17xf64>", "tensor<33xbf16>",
          "tensor<17xf16>", "tensor<100xi64>", "tensor<3x5xi32>",
          "tensor<100xi8>", "tensor<9xui8>", "tensor<9xui64>"}) {
      Inputs inputs{.low = 0.1};
      if (std::string(type).find('u') != std::string::npos)
        inputs.least = 0;
      EXPECT_EQ(difference(binary(op, type), inputs), "") << op << " " << type;
    }
}

TEST(ElementWise, Integers) {
  for (const char *type : {"tensor<100xi64>", "tensor<17xi32>", "tensor<9xi1>"})
    for (const char *op : {"and", "or", "xor", "bit_and"})
      EXPECT_EQ(difference(binary(op, type)), "") << op << " " << type;
  for (const char *op : {"neg", "abs", "sign", "not", "relu"})
    EXPECT_EQ(difference(unary(op, "tensor<100xi64>")), "") << op;
  EXPECT_EQ(difference(unary("not", "tensor<7xi1>")), "");
}

TEST(ElementWise, Comparisons) {
  for (const char *predicate : {"eq", "lt", "le", "gt", "ge"})
    for (const char *type : {"f32", "i64", "i32", "ui8", "i1"}) {
      std::string tensor = std::string("tensor<50x") + type + ">";
      std::string op = std::string("graph.compare ") + predicate +
                       " %a, %b : " + tensor + ", " + tensor;
      Inputs inputs;
      if (std::string(type) == "ui8")
        inputs.least = 0;
      EXPECT_EQ(difference(kernel(tensor, 2, op, "tensor<50xi1>"), inputs), "")
          << predicate << " " << type;
    }
}

TEST(ElementWise, RandomNumbers) {
  const int64_t most = std::numeric_limits<int64_t>::max();
  for (const Inputs &inputs : {Inputs{}, Inputs{.least = -most, .most = most}})
    EXPECT_EQ(difference(R"(
      rank.kernel @k(%a: tensor<7x33xi64>, %b: tensor<i64>)
          -> tensor<7x33xf32> {
        %r = graph.random %a, %b key -81985529216486896
             : tensor<7x33xi64>, tensor<i64>
        rank.yield %r : tensor<7x33xf32>
      })",
                         inputs, /*tolerance=*/0),
              "");
}

TEST(ElementWise, Casts) {
  const char *types[] = {"f32", "f64", "bf16", "f16", "i64",
                         "i32", "i8",  "ui8",  "i1"};
  for (std::string from : types)
    for (std::string to : types) {
      std::string in = "tensor<37x" + from + ">", out = "tensor<37x" + to + ">";
      Inputs inputs;
      if (from == "ui8")
        inputs.least = 0;
      EXPECT_EQ(
          difference(kernel(in, 1, "graph.cast %a : " + in + " to " + out, out),
                     inputs),
          "")
          << from << " to " << to;
    }
}

TEST(ElementWise, BroadcastShapes) {
  EXPECT_EQ(difference(R"(
    rank.kernel @k(%a: tensor<5x1x7xf32>, %b: tensor<3x1xf32>, %c: tensor<f32>)
        -> tensor<5x3x7xf32> {
      %0 = graph.add %a, %b : tensor<5x1x7xf32>, tensor<3x1xf32>
      %1 = graph.mul %0, %c : tensor<5x3x7xf32>, tensor<f32>
      rank.yield %1 : tensor<5x3x7xf32>
    })"),
            "");
}

TEST(ElementWise, SeveralResults) {
  EXPECT_EQ(difference(R"(
    rank.kernel @k(%a: tensor<4x9xf32>, %b: tensor<9xf32>)
        -> (tensor<4x9xf32>, tensor<4x9xi1>) {
      %0 = graph.add %a, %b : tensor<4x9xf32>, tensor<9xf32>
      %z = graph.constant dense<0.5> : tensor<f32>
      %1 = graph.compare gt %0, %z : tensor<4x9xf32>, tensor<f32>
      rank.yield %0, %1 : tensor<4x9xf32>, tensor<4x9xi1>
    })"),
            "");
}

TEST(ElementWise, ConstantPowers) {
  for (const char *power : {"2.0", "3.0", "0.5", "-1.0", "-2.0", "0.0", "1.5"})
    EXPECT_EQ(difference(std::string(R"(
      rank.kernel @k(%a: tensor<20xf32>) -> tensor<20xf32> {
        %p = graph.constant dense<)") +
                             power + R"(> : tensor<f32>
        %0 = graph.pow %a, %p : tensor<20xf32>, tensor<f32>
        rank.yield %0 : tensor<20xf32>
      })",
                         {.low = 0.1}),
              "")
        << power;
}
