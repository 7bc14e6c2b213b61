//===- Schedules.h - generators of pipeline schedules (1F1B, ZB-V, …) -----===//

#ifndef PCC_PASSES_PLAN_SCHEDULE_SCHEDULES_H
#define PCC_PASSES_PLAN_SCHEDULE_SCHEDULES_H

#include "passes/plan/schedule/ActionTable.h"
#include "status/StatusOr.h"

namespace pcc::plan {

/// Kinds of schedules for p positions (ranks of the pipeline), v stages per
/// position (called chunks) and m microbatches. The pictures of the kinds have
/// p = 3, v = 1 and m = 4. They show one position per row and time from left to
/// right, without idle time. F0 is the forward action of microbatch 0, B0 its
/// backward action.
enum class ScheduleKind : uint8_t {
  /// Inference: F0 F1 F2 F3 (forward actions of microbatches 0 to 3) on every
  /// pipeline position. If a position runs several stages (chunks), p
  /// microbatches form a group, where p is the number of positions. All chunks
  /// run for one group before the next group begins.
  ForwardOnly,
  /// Each microbatch passes all stages forward and then backward before the
  /// next microbatch begins.
  Naive,
  /// All forward actions, then all backward actions (Huang et al. 2019).
  GPipe,
  /// 1F1B: each backward action runs as soon as its gradient has arrived
  /// (PipeDream-Flush, Narayanan et al. 2021). Each line is one pipeline
  /// position; F0 is the forward and B0 the backward action of microbatch 0:
  ///   F0 F1 F2 B0 F3 B1 B2 B3
  ///   F0 F1 B0 F2 B1 F3 B2 B3
  ///   F0 B0 F1 B1 F2 B2 F3 B3
  OneFOneB,
  /// 1F1B with v stages (chunks) on each pipeline position. The idle time of a
  /// position is 1/v of its idle time in 1F1B with one stage per position
  /// (Megatron-LM, Narayanan et al. 2021).
  Interleaved,
  /// Zero bubble ZB-H1: the backward action is split into I (input gradient)
  /// and W (weight gradient), and W fills the idle time (Qi et al. 2023). Each
  /// line is one pipeline position; F0 is the forward action of microbatch 0:
  ///   F0 F1 F2 I0 W0 F3 I1 W1 I2 W2 I3 W3
  ///   F0 F1 I0 F2 I1 W0 F3 I2 W1 I3 W2 W3
  ///   F0 I0 F1 I1 F2 I2 W0 F3 I3 W1 W2 W3
  ZbH1,
  /// Zero bubble ZB-V (Qi et al. 2023): each of the p pipeline positions runs
  /// two stages. Position r runs stages r and 2p - 1 - r. In the order of the
  /// stages, the positions are 0, 1, …, p-1, p-1, …, 0, like a V.
  ZbV,
};

/// Returns the kind of schedule that `--schedule NAME` selects; std::nullopt
/// for an unknown name. ForwardOnly has no name that can be selected.
std::optional<ScheduleKind> scheduleByName(std::string_view name);

/// Returns the name of a kind as `--schedule` spells it; "forward" for
/// ForwardOnly.
std::string_view nameOf(ScheduleKind kind);

/// Returns whether the schedule divides the backward pass B into I (input
/// gradient) and W (weight gradient).
bool splitsBackward(ScheduleKind kind);

/// Returns how many stages per position (rank of the pipeline) a schedule of
/// this kind has if `--virtual-stages` is not given.
int defaultVirtualStages(ScheduleKind kind);

/// Kind and sizes of the schedule that makeSchedule generates.
struct ScheduleRequest {
  ScheduleKind kind = ScheduleKind::OneFOneB;
  int numPositions = 1;
  /// Stages per pipeline position.
  int virtualStages = 1;
  int numMicrobatches = 1;
};

/// Returns the action table of the requested schedule. It has only F (forward),
/// B (backward), I (input gradient) and W (weight gradient) actions. Updates
/// and UNSHARD (all-gather of weights) are inserted later. If the request is
/// invalid, returns the error of `scheduleError`.
StatusOr<ActionTable> makeSchedule(const ScheduleRequest &request);

/// Returns the reason why a request is invalid; an empty string if it is valid.
std::string scheduleError(const ScheduleRequest &request);

/// Returns, by stage, the position (rank of the pipeline) that runs it: stage
/// mod p for p positions. For ZbV, the positions in the order of the stages are
/// 0, 1, …, p-1, p-1, …, 0. `request` must be valid.
std::vector<int> positionsOfStages(const ScheduleRequest &request);

/// Returns how many forwards may be in flight at once on `position` (rank of
/// the pipeline). A forward is a pair of stage and microbatch. It is in flight
/// if its forward action F has run, and its backward action B (or weight
/// gradient W) has not, so its activations are in memory. `checkSchedule`
/// checks tables against this bound.
int inFlightBound(const ScheduleRequest &request, int position);

/// Inserts, for each stage in `stages`, an UNSHARD action (all-gather of
/// weights) right before the first F (forward action) of the stage. An earlier
/// UNSHARD would delay the other stages of the same position (rank of the
/// pipeline).
void insertUnshards(ActionTable &table, const std::vector<int> &stages);

/// One part of the optimizer update of a stage, as an action of the schedule.
/// An update has several parts if the stages exchange values during the update,
/// such as the norm of all gradients.
struct StageUpdate {
  int stage;
  int part;
};

/// Appends the update actions, sorted by part and then by stage, each to the
/// row of the pipeline position that runs its stage.
void appendUpdates(ActionTable &table, std::vector<StageUpdate> updates);

} // namespace pcc::plan

#endif // PCC_PASSES_PLAN_SCHEDULE_SCHEDULES_H
