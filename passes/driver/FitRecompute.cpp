//===- FitRecompute.cpp - activation budgets under --memory-limit ---------===//

#include "passes/driver/FitRecompute.h"
#include "dialects/pipe/PipeDialect.h"
#include "dialects/rank/RankDialect.h"
#include "mlir/IR/Builders.h"
#include "passes/driver/MemoryTrials.h"

using namespace mlir;
using namespace pcc;

/// Largest number of trials in the search for activation budgets. An activation
/// budget is the number of bytes of activations that a rank may keep for the
/// backward pass. A trial compiles a copy of the module with certain budgets,
/// and measures the memory that the ranks need.
static constexpr int mostTrials = 6;

/// The search accepts an activation budget if less than limit / unusedShare of
/// the memory remains unused, that is, less than 1 % of the memory limit.
static constexpr int64_t unusedShare = 100;

namespace {
/// Chooses activation budgets with which each rank meets the memory limit. A
/// budget is the number of bytes of activations that a rank keeps. The rank
/// recomputes all other activations (activation checkpointing). Each trial
/// compiles a plan, and adds the unused memory to the budget. The search keeps
/// two bounds: the largest budget that fits, and the smallest budget that is
/// too large. If the new budget is not between these bounds, their midpoint
/// replaces it (bisection).
class RecomputeFitter : MemoryTrials {
public:
  RecomputeFitter(ModuleOp module, llvm::function_ref<bool(ModuleOp)> runRest,
                  int64_t limit)
      : MemoryTrials(module, runRest, limit) {}

  Status run(const Listener &listener) {
    auto nothing = measure({});
    // `nothing` is the memory of a plan without recomputation. measure()
    // compiles a copy of the module to obtain this memory. If the compilation
    // of the copy fails, `nothing` is null. Return success in this case. The
    // caller then compiles the module itself. This compilation fails, too, and
    // reports the error to the user.
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

  /// Sets the activation budgets of the first trial. `nothing` is the memory of
  /// the ranks without recomputation. A rank that meets the limit gets the
  /// budget `unbounded`. Any other rank gets the limit minus weights, optimizer
  /// state and gradients, but at least 1.
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
    // Store the budgets now if no trial is necessary.
    if (isDone())
      set(module, fits);
  }

  /// Returns whether each rank may keep all activations for the backward pass.
  /// No rank then needs recomputation to meet the memory limit.
  bool isDone() const {
    return llvm::all_of(next,
                        [](int64_t budget) { return budget == unbounded; });
  }

  /// Searches for the largest activation budgets that meet the memory limit,
  /// and stores them in `fits`. fits[i] is the budget of pipeline rank i. A
  /// trial compiles a copy of the module with the budgets `next`. The search
  /// ends if `next` and `fits` are equal, if `mostTrials` trials were made, or
  /// if the compilation of the copy fails.
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

  /// Sets next[position], the activation budget of the pipeline rank `position`
  /// in the next trial. `left` is the memory limit minus the memory that the
  /// old budget led to. The new budget is the old one plus `left`. If this sum
  /// is not between fits[position] and tooLarge[position], the new budget is
  /// their midpoint.
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

  /// Returns the memory of each rank in a plan with the activation budgets
  /// `budgets`. If `budgets` is empty, the plan recomputes nothing. Returns
  /// nullopt if the compilation of a copy of the module fails.
  std::optional<Positions> measure(const std::vector<int64_t> &budgets) {
    return measureWith([&](ModuleOp copy) {
      if (budgets.empty())
        copy->removeAttr(pipe::recomputeName);
      else
        set(copy, budgets);
    });
  }

  /// Stores `budgets` in the attribute `pipe.activation_bytes` of `module`.
  /// Phase 6-schedule of the compiler reads this attribute. budgets[i] belongs
  /// to the ranks with coordinate i on the pipeline axis. It is the number of
  /// bytes of activations that each of these ranks may keep for the backward
  /// pass. The rank recomputes all other activations.
  static void set(ModuleOp module, const std::vector<int64_t> &budgets) {
    module->setAttr(pipe::activationBytesName,
                    Builder(module.getContext()).getDenseI64ArrayAttr(budgets));
  }

  /// Returns an error with exit code 6 if a rank exceeds the memory limit.
  /// `least` is the memory of the ranks with as much recomputation as possible.
  Status refuse(const Positions &least) const {
    Status status = emit::checkMemory(module, least);
    if (!status.ok())
      status.addNote(
          "this is the minimum, with all possible recomputation; use more "
          "ranks (--tp, --pp), more microbatches or a smaller batch");
    return status;
  }

  /// Activation budgets in bytes. Each list has one entry per pipeline rank.
  /// `fits` is the largest budget that met the memory limit in a trial.
  /// `tooLarge` is the smallest budget that exceeded the limit. `next` is the
  /// budget for the next trial.
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
