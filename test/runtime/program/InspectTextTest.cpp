//===- InspectTextTest.cpp - pages of bundles with many ranks -------------===//

#include "runtime/program/InspectText.h"
#include "runtime/base/TextTable.h"
#include "test/runtime/program/Lines.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

using namespace pcc::runtime;
using pcc::test::linesOf;
using Json = nlohmann::ordered_json;
using testing::HasSubstr;
using testing::Not;

/// Returns a program of the stage `stage`, whose memory grows with the stage.
static Json programOf(int stage, int microbatches) {
  Json actions = Json::array();
  for (const char *kind : {"F", "B"})
    for (int i = 0; i < microbatches; ++i)
      actions.push_back(std::to_string(stage) + kind + std::to_string(i));
  return {{"stages", {stage}},
          {"weight_bytes", 1024 * (stage + 1)},
          {"state_bytes", 0},
          {"arena_bytes", 2048},
          {"arena_lower_bound_bytes", 2048},
          {"gradient_bytes", 0},
          {"received_bytes", 4096},
          {"instructions", 1},
          {"actions", actions}};
}

/// Returns the description of 1,024 ranks with `stages` stages, each with a
/// collective per microbatch over each of several sets of axes.
static Json bundleOf(int stages, int microbatches) {
  Json bundle = {{"world", 1024},
                 {"mesh", {{"pp", stages}, {"tp", 1024 / stages}}},
                 {"target", "cpu"},
                 {"tf32", false},
                 {"microbatches", microbatches},
                 {"kernels", {{"unique", 1}, {"calls", 7}}}};
  for (const char *list :
       {"inputs", "outputs", "programs", "collectives", "transfers"})
    bundle[list] = Json::array();
  for (int i = 0; i < 9; ++i)
    bundle["inputs"].push_back(
        {{"name", "x" + std::to_string(i)}, {"dtype", "f32"}, {"shape", {8}}});
  for (int stage = 0; stage < stages; ++stage) {
    bundle["programs"].push_back(programOf(stage, microbatches));
    for (int axis = 0; axis < 12; ++axis)
      bundle["collectives"].push_back(
          {{"stage", stage},
           {"axes", {"a" + std::to_string(axis)}},
           {"kind", "all_reduce"},
           {"per", axis ? "microbatch" : "step"},
           {"count", 2},
           {"received_bytes", 1024 * (axis + stage)},
           {"node", "n"}});
    if (stage)
      bundle["transfers"].push_back({{"from_stage", stage - 1},
                                     {"to_stage", stage},
                                     {"value", "v"},
                                     {"bytes", 512},
                                     {"per", "microbatch"}});
  }
  return bundle;
}

TEST(InspectText, FitsAScreenWithAnyNumberOfStages) {
  for (int stages : {1, 4, 16, 64, 1024}) {
    const auto lines = linesOf(inspectText(bundleOf(stages, 64), false));
    EXPECT_LE(lines.size(), 40u) << stages;
    for (const std::string &line : lines)
      EXPECT_LE(widthOf(line), 110u) << line;
  }
}

TEST(InspectText, TellsTheMostOfRanksInOneRow) {
  const std::string text = inspectText(bundleOf(64, 1), false);
  // 64 stages are 11 rows of six stages, the last of which has four.
  EXPECT_THAT(text, HasSubstr("\n0-95"));
  EXPECT_THAT(text, HasSubstr(" 0-5   8.0 KiB   6.0 KiB "));
  EXPECT_THAT(text, HasSubstr("where ranks differ, the most"));
  EXPECT_THAT(text, HasSubstr("actions of a step, at 6 of 64 positions\n"));
  EXPECT_THAT(inspectText(bundleOf(4, 1), false), Not(HasSubstr("differ")));
}

TEST(InspectText, SumsCommunicationOfTheRankWithTheMost) {
  const std::string text = inspectText(bundleOf(4, 8), false);
  // Axis a11, stage 3: two calls of 14 KiB for each of 8 microbatches.
  EXPECT_THAT(text, HasSubstr(" all_reduce     16  224.0 KiB\n"));
  EXPECT_THAT(text, HasSubstr("\nand 5 more\n"));
}

TEST(InspectText, ListsAllWhenAsked) {
  const auto all = linesOf(inspectText(bundleOf(64, 1), true));
  EXPECT_EQ(std::count_if(all.begin(), all.end(),
                          [](const std::string &line) {
                            return line.find("all_reduce") != line.npos;
                          }),
            64 * 12);
  EXPECT_THAT(all, testing::Contains(HasSubstr("ranks 1008 to 1023: stages")));
}
