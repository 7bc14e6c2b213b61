//===- ElementWiseTest.cpp - gradients of element-wise ops ----------------===//

#include "test/dialects/graph/gradients/Cases.h"
#include <gtest/gtest.h>

using namespace pcc::graph;

/// Returns a case of the op `name` on a 2x3 tensor with elements between `low`
/// and `high`.
static GradientCase unary(const std::string &name, double low = -1.5,
                          double high = 1.5) {
  return {name, "%x: tensor<2x3xf64>",
          "%y = graph." + name + " %x : tensor<2x3xf64>", low, high};
}

/// Returns a case of `op` whose operands have these shapes.
static GradientCase binary(const std::string &name, const std::string &op,
                           const std::string &lhs, const std::string &rhs,
                           double low = -1.5, double high = 1.5) {
  std::string a = "tensor<" + lhs + ">", b = "tensor<" + rhs + ">";
  return {name, "%a: " + a + ", %b: " + b,
          "%y = graph." + op + " : " + a + ", " + b, low, high};
}

static std::vector<GradientCase> functions() {
  return {
      unary("neg"),
      unary("abs"),
      unary("exp"),
      unary("log", 0.2, 2),
      unary("sqrt", 0.2, 2),
      unary("reciprocal", 0.3, 2),
      unary("tanh"),
      unary("erf"),
      unary("sigmoid"),
      unary("relu"),
      unary("softplus"),
      unary("sin"),
      unary("cos"),
      unary("tan", -1, 1),
      unary("asin", -0.9, 0.9),
      unary("acos", -0.9, 0.9),
      unary("atan"),
      unary("sinh"),
      unary("cosh"),
      unary("asinh"),
      unary("acosh", 1.2, 3),
      unary("atanh", -0.9, 0.9),
      unary("floor"),
      unary("ceil"),
      unary("round"),
      unary("sign"),
      unary("gelu"),
      {"gelu_tanh", "%x: tensor<7xf64>",
       "%y = graph.gelu %x {tanh} : tensor<7xf64>"},
      {"gelu_with_numbers", "%x: tensor<7xf64>",
       "%y = graph.gelu %x {slope = 0.7 : f64} : tensor<7xf64>"},
      {"gelu_tanh_with_numbers", "%x: tensor<7xf64>",
       "%y = graph.gelu %x {tanh, slope = 0.8 : f64, cubic = 0.05 : f64} : "
       "tensor<7xf64>"},
      {"exp_of_a_scalar", "%x: tensor<f64>", "%y = graph.exp %x : tensor<f64>"},
      {"cast", "%x: tensor<4xf32>", R"(
            %a = graph.cast %x : tensor<4xf32> to tensor<4xf64>
            %y = graph.exp %a : tensor<4xf64>)"}};
}

static std::vector<GradientCase> withSeveralOperands() {
  return {binary("add", "add %a, %b", "2x3xf64", "2x3xf64"),
          binary("add_broadcasts", "add %a, %b", "3xf64", "4x2x1xf64"),
          binary("sub_broadcasts", "sub %a, %b", "2x1x3xf64", "4x1xf64"),
          binary("mul", "mul %a, %b", "2x3xf64", "f64"),
          binary("mul_broadcasts", "mul %a, %b", "1x3xf64", "2x1xf64"),
          binary("div", "div %a, %b", "2x3xf64", "3xf64", 0.5, 2),
          binary("pow", "pow %a, %b", "2x3xf64", "3xf64", 0.5, 2),
          binary("max", "max %a, %b", "2x3xf64", "3xf64"),
          binary("min", "min %a, %b", "2x3xf64", "2x1xf64"),
          binary("mod", "mod %a, %b", "2x3xf64", "3xf64", 0.5, 4),
          binary("mod_truncated", "mod %a, %b {truncated}", "2x3xf64", "3xf64",
                 -4, 4),
          {"pow_of_constant", "%x: tensor<5xf64>", R"(
            %two = graph.constant dense<[2, 3, 0, -1, 1]> : tensor<5xi64>
            %y = graph.pow %x, %two : tensor<5xf64>, tensor<5xi64>)"},
          {"select", "%a: tensor<2x3xf64>, %b: tensor<1xf64>", R"(
            %c = graph.constant dense<[[true], [false]]> : tensor<2x1xi1>
            %y = graph.select %c, %a, %b : tensor<2x1xi1>, tensor<2x3xf64>,
                                           tensor<1xf64>)"},
          {"select_by_compared", "%a: tensor<6xf64>, %b: tensor<6xf64>", R"(
            %c = graph.compare lt %a, %b : tensor<6xf64>, tensor<6xf64>
            %y = graph.select %c, %a, %b : tensor<6xi1>, tensor<6xf64>,
                                           tensor<6xf64>)"}};
}

std::vector<GradientCase> pcc::graph::elementWiseCases() {
  std::vector<GradientCase> cases = functions();
  for (GradientCase &c : withSeveralOperands())
    cases.push_back(std::move(c));
  return cases;
}

TEST(ElementWiseGradients, EqualOperandsShare) {
  EXPECT_EQ(gradientsAt(binary("", "max %a, %b", "3xf64", "3xf64"),
                        {{1, 2, 3}, {2, 2, 2}}),
            "0 0.5 1; 1 0.5 0");
  EXPECT_EQ(
      gradientsAt(binary("", "min %a, %b", "3xf64", "f64"), {{1, 2, 3}, {2}}),
      "1 0.5 0; 1.5");
}

TEST(ElementWiseGradients, KinksAreFlat) {
  EXPECT_EQ(gradientsAt(unary("relu"), {{-1, 0, 1, 2, 3, -4}}), "0 0 1 1 1 0");
  EXPECT_EQ(gradientsAt(unary("abs"), {{-1, 0, 1, 2, 3, -4}}), "-1 0 1 1 1 -1");
  EXPECT_EQ(gradientsAt(unary("floor"), {{0, 1, 2, 3, 4, 5}}), "none");
}

TEST(ElementWiseGradients, PowersOfZero) {
  EXPECT_EQ(gradientsAt(binary("", "pow %a, %b", "3xf64", "3xf64"),
                        {{0, 0, 0}, {0, 1, 2}}),
            "0 1 0; 0 0 0");
}

TEST(ElementWiseGradients, FarOutIsFinite) {
  EXPECT_EQ(gradientsAt(unary("gelu"), {{-50, 50, -1e3, 1e3, 0, 9}}),
            "0 1 0 1 0.5 1");
  EXPECT_EQ(gradientsAt(unary("softplus"), {{-800, 800, 0, 0, 0, 0}}),
            "0 1 0.5 0.5 0.5 0.5");
}
