//===- FitRecompute.cpp - activation budgets under --memory-limit ---------===//

#include "passes/driver/FitRecompute.h"
#include "dialects/pipe/PipeDialect.h"
#include "dialects/rank/RankDialect.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/OwningOpRef.h"
#include "passes/7-emit/bundle/MemoryUse.h"

using namespace mlir;
using namespace pcc;
/// Memory of each pipeline position, in order.
using Positions = std::vector<emit::PositionMemory>;

/// Number of budgets to try between one that fits and one that does not.
static constexpr int mostTrials = 6;

/// A budget is good enough if it leaves less than 1/unusedShare of the limit
/// unused.
static constexpr int64_t unusedShare = 100;

namespace {
/// Search for the budget of each position. 6-schedule knows the bytes of
/// activations, but not the kernels and the other buffers in the arena. So each
/// trial measures the whole plan, and the budget is corrected by the distance
/// to the limit; a bisection step keeps it in bounds.
///
/// Invariant: a position that needs recomputation fits with the budget `fits`,
/// and does not fit with `tooLarge`.
class RecomputeFitter {
public:
  RecomputeFitter(ModuleOp module, llvm::function_ref<bool(ModuleOp)> runRest,
                  int64_t limit)
      : module(module), runRest(runRest), limit(limit) {}

  Outcome run(const Listener &listener) {
    auto nothing = measure({});
    // If the trial fails, the real run fails in the same way and reports it.
    if (!nothing)
      return {};
    begin(*nothing);
    if (isDone())
      return {};
    auto least = measure(fits);
    if (!least)
      return {};
    if (Outcome outcome = refuse(*least); !outcome.ok())
      return outcome;
    search();
    set(module, fits);
    listener.onNote("activations are recomputed to stay below --memory-limit");
    return {};
  }

private:
  /// Budget of a position that needs no recomputation.
  static constexpr int64_t unbounded = INT64_MAX;

  /// Initializes the budgets from `nothing`, the memory without recomputation.
  /// Positions that fit get no bound. Others begin with the bytes that remain
  /// for the arena beside its gradients.
  void begin(const Positions &nothing) {
    for (const emit::PositionMemory &memory : nothing) {
      const bool isFree = memory.total() <= limit;
      fits.push_back(isFree ? unbounded : 0);
      tooLarge.push_back(unbounded);
      next.push_back(isFree ? unbounded
                            : std::max<int64_t>(1, limit - memory.total() +
                                                       memory.arena -
                                                       memory.gradients));
    }
    if (isDone())
      set(module, fits);
  }

  /// Returns whether all positions fit without recomputation.
  bool isDone() const {
    return llvm::all_of(next,
                        [](int64_t budget) { return budget == unbounded; });
  }

  /// Tries and corrects budgets until no budget changes, or after `mostTrials`.
  void search() {
    for (int trial = 0; trial < mostTrials && next != fits; ++trial) {
      auto reached = measure(next);
      if (!reached)
        return;
      for (size_t position = 0; position < next.size(); ++position)
        if (fits[position] != unbounded)
          correct(position, limit - (*reached)[position].total());
    }
  }

  /// Moves the bounds of one position after a trial with its budget, and
  /// chooses the next budget. `left` is the limit minus the measured bytes; it
  /// is negative if the position did not fit.
  void correct(size_t position, int64_t left) {
    int64_t &budget = next[position];
    (left >= 0 ? fits : tooLarge)[position] = budget;
    if (left >= 0 && left < limit / unusedShare)
      return;
    const int64_t low = fits[position], high = tooLarge[position];
    budget += left;
    if (budget <= low || budget >= high)
      budget = low + (high - low) / 2;
  }

  /// Returns the memory of all positions with `budgets`, or without
  /// recomputation if `budgets` is empty; nullopt if a phase fails.
  std::optional<Positions> measure(const std::vector<int64_t> &budgets) {
    OwningOpRef<ModuleOp> copy = cast<ModuleOp>(module->clone());
    if (budgets.empty())
      (*copy)->removeAttr(pipe::recomputeName);
    else
      set(*copy, budgets);
    Positions positions;
    if (!runRest(*copy) || emit::memoryOf(*copy, positions).failed())
      return std::nullopt;
    return positions;
  }

  /// Records `budgets` in `pipe.activation_bytes` of `module`.
  static void set(ModuleOp module, const std::vector<int64_t> &budgets) {
    module->setAttr(pipe::activationBytesName,
                    Builder(module.getContext()).getDenseI64ArrayAttr(budgets));
  }

  /// Returns an error if a position exceeds the limit with `least`, the memory
  /// at the smallest budgets.
  Outcome refuse(const Positions &least) const {
    Outcome outcome = outcomeOf(emit::checkMemory(module, least));
    if (!outcome.ok())
      outcome.notes.push_back(
          "that is the least: all that can be is recomputed; more ranks of "
          "--tp or --pp, more microbatches or a smaller batch take less");
    return outcome;
  }

  ModuleOp module;
  llvm::function_ref<bool(ModuleOp)> runRest;
  /// Most bytes per rank.
  int64_t limit;
  /// Per position: largest budget known to fit, smallest one known not to fit,
  /// and the next one to try. All are bytes of activations.
  std::vector<int64_t> fits, tooLarge, next;
};
} // namespace

Outcome pcc::fitRecompute(ModuleOp module,
                          llvm::function_ref<bool(ModuleOp)> runRest,
                          const Listener &listener) {
  auto mode = module->getAttrOfType<StringAttr>(pipe::recomputeName);
  if (!mode || mode.getValue() != "auto")
    return {};
  auto limit = module->getAttrOfType<IntegerAttr>(rank::memoryLimitName);
  if (!limit) {
    module->setAttr(pipe::recomputeName,
                    StringAttr::get(module.getContext(), "none"));
    listener.onNote(
        "--recompute auto recomputes nothing without a --memory-limit");
    return {};
  }
  return RecomputeFitter(module, runRest, limit.getInt()).run(listener);
}
