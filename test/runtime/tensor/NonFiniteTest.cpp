//===- NonFiniteTest.cpp - search for values that are not finite ----------===//

#include "runtime/tensor/NonFinite.h"
#include "runtime/tensor/ElementDispatch.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

using namespace pcc::runtime;

/// Returns the kinds that are found among `numbers` as elements of `type`.
static unsigned kindsOf(ElementType type, std::vector<double> numbers) {
  std::vector<double> elements(numbers.size());
  convertElements(ElementType::F64, numbers.data(), int64_t(numbers.size()),
                  type, elements.data());
  return nonFiniteIn(type, elements.data(), int64_t(numbers.size()));
}

TEST(NonFinite, FindsEachKindInEachType) {
  for (ElementType type : {ElementType::F64, ElementType::F32, ElementType::F16,
                           ElementType::BF16}) {
    EXPECT_EQ(kindsOf(type, {0, -0.0, 1, -65504, 1e-7}), 0u);
    EXPECT_EQ(kindsOf(type, {1, NAN, 2}), kNan);
    EXPECT_EQ(kindsOf(type, {1, -NAN}), kNan);
    EXPECT_EQ(kindsOf(type, {INFINITY, 1}), kInfinity);
    EXPECT_EQ(kindsOf(type, {1, -INFINITY}), kMinusInfinity);
    EXPECT_EQ(kindsOf(type, {-INFINITY, NAN, INFINITY}),
              kNan | kInfinity | kMinusInfinity);
  }
}

TEST(NonFinite, OtherTypesAreFinite) {
  const int64_t ones = -1;
  EXPECT_EQ(nonFiniteIn(ElementType::I64, &ones, 1), 0u);
  EXPECT_EQ(nonFiniteIn(ElementType::I32, &ones, 2), 0u);
}

TEST(NonFinite, NamesTheKinds) {
  EXPECT_EQ(nonFiniteText(kNan), "nan");
  EXPECT_EQ(nonFiniteText(kInfinity | kMinusInfinity), "inf and -inf");
}
