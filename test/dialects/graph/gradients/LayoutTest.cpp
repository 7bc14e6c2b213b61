//===- LayoutTest.cpp - gradients of ops that move elements ---------------===//

#include "test/dialects/graph/gradients/Cases.h"
#include <gtest/gtest.h>

using namespace pcc::graph;

/// Returns a case of `op` on %x of shape `shape`.
static GradientCase of(const std::string &name, const std::string &shape,
                       const std::string &op, const std::string &end = "") {
  std::string type = "tensor<" + shape + "xf64>";
  return {name, "%x: " + type, "%y = graph." + op + " : " + type + end};
}

static std::vector<GradientCase> moves() {
  return {
      of("transpose", "2x3x4", "transpose %x [2, 0, 1]"),
      of("reshape", "2x3x4", "reshape %x", " to tensor<4x6xf64>"),
      of("broadcast", "2x1x3", "broadcast %x", " to tensor<4x2x2x3xf64>"),
      {"broadcast_of_a_scalar", "%x: tensor<f64>",
       "%y = graph.broadcast %x : tensor<f64> to tensor<2x3xf64>"},
      of("slice", "4x5", "slice %x starts [1, 0] sizes [2, 5] steps [1, 1]"),
      of("slice_with_steps", "7x5",
         "slice %x starts [1, 3] sizes [3, 2] steps [2, 1]"),
      of("slice_backwards", "7x5",
         "slice %x starts [6, 4] sizes [3, 5] steps [-2, -1]"),
      of("slice_of_one", "3x4",
         "slice %x starts [2, 1] sizes [1, 2] steps [-5, 2]"),
      of("slice_to_the_end", "8", "slice %x starts [1] sizes [3] steps [3]"),
      of("slice_of_nothing", "3x4",
         "slice %x starts [0, 0] sizes [0, 4] steps [1, 1]"),
      {"concat", "%a: tensor<2x3xf64>, %b: tensor<2x1xf64>", R"(
            %y = graph.concat %a, %b, %a along 1
                 : tensor<2x3xf64>, tensor<2x1xf64>, tensor<2x3xf64>)"}};
}

static std::vector<GradientCase> pads() {
  auto pad = [](const std::string &name, const std::string &shape,
                const std::string &op) {
    std::string type = "tensor<" + shape + "xf64>";
    return GradientCase{name, "%x: " + type,
                        "%y = graph.pad " + op + " : " + type};
  };
  return {{"pad", "%x: tensor<2x3xf64>, %v: tensor<f64>", R"(
            %y = graph.pad constant %x with %v : tensor<f64>, low [1, 0]
                 high [0, 2] : tensor<2x3xf64>)"},
          {"pad_cuts", "%x: tensor<4x3xf64>, %v: tensor<f64>", R"(
            %y = graph.pad constant %x with %v : tensor<f64>, low [-1, 2]
                 high [1, -1] : tensor<4x3xf64>)"},
          pad("pad_edge", "2x3", "edge %x low [2, 1] high [0, 3]"),
          pad("pad_edge_of_one", "1x2", "edge %x low [2, 0] high [1, 0]"),
          pad("pad_reflect", "3x4", "reflect %x low [2, 1] high [0, 3]"),
          pad("pad_reflect_often", "3", "reflect %x low [5] high [6]"),
          pad("pad_wrap", "3x4", "wrap %x low [1, 0] high [2, 3]"),
          pad("pad_wrap_often", "2", "wrap %x low [3] high [4]"),
          pad("pad_edge_cuts", "4x3", "edge %x low [-2, 1] high [1, -1]")};
}

static std::vector<GradientCase> rotaries() {
  auto rotary = [](const std::string &name, const std::string &table,
                   const std::string &form) {
    std::string type = "tensor<" + table + "f64>";
    return GradientCase{name,
                        "%x: tensor<2x3x4xf64>, %c: " + type + ", %s: " + type,
                        "%y = graph.rotary %x, %c, %s " + form +
                            " : tensor<2x3x4xf64>, " + type + ", " + type};
  };
  return {rotary("rotary", "3x4x", ""),
          rotary("rotary_interleaved", "3x4x", "interleaved"),
          rotary("rotary_by_one_angle", "", "interleaved"),
          rotary("rotary_by_an_angle_per_row", "3x1x", "")};
}

std::vector<GradientCase> pcc::graph::layoutCases() {
  std::vector<GradientCase> cases = moves();
  for (GradientCase &c : pads())
    cases.push_back(std::move(c));
  for (GradientCase &c : rotaries())
    cases.push_back(std::move(c));
  return cases;
}

TEST(LayoutGradients, ASliceIsPadded) {
  EXPECT_EQ(opsBuilt(of("", "4x5",
                        "slice %x starts [1, 0] sizes [2, 5] steps [1, 1]"),
                     {0}),
            "graph.constant graph.pad");
}
