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
#include "status/Counted.h"

#include <set>

using namespace mlir;
using namespace pcc;

/// Largest number of thresholds that MemoryFitter tries. MemoryFitter chooses
/// weights to shard. A threshold limits the size of the chosen weights. With a
/// threshold of 1000 bytes, MemoryFitter chooses a weight only if each rank
/// holds at most 1000 bytes of the weight before the sharding. MemoryFitter
/// tries small thresholds first.
static constexpr size_t mostSizes = 8;

/// Largest number of subsets that MemoryFitter tries. MemoryFitter first finds
/// a set of weights with this property: if all weights of the set are sharded,
/// each rank meets the memory limit. MemoryFitter then tries subsets, because a
/// plan with fewer sharded weights needs less communication. If no tried subset
/// meets the limit, MemoryFitter shards the full set.
static constexpr int mostTrials = 6;

namespace {
/// Chooses weights to shard, so that each rank meets the memory limit. Ranks
/// that would hold equal copies of a chosen weight hold shards instead (ZeRO).
/// Before a rank uses a sharded weight, the rank gathers the shards into a
/// temporary buffer. A large weight needs a large buffer. Therefore the class
/// first tries to shard only small weights. If this does not save enough
/// memory, the class also shards larger weights.
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
    // `undivided` is the memory of a plan without sharded weights. It is
    // nullopt if the trial compilation fails. The compiler then reports the
    // error later.
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

  /// Returns whether the attribute `pipe.recompute` is "auto" (the compiler may
  /// recompute activations) and each rank meets the memory limit without
  /// recomputation. No weight then needs to be sharded. The function removes
  /// the attribute during the measurement, because a module with "auto" is
  /// measured with as much recomputation as possible.
  bool fitsWithoutRecomputation() {
    auto mode = module->getAttrOfType<StringAttr>(pipe::recomputeName);
    if (!mode || mode.getValue() != "auto")
      return false;
    module->removeAttr(pipe::recomputeName);
    auto positions = measure({});
    module->setAttr(pipe::recomputeName, mode);
    return positions && fits(*positions);
  }

  /// Sets `pipe.max_held_bytes` to 0: ranks keep no values, such as gathered
  /// weights, from one microbatch to the next. Returns false and changes
  /// nothing if the attribute is already set or if there is only one
  /// microbatch.
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

  /// Returns the thresholds that the search tries, in ascending order. With a
  /// threshold of 1000 bytes, the search shards only weights with at most 1000
  /// bytes on each rank (see sizeOf()). The thresholds are at most `mostSizes`
  /// (8) of the sizes of the weights, and always include the largest size.
  /// Example: the sizes 1, 2, 3 and so on up to 16 KiB give the thresholds 2,
  /// 4, 6, 8, 10, 12, 14 and 16 KiB.
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

  /// Returns the names of the weights of which each rank holds at most `size`
  /// bytes.
  Names namesUpTo(int64_t size, const Positions &positions) const {
    Names small;
    for (const std::string &name : names)
      if (sizeOf(positions, name) <= size)
        small.push_back(name);
    return small;
  }

  /// Returns false if some rank surely exceeds the memory limit when only the
  /// weights `small` are sharded. The test uses a lower bound: it divides these
  /// weights, all gradients and the optimizer state by `numRanks`, and omits
  /// the buffers for gathered weights.
  bool mayFit(const Positions &undivided, const Names &small) const {
    return llvm::all_of(undivided, [&](const emit::PositionMemory &memory) {
      int64_t bytes = memory.total() - (memory.state + memory.gradients) /
                                           numRanks * (numRanks - 1);
      for (const std::string &name : small)
        bytes -= bytesOf(memory, name) / numRanks * (numRanks - 1);
      return bytes <= limit;
    });
  }

  /// Returns weights to shard, a subset of `small` that meets the memory limit.
  /// Each trial compiles a copy of the module with some weights of `small`
  /// sharded. If a rank exceeds the limit by 5 bytes in a trial, the next trial
  /// chooses weights that are expected to save 5 bytes more on this rank. If
  /// all `mostTrials` trials fail, returns `small`, which must meet the limit.
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

  /// Returns the largest number of bytes of the weight `name` on any rank.
  static int64_t sizeOf(const Positions &positions, const std::string &name) {
    int64_t size = 0;
    for (const emit::PositionMemory &memory : positions)
      size = std::max(size, bytesOf(memory, name));
    return size;
  }

  /// Returns the memory in bytes of the rank that needs the most memory.
  ///
  /// A position is a group of ranks that run the same pipeline stages. All
  /// ranks of a position need the same memory. `positions[i]` is the memory of
  /// one rank of position i.
  static int64_t largest(const Positions &positions) {
    int64_t bytes = 0;
    for (const emit::PositionMemory &memory : positions)
      bytes = std::max(bytes, memory.total());
    return bytes;
  }

  /// Returns how many bytes of the weight `name` one rank holds. `memory`
  /// describes the memory of this rank. Returns 0 if the rank holds no part of
  /// the weight.
  static int64_t bytesOf(const emit::PositionMemory &memory,
                         const std::string &name) {
    auto it = memory.weights.find(name);
    return it == memory.weights.end() ? 0 : it->second;
  }

  /// Returns whether each rank meets the memory limit.
  ///
  /// A position is a group of ranks that run the same pipeline stages. All
  /// ranks of a position need the same memory. `positions[i]` is the memory of
  /// one rank of position i.
  bool fits(const Positions &positions) const {
    return llvm::all_of(positions, [&](const emit::PositionMemory &memory) {
      return memory.total() <= limit;
    });
  }

  /// Returns the memory of each rank in a plan that shards the weights
  /// `chosen`. Returns nullopt if the compilation of a copy of the module
  /// fails.
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

  /// Stores `chosen`, the names of the weights to shard, in the attribute
  /// `dist.divided` of the module. Passes a note for the user to `listener`.
  /// The note states the number of these weights.
  void divide(const Names &chosen, const Listener &listener) {
    setDivided(module, chosen);
    listener.onNote("stores " + std::to_string(chosen.size()) + " of " +
                    counted(names.size(), "weight") +
                    " in parts and gathers them where they are "
                    "used, to stay below --memory-limit");
  }

  /// Returns an error with exit code 6 about a rank that needs more memory than
  /// the limit allows. `positions` is the memory of the ranks in the best plan
  /// that was found.
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
