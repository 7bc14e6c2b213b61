// Tests every generator at every size up to 16 positions, 64 microbatches and 4
// stages per position: tables are valid, programs terminate under rendezvous
// semantics, and idle time and live activations equal the closed forms.

#include "passes/plan/schedule/DeadlockCheck.h"
#include "passes/plan/schedule/ScheduleCheck.h"
#include "passes/plan/schedule/Schedules.h"
#include "passes/plan/schedule/Simulate.h"

#include "test/passes/plan/schedule/ScheduleFixtures.h"
#include "gtest/gtest.h"

#include <cmath>
#include <functional>
#include <map>

using namespace pcc::plan;

namespace {

constexpr int mostPositions = 16, mostMicrobatches = 64, mostStages = 4;

std::string describe(const ScheduleRequest &request) {
  return std::string(nameOf(request.kind)) +
         " p=" + std::to_string(request.numPositions) +
         " v=" + std::to_string(request.virtualStages) +
         " m=" + std::to_string(request.numMicrobatches);
}

/// Calls a function for all valid requests of a kind.
void forEverySize(ScheduleKind kind,
                  const std::function<void(const ScheduleRequest &)> &visit) {
  for (int p = 1; p <= mostPositions; ++p)
    for (int m = 1; m <= mostMicrobatches; ++m)
      for (int v = 1; v <= mostStages; ++v)
        if (ScheduleRequest request{kind, p, v, m};
            scheduleError(request).empty())
          visit(request);
}

std::vector<int> stagesUpTo(int count) {
  std::vector<int> stages;
  for (int stage = 0; stage < count; ++stage)
    stages.push_back(stage);
  return stages;
}

std::vector<int> declaredBounds(const ScheduleRequest &request) {
  std::vector<int> bounds;
  for (int position = 0; position < request.numPositions; ++position)
    bounds.push_back(inFlightBound(request, position));
  return bounds;
}

/// Returns whether gradients of a weight are summed in the order of
/// microbatches, so that the schedule does not change the sums.
bool accumulatesInOrder(const ActionTable &table) {
  std::vector<int> next(table.numStages, 0);
  for (const auto &row : table.positions)
    for (const Action &action : row)
      if (action.kind == ActionKind::Backward ||
          action.kind == ActionKind::WeightGradient)
        if (action.microbatch != next[action.stage]++)
          return false;
  return true;
}

/// Returns the first error in the result of a request; empty if there is none.
std::string fault(const ScheduleRequest &request) {
  ActionTable table = *makeSchedule(request);
  const bool trains = request.kind != ScheduleKind::ForwardOnly;
  insertUnshards(table, stagesUpTo(table.numStages));
  if (trains)
    appendUpdates(table, wholeUpdates(table.numStages));
  auto claims = checkSchedule(table, declaredBounds(request));
  if (!claims.empty())
    return claims.front().text;
  if (!accumulatesInOrder(table))
    return "weight gradients are out of order";
  auto lowered = insertMessages(table, chainTransfers(table.numStages, trains));
  return lowered.status().message().empty() ? replay(*lowered).error
                                            : lowered.status().message();
}

class EverySize : public testing::TestWithParam<ScheduleKind> {};

TEST_P(EverySize, IsSoundAndEndsUnderRendezvous) {
  int tables = 0;
  forEverySize(GetParam(), [&](const ScheduleRequest &request) {
    ASSERT_EQ(fault(request), "") << describe(request);
    ++tables;
  });
  RecordProperty("schedule", std::string(nameOf(GetParam())));
  RecordProperty("tables", tables);
}

INSTANTIATE_TEST_SUITE_P(
    Schedules, EverySize,
    testing::Values(ScheduleKind::ForwardOnly, ScheduleKind::Naive,
                    ScheduleKind::GPipe, ScheduleKind::OneFOneB,
                    ScheduleKind::Interleaved, ScheduleKind::ZbH1,
                    ScheduleKind::ZbV));

/// Times of F, I and W; B takes I and W together.
struct Units {
  double f = 1, i = 1, w = 1;

  double of(ActionKind kind) const {
    switch (kind) {
    case ActionKind::Forward:
      return f;
    case ActionKind::Backward:
      return i + w;
    case ActionKind::InputGradient:
      return i;
    case ActionKind::WeightGradient:
      return w;
    default:
      return 0;
    }
  }
};

/// Returns the idle time of one position per step from the literature:
/// (p-1)(F+B) for 1F1B and GPipe, divided by v if interleaved, (p-1)(F+I-W) for
/// ZB-H1, (p-1) max(F, I)/2 for ZB-V.
double closedForm(const ScheduleRequest &request, const Units &units) {
  const int before = request.numPositions - 1;
  switch (request.kind) {
  case ScheduleKind::ZbH1:
    return before * (units.f + units.i - units.w);
  case ScheduleKind::ZbV:
    return before * std::max(units.f, units.i) / 2;
  default:
    return before * (units.f + units.i + units.w) / request.virtualStages;
  }
}

/// Returns the longest idle time of any position.
double simulatedIdle(const ScheduleRequest &request, const Units &units) {
  ActionCosts costs;
  costs.seconds = [&](const Action &action) {
    return units.of(action.kind) / request.virtualStages;
  };
  const Timeline timeline = simulate(*makeSchedule(request), costs);
  return *std::max_element(timeline.idle.begin(), timeline.idle.end());
}

/// Returns by how much the simulated time exceeds the closed form.
double excess(const ScheduleRequest &request, const Units &units = {}) {
  return simulatedIdle(request, units) - closedForm(request, units);
}

constexpr double rounding = 1e-9;
constexpr Units variedUnits[] = {{1, 1, 1}, {1, 1.2, .9}, {1, 1, .7}};

TEST(IdleTime, OfGPipeIsTheClosedFormWithOneStagePerPosition) {
  forEverySize(ScheduleKind::GPipe, [](const ScheduleRequest &request) {
    if (request.virtualStages == 1)
      ASSERT_NEAR(excess(request), 0, rounding) << describe(request);
  });
}

TEST(IdleTime, Of1F1BIsTheClosedFormEverywhere) {
  forEverySize(ScheduleKind::OneFOneB, [](const ScheduleRequest &request) {
    for (const Units &units : variedUnits)
      ASSERT_NEAR(excess(request, units), 0, rounding) << describe(request);
  });
}

/// Number of sizes with several positions, and of those that differ from the
/// closed form.
struct Misses {
  int sizes = 0, missed = 0;
};

/// Also records the differences for bench/schedules.py: v2_p4 holds all
/// `microbatches:excess` of two stages on each of four positions.
Misses missesOf(ScheduleKind kind) {
  Misses misses;
  std::map<std::string, std::string> listed;
  forEverySize(kind, [&](const ScheduleRequest &request) {
    if (request.numPositions == 1)
      return;
    ++misses.sizes;
    const double missed = excess(request);
    if (std::abs(missed) <= rounding)
      return;
    ++misses.missed;
    EXPECT_GT(missed, 0) << describe(request);
    listed["v" + std::to_string(request.virtualStages) + "_p" +
           std::to_string(request.numPositions)] +=
        " " + std::to_string(request.numMicrobatches) + ":" +
        std::to_string(missed);
  });
  for (const auto &[size, misses] : listed)
    testing::Test::RecordProperty(size, misses);
  return misses;
}

TEST(IdleTime, OfInterleavedIsTheClosedFormWherePositionsDivideMicrobatches) {
  forEverySize(ScheduleKind::Interleaved, [](const ScheduleRequest &request) {
    if (request.numMicrobatches % request.numPositions == 0)
      ASSERT_NEAR(excess(request), 0, rounding) << describe(request);
  });
  EXPECT_GT(missesOf(ScheduleKind::Interleaved).missed, 0);
}

TEST(IdleTime, OfInterleavedRepeatsBeyondTwoGroups) {
  forEverySize(ScheduleKind::Interleaved, [](const ScheduleRequest &request) {
    ScheduleRequest oneGroupLess = request;
    oneGroupLess.numMicrobatches -= request.numPositions;
    if (request.virtualStages > 1 &&
        oneGroupLess.numMicrobatches > request.numPositions)
      ASSERT_NEAR(excess(request), excess(oneGroupLess), rounding)
          << describe(request);
  });
}

TEST(IdleTime, OfZbH1IsTheClosedFormWhereMicrobatchesFillThePipeline) {
  forEverySize(ScheduleKind::ZbH1, [](const ScheduleRequest &request) {
    const double missed = std::abs(excess(request));
    if (request.numMicrobatches >= request.numPositions)
      ASSERT_NEAR(missed, 0, rounding) << describe(request);
    else
      ASSERT_GT(missed, 0.5) << describe(request);
  });
  const Misses misses = missesOf(ScheduleKind::ZbH1);
  EXPECT_EQ(misses.sizes, 960);
  EXPECT_EQ(misses.missed, 120);
}

TEST(IdleTime, OfZbVMissesTheClosedFormAt184Sizes) {
  const Misses misses = missesOf(ScheduleKind::ZbV);
  EXPECT_EQ(misses.sizes, 960);
  EXPECT_EQ(misses.missed, 184);
}

TEST(IdleTime, OfZeroBubblesIsTheClosedFormForUnequalUnitsToo) {
  for (ScheduleKind kind : {ScheduleKind::ZbH1, ScheduleKind::ZbV})
    for (auto [p, m] : {std::pair(2, 8), {4, 8}, {4, 16}, {8, 16}, {8, 32}})
      for (const Units &units : variedUnits)
        EXPECT_NEAR(excess({kind, p, defaultVirtualStages(kind), m}, units), 0,
                    rounding)
            << nameOf(kind) << " p=" << p << " m=" << m << " I=" << units.i;
}

TEST(LiveActivations, Of1F1BAreThePositionsToTheEnd) {
  forEverySize(ScheduleKind::OneFOneB, [](const ScheduleRequest &request) {
    std::vector<int> expected;
    for (int stage = 0; stage < request.numPositions; ++stage)
      expected.push_back(
          std::min(request.numPositions - stage, request.numMicrobatches));
    ASSERT_EQ(peakLive(*makeSchedule(request)), expected) << describe(request);
  });
}

/// Returns whether all groups of microbatches are full. In a partial group,
/// fewer are alive.
bool fillsItsGroups(const ScheduleRequest &request) {
  if (request.kind == ScheduleKind::Interleaved)
    return request.numMicrobatches % request.numPositions == 0;
  return request.kind != ScheduleKind::ZbV ||
         request.numMicrobatches >= 2 * request.numPositions;
}

TEST_P(EverySize, ReachesItsDeclaredBoundOfLiveActivations) {
  forEverySize(GetParam(), [](const ScheduleRequest &request) {
    if (fillsItsGroups(request))
      ASSERT_EQ(peakLive(*makeSchedule(request)), declaredBounds(request))
          << describe(request);
  });
}

} // namespace
