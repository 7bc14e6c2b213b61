//===- QuantityTextTest.cpp - tests of QuantityText and TextTable ---------===//

#include "runtime/base/QuantityText.h"
#include "runtime/base/TextTable.h"

#include <gtest/gtest.h>

using namespace pcc::runtime;

TEST(QuantityTextTest, ShowsThreeDigitsOfADuration) {
  EXPECT_EQ(secondsText(0), "0.00 us");
  EXPECT_EQ(secondsText(12.54e-6), "12.5 us");
  EXPECT_EQ(secondsText(0.9996e-3), "1.00 ms");
  EXPECT_EQ(secondsText(0.09996), "100 ms");
  EXPECT_EQ(secondsText(0.9996), "1.00 s");
  EXPECT_EQ(secondsText(1234.4), "1234 s");
}

TEST(QuantityTextTest, ChoosesTheUnitOfBytes) {
  EXPECT_EQ(bytesText(1023), "1023 B");
  EXPECT_EQ(bytesText(98304), "96.0 KiB");
}

TEST(QuantityTextTest, RoundsAndCountsTime) {
  EXPECT_EQ(roundText(8.516), "8.52");
  EXPECT_EQ(roundText(999.4), "999");
  EXPECT_EQ(roundText(999.6), "1.00k");
  EXPECT_EQ(roundText(18412), "18.4k");
  EXPECT_EQ(roundText(2.5e9), "2.50G");
  EXPECT_EQ(clockText(0.4), "0:00");
  EXPECT_EQ(clockText(271), "4:31");
  EXPECT_EQ(clockText(3599.6), "1:00:00");
}

TEST(QuantityTextTest, UsesThePluralByNumber) {
  EXPECT_EQ(countText(1, "cut"), "1 cut");
  EXPECT_EQ(countText(0, "cut"), "0 cuts");
  EXPECT_EQ(countText(2, "microbatch"), "2 microbatches");
  EXPECT_EQ(countText(1024, "rank"), "1024 ranks");
  EXPECT_EQ(countText(100000, "parameter"), "100,000 parameters");
  EXPECT_EQ(countText(7241732096, "parameter"), "7,241,732,096 parameters");
}

TEST(TextTableTest, AlignsCharactersNotBytes) {
  EXPECT_EQ(alignedText({{"name", "n"}, {{"ä", "1"}, {"long name", "10"}}}, 80),
            "name        n\n"
            "ä           1\n"
            "long name  10\n");
}

TEST(TextTableTest, DividesColumnsThatDoNotFit) {
  const TextTable table{{"ranks", "step", "peak", "a very long title"},
                        {{"0-1", "10 ms", "1 MiB", "7"}}};
  EXPECT_EQ(alignedText(table, 12), "ranks   step\n"
                                    "0-1    10 ms\n"
                                    "\n"
                                    "ranks   peak\n"
                                    "0-1    1 MiB\n"
                                    "\n"
                                    "ranks  a very long title\n"
                                    "0-1                    7\n");
  EXPECT_EQ(alignedText(table, 44), "ranks   step   peak  a very long title\n"
                                    "0-1    10 ms  1 MiB                  7\n");
}

TEST(TextTableTest, QuotesCellsOfCsv) {
  EXPECT_EQ(csvText({{"a", "b"}, {{"x,y", "say \"no\""}}}),
            "a,b\n\"x,y\",\"say \"\"no\"\"\"\n");
}
