//===- FitMemory.cpp - weights to shard under --memory-limit (ZeRO) -------===//

#include "passes/driver/FitMemory.h"
#include "dialects/dist/DistDialect.h"
#include "dialects/graph/GraphDialect.h"
#include "dialects/pipe/PipeDialect.h"
#include "dialects/rank/RankDialect.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/OwningOpRef.h"
#include "passes/4-shard/policy/StoredWeights.h"
#include "passes/7-emit/bundle/MemoryUse.h"
#include "passes/plan/search/DividedWeights.h"

#include <set>

using namespace mlir;
using namespace pcc;
/// Memory of each pipeline position, in order.
using Positions = std::vector<emit::PositionMemory>;

/// Number of size thresholds to try. All weights up to a threshold are sharded.
static constexpr size_t mostSizes = 8;

/// Number of attempts to choose only some of the weights below a threshold. The
/// buffers of gathered weights need memory, too, so the first choice may still
/// exceed the limit. After the last attempt all weights below the threshold are
/// sharded.
static constexpr int mostTrials = 6;

namespace {
/// Search for the weights to shard. A sharded weight is whole while it is used,
/// which costs memory and time for a large weight. The search therefore shards
/// the smallest weights that suffice.
class MemoryFitter {
public:
  MemoryFitter(ModuleOp module, llvm::function_ref<bool(ModuleOp)> runRest,
               int64_t limit)
      : module(module), runRest(runRest), limit(limit),
        numRanks(dist::meshOf(module).spatial().size()) {
    for (auto weight : module.getOps<graph::ParameterOp>())
      names.push_back(weight.getSymName().str());
  }

  Outcome run(const Listener &listener) {
    if (fitsWithoutRecomputation())
      return {};
    auto undivided = measure({});
    // If the trial fails, the real run fails in the same way and reports it.
    if (!undivided || fits(*undivided))
      return {};
    if (holdsNothing(listener))
      undivided = measure({});
    if (!undivided || fits(*undivided))
      return {};
    Positions least = *undivided;
    for (int64_t size : sizesOf(*undivided)) {
      const Names small = namesUpTo(size, *undivided);
      if (!mayFit(*undivided, small))
        continue;
      auto divided = measure(small);
      if (!divided)
        return {};
      if (fits(*divided)) {
        divide(choose(small, *undivided, *divided), listener);
        return {};
      }
      if (largest(*divided) < largest(least))
        least = std::move(*divided);
    }
    return refuse(least);
  }

private:
  using Names = std::vector<std::string>;

  /// Returns whether the module fits without recomputation, if `pipe.recompute`
  /// is auto; false for other modes. With auto, measure() keeps as few
  /// activations as possible, and such a plan does not always need the least
  /// memory.
  bool fitsWithoutRecomputation() {
    auto mode = module->getAttrOfType<StringAttr>(pipe::recomputeName);
    if (!mode || mode.getValue() != "auto")
      return false;
    module->removeAttr(pipe::recomputeName);
    auto positions = measure({});
    module->setAttr(pipe::recomputeName, mode);
    return positions && fits(*positions);
  }

  /// Forbids shared values that are held through a step, such as weights
  /// gathered once for all microbatches. Returns false if nothing changes: the
  /// module has one microbatch, or has a bound already.
  bool holdsNothing(const Listener &listener) {
    auto microbatches =
        module->getAttrOfType<IntegerAttr>(pipe::microbatchesName);
    if (module->hasAttr(pipe::maxHeldBytesName) || !microbatches ||
        microbatches.getInt() == 1)
      return false;
    module->setAttr(pipe::maxHeldBytesName,
                    Builder(module.getContext()).getI64IntegerAttr(0));
    listener.onNote("what all microbatches need is received and computed in "
                    "each of them, to stay below --memory-limit");
    return true;
  }

  /// Returns up to `mostSizes` thresholds, ascending: sizes of weights, each on
  /// the rank that holds most of the weight.
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

  /// Returns the weights of at most `size` bytes per rank.
  Names namesUpTo(int64_t size, const Positions &positions) const {
    Names small;
    for (const std::string &name : names)
      if (sizeOf(positions, name) <= size)
        small.push_back(name);
    return small;
  }

  /// Returns false if a trial with the weights `small` cannot succeed: some
  /// position exceeds the limit even if these weights, their gradients and all
  /// optimizer state were divided by the number of ranks and never gathered.
  bool mayFit(const Positions &undivided, const Names &small) const {
    return llvm::all_of(undivided, [&](const emit::PositionMemory &memory) {
      int64_t bytes = memory.total() - (memory.state + memory.gradients) /
                                           numRanks * (numRanks - 1);
      for (const std::string &name : small)
        bytes -= bytesOf(memory, name) / numRanks * (numRanks - 1);
      return bytes <= limit;
    });
  }

  /// Returns a subset of `small` whose sharding is enough, or `small` itself.
  /// After each trial that exceeds the limit, the bytes to save grow by the
  /// excess.
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

  /// Returns the local bytes of a weight on the position that holds most of it.
  static int64_t sizeOf(const Positions &positions, const std::string &name) {
    int64_t size = 0;
    for (const emit::PositionMemory &memory : positions)
      size = std::max(size, bytesOf(memory, name));
    return size;
  }

  /// Returns the memory of the position that holds most.
  static int64_t largest(const Positions &positions) {
    int64_t bytes = 0;
    for (const emit::PositionMemory &memory : positions)
      bytes = std::max(bytes, memory.total());
    return bytes;
  }

  /// Returns the local bytes of weight `name` on one position; 0 if it is not
  /// there.
  static int64_t bytesOf(const emit::PositionMemory &memory,
                         const std::string &name) {
    auto it = memory.weights.find(name);
    return it == memory.weights.end() ? 0 : it->second;
  }

  /// Returns whether all positions stay within the limit.
  bool fits(const Positions &positions) const {
    return llvm::all_of(positions, [&](const emit::PositionMemory &memory) {
      return memory.total() <= limit;
    });
  }

  /// Returns the memory of all positions if the weights `chosen` are sharded;
  /// nullopt if a phase fails.
  std::optional<Positions> measure(const Names &chosen) {
    OwningOpRef<ModuleOp> copy = cast<ModuleOp>(module->clone());
    setDivided(*copy, chosen);
    Positions positions;
    if (!runRest(*copy) || emit::memoryOf(*copy, positions).failed())
      return std::nullopt;
    return positions;
  }

  /// Records `chosen` in `dist.divided` of `module`.
  static void setDivided(ModuleOp module, const Names &chosen) {
    if (!chosen.empty())
      module->setAttr(dist::dividedName,
                      Builder(module.getContext())
                          .getStrArrayAttr(SmallVector<StringRef>(
                              chosen.begin(), chosen.end())));
  }

  /// Applies the final choice to the module and tells the user.
  void divide(const Names &chosen, const Listener &listener) {
    setDivided(module, chosen);
    listener.onNote(std::to_string(chosen.size()) + " of " +
                    std::to_string(names.size()) +
                    " weights are stored in parts and gathered where they are "
                    "used, to stay below --memory-limit");
  }

  /// Returns the error for a limit that cannot be met. `positions` is the
  /// smallest memory that was reached.
  Outcome refuse(const Positions &positions) const {
    Outcome outcome = outcomeOf(emit::checkMemory(module, positions));
    outcome.notes.push_back(
        "no choice of weights that are stored in parts takes less; more ranks "
        "of "
        "--tp or --pp, more microbatches or a smaller batch do");
    return outcome;
  }

  ModuleOp module;
  llvm::function_ref<bool(ModuleOp)> runRest;
  /// Most bytes per rank.
  int64_t limit;
  /// Ranks of one stage: the most shards that a weight can have.
  int64_t numRanks;
  /// Names of all weights.
  Names names;
};
} // namespace

Outcome pcc::fitMemory(ModuleOp module,
                       llvm::function_ref<bool(ModuleOp)> runRest,
                       const Listener &listener) {
  auto limit = module->getAttrOfType<IntegerAttr>(rank::memoryLimitName);
  if (!limit)
    return {};
  return MemoryFitter(module, runRest, limit.getInt()).run(listener);
}
