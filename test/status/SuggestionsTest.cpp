//===- SuggestionsTest.cpp ------------------------------------------------===//

#include "status/Suggestions.h"

#include <gtest/gtest.h>

using namespace pcc;

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
  EXPECT_EQ(didYouMean("-tp", options), "; did you mean --tp?");
  EXPECT_EQ(didYouMean("--TP", options), "; did you mean --tp?");
  EXPECT_EQ(didYouMean("--something-else", options), "");
}

TEST(Suggestions, WordsAreListed) {
  EXPECT_EQ(checkWord("f16", {"f32", "bf16", "f16"}), "");
  EXPECT_EQ(checkWord("fp16", {"f32", "bf16", "f16"}),
            "needs one of f32, bf16, f16, got 'fp16'; did you mean f16?");
  EXPECT_EQ(checkWord("x", {"on", "off"}), "needs one of on, off, got 'x'");
}

static const std::vector<std::string> weights = {
    "model.embed.weight", "model.h.0.attn.weight", "model.h.0.mlp.weight",
    "model.h.1.attn.weight", "model.lm_head.weight"};

TEST(Suggestions, WordsOfOtherToolsAreKnown) {
  EXPECT_EQ(checkWord("gpu", {"cpu", "cuda"}),
            "needs one of cpu, cuda, got 'gpu'; did you mean cuda?");
  EXPECT_EQ(checkWord("bfloat16", {"f32", "bf16"}),
            "needs one of f32, bf16, got 'bfloat16'; did you mean bf16?");
}

TEST(Suggestions, PartsOfNamesAreFound) {
  EXPECT_EQ(findSimilar("lm_head", weights),
            std::vector<std::string>{"model.lm_head.weight"});
  EXPECT_EQ(findSimilar("lm_haed", weights),
            std::vector<std::string>{"model.lm_head.weight"});
  EXPECT_EQ(findSimilar("LM-HEAD", weights),
            std::vector<std::string>{"model.lm_head.weight"});
}

TEST(Suggestions, ShortWordsAreFoundInLongNames) {
  const std::vector<std::string> names = {"val_109", "h.0.norm.weight",
                                          "wte.weight"};
  EXPECT_EQ(nearestOf("nrm", names),
            "; nearest: 'h.0.norm.weight', 'val_109', 'wte.weight'");
  EXPECT_EQ(nearestOf("wte", names).find("; nearest: 'wte.weight'"), 0u);
}

TEST(Suggestions, GlobsAreCompleted) {
  EXPECT_EQ(nearestOf("h.0.*weight", weights),
            "; '*h.0.*weight' matches 2: 'model.h.0.mlp.weight', "
            "'model.h.0.attn.weight'");
  EXPECT_EQ(nearestOf("model.h.?", weights),
            "; 'model.h.?*' matches 3: 'model.h.0.mlp.weight', "
            "'model.h.0.attn.weight', 'model.h.1.attn.weight'");
}

TEST(Suggestions, TheNearestNamesAreListedWithTheNumberOfAll) {
  EXPECT_EQ(nearestOf("model.h.0.atn.weight", weights),
            "; nearest of 5: 'model.h.0.attn.weight', "
            "'model.h.1.attn.weight', 'model.h.0.mlp.weight'");
  EXPECT_EQ(nearestOf("zzz", {"ids", "mask"}), "; nearest: 'ids', 'mask'");
  EXPECT_EQ(nearestOf("zzz", {}), "; there is none");
}

TEST(Suggestions, FarNamesAreLeftOut) {
  EXPECT_EQ(findSimilar("model.names", {"model.dims", "model.name"}),
            std::vector<std::string>{"model.name"});
}
