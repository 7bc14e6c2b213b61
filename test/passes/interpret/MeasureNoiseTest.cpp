//===- MeasureNoiseTest.cpp - digits that depend on the order of sums -----===//

#include "passes/interpret/MeasureNoise.h"
#include "test/passes/interpret/Parsed.h"

#include <cmath>
#include <gtest/gtest.h>

using namespace pcc;
using namespace pcc::interpret;

// "sum" adds the elements of a row. "zero" adds their distances from the mean,
// which is 0 but for rounding errors.
static const char *model = R"(
  func.func @main(%x: tensor<4x3xf32> {graph.name = "x"})
      -> (tensor<4xf32> {graph.name = "sum"}, tensor<4xf32> {graph.name = "zero"}) {
    %s = graph.reduce sum %x over [1] : tensor<4x3xf32>
    %m = graph.reduce mean %x over [1] keep : tensor<4x3xf32>
    %d = graph.sub %x, %m : tensor<4x3xf32>, tensor<4x1xf32>
    %z = graph.reduce sum %d over [1] : tensor<4x3xf32>
    return %s, %z : tensor<4xf32>, tensor<4xf32>
  })";

/// Returns the noise of `model` for inputs of about `size`.
static llvm::StringMap<double> noiseOf(graph::Numerics numerics, double size) {
  Parser parser;
  auto module = parser.parse(model);
  Inputs inputs;
  std::vector<double> x(12);
  for (int i = 0; i < 12; ++i)
    x[i] = size * (1 + i % 5);
  inputs["x"] = graph::HostTensor::ofFloats({4, 3}, x);
  auto noise = measureNoise(*module, inputs, numerics, 1, 10);
  return noise ? *noise : llvm::StringMap<double>();
}

TEST(MeasureNoise, GrowsWithTheValuesThatAreAdded) {
  auto small = noiseOf(graph::Numerics::Exact, 1),
       large = noiseOf(graph::Numerics::Exact, 1024);
  ASSERT_EQ(small.size(), 2u);
  EXPECT_NEAR(large["sum"] / small["sum"], 1024, 1);
  EXPECT_GT(small["zero"], 1e-16);
  EXPECT_LT(small["zero"], 1e-13);
}

TEST(MeasureNoise, IsThatOfTheModelsTypes) {
  auto exact = noiseOf(graph::Numerics::Exact, 1),
       model = noiseOf(graph::Numerics::Model, 1);
  EXPECT_GT(model["zero"], 1e7 * exact["zero"]);
  EXPECT_LT(model["zero"], 1e-3);
}

// The sum of two numbers that nearly cancel has the error of the numbers.
TEST(MeasureNoise, HasTheSizeOfPartialSums) {
  Parser parser;
  auto module = parser.parse(R"(
    func.func @main(%x: tensor<1x2xf32> {graph.name = "x"},
                    %w: tensor<2x1xf32> {graph.name = "w"})
        -> (tensor<1x1xf32> {graph.name = "product"},
            tensor<1xf32> {graph.name = "sum"}) {
      %p = graph.matmul %x, %w : tensor<1x2xf32>, tensor<2x1xf32>
      %s = graph.reduce sum %x over [1] : tensor<1x2xf32>
      return %p, %s : tensor<1x1xf32>, tensor<1xf32>
    })");
  Inputs inputs;
  inputs["x"] = graph::HostTensor::ofFloats({1, 2}, {1000, -999.999});
  inputs["w"] = graph::HostTensor::ofFloats({2, 1}, {1, 1});
  auto noise = measureNoise(*module, inputs, graph::Numerics::Model, 1, 10);
  ASSERT_TRUE(static_cast<bool>(noise));
  for (const char *name : {"product", "sum"}) {
    EXPECT_GT((*noise)[name], 1e-4);
    EXPECT_LT((*noise)[name], 1e-2);
  }
}

// 65,500 is the sum, and the largest f16 is 65,504.
TEST(MeasureNoise, IsInfiniteWhereRoundingOverflows) {
  Parser parser;
  auto module = parser.parse(R"(
    func.func @main(%x: tensor<1x2xf16> {graph.name = "x"})
        -> (tensor<1xf16> {graph.name = "sum"}) {
      %s = graph.reduce sum %x over [1] : tensor<1x2xf16>
      return %s : tensor<1xf16>
    })");
  Inputs inputs;
  inputs["x"] = graph::HostTensor::ofFloats({1, 2}, {65000, 500});
  auto noise = measureNoise(*module, inputs, graph::Numerics::Model, 1, 10);
  ASSERT_TRUE(static_cast<bool>(noise));
  EXPECT_TRUE(std::isinf((*noise)["sum"]));
}

TEST(MeasureNoise, NamesStepsOfTraining) {
  EXPECT_EQ(nameInStep("loss", 2, 3), "loss of step 2");
  EXPECT_EQ(nameInStep("y", 1, 1), "y");
}
