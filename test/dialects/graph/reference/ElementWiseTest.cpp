//===- ElementWiseTest.cpp - the meaning of element-wise ops --------------===//

#include "dialects/graph/reference/Philox.h"
#include "test/dialects/graph/reference/Evaluated.h"
#include <gtest/gtest.h>

using namespace pcc::graph;

TEST(ElementWise, UnaryOnFloats) {
  EXPECT_EQ(evaluated(R"(
    %x = graph.constant dense<[-1.5, 0.5, 2.5]> : tensor<3xf32>
    %y = graph.round %x : tensor<3xf32>)"),
            "3: -2 0 2");
  EXPECT_EQ(evaluated(R"(
    %x = graph.constant dense<[0.0, 1.0]> : tensor<2xf64>
    %y = graph.softplus %x : tensor<2xf64>)"),
            "2: 0.693147 1.31326");
  EXPECT_EQ(evaluated(R"(
    %x = graph.constant dense<[-1.0, 1.0]> : tensor<2xf64>
    %y = graph.gelu %x : tensor<2xf64>)"),
            "2: -0.158655 0.841345");
  EXPECT_EQ(evaluated(R"(
    %x = graph.constant dense<[-1.0, 1.0]> : tensor<2xf64>
    %y = graph.gelu %x {tanh} : tensor<2xf64>)"),
            "2: -0.158808 0.841192");
}

TEST(ElementWise, UnaryOnIntegers) {
  EXPECT_EQ(evaluated(R"(
    %x = graph.constant dense<[-128, -3, 3]> : tensor<3xi8>
    %y = graph.abs %x : tensor<3xi8>)"),
            "3: -128 3 3");
  EXPECT_EQ(evaluated(R"(
    %x = graph.constant dense<[-7, 0, 7]> : tensor<3xi64>
    %y = graph.sign %x : tensor<3xi64>)"),
            "3: -1 0 1");
  EXPECT_EQ(evaluated(R"(
    %x = graph.constant dense<1> : tensor<1xi64>
    %y = graph.exp %x : tensor<1xi64>)"),
            "error: is defined for floats only");
}

TEST(ElementWise, BroadcastsInEachDirection) {
  EXPECT_EQ(evaluated(R"(
    %a = graph.constant dense<[[1], [2]]> : tensor<2x1xi64>
    %b = graph.constant dense<[10, 20, 30]> : tensor<3xi64>
    %c = graph.add %a, %b : tensor<2x1xi64>, tensor<3xi64>)"),
            "2x3: 11 21 31 12 22 32");
  EXPECT_EQ(evaluated(R"(
    %a = graph.constant dense<[[[1, 2]], [[3, 4]]]> : tensor<2x1x2xi64>
    %b = graph.constant dense<[[10, 20], [30, 40]]> : tensor<2x2xi64>
    %c = graph.sub %a, %b : tensor<2x1x2xi64>, tensor<2x2xi64>)"),
            "2x2x2: -9 -18 -29 -38 -7 -16 -27 -36");
}

TEST(ElementWise, DivisionNeverTraps) {
  EXPECT_EQ(evaluated(R"(
    %a = graph.constant dense<[7, -7, -9223372036854775808]> : tensor<3xi64>
    %b = graph.constant dense<[0, 2, -1]> : tensor<3xi64>
    %c = graph.div %a, %b : tensor<3xi64>, tensor<3xi64>)"),
            "3: 0 -3 -9223372036854775808");
  EXPECT_EQ(evaluated(R"(
    %a = graph.constant dense<[18446744073709551614]> : tensor<1xui64>
    %b = graph.constant dense<[2]> : tensor<1xui64>
    %c = graph.div %a, %b : tensor<1xui64>, tensor<1xui64>)"),
            "1: 9223372036854775807");
}

TEST(ElementWise, RemainderTakesTheSignOfTheDivisor) {
  EXPECT_EQ(evaluated(R"(
    %a = graph.constant dense<[-7, 7, 7]> : tensor<3xi64>
    %b = graph.constant dense<[3, -3, 0]> : tensor<3xi64>
    %c = graph.mod %a, %b : tensor<3xi64>, tensor<3xi64>)"),
            "3: 2 -2 0");
  EXPECT_EQ(evaluated(R"(
    %a = graph.constant dense<[-5.5, 5.5]> : tensor<2xf32>
    %b = graph.constant dense<[2.0, -2.0]> : tensor<2xf32>
    %c = graph.mod %a, %b {truncated} : tensor<2xf32>, tensor<2xf32>)"),
            "2: -1.5 1.5");
}

TEST(ElementWise, NanWins) {
  const char *ops = R"(
    %a = graph.constant dense<[0x7FC00000, 1.0, 2.0]> : tensor<3xf32>
    %b = graph.constant dense<[1.0, 0x7FC00000, 3.0]> : tensor<3xf32>
    %c = graph.max %a, %b : tensor<3xf32>, tensor<3xf32>)";
  EXPECT_EQ(evaluated(ops), "3: nan nan 3");
  EXPECT_EQ(evaluated(R"(
    %a = graph.constant dense<[0x7FC00000, 0xFF800000, 2.0]> : tensor<3xf32>
    %b = graph.is_inf %a {positive = false} : tensor<3xf32>)"),
            "3: 0 1 0");
}

TEST(ElementWise, PowersKeepTheTypeOfTheBase) {
  EXPECT_EQ(evaluated(R"(
    %a = graph.constant dense<[3, -2, 2]> : tensor<3xi64>
    %b = graph.constant dense<[4, 3, -1]> : tensor<3xi32>
    %c = graph.pow %a, %b : tensor<3xi64>, tensor<3xi32>)"),
            "3: 81 -8 0");
  EXPECT_EQ(evaluated(R"(
    %a = graph.constant dense<[2.0, 9.0]> : tensor<2xf32>
    %b = graph.constant dense<3> : tensor<i64>
    %c = graph.pow %a, %b : tensor<2xf32>, tensor<i64>)"),
            "2: 8 729");
  EXPECT_EQ(evaluated(R"(
    %a = graph.constant dense<[9, 2]> : tensor<2xi32>
    %b = graph.constant dense<0.5> : tensor<f32>
    %c = graph.pow %a, %b : tensor<2xi32>, tensor<f32>)"),
            "2: 3 1");
}

TEST(ElementWise, UnsignedNumbersCompareAsSuch) {
  EXPECT_EQ(evaluated(R"(
    %a = graph.constant dense<[18446744073709551615, 1]> : tensor<2xui64>
    %b = graph.constant dense<[1, 1]> : tensor<2xui64>
    %c = graph.compare gt %a, %b : tensor<2xui64>, tensor<2xui64>)"),
            "2: 1 0");
}

TEST(ElementWise, SelectBroadcastsAllThree) {
  EXPECT_EQ(evaluated(R"(
    %c = graph.constant dense<[[true], [false]]> : tensor<2x1xi1>
    %a = graph.constant dense<[1.0, 2.0]> : tensor<2xf32>
    %b = graph.constant dense<-1.0> : tensor<f32>
    %d = graph.select %c, %a, %b : tensor<2x1xi1>, tensor<2xf32>, tensor<f32>)"),
            "2x2: 1 2 -1 -1");
}

TEST(ElementWise, LogicAndBits) {
  EXPECT_EQ(evaluated(R"(
    %a = graph.constant dense<[true, false]> : tensor<2xi1>
    %b = graph.not %a : tensor<2xi1>)"),
            "2: 0 1");
  EXPECT_EQ(evaluated(R"(
    %a = graph.constant dense<[12, 10]> : tensor<2xui8>
    %b = graph.not %a : tensor<2xui8>
    %c = graph.bit_and %a, %b : tensor<2xui8>, tensor<2xui8>
    %d = graph.bit_xor %b, %c : tensor<2xui8>, tensor<2xui8>)"),
            "2: 243 245");
}

TEST(ElementWise, CastsTruncateTestAndWrap) {
  EXPECT_EQ(evaluated(R"(
    %a = graph.constant dense<[-1.9, 1.9, 300.0]> : tensor<3xf32>
    %b = graph.cast %a : tensor<3xf32> to tensor<3xui8>)"),
            "3: 255 1 44");
  EXPECT_EQ(evaluated(R"(
    %a = graph.constant dense<[0x7FC00000, 0.0, 1.0e30]> : tensor<3xf32>
    %b = graph.cast %a : tensor<3xf32> to tensor<3xi64>)"),
            "3: 0 0 9223372036854775807");
  EXPECT_EQ(evaluated(R"(
    %a = graph.constant dense<[0.5, 0.0]> : tensor<2xf32>
    %b = graph.cast %a : tensor<2xf32> to tensor<2xi1>)"),
            "2: 1 0");
}

TEST(ElementWise, ExactNumericsDoNotRound) {
  const char *ops = R"(
    %a = graph.constant dense<1.0> : tensor<1xf64>
    %b = graph.constant dense<0x3E45798EE2308C3A> : tensor<1xf64>
    %c = graph.add %a, %b : tensor<1xf64>, tensor<1xf64>
    %d = graph.cast %c : tensor<1xf64> to tensor<1xf32>
    %e = graph.cast %d : tensor<1xf32> to tensor<1xf64>
    %f = graph.sub %e, %a : tensor<1xf64>, tensor<1xf64>)";
  EXPECT_EQ(evaluated(ops, Numerics::Model), "1: 0");
  EXPECT_EQ(evaluated(ops, Numerics::Exact), "1: 1e-08");
}

/// The known answers for philox4x32 with 10 rounds that Random123 publishes.
TEST(ElementWise, PhiloxKnownAnswers) {
  using Words = std::array<uint32_t, 4>;
  EXPECT_EQ(philox({0, 0, 0, 0}, {0, 0}),
            (Words{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  uint32_t ones = 0xffffffff;
  EXPECT_EQ(philox({ones, ones, ones, ones}, {ones, ones}),
            (Words{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(philox({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344},
                   {0xa4093822, 0x299f31d0}),
            (Words{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

/// The results for these vectors are 0x6627e8, 0x408f27 and 0xd16cfe over 2^24.
/// Index, step and key give their low word first.
TEST(ElementWise, RandomNumbersComeFromCounters) {
  EXPECT_EQ(evaluated(R"(
    %i = graph.constant dense<0> : tensor<2xi64>
    %s = graph.constant dense<0> : tensor<i64>
    %r = graph.random %i, %s key 0 : tensor<2xi64>, tensor<i64>)"),
            "2: 0.399046 0.399046");
  EXPECT_EQ(evaluated(R"(
    %i = graph.constant dense<-1> : tensor<1xi64>
    %s = graph.constant dense<-1> : tensor<i64>
    %r = graph.random %i, %s key -1 : tensor<1xi64>, tensor<i64>)"),
            "1: 0.252184");
  EXPECT_EQ(evaluated(R"(
    %i = graph.constant dense<0x85a308d3243f6a88> : tensor<1xi64>
    %s = graph.constant dense<0x0370734413198a2e> : tensor<i64>
    %r = graph.random %i, %s key 0x299f31d0a4093822
         : tensor<1xi64>, tensor<i64>)"),
            "1: 0.818069");
}
