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

/// Returns memory of a row in which the n-th action uses n + 1 units.
RowMemory growing(size_t actions, int64_t unit) {
  RowMemory memory{4 * unit, 2 * unit, 16 * unit};
  for (size_t i = 0; i < actions; ++i) {
    const auto bytes = static_cast<int64_t>(i + 1) * unit;
    memory.actions.push_back({bytes, bytes - unit, unit, 0});
  }
  return memory;
}

constexpr ScheduleKind kinds[] = {
    ScheduleKind::Naive,       ScheduleKind::GPipe, ScheduleKind::OneFOneB,
    ScheduleKind::Interleaved, ScheduleKind::ZbH1,  ScheduleKind::ZbV};

TEST(TimelineMemory, HasPointsWhereActionsBeginAndEnd) {
  Timeline timeline;
  timeline.positions = {{{{ActionKind::Forward, 0, 0}, 0.5, 1},
                         {{ActionKind::Backward, 0, 0}, 2, 2.5}}};
  addMemory(timeline, {{100, 50, 30, {{10, 6, 0, 0}, {30, 5, 7, 5}}}});
  const MemoryCurve &curve = timeline.memory.at(0);
  EXPECT_EQ(curve.total(), 180);
  std::string text;
  for (const MemoryPoint &point : curve.points)
    text += std::to_string(static_cast<int>(point.seconds * 10)) + ":" +
            std::to_string(point.gradients) + "+" +
            std::to_string(point.activations) + " ";
  EXPECT_EQ(text, "5:0+10 10:0+6 20:7+23 25:5+0 ");
}

TEST(TimelineMemory, RowsMayStopEarly) {
  Timeline timeline;
  timeline.positions = {{{{ActionKind::Forward, 0, 0}, 0, 1}}, {}};
  addMemory(timeline, {growing(3, 1), growing(2, 1)});
  EXPECT_EQ(timeline.memory.at(0).points.size(), 2u);
  EXPECT_TRUE(timeline.memory.at(1).points.empty());
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

TEST(Timeline, WaitingInsideAnActionIsIdle) {
  Timeline measured;
  measured.positions = {{{{ActionKind::Forward, 0, 0}, 0, 4},
                         {{ActionKind::Backward, 0, 0}, 4, 10}}};
  measured.messages = {{{{ActionKind::Communication, 0, 0}, 1, 2},
                        {{ActionKind::Communication, 0, 0}, 3, 5},
                        {{ActionKind::SendForward, 0, 0}, 6, 7}}};
  measureIdle(measured);
  EXPECT_EQ(measured.idle, (std::vector<double>{3}))
      << "a send runs beside the action";
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
  std::vector<RowMemory> memory;
  for (const auto &row : timeline.positions)
    memory.push_back(growing(row.size(), 1 << 18));
  addMemory(timeline, memory);
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
      EXPECT_EQ(occurrences(svg, "<polygon"), size_t(4 * p))
          << "weights, state, gradients and activations";
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
  EXPECT_EQ(svg.find(">activations<"), svg.npos) << "there is no memory";
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
  const auto &last = trace.at("traceEvents").back();
  EXPECT_EQ(last.at("name"), "0F0 all_reduce a<\"&\n\\> \xef\xbf\xbd");
  EXPECT_EQ(last.at("cat"), "communication");
}

TEST(TimelineTrace, HoldsEveryActionMessageAndPoint) {
  const Timeline timeline = complete(ScheduleKind::ZbV, 4, 8);
  const auto trace = nlohmann::json::parse(writeTrace(timeline));
  std::map<std::string, size_t> phases;
  for (const auto &event : trace.at("traceEvents"))
    ++phases[event.at("ph")];
  EXPECT_EQ(phases["X"], total(timeline.positions) + total(timeline.messages));
  size_t points = 0;
  for (const MemoryCurve &curve : timeline.memory)
    points += curve.points.size() + (curve.points.front().seconds > 0 ? 1 : 0);
  EXPECT_EQ(phases["C"], points);
  EXPECT_EQ(phases["s"], phases["f"]) << "an arrow per message";
  EXPECT_EQ(phases["s"] + phases["f"], total(timeline.messages));
}

TEST(TimelineTrace, NothingOverlapsOnATrack) {
  for (ScheduleKind kind : kinds)
    for (auto [p, m] : {std::pair(2, 2), {4, 8}}) {
      const auto trace =
          nlohmann::json::parse(writeTrace(complete(kind, p, m)));
      std::map<std::pair<int, int>, double> free;
      for (const auto &event : trace.at("traceEvents"))
        if (event.at("ph") == "X") {
          double &end = free[{event.at("pid"), event.at("tid")}];
          EXPECT_GE(event.at("ts").get<double>(), end - 1e-9)
              << nameOf(kind) << ": " << event;
          end = event.at("ts").get<double>() + event.at("dur").get<double>();
        }
    }
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
  ASSERT_EQ(events.size(), 6u);
  EXPECT_EQ(events[4], nlohmann::json::parse(
                           R"({"ph": "X", "pid": 0, "tid": 0, "name": "0B0",
                               "cat": "backward", "ts": 1e6, "dur": 2e6,
                               "args": {"stage": 0, "microbatch": 0}})"));
  EXPECT_EQ(events[5].at("args"), nlohmann::json({{"stage", 0}}))
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
