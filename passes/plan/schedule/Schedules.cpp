//===- Schedules.cpp - generators of pipeline schedules -------------------===//

#include "passes/plan/schedule/Schedules.h"
#include "status/Counted.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <cstdlib>

namespace pcc::plan {
namespace {

using Row = std::vector<Action>;

/// A pipeline rank, and the numbers that determine its actions: the number of
/// ranks in the pipeline (p), the number of stages of each rank
/// (`virtualStages`), and the number of microbatches in one step.
struct PositionView {
  int numPositions, position, virtualStages, numMicrobatches;

  /// Returns the number of a stage that the pipeline rank `position` runs. A
  /// rank can run several stages. `chunk` is the index of the stage within the
  /// rank, counted from 0. Stage s is on rank s mod `numPositions`. For
  /// example, with 2 ranks and 6 stages, rank 1 runs the stages 1, 3 and 5. For
  /// rank 1 and chunk 2, the function returns 5.
  int loopedStage(int chunk) const { return chunk * numPositions + position; }
};

Action forward(int stage, int microbatch) {
  return {ActionKind::Forward, stage, microbatch};
}
Action backward(int stage, int microbatch) {
  return {ActionKind::Backward, stage, microbatch};
}

/// Order of the steps of a pipeline rank in an interleaved schedule. A group of
/// p microbatches, for p ranks, runs through all stages (chunks) of the rank
/// before the next group begins. Example with 2 ranks, one column per step:
///
///     chunk        0 0 1 1 0 0 1 1
///     microbatch   0 1 0 1 2 3 2 3
struct ChunkOrder {
  explicit ChunkOrder(const PositionView &view) : view(view) {}

  /// Returns the number of steps of a pipeline rank. A step runs one stage for
  /// one microbatch. The microbatches form groups of p microbatches, for p
  /// ranks. If the last group is not full, it is filled up with microbatches
  /// that do not exist, and the number includes their steps. For example, with
  /// 2 ranks, 2 stages per rank and 3 microbatches, there are 2 groups of 2
  /// microbatches. The number of steps is 2 * 2 * 2 = 8.
  int count() const {
    const int group = view.numPositions;
    return (view.numMicrobatches + group - 1) / group * group *
           view.virtualStages;
  }
  int microbatch(int step) const {
    const int group = view.numPositions;
    return step / (group * view.virtualStages) * group + step % group;
  }
  int chunk(int step) const {
    const int group = view.numPositions;
    return step % (group * view.virtualStages) / group;
  }
  /// Appends the forward action of step number `step` to `row`. Appends nothing
  /// if the step has a microbatch that does not exist, because the last group
  /// of microbatches is not full.
  void addForward(Row &row, int step) const {
    if (microbatch(step) < view.numMicrobatches)
      row.push_back(forward(view.loopedStage(chunk(step)), microbatch(step)));
  }
  /// Appends the backward action of step number `step` to `row`. The backward
  /// pass runs the stages of a pipeline rank in descending order. Appends
  /// nothing if the step has a microbatch that does not exist, because the last
  /// group of microbatches is not full.
  void addBackward(Row &row, int step) const {
    const int last = view.virtualStages - 1;
    if (microbatch(step) < view.numMicrobatches)
      row.push_back(
          backward(view.loopedStage(last - chunk(step)), microbatch(step)));
  }

  const PositionView view;
};

Row forwardOnly(const PositionView &view) {
  Row row;
  const ChunkOrder order(view);
  for (int step = 0; step < order.count(); ++step)
    order.addForward(row, step);
  return row;
}

Row naive(const PositionView &view) {
  Row row;
  for (int mb = 0; mb < view.numMicrobatches; ++mb) {
    for (int chunk = 0; chunk < view.virtualStages; ++chunk)
      row.push_back(forward(view.loopedStage(chunk), mb));
    for (int chunk = view.virtualStages; chunk-- > 0;)
      row.push_back(backward(view.loopedStage(chunk), mb));
  }
  return row;
}

Row gpipe(const PositionView &view) {
  Row row;
  for (int chunk = 0; chunk < view.virtualStages; ++chunk)
    for (int mb = 0; mb < view.numMicrobatches; ++mb)
      row.push_back(forward(view.loopedStage(chunk), mb));
  for (int chunk = view.virtualStages; chunk-- > 0;)
    for (int mb = 0; mb < view.numMicrobatches; ++mb)
      row.push_back(backward(view.loopedStage(chunk), mb));
  return row;
}

/// Generates the actions of one pipeline rank in the schedule 1F1B. Rank r of p
/// ranks runs p - 1 - r forward actions (F), then F and B (backward)
/// alternately, then the remaining B. Example: rank 1 of 3 runs F0 F1 B0 F2 B1
/// B2 for 3 microbatches.
Row oneFOneB(const PositionView &view) {
  Row row;
  const int m = view.numMicrobatches;
  const int warmup = std::min(view.numPositions - view.position - 1, m);
  for (int mb = 0; mb < warmup; ++mb)
    row.push_back(forward(view.position, mb));
  for (int mb = warmup; mb < m; ++mb) {
    row.push_back(forward(view.position, mb));
    row.push_back(backward(view.position, mb - warmup));
  }
  for (int mb = m - warmup; mb < m; ++mb)
    row.push_back(backward(view.position, mb));
  return row;
}

/// Generates the actions of one pipeline rank in interleaved 1F1B
/// (Megatron-LM). For v > 1 stages per rank, rank r of p runs 2 * (p - 1 - r) +
/// (v - 1) * p forward actions, then forward and backward alternately, then the
/// remaining backward actions.
Row interleaved(const PositionView &view) {
  if (view.virtualStages == 1)
    return oneFOneB(view);
  Row row;
  const ChunkOrder order(view);
  const int p = view.numPositions, count = order.count();
  const int warmup = std::min(
      2 * (p - view.position - 1) + (view.virtualStages - 1) * p, count);
  for (int step = 0; step < warmup; ++step)
    order.addForward(row, step);
  for (int step = warmup; step < count; ++step) {
    order.addForward(row, step);
    order.addBackward(row, step - warmup);
  }
  for (int step = count - warmup; step < count; ++step)
    order.addBackward(row, step);
  return row;
}

/// Generates the actions of one pipeline rank in the zero-bubble schedule
/// ZB-H1. I (input gradient) and W (weight gradient) replace B of 1F1B. From I
/// of microbatch r on, rank r runs one W after each I. Example for rank 2 of 3:
/// F0 I0 F1 I1 F2 I2 W0 F3 I3 W1 W2 W3.
Row zbH1(const PositionView &view) {
  Row row;
  const int m = view.numMicrobatches, stage = view.position;
  int f = 0, i = 0, w = 0;
  auto addI = [&] { row.push_back({ActionKind::InputGradient, stage, i++}); };
  auto addW = [&] { row.push_back({ActionKind::WeightGradient, stage, w++}); };
  while (f < std::min(view.numPositions - 1 - stage, m))
    row.push_back(forward(stage, f++));
  while (f < m) {
    row.push_back(forward(stage, f++));
    addI();
    if (i > stage)
      addW();
  }
  while (i < m) {
    addI();
    addW();
  }
  while (w < m)
    addW();
  return row;
}

/// Generates the actions of one pipeline rank in the zero-bubble schedule ZB-V.
/// For p ranks, build() always generates the order of at least 2p - 1
/// microbatches. If the step has fewer microbatches, add() omits the actions of
/// microbatches that do not exist.
class ZbVRow {
public:
  explicit ZbVRow(const PositionView &view)
      : p(view.numPositions), r(view.position), m(view.numMicrobatches),
        stages{r, 2 * p - 1 - r} {}

  /// Returns the actions of the pipeline rank in the order of PyTorch's class
  /// ScheduleZBVZeroBubble. The loops 1 to 3 are the warm-up, loop 4 is the
  /// steady state, and the loops 5 to 8 are the cool-down.
  Row build() {
    const int n = std::max(2 * p - 1, m);
    for (int k = 0; k < 2 * (p - r) - 1; ++k)
      add(F, 0);
    for (int k = 0; k < r; ++k)
      add(F, 1), add(F, 0);
    for (int k = 0; k < p - r; ++k)
      add(F, 1), add(I, 1), add(W, 1);
    while (done[F][1] < done[F][0] || done[F][0] < n) {
      if (done[F][0] < n)
        add(F, 0);
      add(I, 0), add(W, 0), add(F, 1), add(I, 1), add(W, 1);
    }
    for (int k = 0; k < r; ++k)
      add(I, 0), add(I, 1);
    for (int k = 0; k < p - r; ++k)
      add(I, 0), add(W, 0);
    while (done[W][1] < done[I][1])
      add(W, 1);
    while (done[W][0] < done[I][0])
      add(W, 0);
    return row;
  }

private:
  enum Column { F, I, W };

  /// Appends the next action of kind `column` to `row`. `column` is F
  /// (forward), I (input gradient) or W (weight gradient). `chunk` selects the
  /// stage: 0 is the first stage of the pipeline rank, and 1 is the second
  /// stage. The first call with `column` and `chunk` appends the action of
  /// microbatch 0, the second call appends the action of microbatch 1, and so
  /// on. After the last microbatch, a call appends nothing.
  void add(Column column, int chunk) {
    constexpr ActionKind kinds[] = {ActionKind::Forward,
                                    ActionKind::InputGradient,
                                    ActionKind::WeightGradient};
    const int microbatch = done[column][chunk]++;
    if (microbatch < m)
      row.push_back({kinds[column], stages[chunk], microbatch});
  }

  const int p, r, m;
  const std::array<int, 2> stages;
  /// done[k][c]: number of calls add(k, c) so far, for the kind k of action and
  /// the stage c (0 or 1) of the rank. Calls that append no action count, too.
  std::array<std::array<int, 2>, 3> done{};
  Row row;
};

Row zbV(const PositionView &view) { return ZbVRow(view).build(); }

/// A kind of schedule: its name, the function that makes the actions of a
/// pipeline rank, and its number of stages per rank.
struct Generator {
  ScheduleKind kind;
  std::string_view name;
  Row (*rowOf)(const PositionView &);
  int defaultVirtualStages;
  /// Number of stages per pipeline rank that this kind of schedule requires.
  /// The value 0 means that this kind of schedule works with any number of
  /// stages per rank. For example, the value is 2 for ZbV.
  int requiredVirtualStages;
};

/// One generator for each ScheduleKind, in the order of this enum.
constexpr std::array<Generator, 7> generators{{
    {ScheduleKind::ForwardOnly, "forward", forwardOnly, 1, 0},
    {ScheduleKind::Naive, "naive", naive, 1, 0},
    {ScheduleKind::GPipe, "gpipe", gpipe, 1, 0},
    {ScheduleKind::OneFOneB, "1f1b", oneFOneB, 1, 1},
    {ScheduleKind::Interleaved, "interleaved", interleaved, 2, 0},
    {ScheduleKind::ZbH1, "zb-h1", zbH1, 1, 1},
    {ScheduleKind::ZbV, "zb-v", zbV, 2, 2},
}};

const Generator &generatorOf(ScheduleKind kind) {
  return generators[static_cast<size_t>(kind)];
}

} // namespace

std::optional<ScheduleKind> scheduleByName(std::string_view name) {
  for (const Generator &generator : generators)
    if (generator.name == name && generator.kind != ScheduleKind::ForwardOnly)
      return generator.kind;
  return std::nullopt;
}

std::vector<std::string> scheduleNames() {
  std::vector<std::string> names;
  for (const Generator &generator : generators)
    if (generator.kind != ScheduleKind::ForwardOnly)
      names.emplace_back(generator.name);
  return names;
}

std::string_view nameOf(ScheduleKind kind) { return generatorOf(kind).name; }

bool splitsBackward(ScheduleKind kind) {
  return kind == ScheduleKind::ZbH1 || kind == ScheduleKind::ZbV;
}

int defaultVirtualStages(ScheduleKind kind) {
  return generatorOf(kind).defaultVirtualStages;
}

std::string scheduleError(const ScheduleRequest &request) {
  const Generator &generator = generatorOf(request.kind);
  const int required = generator.requiredVirtualStages;
  if (request.numPositions < 1 || request.virtualStages < 1 ||
      request.numMicrobatches < 1)
    return "a schedule needs at least one position, stage and microbatch, "
           "got " +
           std::to_string(request.numPositions) + ", " +
           std::to_string(request.virtualStages) + " and " +
           std::to_string(request.numMicrobatches);
  if (required && request.virtualStages != required)
    return "schedule " + std::string(generator.name) + " runs " +
           counted(required, "stage") + " per rank, got " +
           std::to_string(request.virtualStages) + " virtual stages";
  return {};
}

std::vector<int> positionsOfStages(const ScheduleRequest &request) {
  assert(scheduleError(request).empty() && "invalid request");
  std::vector<int> positions;
  const int p = request.numPositions;
  for (int stage = 0; stage < p * request.virtualStages; ++stage)
    positions.push_back(request.kind == ScheduleKind::ZbV && stage >= p
                            ? 2 * p - 1 - stage
                            : stage % p);
  return positions;
}

StatusOr<ActionTable> makeSchedule(const ScheduleRequest &request) {
  if (std::string error = scheduleError(request); !error.empty())
    return Status::error(CannotMeet, error);
  ActionTable table;
  table.numStages = request.numPositions * request.virtualStages;
  table.numMicrobatches = request.numMicrobatches;
  table.positionOfStage = positionsOfStages(request);
  for (int position = 0; position < request.numPositions; ++position)
    table.positions.push_back(
        generatorOf(request.kind)
            .rowOf({request.numPositions, position, request.virtualStages,
                    request.numMicrobatches}));
  return table;
}

// p is the number of ranks, v is the number of stages per rank, and m is the
// number of microbatches. A forward is the F of one stage for one microbatch.
// It is in flight until its B ends, or its W in the zero-bubble schedules.
int inFlightBound(const ScheduleRequest &request, int position) {
  assert(position >= 0 && position < request.numPositions &&
         "no such position");
  const int p = request.numPositions, v = request.virtualStages,
            m = request.numMicrobatches;
  switch (request.kind) {
  case ScheduleKind::ForwardOnly:
    return 0;
  case ScheduleKind::Naive:
    return v;
  case ScheduleKind::GPipe:
    return m * v;
  case ScheduleKind::OneFOneB:
    return std::min(p - position, m);
  case ScheduleKind::Interleaved:
    return v == 1 ? std::min(p - position, m)
                  : std::min((v - 1) * p + 2 * (p - 1 - position) + 1, m * v);
  case ScheduleKind::ZbH1:
    return std::min(p, m);
  case ScheduleKind::ZbV:
    return std::min(2 * p, 2 * m);
  }
  return m * v;
}

void insertUnshards(ActionTable &table, const std::vector<int> &stages) {
  for (int stage : stages) {
    assert(stage >= 0 && stage < table.numStages && "no such stage");
    Row &row = table.positions[table.positionOfStage[stage]];
    const auto first =
        std::find_if(row.begin(), row.end(), [&](const Action &action) {
          return action.kind == ActionKind::Forward && action.stage == stage;
        });
    row.insert(first, {ActionKind::Unshard, stage, -1});
  }
}

void appendUpdates(ActionTable &table, std::vector<StageUpdate> updates) {
  std::sort(updates.begin(), updates.end(),
            [](const StageUpdate &a, const StageUpdate &b) {
              return std::pair(a.part, a.stage) < std::pair(b.part, b.stage);
            });
  for (const StageUpdate &update : updates) {
    assert(update.stage >= 0 && update.stage < table.numStages &&
           "no such stage");
    table.positions[table.positionOfStage[update.stage]].push_back(
        {ActionKind::Update, update.stage, update.part});
  }
}

} // namespace pcc::plan
