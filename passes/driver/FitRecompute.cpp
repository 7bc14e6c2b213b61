//===- FitRecompute.cpp - activation budgets under --memory-limit ---------===//

#include "passes/driver/FitRecompute.h"
#include "dialects/pipe/PipeDialect.h"
#include "dialects/rank/RankDialect.h"
#include "mlir/IR/Builders.h"
#include "passes/driver/MemoryTrials.h"

using namespace mlir;
using namespace pcc;

/// Largest number of trials in the search for activation budgets (bytes of
/// activations that a rank may keep).
static constexpr int mostTrials = 6;

/// Accuracy of the search for activation budgets (bytes of activations that a
/// rank may keep). The search accepts a budget if less than 1/unusedShare (1 %)
/// of the memory limit remains unused.
static constexpr int64_t unusedShare = 100;

namespace {
/// Finds the activation budget of each pipeline position (the stages that one
/// rank runs): the bytes of activations that the rank may keep. Each trial
/// measures the memory with one budget. The next budget is
///
///     budget + limit - measured memory
///
/// For a limit of 100:
///
///     budget 40, measured  90: the next budget is 50
///     budget 50, measured 105: the next budget is 45
///
/// The next budget must lie between the largest budget that met the limit and
/// the smallest one that exceeded it. If it does not, the search tries their
/// midpoint.
class RecomputeFitter : MemoryTrials {
public:
  RecomputeFitter(ModuleOp module, llvm::function_ref<bool(ModuleOp)> runRest,
                  int64_t limit)
      : MemoryTrials(module, runRest, limit) {}

  Status run(const Listener &listener) {
    auto nothing = measure({});
    // A null `nothing` means that a trial compilation has failed. Return
    // success in this case: the real compilation also fails, and reports the
    // error.
    if (!nothing)
      return Status::success();
    begin(*nothing);
    if (isDone())
      return Status::success();
    auto least = measure(fits);
    if (!least)
      return Status::success();
    PCC_RETURN_IF_ERROR(refuse(*least));
    search();
    set(module, fits);
    listener.onNote("activations are recomputed to stay below --memory-limit");
    return Status::success();
  }

private:
  /// Activation budget (bytes of activations that a rank may keep) without a
  /// bound: the rank keeps all activations.
  static constexpr int64_t unbounded = INT64_MAX;

  /// Sets the first activation budget of each pipeline position (the stages
  /// that one rank runs). `nothing` is the memory of each position without
  /// recomputation. A position that meets the limit may keep all activations.
  /// Any other position gets the memory that the limit leaves for activations:
  ///
  ///     limit - weights - optimizer state - gradients
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

  /// Returns whether all pipeline positions meet the limit without
  /// recomputation. A position is the stages that one rank runs.
  bool isDone() const {
    return llvm::all_of(next,
                        [](int64_t budget) { return budget == unbounded; });
  }

  /// Searches for the largest activation budgets (bytes of activations that a
  /// rank may keep) that meet the limit. Each trial measures the memory with
  /// the budgets in `next` and computes better ones. Ends when no budget
  /// changes, or after `mostTrials` trials.
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

  /// Changes the activation budget of one pipeline position (the stages that
  /// one rank runs) after a trial. `left` is the memory limit minus the memory
  /// that the trial measured. It is negative if the position exceeds the limit.
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

  /// Returns the memory of all pipeline positions (each the stages that one
  /// rank runs) with the activation budgets `budgets`. Empty `budgets` mean no
  /// recomputation. Returns nullopt if a phase fails.
  std::optional<Positions> measure(const std::vector<int64_t> &budgets) {
    return measureWith([&](ModuleOp copy) {
      if (budgets.empty())
        copy->removeAttr(pipe::recomputeName);
      else
        set(copy, budgets);
    });
  }

  /// Sets `pipe.activation_bytes` of `module` to `budgets`.
  static void set(ModuleOp module, const std::vector<int64_t> &budgets) {
    module->setAttr(pipe::activationBytesName,
                    Builder(module.getContext()).getDenseI64ArrayAttr(budgets));
  }

  /// Returns exit code 6 if a pipeline position (the stages that one rank runs)
  /// exceeds the memory limit. `least` is the memory of each position with as
  /// much recomputation as possible.
  Status refuse(const Positions &least) const {
    Status status = emit::checkMemory(module, least);
    if (!status.ok())
      status.addNote(
          "this is the minimum, with all possible recomputation; use more "
          "ranks (--tp, --pp), more microbatches or a smaller batch");
    return status;
  }

  /// Activation budgets in bytes, one per pipeline position (the stages that
  /// one rank runs):
  ///  - `fits`: the largest budget that met the limit in a trial;
  ///  - `tooLarge`: the smallest budget that exceeded the limit in a trial;
  ///  - `next`: the budget for the next trial.
  std::vector<int64_t> fits, tooLarge, next;
};
} // namespace

Status pcc::fitRecompute(ModuleOp module,
                         llvm::function_ref<bool(ModuleOp)> runRest,
                         const Listener &listener) {
  auto mode = module->getAttrOfType<StringAttr>(pipe::recomputeName);
  if (!mode || mode.getValue() != "auto")
    return Status::success();
  auto limit = module->getAttrOfType<IntegerAttr>(rank::memoryLimitName);
  if (!limit) {
    module->setAttr(pipe::recomputeName,
                    StringAttr::get(module.getContext(), "none"));
    listener.onNote(
        "--recompute auto recomputes nothing without a --memory-limit");
    return Status::success();
  }
  return RecomputeFitter(module, runRest, limit.getInt()).run(listener);
}
