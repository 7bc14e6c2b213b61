//===- FitMemory.cpp - weights to shard under --memory-limit (ZeRO) -------===//

#include "passes/driver/FitMemory.h"
#include "dialects/dist/DistDialect.h"
#include "dialects/graph/GraphDialect.h"
#include "dialects/pipe/PipeDialect.h"
#include "dialects/rank/RankDialect.h"
#include "mlir/IR/Builders.h"
#include "passes/4-shard/policy/StoredWeights.h"
#include "passes/driver/MemoryTrials.h"
#include "passes/plan/search/DividedWeights.h"

#include <set>

using namespace mlir;
using namespace pcc;

/// Largest number of size thresholds that the search tries. With a threshold of
/// n bytes, it shards only weights that have at most n bytes per rank.
static constexpr size_t mostSizes = 8;

/// Largest number of trials that reduce a set of sharded weights. The search
/// makes them once a plan meets the memory limit with the whole set. If all of
/// these trials fail, it shards the whole set.
static constexpr int mostTrials = 6;

namespace {
/// Chooses which weights to shard over ranks that would otherwise hold copies.
/// A sharded weight must be gathered for use, which costs memory and time.
/// Therefore the search prefers small weights.
class MemoryFitter : MemoryTrials {
public:
  MemoryFitter(ModuleOp module, llvm::function_ref<bool(ModuleOp)> runRest,
               int64_t limit)
      : MemoryTrials(module, runRest, limit),
        numRanks(dist::meshOf(module).spatial().size()) {
    for (auto weight : module.getOps<graph::ParameterOp>())
      names.push_back(weight.getSymName().str());
  }

  Status run(const Listener &listener) {
    if (fitsWithoutRecomputation())
      return Status::success();
    auto undivided = measure({});
    // A null `undivided` means that a trial compilation has failed. Return
    // success in this case: the real compilation also fails, and reports the
    // error.
    if (!undivided || fits(*undivided))
      return Status::success();
    if (holdsNothing(listener))
      undivided = measure({});
    if (!undivided || fits(*undivided))
      return Status::success();
    Positions least = *undivided;
    for (int64_t size : sizesOf(*undivided)) {
      const Names small = namesUpTo(size, *undivided);
      if (!mayFit(*undivided, small))
        continue;
      auto divided = measure(small);
      if (!divided)
        return Status::success();
      if (fits(*divided)) {
        divide(choose(small, *undivided, *divided), listener);
        return Status::success();
      }
      if (largest(*divided) < largest(least))
        least = std::move(*divided);
    }
    return refuse(least);
  }

private:
  using Names = std::vector<std::string>;

  /// Returns whether `pipe.recompute` is auto and a plan without recomputation
  /// meets the memory limit. This plan needs its own test: with
  /// `pipe.recompute` = auto, measure() tests a plan with as much recomputation
  /// as possible, which may need more memory.
  bool fitsWithoutRecomputation() {
    auto mode = module->getAttrOfType<StringAttr>(pipe::recomputeName);
    if (!mode || mode.getValue() != "auto")
      return false;
    module->removeAttr(pipe::recomputeName);
    auto positions = measure({});
    module->setAttr(pipe::recomputeName, mode);
    return positions && fits(*positions);
  }

  /// Sets `pipe.max_held_bytes` to 0. A rank then keeps no value, such as a
  /// gathered weight, from one microbatch to the next. Returns false, without a
  /// change, if the attribute is already set or there is only one microbatch.
  bool holdsNothing(const Listener &listener) {
    auto microbatches =
        module->getAttrOfType<IntegerAttr>(pipe::microbatchesName);
    if (module->hasAttr(pipe::maxHeldBytesName) || !microbatches ||
        microbatches.getInt() == 1)
      return false;
    module->setAttr(pipe::maxHeldBytesName,
                    Builder(module.getContext()).getI64IntegerAttr(0));
    listener.onNote("values that all microbatches share are received and "
                    "computed again in each, to stay below --memory-limit");
    return true;
  }

  /// Returns at most `mostSizes` different sizes of weights, in bytes per rank,
  /// in ascending order. The search tries each as the largest size of the
  /// weights that it shards.
  std::vector<int64_t> sizesOf(const Positions &positions) const {
    std::set<int64_t> sizes;
    for (const std::string &name : names)
      sizes.insert(sizeOf(positions, name));
    std::vector<int64_t> all(sizes.begin(), sizes.end()), tried;
    const size_t count = std::min(all.size(), mostSizes);
    for (size_t i = 1; i <= count; ++i)
      tried.push_back(all[i * all.size() / count - 1]);
    return tried;
  }

  /// Returns the names of the weights that have at most `size` bytes per rank.
  Names namesUpTo(int64_t size, const Positions &positions) const {
    Names small;
    for (const std::string &name : names)
      if (sizeOf(positions, name) <= size)
        small.push_back(name);
    return small;
  }

  /// Returns false if no plan that shards only the weights `small` can meet the
  /// memory limit. Compares the limit with a lower bound for each pipeline
  /// position (the stages that one rank runs). For this bound:
  ///  - `small`, all gradients and all optimizer state are split over all
  ///    ranks;
  ///  - a copy of a weight that a rank gathers for use takes no memory.
  bool mayFit(const Positions &undivided, const Names &small) const {
    return llvm::all_of(undivided, [&](const emit::PositionMemory &memory) {
      int64_t bytes = memory.total() - (memory.state + memory.gradients) /
                                           numRanks * (numRanks - 1);
      for (const std::string &name : small)
        bytes -= bytesOf(memory, name) / numRanks * (numRanks - 1);
      return bytes <= limit;
    });
  }

  /// Chooses a subset of the weights `small` to shard, such that the plan meets
  /// the memory limit. `undivided` and `divided` are the memory without and
  /// with all of `small` sharded. If a trial exceeds the limit by n bytes, the
  /// next trial saves n bytes more. Returns all of `small` if no trial meets
  /// the limit.
  Names choose(const Names &small, const Positions &undivided,
               const Positions &divided) {
    std::vector<plan::Savings> savings;
    for (const std::string &name : small) {
      plan::Savings &own = savings.emplace_back();
      for (auto [before, after] : llvm::zip_equal(undivided, divided))
        own.push_back(bytesOf(before, name) - bytesOf(after, name));
    }
    std::vector<int64_t> needs(undivided.size(), 0);
    std::optional<Positions> reached = undivided;
    for (int trial = 0; trial < mostTrials && reached; ++trial) {
      for (auto [need, memory] : llvm::zip_equal(needs, *reached))
        need += std::max<int64_t>(0, memory.total() - limit);
      Names chosen;
      for (size_t i : plan::chooseDividedWeights(savings, needs))
        chosen.push_back(small[i]);
      reached = measure(chosen);
      if (reached && fits(*reached))
        return chosen;
    }
    return small;
  }

  /// Returns the largest bytes per rank of the weight `name` at any pipeline
  /// position. A position is the stages that one rank runs.
  static int64_t sizeOf(const Positions &positions, const std::string &name) {
    int64_t size = 0;
    for (const emit::PositionMemory &memory : positions)
      size = std::max(size, bytesOf(memory, name));
    return size;
  }

  /// Returns the largest memory of any pipeline position (the stages that one
  /// rank runs), in bytes per rank.
  static int64_t largest(const Positions &positions) {
    int64_t bytes = 0;
    for (const emit::PositionMemory &memory : positions)
      bytes = std::max(bytes, memory.total());
    return bytes;
  }

  /// Returns the bytes of the weight `name` on one rank of a pipeline position
  /// (the stages that one rank runs). Returns 0 if these stages do not use the
  /// weight.
  static int64_t bytesOf(const emit::PositionMemory &memory,
                         const std::string &name) {
    auto it = memory.weights.find(name);
    return it == memory.weights.end() ? 0 : it->second;
  }

  /// Returns whether all pipeline positions meet the memory limit. A position
  /// is the stages that one rank runs.
  bool fits(const Positions &positions) const {
    return llvm::all_of(positions, [&](const emit::PositionMemory &memory) {
      return memory.total() <= limit;
    });
  }

  /// Returns the memory of all pipeline positions if the weights `chosen` are
  /// sharded; nullopt if a phase fails. A position is the stages that one rank
  /// runs.
  std::optional<Positions> measure(const Names &chosen) {
    return measureWith([&](ModuleOp copy) { setDivided(copy, chosen); });
  }

  /// Sets `dist.divided` of `module`, the list of weights to shard, to
  /// `chosen`. Does nothing if `chosen` is empty.
  static void setDivided(ModuleOp module, const Names &chosen) {
    if (!chosen.empty())
      module->setAttr(dist::dividedName,
                      Builder(module.getContext())
                          .getStrArrayAttr(SmallVector<StringRef>(
                              chosen.begin(), chosen.end())));
  }

  /// Records `chosen` as the list of weights to shard, and passes a note with
  /// their number to `listener`.
  void divide(const Names &chosen, const Listener &listener) {
    setDivided(module, chosen);
    listener.onNote(std::to_string(chosen.size()) + " of " +
                    std::to_string(names.size()) +
                    " weights are stored in parts and gathered where they are "
                    "used, to stay below --memory-limit");
  }

  /// Returns the error (exit code 6) that no plan meets the memory limit.
  /// `positions` is the memory of each pipeline position (the stages that one
  /// rank runs) in the best plan that was found.
  Status refuse(const Positions &positions) const {
    Status status = emit::checkMemory(module, positions);
    status.addNote("storing other weights in parts does not help; use more "
                   "ranks (--tp, --pp), more microbatches or a smaller batch");
    return status;
  }

  /// Number of ranks that run one stage. A weight has at most this many shards.
  int64_t numRanks;
  /// Names of all weights.
  Names names;
};
} // namespace

Status pcc::fitMemory(ModuleOp module,
                      llvm::function_ref<bool(ModuleOp)> runRest,
                      const Listener &listener) {
  auto limit = module->getAttrOfType<IntegerAttr>(rank::memoryLimitName);
  if (!limit)
    return Status::success();
  return MemoryFitter(module, runRest, limit.getInt()).run(listener);
}
