//===- Schedules.h - generators of pipeline schedules (1F1B, ZB-V, …) -----===//

#ifndef PCC_PASSES_PLAN_SCHEDULE_SCHEDULES_H
#define PCC_PASSES_PLAN_SCHEDULE_SCHEDULES_H

#include "passes/plan/schedule/ActionTable.h"
#include "status/StatusOr.h"

namespace pcc::plan {

/// Kinds of pipeline schedules. A schedule gives, for each pipeline rank, the
/// actions of the rank and their order. In the comments of the kinds, p is the
/// number of pipeline ranks, v is the number of stages per rank, and m is the
/// number of microbatches.
///
/// Some comments have a picture with p = 3, v = 1 and m = 4. Each line of the
/// picture lists the actions of one rank in their order. F0 is the forward
/// action of microbatch 0, and B0 is the backward action of microbatch 0. The
/// pictures do not show when an action starts or how long a rank waits.
enum class ScheduleKind : uint8_t {
  /// Inference: forward actions only. A pipeline rank can have several stages.
  /// The microbatches then form groups of p microbatches, for p ranks. A group
  /// runs all stages of the rank before the next group begins. Example for
  /// p = 2 ranks: rank 0 has the stages 0 and 2, and there are 4 microbatches.
  /// Rank 0 runs stage 0 for the microbatches 0 and 1, stage 2 for the
  /// microbatches 0 and 1, stage 0 for the microbatches 2 and 3, and stage 2
  /// for the microbatches 2 and 3.
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
  /// Zero bubble ZB-V (Qi et al. 2023). The backward action is split into I
  /// (input gradient) and W (weight gradient). With p pipeline ranks, there are
  /// 2p stages, and rank r runs the stages r and 2p - 1 - r. For example, with
  /// 3 ranks, rank 0 runs the stages 0 and 5, rank 1 runs the stages 1 and 4,
  /// and rank 2 runs the stages 2 and 3. The letter V stands for the path of a
  /// microbatch: from the first rank to the last rank, and back to the first
  /// rank.
  ZbV,
};

/// Returns the kind of schedule that `--schedule NAME` selects; std::nullopt
/// for an unknown name. ForwardOnly cannot be selected.
std::optional<ScheduleKind> scheduleByName(std::string_view name);

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

/// Generates the schedule that `request` describes. Returns an action table,
/// which lists the actions of each pipeline rank in order. The table has
/// actions of these kinds:
///  - F (forward), in all schedules.
///  - B (backward), in schedules for training that do not divide B.
///  - I (input gradient) and W (weight gradient), in schedules that divide B
///    into I and W.
///
/// If `request` is invalid, the function returns an error. An example is a
/// request with 0 microbatches. The text of the error is the result of the
/// function `scheduleError`.
StatusOr<ActionTable> makeSchedule(const ScheduleRequest &request);

/// Returns the reason why a request is invalid; an empty string if it is valid.
std::string scheduleError(const ScheduleRequest &request);

/// Returns a list with one element per stage. The element of stage s is the
/// number of the pipeline rank that runs stage s. In all schedules except ZbV,
/// this is rank s mod p, for p ranks. For example, with 3 ranks and 6 stages,
/// the list is 0, 1, 2, 0, 1, 2. In the schedule ZbV, the second half of the
/// list is in reverse order: 0, 1, 2, 2, 1, 0. `request` must be valid: the
/// function `scheduleError` must return an empty string for it.
std::vector<int> positionsOfStages(const ScheduleRequest &request);

/// Returns the largest number of forwards that the requested schedule may have
/// in flight at once on pipeline rank number `position`. A forward is the
/// forward pass of one stage for one microbatch. The forward is in flight from
/// its action F until its backward pass ends. During this time, its activations
/// are in memory. The backward pass is one action B. A schedule can divide B
/// into I (input gradient) and W (weight gradient). The backward pass then ends
/// with W. For a schedule without a backward pass, the function returns 0.
/// `checkSchedule` tests action tables against this number.
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

/// Appends the actions of the optimizer update to an action table. The update
/// of a stage consists of one or more parts. Parts are counted from 0. Each
/// part is one action. The function appends this action to the row of the
/// pipeline rank that runs the stage. All actions of part 0 come first, then
/// all actions of part 1, and so on. Within a part, the stage numbers ascend.
/// For example, the updates of the stages 0 and 2 have two parts each. One rank
/// runs both stages. The function appends 0U0 (part 0 of stage 0), 2U0, 0U1 and
/// 2U1 to the row of this rank.
void appendUpdates(ActionTable &table, std::vector<StageUpdate> updates);

} // namespace pcc::plan

#endif // PCC_PASSES_PLAN_SCHEDULE_SCHEDULES_H
