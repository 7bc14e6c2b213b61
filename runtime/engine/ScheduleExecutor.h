//===- ScheduleExecutor.h - executes a pipeline schedule's actions --------===//

#ifndef PCC_RUNTIME_ENGINE_SCHEDULEEXECUTOR_H
#define PCC_RUNTIME_ENGINE_SCHEDULEEXECUTOR_H

#include "runtime/comm/flight/FlightRecorder.h"
#include "runtime/device/QueuedDevice.h"
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

/// Executes the actions of one step (forward, backward, update, …) in the order
/// of the program's action table. The compiler has encoded the pipeline
/// schedule in this table, such as GPipe (Huang et al. 2019), 1F1B (Narayanan
/// et al. 2021) or zero bubble (Qi et al. 2023). The class has no code for a
/// particular schedule. Calls are made in this order:
///
///   load()           prepares every instruction
///                    (the caller sets the base addresses of all buffers)
///   bindMessages()   resolves the buffers of point-to-point messages
///   warmUp()         initializes the libraries that operations use
///   runStep() …      executes one step per call; allocates nothing
///
/// On a device that can record (CUDA graphs), the first step executes the
/// actions one by one. The second step is recorded as a graph, and the graph is
/// executed. Later steps only execute the graph.
class ScheduleExecutor {
public:
  ScheduleExecutor() = default;
  ScheduleExecutor(const ScheduleExecutor &) = delete;
  ScheduleExecutor &operator=(const ScheduleExecutor &) = delete;
  ~ScheduleExecutor() {
    if (isRecorded)
      device->queued()->dropRecording();
  }

  /// Prepares every instruction of every function of the program for execution.
  /// `device` and `groups` are borrowed and must outlive this object.
  Status load(const LoadContext &context, const Groups &groups, Device &device);
  /// Resolves the buffers and peers of all point-to-point messages. Also lists
  /// the accumulators: buffers, such as summed gradients, that every step sets
  /// to zero. All buffers must have base addresses. `world` is borrowed; its
  /// flight recorder (log of recent communication) gets one entry per executed
  /// action.
  void bindMessages(const LoadContext &context, const Groups &groups,
                    World &world);

  /// Calls the warm-up function of every operation, which initializes the
  /// libraries that the operation uses. Then waits for the device. Overwrites
  /// the arena buffers (intermediate tensors). All ranks must call.
  Status warmUp(const Coordinates &at);

  /// Disables the recording of steps as CUDA graphs. Actions are then executed
  /// one by one, so that each can be timed.
  void keepApart() { mayRecord = false; }

  /// Executes one step, and blocks until the device has finished it. Adds the
  /// seconds that the host thread spent to `spent`. Records every action in
  /// `log`, except in a step that executes a recorded CUDA graph. If
  /// `meanwhile` is not empty, calls it after all work of the step is enqueued.
  /// This host work then overlaps with the device's work.
  Status runStep(const Mesh &mesh, const Coordinates &at, TimeSpent &spent,
                 StepLog &log, const std::function<Status()> &meanwhile = {});

private:
  /// An instruction that is ready to execute. `split` is set for the Start or
  /// Finish half of an asynchronous collective. For all other instructions
  /// `operation` is set.
  struct BoundInstruction {
    std::unique_ptr<Operation> operation;
    /// Whether the instruction communicates with other ranks. False for a
    /// collective instruction of kind Slice, which only copies locally.
    bool communicates = false;
    /// The asynchronous collective of which this instruction is the Start or
    /// the Finish half. Both instructions share the object.
    std::shared_ptr<SplitCollective> split;
    /// Start or Finish if `split` is set: the half of the asynchronous
    /// collective that this instruction executes. Whole if `operation` is set.
    program::CollectivePart part = program::CollectivePart::Whole;
    /// Index of the only microbatch in which the instruction runs; -1 if it
    /// runs in all microbatches.
    int32_t only = -1;
  };
  /// One end of a point-to-point message between two pipeline stages: this
  /// rank's send or this rank's receive.
  struct MessageEnd {
    /// Index of the peer in the pipeline's communicator group, and address and
    /// bytes of the local buffer. A send reads the buffer, a receive writes it.
    PeerBuffer piece;
    bool isSend = false;
    /// Handle of the pending transfer. Valid from the action that posts
    /// (begins) the message to the action that waits for it.
    Ticket ticket = 0;
  };
  /// An entry of the action table. Its messages are stored as indices into the
  /// list `ends`, its function as an index into the list `functions`.
  struct BoundAction {
    /// Name of the action, and name of the first tensor that it sends or
    /// receives. Used in error messages and in the flight recorder.
    ActionId id;
    int64_t microbatch = 0;
    /// Index into `functions` of the function that the action executes; -1 if
    /// the action only begins messages or waits for them.
    int32_t function = -1;
    /// Messages that this action posts (begins to send or to receive), as
    /// indices into the list `ends`.
    std::vector<size_t> posts;
    /// Messages for which this action waits, as indices into the list `ends`.
    std::vector<size_t> waits;
  };

  /// For each communicator group, the asynchronous collectives whose Start has
  /// been loaded and whose Finish has not. The first entry is the oldest one.
  /// Used only while a function is loaded.
  using StartedByGroup =
      std::map<int32_t, std::deque<std::shared_ptr<SplitCollective>>>;

  /// Prepares the instructions of one function for execution.
  Status loadList(
      const LoadContext &context, const Groups &groups, Device &device,
      const std::vector<std::unique_ptr<program::InstructionT>> &instructions,
      std::vector<BoundInstruction> &steps);
  /// Finds the messages that the action `action` posts (begins) or waits for.
  /// Stores in `act` the index of each message in the list `ends`.
  void bind(const LoadContext &context, const program::ActionT &action,
            BoundAction &act);
  /// Returns the index in the list `ends` of one end of `message`: the send if
  /// `isSend` is true, otherwise the receive. Appends the end to the list if it
  /// is not there.
  size_t endOf(const LoadContext &context, const program::Message &message,
               bool isSend);
  /// Prepares a collective instruction. The Start half of an asynchronous
  /// collective creates the SplitCollective object. The Finish half stores a
  /// pointer to the object that its Start half created.
  Status loadCollective(const LoadContext &context, const Groups &groups,
                        const program::InstructionT &instruction,
                        StartedByGroup &started, BoundInstruction &step);
  /// Sets the accumulators (such as summed gradients) to zero, and executes all
  /// actions one by one.
  Status runActions(const Mesh &mesh, Coordinates at, TimeSpent &spent,
                    StepLog &log);
  /// Executes only the operations that run on the host. A recorded CUDA graph
  /// does not contain these operations.
  Status runOnHost(const Mesh &mesh, Coordinates at);
  /// Calls afterStep() of all operations of a step that the device has
  /// completed.
  Status finishOnHost(const Mesh &mesh, Coordinates at);
  /// Records the actions of a step as a CUDA graph; the device does not execute
  /// them yet.
  Status record(const Mesh &mesh, const Coordinates &at, TimeSpent &spent,
                StepLog &log);
  /// Enqueues one step, without waiting for the device. The first step executes
  /// the actions one by one. The second step records them as a CUDA graph and
  /// executes the graph. Later steps only execute the graph. On a device that
  /// cannot record, every step executes the actions one by one.
  Status begin(const Mesh &mesh, const Coordinates &at, TimeSpent &spent,
               StepLog &log);
  /// Executes one instruction.
  Status run(BoundInstruction &step, const RunContext &run);
  /// Begins the transfers of the messages in `act.posts`.
  Status post(const BoundAction &act);
  /// Blocks until the messages in `act.waits` are complete.
  Status wait(const BoundAction &act);
  /// Executes the instructions `steps` of one function for one microbatch.
  Status runList(std::vector<BoundInstruction> &steps, const RunContext &run,
                 TimeSpent &spent, size_t action, StepLog &log);

  /// The group of ranks that differ from this rank only in their coordinate on
  /// the pipeline axis. Borrowed.
  Group *pipeline = nullptr;
  Device *device = nullptr;
  World *world = nullptr;
  /// `mayRecord`: whether steps may be recorded as a CUDA graph. `isRecorded`:
  /// whether a step has been recorded.
  bool mayRecord = true, isRecorded = false;
  /// Number of steps that have been executed on a device that can record. The
  /// first of these steps is not recorded.
  int64_t numSteps = 0;
  /// Address and bytes of the buffers that are set to zero when a step begins,
  /// such as accumulated gradients.
  std::vector<std::pair<void *, size_t>> accumulators;
  /// The instructions of each function, in program order.
  std::vector<std::vector<BoundInstruction>> functions;
  std::vector<BoundAction> acts;
  std::vector<MessageEnd> ends;
  /// Maps one end of a message to its index in the list `ends`. The key has
  /// three parts:
  ///
  /// - true for a send, false for a receive;
  /// - the index of the transfer (a tensor that one stage sends to another);
  /// - the microbatch.
  std::map<std::tuple<bool, int32_t, int32_t>, size_t> endNumbers;
  /// Handles of the transfers for which wait() waits. Used within wait() only.
  /// The vector is a member so that its allocation is reused.
  std::vector<Ticket> awaited;
  /// Number of messages that have been posted and have not been waited for.
  size_t numTravelling = 0;
  /// Asynchronous collectives that have been started and not yet finished.
  std::vector<SplitCollective *> started;
};

} // namespace pcc::runtime

#endif // PCC_RUNTIME_ENGINE_SCHEDULEEXECUTOR_H
