//===- FitRecompute.cpp - as much recomputation as memory asks for --------===//

#include "passes/driver/FitRecompute.h"
#include "dialects/pipe/PipeDialect.h"
#include "dialects/rank/RankDialect.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/OwningOpRef.h"
#include "passes/7-emit/bundle/MemoryUse.h"

using namespace mlir;
using namespace pcc;
using Positions = std::vector<emit::PositionMemory>;

/// Budgets that are tried between what surely fits and what surely does not.
static constexpr int mostTrials = 6;

/// A budget is good enough if it leaves less than one in so many bytes unused.
static constexpr int64_t unusedShare = 100;

namespace {
/// The passes of 6-schedule do not know kernels and what else lies in the
/// arena. So a position's budget is corrected by what the plan that it leads to
/// misses the limit by.
///
/// Invariant: a position fits with the budget `fits`, and not with `tooLarge`.
class RecomputeFitter {
public:
  RecomputeFitter(ModuleOp module, llvm::function_ref<bool(ModuleOp)> runRest,
                  int64_t limit)
      : module(module), runRest(runRest), limit(limit) {}

  Outcome run(const Listener &listener) {
    auto nothing = measure({});
    // What goes wrong on the copy goes wrong once more, and is told then.
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
  static constexpr int64_t unbounded = INT64_MAX;

  /// Positions that fit without recomputation need none.
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

  bool isDone() const {
    return llvm::all_of(next,
                        [](int64_t budget) { return budget == unbounded; });
  }

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

  /// What the last budget of a position left of the limit.
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

  static void set(ModuleOp module, const std::vector<int64_t> &budgets) {
    module->setAttr(pipe::activationBytesName,
                    Builder(module.getContext()).getDenseI64ArrayAttr(budgets));
  }

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
  int64_t limit;
  /// By position.
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
