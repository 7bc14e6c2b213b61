//===- Timeline.h - actions, messages and memory of a step over time ------===//

#ifndef PCC_RUNTIME_TIMELINE_TIMELINE_H
#define PCC_RUNTIME_TIMELINE_TIMELINE_H

#include "runtime/timeline/Action.h"

#include <vector>

namespace pcc::runtime {

/// An action with its start and end times, in seconds since the step began.
struct TimedAction {
  Action action;
  double start = 0;
  double end = 0;
  /// Name of the action in drawings and traces of the timeline. If this field
  /// is empty, drawings and traces contain the name that print() returns. For
  /// example, print() returns "0F3" for the forward pass (F) of stage 0 for
  /// microbatch 3.
  std::string name = {};
  /// CPU time in seconds of the thread that ran the action; negative if
  /// unknown.
  double coreSeconds = -1;
  /// Number that identifies a message: the send and the receive of one message
  /// have equal numbers. -1 if the action is neither a send nor a receive.
  int64_t message = -1;
};

/// Returns the name of an action in drawings and traces of the timeline. The
/// name is `timed.name`, or the result of print() if `timed.name` is empty. For
/// example, print() returns "0F3" for the forward pass (F) of stage 0 for
/// microbatch 3.
inline std::string nameOf(const TimedAction &timed) {
  return timed.name.empty() ? print(timed.action) : timed.name;
}

/// Bytes of the arena (memory of intermediate values) that are in use from the
/// time `seconds` until the time of the next point in a list. Times count from
/// the beginning of a step.
struct MemoryPoint {
  double seconds = 0;
  /// Bytes of the gradients that are kept until the optimizer update, and bytes
  /// of all other values.
  int64_t gradients = 0, activations = 0;
};

/// Memory of a rank during a step, in bytes. Weights, optimizer state and the
/// arena are allocated during the whole step; the points tell which part of the
/// arena is in use.
struct MemoryCurve {
  int64_t weights = 0, state = 0, arena = 0;
  std::vector<MemoryPoint> points = {};

  /// Returns the bytes that the rank allocates. pcc always shows this number as
  /// the memory of a rank.
  int64_t total() const { return weights + state + arena; }
};

/// One training or inference step, simulated or measured, as rows of actions
/// over time.
///
/// - Simulated step: a row stands for all ranks that run the same pipeline
///   stages. With 2 stages and 8 ranks, 4 ranks run each stage, and the
///   timeline has 2 rows.
/// - Measured step: a row stands for one rank.
///
/// The first index of each vector below is the number of a row.
struct Timeline {
  /// Display names of the timeline's rows, indexed by the number of the row. A
  /// row shows the actions of one rank, or of all ranks that run the same
  /// pipeline stages. The vector can have fewer entries than the timeline has
  /// rows. A row beyond the last entry has a default name: row 5 has the name
  /// "rank 5".
  std::vector<std::string> names = {};
  /// Actions of each row of the timeline, in order of time. The actions of a
  /// row do not overlap. In a measured step, a row shows one rank. In a
  /// simulated step, a row shows all ranks that run the same pipeline stages.
  ///
  /// A simulation can end in a deadlock: at least one row waits forever for the
  /// input of an action. This action and all later actions of the row are then
  /// missing. The field `stuck` describes the deadlock.
  std::vector<std::vector<TimedAction>> positions;
  /// Communication in the step: one list for each row, ordered by start time. A
  /// row is one rank in a measured step, or all ranks that run the same
  /// pipeline stages in a simulated step. Each message between stages is a send
  /// in the sender's row and a receive in the receiver's row; both last from
  /// departure to arrival. In a measured step, further entries are the times
  /// that the rank spent in collectives and in waits for messages. Entries of a
  /// row may overlap each other and the actions in `positions`. If the
  /// communication is unknown, the vector is empty.
  std::vector<std::vector<TimedAction>> messages;
  /// Executions of instructions in a measured step, except collectives: one
  /// list for each row, ordered by start time. Each execution lies within the
  /// time of one action of the same row in `positions`. The vector is empty
  /// unless a trace was requested.
  std::vector<std::vector<TimedAction>> kernels;
  /// Memory of each row. A row shows one rank in a measured step, or all ranks
  /// that run the same pipeline stages in a simulated step. The vector is empty
  /// until the function addMemory() fills it.
  std::vector<MemoryCurve> memory;
  /// Time at which the last action or message ends, in seconds.
  double makespan = 0;
  /// Idle time in seconds: one number for each row of the timeline. A row is
  /// idle while it runs no action, and while it waits inside an action: in a
  /// collective, or for messages. For example, the step ends after 10 seconds,
  /// and a row has two actions of 3 seconds, of which 1 second is a collective.
  /// The idle time of the row is 10 - 6 + 1 = 5 seconds.
  std::vector<double> idle;
  /// Description of a deadlock in a simulation, as text for the user. The text
  /// is empty if all actions have run. Otherwise, the text names each row that
  /// still has actions to run, and the input or message that the row waits for.
  /// The text calls row 1 of the timeline "position 1", because each row of a
  /// simulation is one position of the pipeline (the stages that one rank
  /// runs).
  ///
  /// For example, "position 1 at 1F0 waits for 0F0" means that row 1 cannot
  /// start the action 1F0, because the action 0F0 has not run. 1F0 is the
  /// forward pass of stage 1 for microbatch 0.
  std::string stuck;
};

/// Returns the name of row number `row`: its entry in `timeline.names`, or
/// "rank N" for row N if there is no entry.
std::string rowName(const Timeline &timeline, size_t row);

/// Sets `timeline.makespan` to the time at which the last action or message
/// ends, and `timeline.idle` to the idle time of each row. A row is idle while
/// it runs no action. It is also idle while an action waits: during the entries
/// of the kind Communication in `timeline.messages`.
void measureIdle(Timeline &timeline);

/// Returns the mean share of the step in which a row is idle, from 0 to 1; 0
/// without rows.
double idleShare(const Timeline &timeline);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_TIMELINE_TIMELINE_H
