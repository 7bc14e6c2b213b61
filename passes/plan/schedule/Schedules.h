//===- Schedules.h - generators of pipeline schedules (1F1B, ZB-V, …) -----===//

#ifndef PCC_PASSES_PLAN_SCHEDULE_SCHEDULES_H
#define PCC_PASSES_PLAN_SCHEDULE_SCHEDULES_H

#include "passes/plan/schedule/ActionTable.h"
#include "status/StatusOr.h"

namespace pcc::plan {

/// Kinds of schedules for p pipeline positions, v stages per position and m
/// microbatches. Pictures have p = 3, v = 1 and m = 4: one position per row,
/// time from left to right, no idle time. F0 is the forward action of
/// microbatch 0, B0 its backward action.
enum class ScheduleKind : uint8_t {
  /// Inference: forward actions only. With several stages per pipeline
  /// position, groups of p microbatches (p positions) run all stages one after
  /// another.
  ForwardOnly,
  /// Each microbatch runs forward and backward through all stages before the
  /// next one begins.
  Naive,
  /// All forward actions, then all backward actions (Huang et al. 2019).
  GPipe,
  /// 1F1B: each backward action runs as soon as its gradient has arrived
  /// (PipeDream-Flush, Narayanan et al. 2021). One pipeline position per line;
  /// F0 is the forward and B0 the backward action of microbatch 0:
  ///   F0 F1 F2 B0 F3 B1 B2 B3
  ///   F0 F1 B0 F2 B1 F3 B2 B3
  ///   F0 B0 F1 B1 F2 B2 F3 B3
  OneFOneB,
  /// 1F1B with v stages on each pipeline position, which divides the idle time
  /// by v (Megatron-LM, Narayanan et al. 2021).
  Interleaved,
  /// Zero bubble ZB-H1 (Qi et al. 2023): the backward action is split into I
  /// (input gradient) and W (weight gradient). W fills the idle time. One
  /// pipeline position per line; F0 is the forward action of microbatch 0:
  ///   F0 F1 F2 I0 W0 F3 I1 W1 I2 W2 I3 W3
  ///   F0 F1 I0 F2 I1 W0 F3 I2 W1 I3 W2 W3
  ///   F0 I0 F1 I1 F2 I2 W0 F3 I3 W1 W2 W3
  ZbH1,
  /// Zero bubble ZB-V (Qi et al. 2023): position r of p runs the stages r and
  /// 2p - 1 - r. By stage, the positions are 0, 1, …, p-1, p-1, …, 0, like a V.
  ZbV,
};

/// Returns the kind of schedule that `--schedule NAME` selects; std::nullopt
/// for an unknown name. ForwardOnly cannot be selected.
std::optional<ScheduleKind> scheduleByName(std::string_view name);

/// Returns the name of a kind, as for `--schedule`; "forward" for ForwardOnly.
std::string_view nameOf(ScheduleKind kind);

/// Returns whether the schedule splits the backward action into I (input
/// gradient) and W (weight gradient).
bool splitsBackward(ScheduleKind kind);

/// Returns the number of stages per pipeline position of this kind, if
/// `--virtual-stages` is not given.
int defaultVirtualStages(ScheduleKind kind);

/// Kind and sizes of the schedule that makeSchedule generates.
struct ScheduleRequest {
  ScheduleKind kind = ScheduleKind::OneFOneB;
  int numPositions = 1;
  /// Stages per pipeline position.
  int virtualStages = 1;
  int numMicrobatches = 1;
};

/// Returns the action table of the requested schedule. It has only forward (F)
/// and backward (B, I, W) actions. If the request is invalid, returns the error
/// of `scheduleError`.
StatusOr<ActionTable> makeSchedule(const ScheduleRequest &request);

/// Returns the reason why a request is invalid; an empty string if it is valid.
std::string scheduleError(const ScheduleRequest &request);

/// Returns, by stage, the pipeline position that runs it: stage mod p for p
/// positions. For ZbV, the positions are 0, 1, …, p-1, p-1, …, 0. `request`
/// must be valid.
std::vector<int> positionsOfStages(const ScheduleRequest &request);

/// Returns how many forwards may be in flight at once on a pipeline position. A
/// forward (stage and microbatch) is in flight from action F to action B
/// (backward) or W (weight gradient); its activations are in memory.
/// `checkSchedule` checks this bound.
int inFlightBound(const ScheduleRequest &request, int position);

/// Inserts, for each stage in `stages`, an UNSHARD action (all-gather of
/// weights) right before the stage's first F (forward). An earlier UNSHARD
/// would delay other stages of the pipeline position.
void insertUnshards(ActionTable &table, const std::vector<int> &stages);

/// One part of the optimizer update of a stage, as an action. An update has
/// several parts if stages exchange values in it, such as a global gradient
/// norm.
struct StageUpdate {
  int stage;
  int part;
};

/// Appends actions of the optimizer update to the actions of the pipeline
/// positions that run their stages. Part 0 of all stages comes first, then part
/// 1, and so on. Within a part, the stage numbers ascend.
void appendUpdates(ActionTable &table, std::vector<StageUpdate> updates);

} // namespace pcc::plan

#endif // PCC_PASSES_PLAN_SCHEDULE_SCHEDULES_H
