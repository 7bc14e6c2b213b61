//===- CountedTest.cpp - counts with their nouns --------------------------===//

#include "status/Counted.h"
#include "gtest/gtest.h"

using namespace pcc;

TEST(Counted, OneIsSingular) {
  EXPECT_EQ(counted(1, "dim"), "1 dim");
  EXPECT_EQ(counted(1, "axis"), "1 axis");
  EXPECT_EQ(counted(0, "dim"), "0 dims");
  EXPECT_EQ(counted(2, "dim"), "2 dims");
}

TEST(Counted, NounsHaveTheirPlurals) {
  EXPECT_EQ(counted(2, "axis"), "2 axes");
  EXPECT_EQ(counted(2, "entry"), "2 entries");
  EXPECT_EQ(counted(2, "microbatch"), "2 microbatches");
  EXPECT_EQ(counted(2, "box"), "2 boxes");
  EXPECT_EQ(counted(2, "device"), "2 devices");
}
