//===- Schedules.h - generators of action tables --------------------------===//

#ifndef PCC_PASSES_PLAN_SCHEDULE_SCHEDULES_H
#define PCC_PASSES_PLAN_SCHEDULE_SCHEDULES_H

#include "passes/plan/schedule/ActionTable.h"

namespace pcc::plan {

/// p positions, v stages per position, m microbatches. Pictures: p = 3, m = 4,
/// a row per position, time to the right.
enum class ScheduleKind : uint8_t {
  /// Inference: F0 F1 F2 F3 everywhere; chunks in groups of p microbatches.
  ForwardOnly,
  /// One microbatch at a time through all stages and back.
  Naive,
  /// All forwards, then all backwards (Huang et al. 2019).
  GPipe,
  /// A backward as soon as there is one (Narayanan et al. 2019):
  ///   F0 F1 F2 B0 F3 B1 B2 B3
  ///   F0 F1 B0 F2 B1 F3 B2 B3
  ///   F0 B0 F1 B1 F2 B2 F3 B3
  OneFOneB,
  /// 1F1B over v chunks per position: bubble / v (Narayanan et al. 2021).
  Interleaved,
  /// B split into I and W; W fills the bubble (Qi et al. 2023):
  ///   F0 F1 F2 I0 W0 F3 I1 W1 I2 W2 I3 W3
  ///   F0 F1 I0 F2 I1 W0 F3 I2 W1 I3 W2 W3
  ///   F0 I0 F1 I1 F2 I2 W0 F3 I3 W1 W2 W3
  ZbH1,
  /// Two chunks per position in a V: position r runs stages r and 2p-1-r.
  ZbV,
};

/// The kind that `--schedule` calls so; forward only has no name.
std::optional<ScheduleKind> scheduleByName(std::string_view name);
std::string_view nameOf(ScheduleKind kind);
/// Whether the backward pass is I and W, not B.
bool splitsBackward(ScheduleKind kind);
/// Stages per position unless `--virtual-stages` says otherwise.
int defaultVirtualStages(ScheduleKind kind);

struct ScheduleRequest {
  ScheduleKind kind = ScheduleKind::OneFOneB;
  int numPositions = 1;
  int virtualStages = 1;
  int numMicrobatches = 1;
};

/// The table of a schedule, without updates. An impossible combination gives
/// the error of `scheduleError`.
ActionTableOrError makeSchedule(const ScheduleRequest &request);

/// Why a request cannot be met; empty if it can.
std::string scheduleError(const ScheduleRequest &request);

/// Position of each stage: stage mod p, or a V for ZbV.
std::vector<int> positionsOfStages(const ScheduleRequest &request);

/// Most forwards of a position whose activations are alive at once (counted in
/// stage x microbatch, from F to B or W): the bound that the schedule declares
/// and `checkSchedule` holds it to.
int inFlightBound(const ScheduleRequest &request, int position);

/// Puts UNSHARD of each of `stages` right before the first F of the stage: as
/// late as it may, so that the others of its position need not wait.
void insertUnshards(ActionTable &table, const std::vector<int> &stages);

/// Part `part` of the update of a stage.
struct StageUpdate {
  int stage;
  int part;
};

/// One part for each stage.
std::vector<StageUpdate> wholeUpdates(int numStages);

/// Appends the updates to the ends of their positions, part after part.
void appendUpdates(ActionTable &table, std::vector<StageUpdate> updates);

} // namespace pcc::plan

#endif // PCC_PASSES_PLAN_SCHEDULE_SCHEDULES_H
