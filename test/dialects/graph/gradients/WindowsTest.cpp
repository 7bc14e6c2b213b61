//===- WindowsTest.cpp - gradients of convolutions, pools, resizes --------===//

#include "test/dialects/graph/gradients/Cases.h"
#include <gtest/gtest.h>

using namespace pcc::graph;

/// Returns a case of `op` whose input and filter have these shapes.
static GradientCase conv(const std::string &name, const std::string &op,
                         const std::string &input, const std::string &filter,
                         const std::string &attributes) {
  std::string x = "tensor<" + input + "xf64>", w = "tensor<" + filter + "xf64>";
  return {name, "%x: " + x + ", %w: " + w,
          "%y = graph." + op + " %x, %w {" + attributes + "} : " + x + ", " +
              w};
}

/// Returns strides, pads and dilations of two dims, followed by more
/// attributes.
static std::string plane(const std::string &strides, const std::string &pads,
                         const std::string &dilations,
                         const std::string &more = "") {
  return "strides = array<i64: " + strides + ">, pads = array<i64: " + pads +
         ">, dilations = array<i64: " + dilations + ">" + more;
}

static std::vector<GradientCase> convolutions() {
  std::string plain = plane("1, 1", "0, 0, 0, 0", "1, 1");
  return {conv("conv", "conv", "2x3x4x5", "4x3x2x3", plain),
          conv("conv_padded", "conv", "1x2x4x3", "2x2x3x3",
               plane("1, 1", "1, 0, 2, 1", "1, 1")),
          conv("conv_strided_with_a_rest", "conv", "2x1x6x7", "2x1x3x2",
               plane("2, 3", "0, 1, 0, 0", "1, 1")),
          conv("conv_rest_beyond_padding", "conv", "1x1x6x6", "1x1x1x2",
               plane("4, 3", "0, 0, 1, 0", "1, 1")),
          conv("conv_dilated", "conv", "1x2x7x6", "1x2x2x3",
               plane("2, 1", "1, 2, 0, 1", "3, 2")),
          conv("conv_grouped", "conv", "2x4x4x3", "6x2x2x2",
               plane("1, 1", "0, 0, 0, 0", "1, 1", ", group = 2 : i64")),
          conv("conv_depthwise", "conv", "2x3x4x4", "3x1x3x3",
               plane("2, 2", "1, 1, 1, 1", "1, 1", ", group = 3 : i64")),
          conv("conv_of_a_line", "conv", "2x2x7", "3x2x3",
               "strides = array<i64: 2>, pads = array<i64: 1, 1>, "
               "dilations = array<i64: 1>"),
          conv("conv_of_one_tap", "conv", "2x3x4x3", "4x3x1x1", plain),
          conv("conv_of_one_tap_strided", "conv", "2x4x5x6", "6x2x1x1",
               plane("2, 3", "1, 0, 0, 2", "1, 1", ", group = 2 : i64")),
          conv("conv_of_one_tap_depthwise", "conv", "2x3x3x3", "3x1x1x1",
               plane("2, 2", "0, 0, 0, 0", "1, 1", ", group = 3 : i64")),
          conv("conv_of_one_pixel", "conv", "3x4x1x1", "2x4x1x1", plain)};
}

static std::vector<GradientCase> transposedConvolutions() {
  auto rest = [](const std::string &output) {
    return ", output_pads = array<i64: " + output + ">";
  };
  return {
      conv("conv_transpose", "conv_transpose", "2x3x3x2", "3x2x2x3",
           plane("1, 1", "0, 0, 0, 0", "1, 1", rest("0, 0"))),
      conv("conv_transpose_strided", "conv_transpose", "1x2x3x2", "2x2x3x2",
           plane("2, 3", "1, 0, 0, 1", "1, 1", rest("1, 2"))),
      conv("conv_transpose_rest_beyond_padding", "conv_transpose", "1x1x2x2",
           "1x1x2x2", plane("3, 3", "0, 0, 1, 0", "1, 1", rest("2, 2"))),
      conv("conv_transpose_dilated", "conv_transpose", "1x2x3x3", "2x1x2x2",
           plane("1, 2", "1, 0, 1, 1", "3, 2", rest("0, 1"))),
      conv("conv_transpose_of_one_tap", "conv_transpose", "2x4x2x3", "4x3x1x1",
           plane("2, 3", "0, 1, 0, 0", "1, 1",
                 rest("1, 2") + ", group = 2 : i64")),
      conv("conv_transpose_grouped", "conv_transpose", "2x4x2x3", "4x3x2x2",
           plane("2, 1", "0, 0, 0, 0", "1, 1",
                 rest("0, 0") + ", group = 2 : i64"))};
}

/// Returns a case of a pool of `input`, a shape.
static GradientCase pool(const std::string &name, const std::string &kind,
                         const std::string &input, const std::string &window,
                         const std::string &attributes) {
  std::string x = "tensor<" + input + "xf64>";
  return {name, "%x: " + x,
          "%y = graph.pool " + kind + " %x {window = array<i64: " + window +
              ">, " + attributes + "} : " + x};
}

static std::vector<GradientCase> pools() {
  std::string halves = plane("2, 2", "0, 0, 0, 0", "1, 1"),
              overlapping = plane("1, 2", "1, 1, 1, 0", "1, 1"),
              dilated = plane("2, 1", "1, 0, 0, 2", "2, 2"),
              over = plane("2, 2", "0, 0, 1, 1", "1, 1");
  return {pool("max_pool", "max", "2x2x4x6", "2, 2", halves),
          pool("max_pool_with_a_rest", "max", "1x2x5x7", "2, 2", halves),
          pool("max_pool_overlapping", "max", "1x2x4x6", "3, 3", overlapping),
          pool("max_pool_dilated", "max", "1x1x6x5", "2, 3", dilated),
          pool("max_pool_of_a_line", "max", "2x1x6", "3",
               "strides = array<i64: 2>, pads = array<i64: 1, 0>, "
               "dilations = array<i64: 1>"),
          pool("average_pool", "average", "2x2x4x6", "2, 2", halves),
          pool("average_pool_overlapping", "average", "1x2x4x6", "3, 3",
               overlapping),
          pool("average_pool_dilated", "average", "1x1x6x5", "2, 3", dilated),
          pool("average_pool_with_padding", "average_with_padding", "1x2x4x6",
               "3, 3", overlapping),
          pool("average_pool_overhanging", "average_with_padding", "1x1x5x5",
               "2, 2", over),
          pool("average_pool_overhanging_without_padding", "average", "1x1x5x5",
               "2, 2", over)};
}

static GradientCase resize(const std::string &name, const std::string &mode,
                           const std::string &from, const std::string &to,
                           const std::string &scales,
                           const std::string &coordinates,
                           const std::string &more = "") {
  std::string x = "tensor<" + from + "xf64>", y = "tensor<" + to + "xf64>";
  return {name, "%x: " + x,
          "%y = graph.resize " + mode + " %x {scales = array<f64: " + scales +
              ">, coordinates = \"" + coordinates +
              "\", rounding = \"round_prefer_floor\"" + more + "} : " + x +
              " to " + y};
}

static std::vector<GradientCase> resizes() {
  return {
      resize("resize_repeats", "nearest", "2x3x2", "2x6x6", "1.0, 2.0, 3.0",
             "half_pixel"),
      resize("resize_nearest", "nearest", "2x3x4", "2x5x3", "1.0, 1.7, 0.75",
             "asymmetric"),
      resize("resize_linear", "linear", "2x3x4", "2x6x3", "1.0, 2.0, 0.75",
             "half_pixel"),
      resize("resize_linear_to_corners", "linear", "1x3x4", "1x7x2",
             "1.0, 2.4, 0.5", "align_corners"),
      resize("resize_cubic", "cubic", "4x3", "7x5", "1.75, 1.7", "half_pixel"),
      resize("resize_cubic_inside", "cubic", "5", "8", "1.6", "half_pixel",
             ", exclude_outside")};
}

std::vector<GradientCase> pcc::graph::windowCases() {
  std::vector<GradientCase> cases;
  for (auto family : {convolutions, transposedConvolutions, pools, resizes})
    for (GradientCase &c : family())
      cases.push_back(std::move(c));
  return cases;
}

TEST(WindowGradients, TheFirstMaximumTakesAll) {
  EXPECT_EQ(gradientsAt(pool("", "max", "1x1x3x4", "2, 2",
                             plane("1, 2", "0, 0, 0, 0", "1, 1")),
                        {{1, 5, 2, 2, 5, 5, 1, 2, 5, 0, 0, 3}}),
            "0 1 1 0 1 0 0 0 0 0 0 1");
}

TEST(WindowGradients, WholeRepetitionsAreSums) {
  EXPECT_EQ(
      opsBuilt(resize("", "nearest", "1x2", "1x6", "1.0, 3.0", "half_pixel"),
               {0}),
      "graph.reshape graph.reduce graph.reshape");
}
