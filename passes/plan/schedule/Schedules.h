//===- Schedules.h - generators of pipeline schedules (1F1B, ZB-V, …) -----===//

#ifndef PCC_PASSES_PLAN_SCHEDULE_SCHEDULES_H
#define PCC_PASSES_PLAN_SCHEDULE_SCHEDULES_H

#include "passes/plan/schedule/ActionTable.h"
#include "status/StatusOr.h"

namespace pcc::plan {

/// Kinds of pipeline schedules. In the comments of the kinds, p is the number
/// of pipeline ranks, and v is the number of stages per rank. The pictures have
/// p = 3, v = 1 and 4 microbatches. They show the order of the actions, but not
/// their times.
enum class ScheduleKind : uint8_t {
  /// Inference: forward actions only. A group of p microbatches runs through
  /// all stages of a pipeline rank before the next group begins.
  ForwardOnly,
  /// Each microbatch runs forward and backward through all stages before the
  /// next one begins.
  Naive,
  /// All forward actions, then all backward actions (Huang et al. 2019).
  GPipe,
  /// 1F1B: each backward action runs as soon as its gradient has arrived
  /// (PipeDream-Flush, Narayanan et al. 2021). One pipeline rank per line; F0
  /// is the forward and B0 the backward action of microbatch 0:
  ///   F0 F1 F2 B0 F3 B1 B2 B3
  ///   F0 F1 B0 F2 B1 F3 B2 B3
  ///   F0 B0 F1 B1 F2 B2 F3 B3
  OneFOneB,
  /// 1F1B with v stages on each pipeline rank, which divides the idle time by v
  /// (Megatron-LM, Narayanan et al. 2021).
  Interleaved,
  /// Zero bubble ZB-H1 (Qi et al. 2023): the backward action is split into I
  /// (input gradient) and W (weight gradient). W fills the idle time. One
  /// pipeline rank per line; F0 is the forward action of microbatch 0:
  ///   F0 F1 F2 I0 W0 F3 I1 W1 I2 W2 I3 W3
  ///   F0 F1 I0 F2 I1 W0 F3 I2 W1 I3 W2 W3
  ///   F0 I0 F1 I1 F2 I2 W0 F3 I3 W1 W2 W3
  ZbH1,
  /// Zero bubble ZB-V (Qi et al. 2023): the backward action is split into I
  /// (input gradient) and W (weight gradient). Pipeline rank r runs the stages
  /// r and 2p - 1 - r. A microbatch goes to the last rank and back to the first
  /// rank, like the letter V.
  ZbV,
};

/// Returns the kind of schedule that `--schedule NAME` selects; std::nullopt
/// for an unknown name. ForwardOnly cannot be selected.
std::optional<ScheduleKind> scheduleByName(std::string_view name);

/// Returns all names that `--schedule` accepts.
std::vector<std::string> scheduleNames();

/// Returns the name of a kind of schedule. For example, the name of OneFOneB is
/// "1f1b", and the name of ForwardOnly is "forward". The option `--schedule`
/// accepts all these names except "forward".
std::string_view nameOf(ScheduleKind kind);

/// Returns whether the schedule splits the backward action into I (input
/// gradient) and W (weight gradient).
bool splitsBackward(ScheduleKind kind);

/// Returns a default value: the number of stages per pipeline rank in a
/// schedule of the kind `kind`. pcc uses this value if the user does not set
/// the number with the option `--virtual-stages`. For example, the default
/// value is 2 for Interleaved and 1 for OneFOneB.
int defaultVirtualStages(ScheduleKind kind);

/// Kind and sizes of the schedule that makeSchedule generates.
struct ScheduleRequest {
  ScheduleKind kind = ScheduleKind::OneFOneB;
  int numPositions = 1;
  /// Stages per pipeline rank.
  int virtualStages = 1;
  int numMicrobatches = 1;
};

/// Generates the schedule of the kind and sizes in `request`. The table has
/// only F (forward) and B (backward), or I (input gradient) and W (weight
/// gradient) in place of B. If there is no such schedule, returns the error
/// text of scheduleError() with exit code 6.
StatusOr<ActionTable> makeSchedule(const ScheduleRequest &request);

/// Returns the reason why there is no schedule of the kind and sizes in
/// `request`. Returns an empty string if there is such a schedule.
std::string scheduleError(const ScheduleRequest &request);

/// Returns for each stage the number of the pipeline rank that runs it. In all
/// schedules except ZbV, stage s is on rank s mod p, for p ranks. For example,
/// 3 ranks and 6 stages give 0, 1, 2, 0, 1, 2. In ZbV, the second half is in
/// reverse order: 0, 1, 2, 2, 1, 0. scheduleError() must accept `request`.
std::vector<int> positionsOfStages(const ScheduleRequest &request);

/// Returns the largest number of forwards that the schedule may have in flight
/// at once on pipeline rank `position`. A forward of one stage and microbatch
/// is in flight from F to the end of B, or of W (weight gradient). Without a
/// backward pass, returns 0.
int inFlightBound(const ScheduleRequest &request, int position);

/// Inserts, for each stage in `stages`, an UNSHARD action (all-gather of
/// weights) right before the stage's first F (forward). An earlier UNSHARD
/// would delay other stages of the pipeline rank.
void insertUnshards(ActionTable &table, const std::vector<int> &stages);

/// One action of the optimizer update: part number `part` of the update of
/// stage number `stage`. The update of a stage is divided into several parts if
/// stages exchange values during the update. An example of such a value is a
/// global gradient norm. Parts are counted from 0.
struct StageUpdate {
  int stage;
  int part;
};

/// Appends the optimizer updates `updates` to `table`. The update of a stage
/// becomes an action in the row of the pipeline rank that runs this stage. The
/// actions of a row are sorted by StageUpdate::part and then by stage: two
/// stages 0 and 2 on one rank, with two parts of the update each, give 0U0,
/// 2U0, 0U1, 2U1.
void appendUpdates(ActionTable &table, std::vector<StageUpdate> updates);

} // namespace pcc::plan

#endif // PCC_PASSES_PLAN_SCHEDULE_SCHEDULES_H
