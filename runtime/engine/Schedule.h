//===- Schedule.h - executes the action table -----------------------------===//

#ifndef PCC_RUNTIME_ENGINE_SCHEDULE_H
#define PCC_RUNTIME_ENGINE_SCHEDULE_H

#include "runtime/device/Device.h"
#include "runtime/engine/Groups.h"

#include <memory>
#include <vector>

namespace pcc::runtime {

/// Seconds that a rank spent, by kind.
struct TimeSpent {
  double compute = 0; ///< in instructions
  double wait = 0;    ///< in collectives
  double idle = 0;    ///< in exchanges with other stages
};

/// The actions of one step, ready to run. Knows no schedule by name: it does
/// what the table says, in its order.
class Schedule {
public:
  /// Makes every instruction and message ready.
  Status load(const LoadContext &context, const Groups &groups, Device &device);
  /// After the bases of all buffers are known.
  void bindMessages(const LoadContext &context, const Groups &groups);

  /// Runs one step and adds the time spent.
  Status runStep(const Mesh &mesh, Coordinates at, TimeSpent &spent);

private:
  struct Step {
    std::unique_ptr<Operation> operation;
    bool communicates;
  };
  /// A message between two stages of this position.
  struct LocalMove {
    const void *from;
    void *to;
    size_t bytes;
  };
  struct Act {
    std::string name;
    int64_t microbatch = 0;
    int32_t function = -1;
    std::vector<LocalMove> moves;
    std::vector<Piece> sends;
    std::vector<Piece> receives;
    ActionId exchange = {}; ///< its first message's value
  };

  Status loadList(
      const LoadContext &context, const Groups &groups, Device &device,
      const std::vector<std::unique_ptr<program::InstructionT>> &instructions,
      std::vector<Step> &steps);
  void bind(const LoadContext &context, const program::ActionT &action,
            Act &act);
  Status runList(std::vector<Step> &steps, const RunContext &run,
                 TimeSpent &spent);

  Group *pipeline = nullptr;
  /// What is 0 when a step begins, and its bytes.
  std::vector<std::pair<void *, size_t>> accumulators;
  std::vector<std::vector<Step>> functions;
  std::vector<Act> acts;
};

} // namespace pcc::runtime

#endif // PCC_RUNTIME_ENGINE_SCHEDULE_H
