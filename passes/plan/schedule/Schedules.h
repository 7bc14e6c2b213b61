//===- Schedules.h - generators of pipeline schedules (1F1B, ZB-V, …) -----===//

#ifndef PCC_PASSES_PLAN_SCHEDULE_SCHEDULES_H
#define PCC_PASSES_PLAN_SCHEDULE_SCHEDULES_H

#include "passes/plan/schedule/ActionTable.h"

namespace pcc::plan {

/// Kinds of schedules for p positions, v stages per position (chunks) and m
/// microbatches. The pictures have p = 3, v = 1 and m = 4: a row per position,
/// time to the right, idle slots left out.
enum class ScheduleKind : uint8_t {
  /// Inference: F0 F1 F2 F3 on every position. With several chunks, a position
  /// runs chunk after chunk in groups of p microbatches.
  ForwardOnly,
  /// Each microbatch passes all stages forward and backward before the next one
  /// begins.
  Naive,
  /// All forwards, then all backwards (Huang et al. 2019).
  GPipe,
  /// Each backward as soon as its gradient is there (PipeDream-Flush, Narayanan
  /// et al. 2021):
  ///   F0 F1 F2 B0 F3 B1 B2 B3
  ///   F0 F1 B0 F2 B1 F3 B2 B3
  ///   F0 B0 F1 B1 F2 B2 F3 B3
  OneFOneB,
  /// 1F1B over v chunks per position, which divides the bubble by v
  /// (Megatron-LM, Narayanan et al. 2021).
  Interleaved,
  /// Zero bubble ZB-H1: B is split into I (gradient of the input) and W
  /// (gradient of the weights), and W fills the bubble (Qi et al. 2023):
  ///   F0 F1 F2 I0 W0 F3 I1 W1 I2 W2 I3 W3
  ///   F0 F1 I0 F2 I1 W0 F3 I2 W1 I3 W2 W3
  ///   F0 I0 F1 I1 F2 I2 W0 F3 I3 W1 W2 W3
  ZbH1,
  /// Zero bubble ZB-V: two chunks per position in a V, so that position r runs
  /// the stages r and 2p-1-r (Qi et al. 2023).
  ZbV,
};

/// Returns the kind with the given value of `--schedule`. ForwardOnly cannot be
/// selected by name.
std::optional<ScheduleKind> scheduleByName(std::string_view name);

/// Returns the name of a kind, as in `--schedule`; "forward" for ForwardOnly.
std::string_view nameOf(ScheduleKind kind);

/// Returns whether the backward pass of a schedule is I and W rather than B.
bool splitsBackward(ScheduleKind kind);

/// Returns the number of stages per position that applies without
/// `--virtual-stages`.
int defaultVirtualStages(ScheduleKind kind);

/// Parameters of a schedule.
struct ScheduleRequest {
  ScheduleKind kind = ScheduleKind::OneFOneB;
  int numPositions = 1;
  /// Stages per position.
  int virtualStages = 1;
  int numMicrobatches = 1;
};

/// Returns the table of a schedule, without updates and UNSHARD. A request that
/// cannot be met results in the error of `scheduleError`.
ActionTableOrError makeSchedule(const ScheduleRequest &request);

/// Returns the reason why a request cannot be met; an empty string if it can.
std::string scheduleError(const ScheduleRequest &request);

/// Returns the position of each stage: stage mod p (round robin), or a V for
/// ZbV. `request` must be valid.
std::vector<int> positionsOfStages(const ScheduleRequest &request);

/// Returns the bound that the schedule declares for the forwards of a position
/// whose activations are alive at once. It counts pairs of stage and
/// microbatch, from F to B or W. `checkSchedule` verifies the bound.
int inFlightBound(const ScheduleRequest &request, int position);

/// Inserts UNSHARD of each of `stages` right before the first F of the stage.
/// An earlier UNSHARD would delay the other stages of its position.
void insertUnshards(ActionTable &table, const std::vector<int> &stages);

/// Part number `part` of the update of a stage. An update has several parts if
/// stages exchange values during it, such as a global gradient norm.
struct StageUpdate {
  int stage;
  int part;
};

/// Appends the updates to the rows of their positions, ordered by part, then by
/// stage.
void appendUpdates(ActionTable &table, std::vector<StageUpdate> updates);

} // namespace pcc::plan

#endif // PCC_PASSES_PLAN_SCHEDULE_SCHEDULES_H
