//===- JsonNumbersTest.cpp - rounding of the numbers in JSON --------------===//

#include "runtime/tensor/JsonNumbers.h"
#include "gtest/gtest.h"

#include <nlohmann/json.hpp>

#include <cmath>

using nlohmann::ordered_json;
using namespace pcc::runtime;

TEST(JsonNumbers, HaveNineDigitsAtMost) {
  const ordered_json json = {{"seconds", 0.044680016999999995},
                             {"steps", {1e-9 / 3, 2.0 / 3, -123456.7890123}}};
  EXPECT_EQ(withRoundNumbers(json).dump(),
            R"({"seconds":0.044680017,)"
            R"("steps":[3.33333333e-10,0.666666667,-123456.789]})");
}

TEST(JsonNumbers, AreShortWhateverTheLibraryWrites) {
  for (int i = 1; i < 20000; ++i)
    EXPECT_LE(withRoundNumbers(ordered_json(i / 7919.0)).dump().size(), 16u)
        << i;
}

TEST(JsonNumbers, KeepWholeNumbersAndOtherValues) {
  const ordered_json json = {{"flops", 225123456789.0},
                             {"bytes", 12345678901234567},
                             {"name", "0.1234567890123"},
                             {"none", nullptr},
                             {"fits", true}};
  EXPECT_EQ(withRoundNumbers(json), json);
}

// Runs are compared by them bit by bit.
TEST(JsonNumbers, KeepAllDigitsOfLosses) {
  const ordered_json json = {
      {"steps", {{{"loss", 2.0 / 3}, {"grad_norm", 1.0 / 3}}}}};
  EXPECT_EQ(withRoundNumbers(json), json);
}

TEST(JsonNumbers, WriteNothingForWhatIsNoNumber) {
  const ordered_json json = {{"value", std::nan("")}};
  EXPECT_EQ(withRoundNumbers(json).dump(), R"({"value":null})");
}
