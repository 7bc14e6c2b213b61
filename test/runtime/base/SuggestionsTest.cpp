//===- SuggestionsTest.cpp ------------------------------------------------===//

#include "runtime/base/Suggestions.h"

#include <gtest/gtest.h>

using namespace pcc::runtime;

TEST(Suggestions, ExchangedNeighborsAreOneEdit) {
  EXPECT_EQ(editDistance("", "abc"), 3u);
  EXPECT_EQ(editDistance("abc", "abc"), 0u);
  EXPECT_EQ(editDistance("micrbatches", "microbatches"), 1u);
  EXPECT_EQ(editDistance("mircobatches", "microbatches"), 1u);
  EXPECT_EQ(editDistance("kitten", "sitting"), 3u);
}

TEST(Suggestions, TheMostSimilarComesFirst) {
  const std::vector<std::string> options = {"--tp", "--pp", "--dim",
                                            "--microbatches", "--save-every"};
  EXPECT_EQ(didYouMean("--dims", options), "; did you mean --dim?");
  EXPECT_EQ(didYouMean("--microbatch", options),
            "; did you mean --microbatches?");
  EXPECT_EQ(didYouMean("--SAVE_EVERY", options),
            "; did you mean --save-every?");
  EXPECT_EQ(didYouMean("--tpp", options), "; did you mean --tp or --pp?");
  EXPECT_EQ(didYouMean("--something-else", options), "");
}

TEST(Suggestions, WordsAreListed) {
  EXPECT_EQ(checkWord("f16", {"f32", "bf16", "f16"}), "");
  EXPECT_EQ(checkWord("fp16", {"f32", "bf16", "f16"}),
            "needs one of f32, bf16, f16, got 'fp16'; did you mean f16?");
  EXPECT_EQ(checkWord("x", {"on", "off"}), "needs one of on, off, got 'x'");
}
