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

/// Function that sees the instructions of a step, each after its run on a CPU
/// or after its launch on a GPU. `action` is an index in the list of actions of
/// the program, `instruction` an index in the function of the action. An error
/// ends the step.
using InstructionObserver =
    std::function<Status(size_t action, size_t instruction)>;

/// Executes the actions of one step (such as forward, backward and update) in
/// the order of the program's pipeline schedule, such as GPipe (Huang et al.
/// 2019), 1F1B (Narayanan et al. 2021) or zero bubble (Qi et al. 2023). On a
/// GPU, the second step is recorded as a CUDA graph, which all later steps
/// execute. The calls must have this order:
///
///   load()
///   bindMessages()   after all buffers have addresses
///   warmUp()
///   runStep()        once per step; allocates no memory
class ScheduleExecutor {
public:
  ScheduleExecutor() = default;
  ScheduleExecutor(const ScheduleExecutor &) = delete;
  ScheduleExecutor &operator=(const ScheduleExecutor &) = delete;
  ~ScheduleExecutor() {
    if (isRecorded)
      device->queued()->dropRecording();
  }

  /// Converts every instruction of the program to an object that can be
  /// executed. `context` contains the program and the table of the buffers'
  /// addresses. `groups` contains the communicators of this rank. `device` is
  /// the CPU or GPU that executes the instructions. `groups`, `device` and the
  /// objects to which `context` refers must outlive this object.
  Status load(const LoadContext &context, const Groups &groups, Device &device);
  /// Prepares the messages between pipeline stages. For each send and each
  /// receive of this rank, determines the other rank and the local buffer. Also
  /// lists the buffers that each step sets to zero. All buffers must have
  /// addresses before the call.
  ///
  /// `context` contains the program and the addresses of the buffers. `groups`
  /// contains the communicators of this rank. `world` is the communicator of
  /// all ranks. `groups` and `world` must outlive this object.
  void bindMessages(const LoadContext &context, const Groups &groups,
                    World &world);

  /// Prepares the libraries that operations use, such as a library for matrix
  /// multiplications. For this purpose, the function executes some operations
  /// once. Their results overwrite the memory of intermediate tensors. Blocks
  /// until the device is idle. `at` contains the mesh coordinates of this rank.
  ///
  /// All ranks must call this function before the first step. Otherwise, a
  /// library could load its GPU code during a step. The load waits until the
  /// GPU is idle, while the GPU may wait for another rank. The ranks would then
  /// deadlock.
  Status warmUp(const Coordinates &at);

  /// Disables the recording of CUDA graphs, so that each action can be timed.
  void keepApart() { mayRecord = false; }

  /// Calls `seen` after each instruction of all later steps. Needs keepApart()
  /// on a GPU.
  void observe(InstructionObserver seen) { observer = std::move(seen); }

  /// Executes one step, and blocks until the device has finished the step.
  /// Calls `meanwhile`, if given, while a GPU computes. On CPUs, calls
  /// `meanwhile` after the computation. Logs the actions in `log`, except if
  /// the step executes a CUDA graph that an earlier step has recorded.
  ///
  /// Adds times of this host thread to the members of `spent`:
  ///
  /// - `wait`: collectives
  /// - `idle`: waits for messages of other pipeline stages
  /// - `compute`: all other instructions, and the final wait for the device
  ///
  /// On a GPU, the time of an instruction is only the time to enqueue it.
  Status runStep(const Mesh &mesh, const Coordinates &at, TimeSpent &spent,
                 StepLog &log, const std::function<Status()> &meanwhile = {});

private:
  /// An instruction that is ready to execute. Exactly one of two pointers is
  /// set:
  ///
  /// - `split` is set if the instruction starts or finishes an asynchronous
  ///   collective.
  /// - `operation` is set for any other instruction, such as a matrix
  ///   multiplication.
  struct BoundInstruction {
    std::unique_ptr<Operation> operation;
    /// Whether the instruction communicates with other ranks. One kind of
    /// collective instruction (Slice) does not: it takes a part of a local
    /// tensor.
    bool communicates = false;
    /// The asynchronous collective that this instruction starts or finishes.
    /// The starting and the finishing instruction share one object.
    std::shared_ptr<SplitCollective> split;
    /// Kind of the instruction:
    ///
    /// - Start: the instruction begins an asynchronous collective.
    /// - Finish: the instruction waits until an asynchronous collective is
    ///   complete.
    /// - Whole: any other instruction, such as a matrix multiplication or a
    ///   collective that one instruction both begins and completes.
    program::CollectivePart part = program::CollectivePart::Whole;
    /// Index of the only microbatch in which the instruction runs; -1 for all.
    int32_t only = -1;
  };
  /// One end of a point-to-point message between two pipeline stages: a send or
  /// a receive of this rank.
  struct MessageEnd {
    /// Describes the other rank and the local memory of the message:
    ///
    /// - `piece.peer`: the coordinate of the other rank on the pipeline axis.
    ///   This rank and the other rank differ only in this coordinate.
    /// - `piece.data`: the address of the data on this rank.
    /// - `piece.size`: the size of the data in bytes.
    PeerBuffer piece;
    bool isSend = false;
    /// Handle of the message while it is in flight, for Group::wait().
    Ticket ticket = 0;
  };
  /// Object that runStep() executes for one action of the pipeline schedule. An
  /// example of an action is the forward pass of microbatch 3 on stage 1.
  struct BoundAction {
    /// Name of the action, and name of the tensor in its first message. Error
    /// messages show both.
    ActionId id;
    int64_t microbatch = 0;
    /// Index, in the list `functions`, of the function that the action
    /// executes. A function is a list of instructions, such as the forward pass
    /// of one stage. The index is -1 if the action executes no function, but
    /// only begins messages or waits for messages.
    int32_t function = -1;
    /// Messages that this action begins. Each one is an index into `ends`, the
    /// list of this rank's sends and receives.
    std::vector<size_t> posts;
    /// Sends and receives for which this action waits. Each element is an index
    /// into `ends`, the list of this rank's sends and receives. For example, if
    /// `waits` is {2, 5}, the action blocks until ends[2] and ends[5] are
    /// complete.
    std::vector<size_t> waits;
  };

  /// Maps the index of a communicator group to a queue of asynchronous
  /// collectives of the group. loadList() uses the map while it prepares the
  /// instructions of one function. An asynchronous collective has two
  /// instructions: one starts the collective, and a later instruction finishes
  /// the collective. The queue contains each collective for which loadList()
  /// has prepared the first instruction, but not yet the second. The oldest
  /// collective is the front of the queue.
  using StartedByGroup =
      std::map<int32_t, std::deque<std::shared_ptr<SplitCollective>>>;

  /// Converts the instructions of one function to objects that can be executed,
  /// and appends these to `steps`.
  Status loadList(
      const LoadContext &context, const Groups &groups, Device &device,
      const std::vector<std::unique_ptr<program::InstructionT>> &instructions,
      std::vector<BoundInstruction> &steps);
  /// Copies the messages of an action of the pipeline schedule from `action` to
  /// `act`. `action` is the action in the program. `act` is the object that
  /// runStep() executes for the action. `context` contains the program and the
  /// addresses of the buffers.
  ///
  /// In `act`, a message is an index into `ends`, the list of this rank's sends
  /// and receives. If the action begins messages, their indices are appended to
  /// `act.posts`. If the action waits for messages, their indices are appended
  /// to `act.waits`.
  void bind(const LoadContext &context, const program::ActionT &action,
            BoundAction &act);
  /// Returns an index into `ends`, the list of this rank's sends and receives.
  /// If `isSend` is true, the index is that of the entry that sends `message`.
  /// Otherwise, the index is that of the entry that receives `message`. If the
  /// list does not contain the entry, the function first appends the entry.
  size_t endOf(const LoadContext &context, const program::Message &message,
               bool isSend);
  /// Converts the collective instruction `instruction` to the executable object
  /// `step`. An asynchronous collective has two instructions, which start and
  /// finish the collective with one SplitCollective object. `started` has a
  /// queue for each communicator group, which passes this object from the first
  /// instruction to the second.
  Status loadCollective(const LoadContext &context, const Groups &groups,
                        const program::InstructionT &instruction,
                        StartedByGroup &started, BoundInstruction &step);
  /// Sets the accumulators (such as summed gradients) to zero, then executes
  /// all actions one by one.
  Status runActions(const Mesh &mesh, Coordinates at, TimeSpent &spent,
                    StepLog &log);
  /// Executes all operations of one step that run on the host. Does not execute
  /// operations that run on the device.
  ///
  /// On a GPU, step 2 records a CUDA graph of the operations that run on the
  /// GPU. Step 2 and all later steps launch this graph. The graph does not
  /// contain the operations that run on the host. Step 2 executes these
  /// operations while it records the graph. In each later step, begin() calls
  /// this function before it launches the graph.
  Status runOnHost(const Mesh &mesh, Coordinates at);
  /// Completes a step on the host, after the device has completed the step.
  /// Calls Operation::afterStep() for all operations. For example, if a GPU has
  /// computed indices during the step, afterStep() checks that these indices
  /// are in bounds.
  Status finishOnHost(const Mesh &mesh, Coordinates at);
  /// Records the actions of a step as a CUDA graph, without executing them.
  Status record(const Mesh &mesh, const Coordinates &at, TimeSpent &spent,
                StepLog &log);
  /// Enqueues one step without waiting for the device:
  ///
  /// - Step 1: executes the actions one by one.
  /// - Step 2: records the actions as a CUDA graph, and executes the graph.
  /// - Later steps: executes the graph.
  ///
  /// If CUDA graphs are disabled or unsupported, every step is like step 1.
  Status begin(const Mesh &mesh, const Coordinates &at, TimeSpent &spent,
               StepLog &log);
  /// Executes one instruction.
  Status run(BoundInstruction &step, const RunContext &run);
  /// Begins to send or receive the messages of the action `act`, and does not
  /// wait for them. `act.posts` lists these messages. Each element is an index
  /// into `ends`, the list of this rank's sends and receives.
  Status post(const BoundAction &act);
  /// Blocks until all messages for which the action `act` waits are sent or
  /// received. `act.waits` lists these messages. Each element is an index into
  /// `ends`, the list of this rank's sends and receives.
  Status wait(const BoundAction &act);
  /// Executes the instructions `steps` of one function for one microbatch.
  Status runList(std::vector<BoundInstruction> &steps, const RunContext &run,
                 TimeSpent &spent, size_t action, StepLog &log);

  /// Communicator of this rank and of all ranks that differ from this rank only
  /// in the coordinate on the pipeline axis. For example, a mesh has the
  /// pipeline axis pp=2 and the axis tp=2. On rank 2, the members are rank 0
  /// and rank 2. The caller of bindMessages() owns the communicator.
  Group *pipeline = nullptr;
  Device *device = nullptr;
  World *world = nullptr;
  InstructionObserver observer; ///< empty if nobody observes
  /// `mayRecord`: whether a CUDA graph may be recorded. `isRecorded`: whether
  /// one has been recorded.
  bool mayRecord = true, isRecorded = false;
  /// Number of steps that have begun. begin() needs this number to record the
  /// CUDA graph in the second step. The steps are not counted if the device
  /// cannot record CUDA graphs or if `mayRecord` is false. In this case, the
  /// number stays 0.
  int64_t numSteps = 0;
  /// Address and size in bytes of each buffer that runActions() sets to zero
  /// before it executes the first action. An example is a buffer that sums the
  /// gradients of a weight over all microbatches of a training step.
  std::vector<std::pair<void *, size_t>> accumulators;
  /// Instructions of each function of the program, in program order.
  std::vector<std::vector<BoundInstruction>> functions;
  std::vector<BoundAction> acts;
  std::vector<MessageEnd> ends;
  /// Maps each send and each receive of this rank to its index in the list
  /// `ends`. endOf() uses the map to avoid a second entry for the same send or
  /// receive. The key has three parts:
  ///
  /// - true for a send, false for a receive
  /// - the index of the transfer in the program (a transfer describes a tensor
  ///   that one pipeline stage sends to another)
  /// - the number of the microbatch
  ///
  /// For example, {true, 4, 2} is the key of the send of transfer 4 in
  /// microbatch 2.
  std::map<std::tuple<bool, int32_t, int32_t>, size_t> endNumbers;
  /// Handles of the messages for which wait() blocks. They are a data member so
  /// that wait() reuses the memory.
  std::vector<Ticket> awaited;
  /// Number of messages in flight.
  size_t numTravelling = 0;
  /// Asynchronous collectives in flight.
  std::vector<SplitCollective *> started;
};

} // namespace pcc::runtime

#endif // PCC_RUNTIME_ENGINE_SCHEDULEEXECUTOR_H
