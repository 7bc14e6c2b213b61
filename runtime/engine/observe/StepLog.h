//===- StepLog.h - log of the actions of one step on one rank -------------===//

#ifndef PCC_RUNTIME_ENGINE_OBSERVE_STEPLOG_H
#define PCC_RUNTIME_ENGINE_OBSERVE_STEPLOG_H

#include "runtime/program/Program.h"

#include <chrono>
#include <vector>

namespace pcc::runtime {

/// Times that a StepLog keeps of the last step. Each kind includes the kinds
/// before it:
///
/// - Counts: no times
/// - Actions: the times of actions, collectives and waits for messages
/// - Kernels: the times of all other instructions
enum class StepDetail { Counts, Actions, Kernels };

/// Log of the actions that one rank runs in a step. An action is, for example,
/// the forward pass of one microbatch. The log counts the microbatches with
/// live activations on each pipeline stage. Activations are live from the start
/// of the forward pass to the end of the backward pass. If the backward pass is
/// split, its end is the end of the weight gradient. The log may also have the
/// times of the last step (StepDetail). Only the constructor allocates memory.
class StepLog {
public:
  /// An interval of time that the log has recorded. The interval is one of
  /// these:
  ///
  /// - the time of a whole action
  /// - the time of one collective, such as an all-reduce, within an action
  /// - the time of another instruction, such as a kernel, within an action
  /// - the time in which an action waits until messages are sent or received
  ///
  /// An action is one entry of the list `program.actions`, such as the forward
  /// pass of one stage for one microbatch. `start` and `end` are the times of
  /// the steady clock in seconds.
  struct Event {
    /// Index of an action in the list `program.actions`. An action is, for
    /// example, the forward pass of one stage for one microbatch. The event
    /// covers this action or a part of this action.
    int32_t action;
    /// Number that tells which part of the action the event covers. There are
    /// four cases:
    ///
    /// - `wholeAction` (-1): the event covers the whole action.
    /// - `messages` (-2): the event covers the wait for the messages of the
    ///   action.
    /// - `posts` (-3): the event covers the time in which the action begins its
    ///   messages.
    /// - 0 or more: the event covers one instruction of the action. An action
    ///   executes a list of instructions. The number is an index in this list.
    int32_t instruction;
    double start;
    double end;
    /// CPU time, in seconds, that this rank's thread used during the event. Set
    /// only if the event covers a whole forward pass, backward pass, or other
    /// computation of a stage. For collectives and waits for messages, the
    /// value is -1.
    double coreSeconds = -1;
  };
  /// Special values of the field Event::instruction. They are negative, because
  /// any other value of the field is an index:
  ///
  /// - `wholeAction`: the event covers a whole forward pass, backward pass, or
  ///   other computation of a stage.
  /// - `messages`: the event covers the time in which the rank waits until
  ///   messages between pipeline stages are sent or received.
  /// - `posts`: the event covers the time in which the rank begins to send and
  ///   receive messages between pipeline stages.
  static constexpr int32_t wholeAction = -1, messages = -2, posts = -3;

  /// Creates an empty log. `program` is the program that the rank runs. The log
  /// keeps a reference to `program`. `detail` selects the times of the last
  /// step that the log keeps.
  StepLog(const program::ProgramT &program, StepDetail detail);

  /// Deletes all events of the log, so that the log is ready for the next step.
  /// An event is the recorded time of a computation, a collective, or a wait
  /// for messages. The function does not change the numbers that peakLive()
  /// returns, because these numbers cover all steps.
  void beginStep() { events.clear(); }
  /// Records that the action `program.actions[action]` begins. An action is,
  /// for example, the forward pass of one stage for one microbatch.
  void beginAction(size_t action);
  void endAction(size_t action);
  /// Records that a communication began at time `start` and ends now. The
  /// communication is a part of the action `program.actions[action]`, such as a
  /// forward pass. `instruction` tells which part it is:
  ///
  /// - `messages`: the wait for the messages that the action receives or sends.
  /// - `posts`: the beginning of these messages.
  /// - 0 or more: a collective. An action executes a list of instructions. The
  ///   number is the index of the collective in this list.
  ///
  /// The function does nothing if no times are kept.
  void addCommunication(size_t action, int32_t instruction, double start) {
    if (keepsTimes)
      add({int32_t(action), instruction, start, now()});
  }
  /// Records that an instruction other than a collective began at time `start`
  /// and ends now. `instruction` is its index in the function of the action
  /// `program.actions[action]`. Does nothing unless the log keeps the times of
  /// kernels (StepDetail::Kernels).
  void addKernel(size_t action, int32_t instruction, double start) {
    if (keepsKernels)
      add({int32_t(action), instruction, start, now()});
  }

  /// Returns the time of the steady clock in seconds; 0 if times are not kept.
  double now() const { return keepsTimes ? clock() : 0; }
  /// Returns the time of the steady clock in seconds.
  static double clock() {
    return std::chrono::duration<double>(
               std::chrono::steady_clock::now().time_since_epoch())
        .count();
  }

  /// Returns one number per pipeline stage: the largest number of microbatches
  /// that have had live activations in this stage at the same time. The number
  /// covers all steps so far. Activations are live from the start of the
  /// forward pass to the end of the backward pass. If this rank does not run
  /// the stage, the number is 0. If the program has no backward pass, all
  /// numbers are 0.
  const std::vector<int32_t> &peakLive() const { return peak; }
  /// Returns the events of the last step, in the order of their ends; empty if
  /// times are not kept.
  const std::vector<Event> &eventsOfLastStep() const { return events; }

private:
  /// Appends an event; drops it if the reserved memory is full.
  void add(const Event &event) {
    if (events.size() < events.capacity())
      events.push_back(event);
  }

  const program::ProgramT &program;
  const bool keepsTimes, keepsKernels;
  /// Whether the program has backward passes.
  bool hasBackward = false;
  /// Two lists with one entry per pipeline stage:
  ///
  /// - `live[s]`: the number of microbatches that now have live activations in
  ///   stage s. Activations are live from the start of the forward pass to the
  ///   end of the backward pass.
  /// - `peak[s]`: the largest value that `live[s]` has had so far
  std::vector<int32_t> live, peak;
  /// Times, in seconds, of two clocks at the last call of beginAction().
  /// endAction() subtracts these times from the times at the end of the action
  /// to get the duration and the CPU time of the action.
  ///
  /// - `began`: time of the steady clock
  /// - `coreBegan`: CPU time that the thread had used
  double began = 0, coreBegan = 0;
  std::vector<Event> events;
};

} // namespace pcc::runtime

#endif // PCC_RUNTIME_ENGINE_OBSERVE_STEPLOG_H
