//===- TrainingLineTest.cpp - columns of the training line ----------------===//

#include "runtime/base/TrainingLine.h"

#include <gtest/gtest.h>

#include <cmath>

using namespace pcc::runtime;

static TrainingLine complete() {
  return {.step = 7,
          .lastStep = 1000,
          .loss = 3.2187,
          .gradNorm = 1.84,
          .learningRate = 0.001,
          .rate = 18412,
          .countsTokens = true,
          .mfu = 0.412,
          .peakBytes = 671.0 * (1 << 20),
          .secondsLeft = 271};
}

TEST(TrainingLine, HasAColumnForEachKnownNumber) {
  EXPECT_EQ(textOf(complete(), 200, false),
            "step    7/1000  loss   3.2187  grad   1.84  lr  0.001  "
            "tokens/s 18.4k  MFU 41.2 %  peak 671.0 MiB  left 4:31");
  TrainingLine line = complete();
  line.isPeakOfAll = true;
  EXPECT_NE(textOf(line, 200, false).find("  peak of all 671.0 MiB  left"),
            std::string::npos);
  line.mfu = line.peakBytes = line.gradNorm = std::nullopt;
  line.countsTokens = false;
  line.secondsLeft = 3723;
  EXPECT_EQ(textOf(line, 200, false),
            "step    7/1000  loss   3.2187  lr  0.001  samples/s 18.4k  "
            "left 1:02:03");
}

/// A narrow line consists of whole columns of a wide one, in the same order.
TEST(TrainingLine, CutsWholeColumns) {
  const std::string wide = textOf(complete(), 200, false);
  size_t last = wide.size();
  for (size_t columns = 200; columns > 0; --columns) {
    const std::string text = textOf(complete(), columns, false);
    EXPECT_LE(text.size(), last);
    last = text.size();
    EXPECT_TRUE(text.size() <= columns ||
                text == "step    7/1000  loss   3.2187")
        << columns << ": " << text;
    size_t from = 0;
    for (size_t begin = 0; begin < text.size();) {
      size_t end = text.find("  ", text.find_first_of("0123456789", begin));
      end = std::min(end, text.size());
      const size_t found = wide.find(text.substr(begin, end - begin), from);
      ASSERT_NE(found, std::string::npos) << columns << ": " << text;
      from = found;
      begin = end + 2;
    }
  }
  EXPECT_EQ(textOf(complete(), 45, false),
            "step    7/1000  loss   3.2187  left 4:31");
}

/// Colors take no column, and what is not finite is red.
TEST(TrainingLine, ColorsTakeNoColumns) {
  TrainingLine line = complete();
  line.loss = -NAN;
  for (size_t columns : {200, 80, 45}) {
    std::string plain = textOf(line, columns, true);
    EXPECT_NE(plain.find("\033[1;31m     nan\033[0m"), std::string::npos);
    for (size_t at; (at = plain.find('\033')) != std::string::npos;)
      plain.erase(at, plain.find('m', at) - at + 1);
    EXPECT_EQ(plain, textOf(line, columns, false));
  }
}

TEST(TrainingLine, ReachesAnotherProcess) {
  for (TrainingLine line : {complete(), TrainingLine{.step = 1, .loss = NAN}}) {
    line.isKept = false;
    line.isPeakOfAll = true;
    const auto got = unpacked(packed(line));
    ASSERT_TRUE(got);
    EXPECT_EQ(textOf(*got, 200, true), textOf(line, 200, true));
    EXPECT_FALSE(got->isKept);
  }
  EXPECT_FALSE(unpacked(""));
  EXPECT_FALSE(unpacked("step 3: 8516 tokens/s"));
}
