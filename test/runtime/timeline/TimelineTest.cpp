// Tests timelines: memory over time, and that pictures and traces contain
// everything once and can be read.

#include "passes/plan/schedule/Schedules.h"
#include "passes/plan/schedule/SimulateMessages.h"
#include "runtime/timeline/TimelineMemory.h"
#include "runtime/timeline/TimelineSvg.h"
#include "runtime/timeline/TimelineTrace.h"

#include "test/passes/plan/schedule/ScheduleFixtures.h"
#include "gtest/gtest.h"

#include <nlohmann/json.hpp>

#include <map>

using namespace pcc::plan;
using namespace pcc::runtime;

namespace {

ActionTable make(ScheduleKind kind, int p, int m, int v = 0) {
  return *makeSchedule({kind, p, v ? v : defaultVirtualStages(kind), m});
}

Timeline withMemory(const ActionTable &table, const StageBytes &bytes) {
  Timeline timeline = simulate(table);
  addMemory(timeline, std::vector<StageBytes>(table.numStages, bytes));
  return timeline;
}

std::vector<int64_t> peaksOf(const ActionTable &table,
                             const StageBytes &bytes) {
  return peakBytes(withMemory(table, bytes));
}

std::string curveOf(const Timeline &timeline, int row) {
  std::string text;
  for (const MemoryPoint &point : timeline.memory[row])
    text += std::to_string(static_cast<int>(point.seconds)) + ":" +
            std::to_string(point.bytes) + " ";
  return text;
}

constexpr ScheduleKind kinds[] = {
    ScheduleKind::ForwardOnly, ScheduleKind::Naive,       ScheduleKind::GPipe,
    ScheduleKind::OneFOneB,    ScheduleKind::Interleaved, ScheduleKind::ZbH1,
    ScheduleKind::ZbV};

TEST(TimelineMemory, ActionsTakeWhenTheyBeginAndGiveBackWhenTheyEnd) {
  ActionTable table = make(ScheduleKind::OneFOneB, 1, 2);
  appendUpdates(table, wholeUpdates(table.numStages));
  EXPECT_EQ(curveOf(withMemory(table, {100, 10, 3, 0}), 0),
            "0:100 0:103 1:113 3:110 3:113 6:110 6:100 ");
  ActionTable split = make(ScheduleKind::ZbH1, 1, 1);
  EXPECT_EQ(curveOf(withMemory(split, {0, 10, 3, 1}), 0),
            "0:0 0:3 2:2 2:12 3:10 ")
      << "I gives its part back; gradients stay without an update";
}

TEST(TimelineMemory, ForwardAloneKeepsNothing) {
  EXPECT_EQ(curveOf(withMemory(make(ScheduleKind::ForwardOnly, 1, 2),
                               {100, 10, 3, 0}),
                    0),
            "0:100 0:103 1:100 1:103 2:100 ");
}

TEST(TimelineMemory, PeaksOfTheLiterature) {
  EXPECT_EQ(peaksOf(make(ScheduleKind::OneFOneB, 4, 8), {0, 0, 2, 0}),
            (std::vector<int64_t>{8, 6, 4, 2}));
  EXPECT_EQ(peaksOf(make(ScheduleKind::Interleaved, 4, 8), {0, 0, 1, 0}),
            (std::vector<int64_t>{11, 9, 7, 5}));
  EXPECT_EQ(peaksOf(make(ScheduleKind::ZbH1, 4, 8), {0, 0, 2, 0}),
            (std::vector<int64_t>{8, 8, 8, 8}));
  EXPECT_EQ(peaksOf(make(ScheduleKind::ZbH1, 4, 8), {0, 0, 2, 1}),
            (std::vector<int64_t>{8, 7, 6, 5}))
      << "I frees half: 4, 3.5, 3, 2.5 microbatches";
  EXPECT_EQ(peaksOf(make(ScheduleKind::ZbV, 4, 8), {0, 0, 1, 0}),
            (std::vector<int64_t>{8, 8, 8, 8}));
}

TEST(TimelineMemory, PeaksAreThoseOfThePlan) {
  for (ScheduleKind kind : kinds)
    for (int p : {1, 2, 3, 4, 8})
      for (int m : {1, 2, 5, 8, 16}) {
        const ActionTable table = make(kind, p, m);
        const std::vector<int> live = peakLive(table);
        const bool trains = kind != ScheduleKind::ForwardOnly;
        std::vector<int64_t> expected(live.begin(), live.end());
        if (!trains)
          expected.assign(p, 1);
        ASSERT_EQ(peaksOf(table, {0, 0, 1, 0}), expected)
            << nameOf(kind) << " p=" << p << " m=" << m;
      }
}

TEST(TimelineMemory, EveryStageHasItsOwnBytes) {
  const ActionTable table = make(ScheduleKind::OneFOneB, 2, 4);
  Timeline timeline = simulate(table);
  addMemory(timeline, {{1000, 0, 10, 0}, {2000, 0, 50, 0}});
  EXPECT_EQ(peakBytes(timeline), (std::vector<int64_t>{1020, 2050}));
}

TEST(Timeline, ActionsMayTakeTheirOwnTimeByStage) {
  ActionCosts costs;
  costs.seconds = [](const Action &action) {
    const double unit = action.kind == ActionKind::Backward ? 2 : 1;
    return action.stage == 1 ? 3 * unit : unit;
  };
  const Timeline timeline = simulate(make(ScheduleKind::OneFOneB, 2, 3), costs);
  EXPECT_EQ(timeline.makespan, 1 + 3 * 9 + 2);
  EXPECT_EQ(timeline.idle, (std::vector<double>{21, 3}));
}

TEST(Timeline, IdleIsMeasuredFromTheRows) {
  Timeline measured;
  measured.positions = {{{{ActionKind::Forward, 0, 0}, 0.5, 1},
                         {{ActionKind::Backward, 0, 0}, 2, 2.5}},
                        {{{ActionKind::Forward, 1, 0}, 1, 1.5}}};
  measured.messages = {{}, {{{ActionKind::SendBackward, 1, 0}, 1.5, 3}}};
  measureIdle(measured);
  EXPECT_EQ(measured.makespan, 3);
  EXPECT_EQ(measured.idle, (std::vector<double>{2, 2.5}));
}

/// Returns a step with everything that a picture can show.
Timeline complete(ScheduleKind kind, int p, int m) {
  ActionTable table = make(kind, p, m);
  appendUpdates(table, wholeUpdates(table.numStages));
  ActionCosts costs;
  costs.transferSeconds = [](int, int) { return 2e-4; };
  costs.seconds = [](const Action &action) {
    return action.kind == ActionKind::Backward ? 2e-3 : 1e-3;
  };
  auto lowered = insertMessages(table, chainTransfers(table.numStages, true));
  Timeline timeline = simulateMessages(*lowered, costs);
  addMemory(timeline, std::vector<StageBytes>(table.numStages,
                                              {1 << 20, 1 << 19, 1 << 18, 0}));
  return timeline;
}

template <typename T> size_t total(const std::vector<std::vector<T>> &rows) {
  size_t count = 0;
  for (const auto &row : rows)
    count += row.size();
  return count;
}

size_t occurrences(const std::string &text, const std::string &word) {
  size_t count = 0;
  for (size_t at = text.find(word); at != text.npos;
       at = text.find(word, at + 1))
    ++count;
  return count;
}

/// Returns the reason why a document of elements, attributes and plain text is
/// not well-formed; empty if it is.
std::string malformed(const std::string &xml) {
  std::vector<std::string> open;
  for (size_t at = 0; (at = xml.find('<', at)) != xml.npos;) {
    const size_t end = xml.find('>', at);
    if (end == xml.npos)
      return "a tag does not end";
    const std::string tag = xml.substr(at + 1, end - at - 1);
    const std::string name = tag.substr(0, tag.find_first_of(" /", 1));
    if (tag.find('<') != tag.npos || occurrences(tag, "\"") % 2)
      return "<" + tag + "> is no tag";
    if (tag.starts_with('/')) {
      if (open.empty() || "/" + open.back() != tag)
        return "<" + tag + "> closes nothing";
      open.pop_back();
    } else if (!tag.ends_with('/')) {
      open.push_back(name);
    }
    at = end;
  }
  return open.empty() ? "" : open.back() + " stays open";
}

TEST(TimelineSvg, ShowsEveryActionAndMessageOnce) {
  for (ScheduleKind kind : {ScheduleKind::OneFOneB, ScheduleKind::Interleaved,
                            ScheduleKind::ZbH1, ScheduleKind::ZbV})
    for (auto [p, m] : {std::pair(1, 1), {4, 8}, {16, 64}}) {
      const Timeline timeline = complete(kind, p, m);
      const std::string svg = drawSvg(timeline, nameOf(kind));
      ASSERT_EQ(malformed(svg), "") << nameOf(kind);
      EXPECT_EQ(occurrences(svg, "<title>"),
                total(timeline.positions) + total(timeline.messages));
      EXPECT_EQ(occurrences(svg, "<g class=\"row\">"), size_t(p));
      EXPECT_EQ(occurrences(svg, "<polygon"), size_t(p)) << "memory curves";
      EXPECT_EQ(svg.find("nan"), svg.npos);
    }
}

TEST(TimelineSvg, SaysWhatTheStepTakesAndWhatIsIdle) {
  const std::string svg =
      drawSvg(simulate(make(ScheduleKind::OneFOneB, 4, 8)), "1f1b");
  EXPECT_NE(svg.find(">1f1b: 33.0 s, 27.3 % idle<"), svg.npos);
  EXPECT_NE(svg.find("<title>0F0, 0.00 ns to 1.00 s</title>"), svg.npos);
  EXPECT_NE(svg.find(">F forward<"), svg.npos);
  EXPECT_NE(svg.find(">B backward<"), svg.npos);
  EXPECT_EQ(svg.find(">W weight gradient<"), svg.npos) << "there is none";
  EXPECT_EQ(svg.find(">memory<"), svg.npos) << "there is none";
  EXPECT_EQ(occurrences(svg, ">7</text>"), 8u) << "F7 and B7 of four ranks";
}

TEST(TimelineSvg, TitlesMayHoldAnything) {
  const std::string svg = drawSvg(Timeline(), "a<b & \"c\"\n>");
  EXPECT_EQ(malformed(svg), "");
  EXPECT_NE(svg.find("a&lt;b &amp; \"c\"&gt;"), svg.npos);
}

/// Returns a step of one rank with a name that a model may give to a tensor.
Timeline named(const std::string &name) {
  Timeline timeline;
  timeline.names = {"ranks 0 to 11"};
  timeline.positions = {{{{ActionKind::Forward, 0, 0}, 0, 1}}};
  timeline.messages = {
      {{{ActionKind::Communication, 0, 0}, 0.5, 1, "0F0 all_reduce " + name}}};
  measureIdle(timeline);
  return timeline;
}

TEST(TimelineSvg, NamesMayHoldAnything) {
  const std::string svg = drawSvg(named("a<\"&\n>"), "");
  EXPECT_EQ(malformed(svg), "");
  EXPECT_NE(svg.find(">ranks 0 to 11<"), svg.npos);
  EXPECT_NE(svg.find("0F0 all_reduce a&lt;\"&amp;&gt;, "), svg.npos);
  EXPECT_NE(svg.find(">communication<"), svg.npos);
}

TEST(TimelineTrace, NamesMayHoldAnything) {
  const std::string name = "a<\"&\n\\> \xff";
  const auto trace = nlohmann::json::parse(writeTrace(named(name)));
  EXPECT_EQ(trace.at("traceEvents")[0].at("args").at("name"), "ranks 0 to 11");
  EXPECT_EQ(trace.at("traceEvents")[4].at("name"),
            "0F0 all_reduce a<\"&\n\\> \xef\xbf\xbd");
  EXPECT_EQ(trace.at("traceEvents")[4].at("cat"), "communication");
}

TEST(TimelineTrace, HoldsEveryActionMessageAndPoint) {
  const Timeline timeline = complete(ScheduleKind::ZbV, 4, 8);
  const auto trace = nlohmann::json::parse(writeTrace(timeline));
  std::map<std::string, size_t> phases;
  for (const auto &event : trace.at("traceEvents"))
    ++phases[event.at("ph")];
  EXPECT_EQ(phases["X"], total(timeline.positions) + total(timeline.messages));
  EXPECT_EQ(phases["C"], total(timeline.memory));
  EXPECT_EQ(phases["M"], 3u * 4) << "names of ranks and their two threads";
}

TEST(TimelineTrace, ActionsOfARankDoNotOverlap) {
  const auto trace = nlohmann::json::parse(
      writeTrace(complete(ScheduleKind::Interleaved, 4, 8)));
  std::map<int, double> free;
  for (const auto &event : trace.at("traceEvents"))
    if (event.at("ph") == "X" && event.at("tid") == 0) {
      const int rank = event.at("pid");
      const double start = event.at("ts"), length = event.at("dur");
      EXPECT_GE(start, free[rank] - 1e-6) << "but for the sum of two doubles";
      free[rank] = start + length;
    }
  EXPECT_EQ(free.size(), 4u);
}

TEST(TimelineTrace, EventsAreCalledAsInActionTables) {
  ActionTable table = make(ScheduleKind::OneFOneB, 1, 1);
  appendUpdates(table, wholeUpdates(table.numStages));
  const auto trace = nlohmann::json::parse(writeTrace(simulate(table)));
  const auto &events = trace.at("traceEvents");
  ASSERT_EQ(events.size(), 5u);
  EXPECT_EQ(events[3], nlohmann::json::parse(
                           R"({"ph": "X", "pid": 0, "tid": 0, "name": "0B0",
                               "cat": "backward", "ts": 1e6, "dur": 2e6,
                               "args": {"stage": 0, "microbatch": 0}})"));
  EXPECT_EQ(events[4].at("args"), nlohmann::json({{"stage", 0}}))
      << "an update has no microbatch";
}

TEST(TimelineTrace, TimeOnACoreIsThatOfTheThread) {
  Timeline timeline;
  timeline.positions = {{{.action = {ActionKind::Forward, 0, 0},
                          .start = 1,
                          .end = 3,
                          .coreSeconds = 1.5}}};
  const auto trace = nlohmann::json::parse(writeTrace(timeline));
  EXPECT_EQ(trace.at("traceEvents").back().at("tdur"), 1.5e6);
}

TEST(TimelineTrace, AnEmptyStepIsATraceToo) {
  EXPECT_TRUE(
      nlohmann::json::parse(writeTrace(Timeline())).at("traceEvents").empty());
}

} // namespace
