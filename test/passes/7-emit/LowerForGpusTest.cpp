//===- LowerForGpusTest.cpp - what GPUs compute in other words ------------===//

#include "test/passes/7-emit/KernelRun.h"
#include <gtest/gtest.h>

using namespace pcc::emit;

/// Compiles a function for GPUs and compares it with the reference evaluator.
static std::string forGpus(const std::string &arguments,
                           const std::string &results, const std::string &body,
                           const Inputs &inputs = {}) {
  return functionDifference(
      "module attributes {dist.target = \"cuda\"} {\nfunc.func @main(" +
          arguments + ") -> (" + results + ") {\n" + body + "\n}\n}\n",
      inputs);
}

/// Compares the function `%r = op : operands` with one result.
static std::string oneOp(const std::string &arguments, const std::string &op,
                         const std::string &operands, const std::string &result,
                         const Inputs &inputs = {}) {
  return forGpus(arguments, result,
                 "%r = graph." + op + " : " + operands +
                     "\nreturn %r : " + result,
                 inputs);
}

//===----------------------------------------------------------------------===//
// Windows
//===----------------------------------------------------------------------===//

TEST(LowerForGpus, Convolutions) {
  for (std::string type : {"xf32>", "xbf16>"}) {
    const std::string x = "tensor<2x4x9x40" + type, w = "tensor<6x2x3x2" + type;
    EXPECT_EQ(oneOp("%x: " + x + ", %w: " + w,
                    "conv %x, %w {strides = array<i64: 2, 1>, pads = "
                    "array<i64: 1, 0, 2, 3>, dilations = array<i64: 1, 2>, "
                    "group = 2 : i64}",
                    x + ", " + w, "tensor<2x6x5x41" + type),
              "")
        << type;
  }
}

TEST(LowerForGpus, ConvolutionsOfFewPlacesAreOneProduct) {
  EXPECT_EQ(oneOp("%x: tensor<5x3x4x4xf32>, %w: tensor<6x3x3x3xf32>",
                  "conv %x, %w {strides = array<i64: 1, 1>, pads = array<i64: "
                  "1, 1, 1, 1>, dilations = array<i64: 1, 1>}",
                  "tensor<5x3x4x4xf32>, tensor<6x3x3x3xf32>",
                  "tensor<5x6x4x4xf32>"),
            "");
}

TEST(LowerForGpus, DepthwiseConvolutionsAreKernels) {
  for (std::string type : {"xf32>", "xf16>"}) {
    const std::string x = "tensor<2x5x8x20" + type, w = "tensor<5x1x3x3" + type;
    EXPECT_EQ(oneOp("%x: " + x + ", %w: " + w,
                    "conv %x, %w {strides = array<i64: 1, 2>, pads = "
                    "array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, "
                    "group = 5 : i64}",
                    x + ", " + w, "tensor<2x5x8x10" + type),
              "")
        << type;
  }
}

TEST(LowerForGpus, TransposedConvolutions) {
  EXPECT_EQ(oneOp("%x: tensor<2x4x5x6xf32>, %w: tensor<4x3x3x2xf32>",
                  "conv_transpose %x, %w {strides = array<i64: 2, 3>, pads = "
                  "array<i64: 1, 0, 0, 1>, dilations = array<i64: 2, 1>, "
                  "output_pads = array<i64: 1, 2>, group = 2 : i64}",
                  "tensor<2x4x5x6xf32>, tensor<4x3x3x2xf32>",
                  "tensor<2x6x13x18xf32>"),
            "");
}

/// One of the averages counts padding.
TEST(LowerForGpus, Pools) {
  for (std::string kind : {"max", "average", "average_with_padding"})
    for (std::string type : {"xf32>", "xbf16>", "xi32>"})
      EXPECT_EQ(oneOp("%x: tensor<2x3x10x19" + type,
                      "pool " + kind +
                          " %x {window = array<i64: 3, 2>, strides = "
                          "array<i64: 3, 2>, pads = array<i64: 1, 1, 1, 1>, "
                          "dilations = array<i64: 1, 1>}",
                      "tensor<2x3x10x19" + type, "tensor<2x3x4x10" + type),
                "")
          << kind << type;
}

TEST(LowerForGpus, PoolsOfTheImage) {
  EXPECT_EQ(oneOp("%x: tensor<3x4x9x11xbf16>",
                  "pool average %x {window = array<i64: 9, 11>, strides = "
                  "array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations "
                  "= array<i64: 1, 1>}",
                  "tensor<3x4x9x11xbf16>", "tensor<3x4x1x1xbf16>"),
            "");
}

TEST(LowerForGpus, NoElements) {
  EXPECT_EQ(oneOp("%x: tensor<0x3x4x4xf32>, %w: tensor<4x3x3x3xf32>",
                  "conv %x, %w {strides = array<i64: 1, 1>, pads = array<i64: "
                  "0, 0, 0, 0>, dilations = array<i64: 1, 1>}",
                  "tensor<0x3x4x4xf32>, tensor<4x3x3x3xf32>",
                  "tensor<0x4x2x2xf32>"),
            "");
  EXPECT_EQ(oneOp("%x: tensor<3x0xi64>", "cumsum %x along 1", "tensor<3x0xi64>",
                  "tensor<3x0xi64>"),
            "");
  EXPECT_EQ(
      oneOp("%d: tensor<3x4xf32>, %i: tensor<0x1xi64>, %u: tensor<0x4xf32>",
            "scatter_nd set %d, %i, %u",
            "tensor<3x4xf32>, tensor<0x1xi64>, tensor<0x4xf32>",
            "tensor<3x4xf32>"),
      "");
  EXPECT_EQ(forGpus("%g: tensor<0x4xf32>", "tensor<0xi64>, tensor<4xi64>",
                    "%t, %e, %w, %c = graph.group_rows %g chosen 2 : "
                    "tensor<0x4xf32>\nreturn %t, %c : tensor<0xi64>, "
                    "tensor<4xi64>"),
            "");
}

//===----------------------------------------------------------------------===//
// Sorts and scans
//===----------------------------------------------------------------------===//

/// The elements have few different values; half of them are square roots of
/// negative numbers.
TEST(LowerForGpus, SortsKnowTiesAndNaN) {
  for (std::string form : {"", " {largest = false}"})
    EXPECT_EQ(forGpus("%x: tensor<3x40xf32>",
                      "tensor<3x40xf32>, tensor<3x40xi64>",
                      "%f = graph.floor %x : tensor<3x40xf32>\n"
                      "%s = graph.sqrt %f : tensor<3x40xf32>\n"
                      "%v, %i = graph.topk %s, 40 along 1" +
                          form +
                          " : tensor<3x40xf32>\n"
                          "return %v, %i : tensor<3x40xf32>, tensor<3x40xi64>"),
              "")
        << form;
}

TEST(LowerForGpus, SortsAlongAnyDim) {
  for (std::string type : {"xbf16>", "xi32>", "xui8>"})
    EXPECT_EQ(forGpus("%x: tensor<3x20x9" + type,
                      "tensor<3x4x9" + type + ", tensor<3x4x9xi64>",
                      "%v, %i = graph.topk %x, 4 along 1 : tensor<3x20x9" +
                          type + "\nreturn %v, %i : tensor<3x4x9" + type +
                          ", tensor<3x4x9xi64>",
                      {.least = 0, .most = 9}),
              "")
        << type;
}

TEST(LowerForGpus, RunningSums) {
  const std::pair<std::string, std::string> cases[] = {
      {"tensor<3x300x2xi64>", "1"},
      {"tensor<2x5x50xf32>", "2"},
      {"tensor<700x1xf32>", "0"},
      {"tensor<20x9xbf16>", "0"}};
  for (std::string form : {"", " exclusive", " reverse", " exclusive reverse"})
    for (const auto &[type, dim] : cases)
      EXPECT_EQ(oneOp("%x: " + type, "cumsum %x along " + dim + form, type,
                      type, {.low = 0, .high = 1}),
                "")
          << form << type;
}

//===----------------------------------------------------------------------===//
// Scatters
//===----------------------------------------------------------------------===//

static const char *const kinds[] = {"set", "add", "mul", "max", "min"};

/// Cases have more or fewer rows than updates; updates are narrower than the
/// data.
TEST(LowerForGpus, ScattersOfElements) {
  for (std::string kind : kinds)
    for (std::string rows : {"5", "50"})
      for (std::string type : {"xf32>", "xbf16>", "xi32>"})
        EXPECT_EQ(
            oneOp("%d: tensor<3x" + rows + "x9" + type +
                      ", %i: tensor<2x12x8xi32>, %u: tensor<2x12x8" + type,
                  "scatter_elements " + kind + " %d, %i, %u along 1",
                  "tensor<3x" + rows + "x9" + type +
                      ", tensor<2x12x8xi32>, tensor<2x12x8" + type,
                  "tensor<3x" + rows + "x9" + type, {.least = -5, .most = 4}),
            "")
            << kind << rows << type;
}

TEST(LowerForGpus, ScattersOfSlices) {
  for (std::string kind : kinds)
    for (std::string updates : {"3", "60"})
      EXPECT_EQ(oneOp("%d: tensor<4x5x10xf32>, %i: tensor<" + updates +
                          "x2xi64>, %u: tensor<" + updates + "x10xf32>",
                      "scatter_nd " + kind + " %d, %i, %u",
                      "tensor<4x5x10xf32>, tensor<" + updates +
                          "x2xi64>, tensor<" + updates + "x10xf32>",
                      "tensor<4x5x10xf32>", {.least = -4, .most = 3}),
                "")
          << kind << updates;
}

/// Many large updates are sorted by row: two rounds.
TEST(LowerForGpus, ScattersOfManySlices) {
  for (std::string kind : kinds)
    for (std::string type : {"xf32>", "xbf16>", "xi32>"})
      EXPECT_EQ(oneOp("%d: tensor<200x50" + type +
                          ", %i: tensor<150x1xi64>, %u: tensor<150x50" + type,
                      "scatter_nd " + kind + " %d, %i, %u",
                      "tensor<200x50" + type +
                          ", tensor<150x1xi64>, tensor<150x50" + type,
                      "tensor<200x50" + type, {.least = -6, .most = 5}),
                "")
          << kind << type;
}

//===----------------------------------------------------------------------===//
// Experts
//===----------------------------------------------------------------------===//

/// Gates are 0 or not; a token has more experts than rows.
TEST(LowerForGpus, RowsOfExperts) {
  for (std::string chosen : {"1", "2", "5"}) {
    const std::string rows = chosen == "5"   ? "120"
                             : chosen == "2" ? "60"
                                             : "30";
    const std::string results = "tensor<" + rows + "xi64>, tensor<" + rows +
                                "xi64>, tensor<" + rows +
                                "xf32>, tensor<4xi64>";
    EXPECT_EQ(
        forGpus("%x: tensor<30x4xf32>", results,
                "%z = graph.constant dense<0.0> : tensor<f32>\n"
                "%g = graph.max %x, %z : tensor<30x4xf32>, tensor<f32>\n"
                "%t, %e, %w, %c = graph.group_rows %g chosen " +
                    chosen +
                    " : tensor<30x4xf32>\nreturn %t, %e, %w, %c : " + results),
        "")
        << chosen;
  }
}

/// Up to 32 of 40 rows exist.
TEST(LowerForGpus, ProductsByExperts) {
  for (std::string form : {"3x6x7xf32>", "3x7x6xf32>"})
    EXPECT_EQ(oneOp("%x: tensor<40x6xf32>, %w: tensor<" + form +
                        ", %c: tensor<3xi64>",
                    "grouped_matmul %x, %w by %c" +
                        std::string(form[2] == '7' ? " {transpose_rhs}" : ""),
                    "tensor<40x6xf32>, tensor<" + form + ", tensor<3xi64>",
                    "tensor<40x7xf32>", {.least = 0, .most = 10}),
              "")
        << form;
}

/// Most experts have rows in several tiles, and some have none.
TEST(LowerForGpus, ProductsOfTiles) {
  EXPECT_EQ(oneOp("%x: tensor<1600x6xf32>, %w: tensor<8x6x7xf32>, %c: "
                  "tensor<8xi64>",
                  "grouped_matmul %x, %w by %c",
                  "tensor<1600x6xf32>, tensor<8x6x7xf32>, tensor<8xi64>",
                  "tensor<1600x7xf32>", {.least = 0, .most = 200}),
            "");
  EXPECT_EQ(oneOp("%x: tensor<700x6xbf16>, %w: tensor<8x7x6xbf16>, %c: "
                  "tensor<8xi64>",
                  "grouped_matmul %x, %w by %c {transpose_rhs}",
                  "tensor<700x6xbf16>, tensor<8x7x6xbf16>, tensor<8xi64>",
                  "tensor<700x7xbf16>", {.least = 0, .most = 3}),
            "");
}

//===----------------------------------------------------------------------===//
// Long reductions
//===----------------------------------------------------------------------===//

TEST(LowerForGpus, LongRowsAreReducedInParts) {
  for (std::string kind : {"sum", "mean", "max", "min"})
    for (std::string type : {"f32", "bf16"})
      EXPECT_EQ(oneOp("%x: tensor<3x70000x" + type + ">",
                      "reduce " + kind + " %x over [1] keep",
                      "tensor<3x70000x" + type + ">",
                      "tensor<3x1x" + type + ">", {.low = 0}),
                "")
          << kind << " of " << type;
}

TEST(LowerForGpus, LongColumnsAreReducedInParts) {
  for (std::string type : {"f32", "f16"})
    EXPECT_EQ(oneOp("%x: tensor<3x900x40x" + type + ">",
                    "reduce sum %x over [0, 1]",
                    "tensor<3x900x40x" + type + ">", "tensor<40x" + type + ">",
                    {.low = 0}),
              "")
        << type;
}

TEST(LowerForGpus, AMeanOfPartsDividesByWhatItIsTold) {
  EXPECT_EQ(oneOp("%x: tensor<66000x2xf32>",
                  "reduce mean %x over [0] divisor 65000",
                  "tensor<66000x2xf32>", "tensor<2xf32>", {.low = 0}),
            "");
}

TEST(LowerForGpus, DimsApartAreReducedInParts) {
  EXPECT_EQ(oneOp("%x: tensor<9x2x90x100xf32>", "reduce sum %x over [0, 2, 3]",
                  "tensor<9x2x90x100xf32>", "tensor<2xf32>", {.low = 0}),
            "");
}

/// The norm of a large gradient: the added values are computed on the fly.
TEST(LowerForGpus, WhatIsReducedInPartsIsNotWritten) {
  const std::string x = "tensor<137x512xbf16>";
  EXPECT_EQ(forGpus("%x: " + x, "tensor<bf16>",
                    "%s = graph.mul %x, %x : " + x + ", " + x +
                        "\n%r = graph.reduce sum %s over [0, 1] : " + x +
                        "\nreturn %r : tensor<bf16>"),
            "");
}

/// 70001 is a prime.
TEST(LowerForGpus, RowsWithoutPartsStayWhole) {
  EXPECT_EQ(oneOp("%x: tensor<70001xf32>", "reduce sum %x over [0]",
                  "tensor<70001xf32>", "tensor<f32>", {.low = 0}),
            "");
}
