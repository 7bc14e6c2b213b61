//===- FitMemory.cpp - plans that stay below --memory-limit ---------------===//

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
using Positions = std::vector<emit::PositionMemory>;

/// Sizes of weights that are tried as the largest to be divided.
static constexpr size_t mostSizes = 8;

/// What is gathered takes room of its own, so that the first choice among
/// weights of these sizes may still be too large; after so many all of them are
/// divided.
static constexpr int mostTrials = 6;

namespace {
/// A divided weight is whole for a moment where it is used, which a large one
/// may not be worth: the smallest weights that are enough are divided.
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
    // What goes wrong on the copy goes wrong once more, and is told then.
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

  /// Where that is to be found out at all: `measure` takes as few activations
  /// as can be kept, which need not be the least of all that a rank holds.
  bool fitsWithoutRecomputation() {
    auto mode = module->getAttrOfType<StringAttr>(pipe::recomputeName);
    if (!mode || mode.getValue() != "auto")
      return false;
    module->removeAttr(pipe::recomputeName);
    auto positions = measure({});
    module->setAttr(pipe::recomputeName, mode);
    return positions && fits(*positions);
  }

  /// A weight that is gathered once per step is whole through all of it: from
  /// here on nothing is. False if that is no change.
  bool holdsNothing(const Listener &listener) {
    auto microbatches = module->getAttrOfType<IntegerAttr>("pipe.microbatches");
    if (module->hasAttr(pipe::maxHeldBytesName) || !microbatches ||
        microbatches.getInt() == 1)
      return false;
    module->setAttr(pipe::maxHeldBytesName,
                    Builder(module.getContext()).getI64IntegerAttr(0));
    listener.onNote("what all microbatches need is received and computed in "
                    "each of them, to stay below --memory-limit");
    return true;
  }

  /// Sizes of weights on the rank that holds most of them, ascending.
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

  Names namesUpTo(int64_t size, const Positions &positions) const {
    Names small;
    for (const std::string &name : names)
      if (sizeOf(positions, name) <= size)
        small.push_back(name);
    return small;
  }

  /// Returns false if the positions hold too much even if the weights `small`,
  /// their gradients and all optimizer state were divided by the number of
  /// ranks and never gathered.
  bool mayFit(const Positions &undivided, const Names &small) const {
    return llvm::all_of(undivided, [&](const emit::PositionMemory &memory) {
      int64_t bytes = memory.total() - (memory.state + memory.gradients) /
                                           numRanks * (numRanks - 1);
      for (const std::string &name : small)
        bytes -= bytesOf(memory, name) / numRanks * (numRanks - 1);
      return bytes <= limit;
    });
  }

  /// Enough of `small`, or all of them.
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

  static int64_t sizeOf(const Positions &positions, const std::string &name) {
    int64_t size = 0;
    for (const emit::PositionMemory &memory : positions)
      size = std::max(size, bytesOf(memory, name));
    return size;
  }

  static int64_t largest(const Positions &positions) {
    int64_t bytes = 0;
    for (const emit::PositionMemory &memory : positions)
      bytes = std::max(bytes, memory.total());
    return bytes;
  }

  static int64_t bytesOf(const emit::PositionMemory &memory,
                         const std::string &name) {
    auto it = memory.weights.find(name);
    return it == memory.weights.end() ? 0 : it->second;
  }

  bool fits(const Positions &positions) const {
    return llvm::all_of(positions, [&](const emit::PositionMemory &memory) {
      return memory.total() <= limit;
    });
  }

  /// What every position holds if `chosen` are divided; nothing if the phases
  /// fail.
  std::optional<Positions> measure(const Names &chosen) {
    OwningOpRef<ModuleOp> copy = cast<ModuleOp>(module->clone());
    setDivided(*copy, chosen);
    Positions positions;
    if (!runRest(*copy) || emit::memoryOf(*copy, positions).failed())
      return std::nullopt;
    return positions;
  }

  static void setDivided(ModuleOp module, const Names &chosen) {
    if (!chosen.empty())
      module->setAttr(shard::dividedName,
                      Builder(module.getContext())
                          .getStrArrayAttr(SmallVector<StringRef>(
                              chosen.begin(), chosen.end())));
  }

  void divide(const Names &chosen, const Listener &listener) {
    setDivided(module, chosen);
    listener.onNote(std::to_string(chosen.size()) + " of " +
                    std::to_string(names.size()) +
                    " weights are stored in parts and gathered where they are "
                    "used, to stay below --memory-limit");
  }

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
  int64_t limit;
  int64_t numRanks;
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
