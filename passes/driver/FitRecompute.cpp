//===- FitRecompute.cpp - activation budgets under --memory-limit ---------===//

#include "passes/driver/FitRecompute.h"
#include "dialects/pipe/PipeDialect.h"
#include "dialects/rank/RankDialect.h"
#include "mlir/IR/Builders.h"
#include "passes/driver/MemoryTrials.h"

using namespace mlir;
using namespace pcc;

/// Largest number of trials that correct the activation budgets (bytes of
/// activations that may be kept).
static constexpr int mostTrials = 6;

/// The search for the budget of a pipeline position (the stages that one rank
/// runs) ends if less than 1/unusedShare of the memory limit is unused. The
/// value 100 stands for 1% of the limit.
static constexpr int64_t unusedShare = 100;

namespace {
/// Finds the activation budget of each pipeline position (the stages that one
/// rank runs): the bytes of activations that it may keep. The size of all other
/// values is known only after all phases. Therefore each trial measures the
/// memory of the whole plan. Then limit minus measured memory is added to the
/// budget. Example for a limit of 100:
///
///     budget 40, measured  90: the next budget is 50
///     budget 50, measured 105: the next budget is 45
///
/// If the next budget lies outside the known bounds, the midpoint of the bounds
/// is tried instead.
///
/// Invariant: a position that needs recomputation meets the limit with the
/// budget `fits`, and exceeds it with `tooLarge`.
class RecomputeFitter : MemoryTrials {
public:
  RecomputeFitter(ModuleOp module, llvm::function_ref<bool(ModuleOp)> runRest,
                  int64_t limit)
      : MemoryTrials(module, runRest, limit) {}

  Status run(const Listener &listener) {
    auto nothing = measure({});
    // If the trial fails, return success. The compilation of the module itself
    // then fails in the same way and reports the error.
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
  /// Value that stands for no budget: the pipeline position meets the limit
  /// without recomputation.
  static constexpr int64_t unbounded = INT64_MAX;

  /// Sets the first activation budgets. `nothing` is the memory without
  /// recomputation. A pipeline position (the stages that one rank runs) that
  /// meets the limit gets no bound. Any other position gets the budget
  ///
  ///     limit - memory outside of the arena - gradients
  ///
  /// The arena is the buffer of all computed values.
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

  /// Returns whether all pipeline positions (each the stages that one rank
  /// runs) meet the limit without recomputation.
  bool isDone() const {
    return llvm::all_of(next,
                        [](int64_t budget) { return budget == unbounded; });
  }

  /// Measures plans with the activation budgets `next` and corrects the
  /// budgets. Ends when no budget changes, or after `mostTrials` trials.
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

  /// Updates the bounds of one pipeline position (the stages that one rank
  /// runs) after the trial of its activation budget, and chooses its next
  /// budget. `left` is the limit minus the measured bytes; negative if the
  /// position exceeds the limit.
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
  /// rank runs) with the activation budgets `budgets`, or without recomputation
  /// if `budgets` is empty. Returns nullopt if a phase fails.
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

  /// Returns an error (exit code 6) if a pipeline position (the stages that one
  /// rank runs) exceeds the limit even with `least`, the memory when as much as
  /// possible is recomputed. Otherwise returns success.
  Status refuse(const Positions &least) const {
    Status status = emit::checkMemory(module, least);
    if (!status.ok())
      status.addNote(
          "this is the minimum, with all possible recomputation; use more "
          "ranks (--tp, --pp), more microbatches or a smaller batch");
    return status;
  }

  /// For each pipeline position: largest budget known to meet the limit,
  /// smallest budget known to exceed it, and next budget to try. All are bytes
  /// of activations.
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
