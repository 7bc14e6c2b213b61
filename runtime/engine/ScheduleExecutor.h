//===- ScheduleExecutor.h - executes the action table ---------------------===//

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

/// The actions of one step, ready to run. Knows no schedule by name: it does
/// what the table says, in its order.
class ScheduleExecutor {
public:
  ScheduleExecutor() = default;
  ScheduleExecutor(const ScheduleExecutor &) = delete;
  ScheduleExecutor &operator=(const ScheduleExecutor &) = delete;
  ~ScheduleExecutor() {
    if (device)
      device->dropRecording();
  }

  /// Makes every instruction and message ready.
  Status load(const LoadContext &context, const Groups &groups, Device &device);
  /// After the bases of all buffers are known. `world` must outlive this; its
  /// recorder is told of all actions.
  void bindMessages(const LoadContext &context, const Groups &groups,
                    World &world);

  /// Then, before anything that a step needs is in the arena. Every rank.
  Status warmUp(const Coordinates &at);

  /// Steps are never recorded: somebody wants to see when what happens.
  void keepApart() { mayRecord = false; }

  /// Runs one step, adds the time spent, and tells `log` what it does, unless
  /// the device replays the step. Calls `meanwhile` when all of it was begun.
  Status runStep(const Mesh &mesh, Coordinates at, TimeSpent &spent,
                 StepLog &log, const std::function<Status()> &meanwhile = {});

private:
  struct BoundInstruction {
    std::unique_ptr<Operation> operation;
    bool communicates = false;
    /// Of a collective in two parts, in place of `operation`.
    std::shared_ptr<SplitCollective> split;
    program::CollectivePart part = program::CollectivePart::Whole;
    int32_t only = -1; ///< the microbatch in which it runs; all if negative
  };
  /// One end of a message.
  struct MessageEnd {
    PeerBuffer piece;
    bool isSend = false;
    Ticket ticket = 0; ///< while it travels
  };
  struct BoundAction {
    ActionId id; ///< with the value of the first message
    int64_t microbatch = 0;
    int32_t function = -1;
    /// Into `ends`.
    std::vector<size_t> posts;
    std::vector<size_t> waits;
  };

  /// Of one function; over a group they finish in the order of their starts.
  using StartedByGroup =
      std::map<int32_t, std::deque<std::shared_ptr<SplitCollective>>>;

  Status loadList(
      const LoadContext &context, const Groups &groups, Device &device,
      const std::vector<std::unique_ptr<program::InstructionT>> &instructions,
      std::vector<BoundInstruction> &steps);
  void bind(const LoadContext &context, const program::ActionT &action,
            BoundAction &act);
  size_t endOf(const LoadContext &context, const program::Message &message,
               bool isSend);
  Status loadCollective(const LoadContext &context, const Groups &groups,
                        const program::InstructionT &instruction,
                        StartedByGroup &started, BoundInstruction &step);
  Status runActions(const Mesh &mesh, Coordinates at, TimeSpent &spent,
                    StepLog &log);
  Status runOnHost(const Mesh &mesh, Coordinates at);
  Status record(const Mesh &mesh, const Coordinates &at, TimeSpent &spent,
                StepLog &log);
  Status begin(const Mesh &mesh, const Coordinates &at, TimeSpent &spent,
               StepLog &log);
  Status run(BoundInstruction &step, const RunContext &run);
  Status post(const BoundAction &act);
  Status wait(const BoundAction &act);
  Status runList(std::vector<BoundInstruction> &steps, const RunContext &run,
                 TimeSpent &spent, size_t action, StepLog &log);

  Group *pipeline = nullptr;
  Device *device = nullptr;
  World *world = nullptr;
  bool mayRecord = true, isRecorded = false;
  int64_t numSteps = 0;
  /// What is 0 when a step begins, and its bytes.
  std::vector<std::pair<void *, size_t>> accumulators;
  std::vector<std::vector<BoundInstruction>> functions;
  std::vector<BoundAction> acts;
  std::vector<MessageEnd> ends;
  /// Index into `ends` by side, transfer and microbatch.
  std::map<std::tuple<bool, int32_t, int32_t>, size_t> endNumbers;
  /// Of one wait.
  std::vector<Ticket> awaited;
  size_t numTravelling = 0; ///< ends that were posted and not waited for
  /// Collectives that were started and have not finished.
  std::vector<SplitCollective *> started;
};

} // namespace pcc::runtime

#endif // PCC_RUNTIME_ENGINE_SCHEDULEEXECUTOR_H
