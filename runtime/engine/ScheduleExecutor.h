//===- ScheduleExecutor.h - executes a pipeline schedule's actions --------===//

#ifndef PCC_RUNTIME_ENGINE_SCHEDULEEXECUTOR_H
#define PCC_RUNTIME_ENGINE_SCHEDULEEXECUTOR_H

#include "runtime/comm/flight/FlightRecorder.h"
#include "runtime/device/Device.h"
#include "runtime/engine/collective/Collective.h"
#include "runtime/engine/collective/Groups.h"
#include "runtime/engine/observe/StepLog.h"
#include "runtime/engine/observe/TimeSpent.h"

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <tuple>
#include <vector>

namespace pcc::runtime {

/// Executes the actions of one step in the order of the program's action table.
/// The table encodes the pipeline schedule, such as GPipe (Huang et al. 2019),
/// 1F1B (Narayanan et al. 2021) or zero bubble (Qi et al. 2023); this class
/// knows no schedule by name. Calls are made in this order:
///
///   load()           prepares every instruction
///                    (the caller sets the base addresses of all buffers)
///   bindMessages()   resolves the buffers of point-to-point messages
///   warmUp()         initializes the libraries that operations use
///   runStep() …      executes one step per call; allocates nothing
///
/// On a device that can record, the first step runs action by action. The
/// second is recorded (a CUDA graph) and replayed. Later steps are only
/// replayed.
class ScheduleExecutor {
public:
  ScheduleExecutor() = default;
  ScheduleExecutor(const ScheduleExecutor &) = delete;
  ScheduleExecutor &operator=(const ScheduleExecutor &) = delete;
  ~ScheduleExecutor() {
    if (device)
      device->dropRecording();
  }

  /// Prepares every instruction of every function. `device` and `groups` are
  /// borrowed and must outlive this object.
  Status load(const LoadContext &context, const Groups &groups, Device &device);
  /// Resolves the buffers and peers of all messages, and the accumulators to
  /// clear. Requires the base addresses of all buffers. `world` is borrowed;
  /// its flight recorder gets an entry per action.
  void bindMessages(const LoadContext &context, const Groups &groups,
                    World &world);

  /// Executes the warm-up of every operation, and waits for the device.
  /// Overwrites arena buffers. Every rank must call this.
  Status warmUp(const Coordinates &at);

  /// Disables recording, so that actions are executed, and can be timed, one by
  /// one.
  void keepApart() { mayRecord = false; }

  /// Executes one step, and blocks until the device has finished it. Adds the
  /// host's seconds to `spent`. Tells `log` about every action, except in
  /// replayed steps. Calls `meanwhile`, if not empty, after all work of the
  /// step is enqueued, so that host work overlaps with the device.
  Status runStep(const Mesh &mesh, Coordinates at, TimeSpent &spent,
                 StepLog &log, const std::function<Status()> &meanwhile = {});

private:
  /// An instruction that is ready to run. Either `operation` is set, or, for
  /// the start or finish of an asynchronous collective, `split`.
  struct BoundInstruction {
    std::unique_ptr<Operation> operation;
    /// Whether the instruction is a collective over a group, rather than a
    /// slice.
    bool communicates = false;
    /// The asynchronous collective that this instruction starts or finishes.
    /// The Start and the Finish instruction share the object.
    std::shared_ptr<SplitCollective> split;
    /// Which half of `split` this instruction executes; Whole for `operation`.
    program::CollectivePart part = program::CollectivePart::Whole;
    /// The only microbatch in which the instruction runs; -1: in all of them.
    int32_t only = -1;
  };
  /// This rank's end of one point-to-point message between two pipeline stages.
  struct MessageEnd {
    /// The peer, and the local buffer that is sent or received.
    PeerBuffer piece;
    bool isSend = false;
    /// Handle of the pending transfer, between its post and its wait.
    Ticket ticket = 0;
  };
  /// An entry of the action table with its messages and its function resolved.
  struct BoundAction {
    /// Name of the action and of the first value that it sends or receives; for
    /// error messages and the flight recorder.
    ActionId id;
    int64_t microbatch = 0;
    /// Index into `functions`; -1 if the action only posts or waits.
    int32_t function = -1;
    /// Indices into `ends`: messages that this action begins to transfer.
    std::vector<size_t> posts;
    /// Indices into `ends`: messages that must be complete before the action
    /// runs.
    std::vector<size_t> waits;
  };

  /// For each communicator group, the asynchronous collectives of one function
  /// that have a Start but no Finish so far. A Finish belongs to the oldest of
  /// its group.
  using StartedByGroup =
      std::map<int32_t, std::deque<std::shared_ptr<SplitCollective>>>;

  /// Prepares the instructions of one function.
  Status loadList(
      const LoadContext &context, const Groups &groups, Device &device,
      const std::vector<std::unique_ptr<program::InstructionT>> &instructions,
      std::vector<BoundInstruction> &steps);
  /// Resolves the messages of one action.
  void bind(const LoadContext &context, const program::ActionT &action,
            BoundAction &act);
  /// Returns the index in `ends` of a message; adds the message if it is new.
  size_t endOf(const LoadContext &context, const program::Message &message,
               bool isSend);
  /// Prepares a collective; pairs the Start and Finish of an asynchronous one.
  Status loadCollective(const LoadContext &context, const Groups &groups,
                        const program::InstructionT &instruction,
                        StartedByGroup &started, BoundInstruction &step);
  /// Clears the accumulators, and executes all actions one by one.
  Status runActions(const Mesh &mesh, Coordinates at, TimeSpent &spent,
                    StepLog &log);
  /// Executes only the operations that a recording leaves out.
  Status runOnHost(const Mesh &mesh, Coordinates at);
  /// Executes a step while the device records it.
  Status record(const Mesh &mesh, const Coordinates &at, TimeSpent &spent,
                StepLog &log);
  /// Executes, records or replays a step, without waiting for the device.
  Status begin(const Mesh &mesh, const Coordinates &at, TimeSpent &spent,
               StepLog &log);
  /// Executes one instruction.
  Status run(BoundInstruction &step, const RunContext &run);
  /// Begins the transfers of an action's messages.
  Status post(const BoundAction &act);
  /// Blocks until the messages that an action needs are complete.
  Status wait(const BoundAction &act);
  /// Executes the instructions of one function for one microbatch.
  Status runList(std::vector<BoundInstruction> &steps, const RunContext &run,
                 TimeSpent &spent, size_t action, StepLog &log);

  /// The group of ranks that differ only in their pipeline position. Borrowed.
  Group *pipeline = nullptr;
  Device *device = nullptr;
  World *world = nullptr;
  /// Whether steps may be recorded, and whether one has been.
  bool mayRecord = true, isRecorded = false;
  /// Steps that were executed while recording was possible.
  int64_t numSteps = 0;
  /// Address and bytes of the buffers that are set to zero when a step begins,
  /// such as accumulated gradients.
  std::vector<std::pair<void *, size_t>> accumulators;
  /// The instructions of each function, in program order.
  std::vector<std::vector<BoundInstruction>> functions;
  std::vector<BoundAction> acts;
  std::vector<MessageEnd> ends;
  /// Index into `ends` by side, transfer and microbatch.
  std::map<std::tuple<bool, int32_t, int32_t>, size_t> endNumbers;
  /// Scratch of wait(): the tickets of one action.
  std::vector<Ticket> awaited;
  /// Number of messages that were posted and not waited for.
  size_t numTravelling = 0;
  /// Asynchronous collectives that have been started and not finished.
  std::vector<SplitCollective *> started;
};

} // namespace pcc::runtime

#endif // PCC_RUNTIME_ENGINE_SCHEDULEEXECUTOR_H
