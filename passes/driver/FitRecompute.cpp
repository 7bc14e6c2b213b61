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

/// Accuracy of the search for activation budgets. An activation budget is the
/// number of bytes of activations that a rank may keep for the backward pass.
/// The search accepts a budget if the rank uses more than 99 % of the memory
/// limit and does not exceed the limit. For example, the memory limit is 1000
/// bytes. The fraction 1/unusedShare of the limit is then 10 bytes. The search
/// accepts a budget if fewer than 10 bytes remain unused: the rank needs 991 to
/// 1000 bytes.
static constexpr int64_t unusedShare = 100;

namespace {
/// Chooses activation budgets, so that each rank meets the memory limit. An
/// activation budget is the number of bytes of activations that a rank may keep
/// for the backward pass. The rank recomputes all others (activation
/// checkpointing). All ranks that run the same pipeline stages (a position)
/// have one budget. Each trial compiles a plan and measures its memory. The
/// next budget is, for example:
///
///     budget + limit - measured memory
///     limit 100, budget 40, measured 90: the next budget is 50
///
/// The next budget must lie between the largest budget that met the limit and
/// the smallest that exceeded it. Otherwise, it is their midpoint.
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

  /// Sets next[i], the activation budget of position i in the first trial.
  /// `nothing[i]` is the memory of one rank of position i without
  /// recomputation. (A position is a group of ranks that run the same pipeline
  /// stages.) If this memory meets the limit, the budget is `unbounded` and
  /// final. Otherwise, the budget is the limit minus weights, optimizer state
  /// and gradients, but at least 1. If all budgets are `unbounded`, stores them
  /// in the attribute `pipe.activation_bytes`, because no trial is necessary.
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

  /// Returns whether each rank may keep all activations for the backward pass.
  /// No rank then needs recomputation to meet the memory limit.
  bool isDone() const {
    return llvm::all_of(next,
                        [](int64_t budget) { return budget == unbounded; });
  }

  /// Searches for the largest activation budgets that meet the memory limit,
  /// and stores them in `fits`. fits[i] is the budget of position i. A trial
  /// compiles a copy of the module with the budgets `next`. The search ends if
  /// `next` and `fits` are equal, if `mostTrials` trials were made, or if the
  /// compilation of the copy fails.
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

  /// Processes a trial with the activation budget next[position], and stores
  /// the budget for the next trial there. `left` is the memory limit minus the
  /// measured memory of one rank; it is negative if the memory exceeds the
  /// limit. Also stores the old budget in fits[position] or tooLarge[position].
  /// The new budget is the old one plus `left`, with two exceptions:
  ///  - If `left` is from 0 to 1 % of the limit, the budget stays the same.
  ///  - If the sum is not between fits[position] and tooLarge[position], the
  ///    new budget is their midpoint.
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

  /// Returns the memory of a plan with certain activation budgets. An
  /// activation budget is the number of bytes of activations that a rank may
  /// keep for the backward pass. If `budgets` is empty, the plan recomputes no
  /// activations. To obtain the plan, the function changes a copy of the module
  /// and compiles the copy. Returns nullopt if the compilation fails.
  ///
  /// A position is a group of ranks that run the same pipeline stages. All
  /// ranks of a position need the same memory. budgets[i] is the budget of each
  /// rank of position i. Entry i of the result is the memory of one rank of
  /// position i.
  std::optional<Positions> measure(const std::vector<int64_t> &budgets) {
    return measureWith([&](ModuleOp copy) {
      if (budgets.empty())
        copy->removeAttr(pipe::recomputeName);
      else
        set(copy, budgets);
    });
  }

  /// Stores `budgets` in the attribute `pipe.activation_bytes` of `module`.
  /// Phase 6-schedule of the compiler reads this attribute. budgets[i] is the
  /// number of bytes of activations that each rank of position i may keep for
  /// the backward pass. The rank recomputes all other activations. A position
  /// is a group of ranks that run the same pipeline stages.
  static void set(ModuleOp module, const std::vector<int64_t> &budgets) {
    module->setAttr(pipe::activationBytesName,
                    Builder(module.getContext()).getDenseI64ArrayAttr(budgets));
  }

  /// Checks whether the memory limit can be met. Returns an error with exit
  /// code 6 if a rank exceeds the memory limit. Returns success if each rank
  /// meets the limit.
  ///
  /// `least` is the memory of a plan that recomputes as many activations as
  /// possible. A position is a group of ranks that run the same pipeline
  /// stages. All ranks of a position need the same memory. least[i] is the
  /// memory of one rank of position i.
  Status refuse(const Positions &least) const {
    Status status = emit::checkMemory(module, least);
    if (!status.ok())
      status.addNote(
          "this is the minimum, with all possible recomputation; use more "
          "ranks (--tp, --pp), more microbatches or a smaller batch");
    return status;
  }

  /// Activation budgets of the search. An activation budget is the number of
  /// bytes of activations that a rank may keep for the backward pass. A
  /// position is a group of ranks that run the same pipeline stages. All ranks
  /// of a position have the same budget. Entry i belongs to position i. A trial
  /// compiles a plan with certain budgets and measures the memory.
  ///  - `fits[i]`: the largest budget that met the memory limit in a trial
  ///  - `tooLarge[i]`: the smallest budget that exceeded the memory limit in a
  ///    trial
  ///  - `next[i]`: the budget for the next trial
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
