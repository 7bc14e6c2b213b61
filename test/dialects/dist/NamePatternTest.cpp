//===- NamePatternTest.cpp - names that patterns apply to -----------------===//
#include "dialects/dist/NamePattern.h"

#include <gtest/gtest.h>

using pcc::dist::matchesName;

TEST(NamePattern, GlobsApplyToWholeNames) {
  EXPECT_TRUE(matchesName("h.*.w", "h.11.w"));
  EXPECT_TRUE(matchesName("w[01]", "w1"));
  EXPECT_FALSE(matchesName("w[01]", "w2"));
  EXPECT_FALSE(matchesName("h", "h.11.w"));
}

TEST(NamePattern, NamesWithGlobCharactersApplyToThemselves) {
  EXPECT_TRUE(matchesName("w[0]", "w[0]"));
  EXPECT_TRUE(matchesName("w[0", "w[0"));
  EXPECT_FALSE(matchesName("w[0", "w0"));
}

TEST(NamePattern, NoPatternAppliesToAValueWithoutAName) {
  EXPECT_FALSE(matchesName("*", ""));
  EXPECT_FALSE(matchesName("", ""));
}
