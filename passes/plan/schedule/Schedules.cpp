//===- Schedules.cpp - generators of pipeline schedules -------------------===//

#include "passes/plan/schedule/Schedules.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <cstdlib>

namespace pcc::plan {
namespace {

using Row = std::vector<Action>;

/// A pipeline position, and the sizes of its schedule.
struct PositionView {
  int numPositions, position, virtualStages, numMicrobatches;

  /// Returns the stage of chunk number `chunk` of the position. Chunks are the
  /// stages of one position. Stage s is on position s mod p, for p positions.
  int loopedStage(int chunk) const { return chunk * numPositions + position; }
};

Action forward(int stage, int microbatch) {
  return {ActionKind::Forward, stage, microbatch};
}
Action backward(int stage, int microbatch) {
  return {ActionKind::Backward, stage, microbatch};
}

/// Order of the steps of a pipeline position in an interleaved schedule. A step
/// runs one chunk (stage of the position) for one microbatch. A group of p
/// microbatches runs all chunks before the next group begins. Example:
///
///     p = 2 positions, v = 2 chunks, m = 4 microbatches; one column per step
///     chunk        0 0 1 1 0 0 1 1
///     microbatch   0 1 0 1 2 3 2 3
///
/// If p does not divide m, padding without actions fills the last group.
struct ChunkOrder {
  explicit ChunkOrder(const PositionView &view) : view(view) {}

  /// Returns the number of steps of a pipeline position, including padding
  /// (steps of microbatches that do not exist).
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
  /// Appends the F (forward) action of step number `step` to `row`. Appends
  /// nothing if the step is padding after the last microbatch.
  void addForward(Row &row, int step) const {
    if (microbatch(step) < view.numMicrobatches)
      row.push_back(forward(view.loopedStage(chunk(step)), microbatch(step)));
  }
  /// Appends the B (backward) action of step number `step` to `row`. Appends
  /// nothing if the step is padding after the last microbatch. The backward
  /// pass runs the chunks (stages of the position) in reverse.
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

/// Generates the actions of one pipeline position in 1F1B: one F (forward) for
/// each later position, then F and B (backward) in turn, then the remaining B.
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

/// Generates the actions of one pipeline position in interleaved 1F1B, as in
/// Megatron-LM. With p positions of v stages each, position r runs:
///
///  - 2 * (p - 1 - r) + (v - 1) * p forward actions (F);
///  - then F and B (backward) in turn;
///  - then the remaining B.
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

/// Generates the actions of one pipeline position in ZB-H1. This is 1F1B in
/// which I (input gradient) and W (weight gradient) replace B (backward). On
/// position r, W of microbatch k comes after I of microbatch k + r. W thus
/// fills the time in which 1F1B is idle.
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

/// Generates the actions of one pipeline position in ZB-V. The pattern for p
/// positions has 2p - 1 microbatches or more. If the schedule has fewer, the
/// actions of the missing microbatches are left out.
class ZbVRow {
public:
  explicit ZbVRow(const PositionView &view)
      : p(view.numPositions), r(view.position), m(view.numMicrobatches),
        stages{r, 2 * p - 1 - r} {}

  /// Returns the actions: three phases of warm-up, the steady state, and three
  /// phases of cool-down, as in PyTorch's ScheduleZBVZeroBubble.
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

  /// Appends an action of kind `column` for the next microbatch: F (forward), I
  /// (input gradient) or W (weight gradient). `chunk` is 0 or 1, for the first
  /// or second stage of the pipeline position. Appends nothing after the last
  /// microbatch.
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
  /// done[column][chunk]: number of calls of `add` so far for one kind of
  /// action (F, I or W) and one of the two stages of the pipeline position.
  /// Calls after the last microbatch count, too.
  std::array<std::array<int, 2>, 3> done{};
  Row row;
};

Row zbV(const PositionView &view) { return ZbVRow(view).build(); }

/// A kind of schedule: its name, the function that makes the actions of a
/// pipeline position, and its number of stages per position.
struct Generator {
  ScheduleKind kind;
  std::string_view name;
  Row (*rowOf)(const PositionView &);
  int defaultVirtualStages;
  /// The only valid number of stages per pipeline position; 0 for any.
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
           std::to_string(required) + (required == 1 ? " stage" : " stages") +
           " per rank, got " + std::to_string(request.virtualStages) +
           " virtual stages";
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

// Has one formula for each kind of schedule, for the largest number of forwards
// in flight at once on a pipeline position. A forward is in flight from F to B
// (backward) or W (weight gradient).
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
