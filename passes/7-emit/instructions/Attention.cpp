//===- Attention.cpp - descriptions of attention kernels for cuDNN --------===//

#include "passes/7-emit/instructions/Attention.h"
#include "passes/7-emit/gpu/kernel/AttentionPlan.h"
#include "passes/7-emit/kernel/StridedView.h"
#include "runtime/program/InstructionOperands.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace pcc;
using namespace pcc::emit;

/// Number of 16-bit floats in 16 bytes, the alignment of rows that cuDNN
/// requires.
static constexpr int64_t rowElements = 8;

/// Returns whether cuDNN computes attention with the types and attributes of
/// `op`. The attention must have 16-bit floats, no mask operand and no soft
/// cap. The head sizes (depth of queries and keys, width of values) must keep
/// rows aligned. Causal attention must have as many queries as keys.
static bool isKnown(graph::AttentionOpInterface op, const AttentionPlan &plan) {
  return (plan.element.isBF16() || plan.element.isF16()) && !op.getMask() &&
         op.getSoftcap().isZero() &&
         (!op.getCausal() || plan.queries == plan.keys) &&
         plan.depth % rowElements == 0 && plan.width % rowElements == 0;
}

namespace {
/// Describes the launch of a kernel for cuDNN. The kernel consists of an
/// attention op and of layout ops (transposes, slices, reshapes) of its
/// operands and results. Every tensor of the attention must be a strided view
/// of a buffer.
class DescribedLaunch {
public:
  DescribedLaunch(rank::LaunchOp launch, rank::KernelOp kernel,
                  InstructionWriter &writer)
      : launch(launch), kernel(kernel), op(attentionOf(kernel)),
        writer(writer) {}

  /// Returns the description of the launch. Returns null if the kernel has no
  /// attention op, or if cuDNN cannot compute the attention on the buffers of
  /// the launch.
  std::unique_ptr<program::AttentionT> describe() {
    if (!op)
      return nullptr;
    const AttentionPlan plan(op);
    if (!isKnown(op, plan))
      return nullptr;
    auto made = std::make_unique<program::AttentionT>();
    made->batch = plan.batch;
    made->heads = plan.keyHeads * plan.group;
    made->key_heads = plan.keyHeads;
    made->queries = plan.queries;
    made->keys = plan.keys;
    made->depth = plan.depth;
    made->width = plan.width;
    made->scale = op.getScale().convertToDouble();
    made->causal = op.getCausal();
    made->query = operand(op.getQuery());
    made->key = operand(op.getKey());
    made->value = operand(op.getValue());
    llvm::TypeSwitch<Operation *>(op.getOperation())
        .Case([&](graph::AttentionOp own) {
          made->part = program::AttentionPart::Result;
          made->result = result(own.getResult());
        })
        .Case([&](graph::AttentionKeyGradientOp own) {
          made->part = program::AttentionPart::KeyGradients;
          made->gradient = operand(own.getGradient());
          made->key_gradient = result(own.getKeyGradient());
          made->value_gradient = result(own.getValueGradient());
          made->query_gradient = queryGradient(own);
        })
        .Default([&](Operation *) { isComplete = false; });
    return isComplete ? std::move(made) : nullptr;
  }

private:
  using Operand = std::unique_ptr<program::AttentionOperand>;

  /// Returns the description of one tensor of the attention: the strided view
  /// `view` into the buffer of `stored`, a value of the stage function. If
  /// `stored` is null, or `view` is missing or not aligned, sets `isComplete`
  /// to false and returns null.
  Operand place(Value stored, const std::optional<StridedView> &view) {
    isComplete &= view && stored && isAligned(*view);
    if (!isComplete)
      return nullptr;
    return std::make_unique<program::AttentionOperand>(
        writer.bufferOf(stored), view->offset,
        flatbuffers::span<const int64_t, 4>(view->strides.data(), 4));
  }

  /// Returns whether the rows of `view` are contiguous, and each begins at a
  /// multiple of 16 bytes.
  static bool isAligned(const StridedView &view) {
    return view.offset % rowElements == 0 && view.strides.back() == 1 &&
           llvm::all_of(llvm::drop_end(view.strides), [](int64_t stride) {
             return stride % rowElements == 0;
           });
  }

  /// Returns the description of `value`, an operand of the attention op, as a
  /// view of an argument of the kernel. Searches backwards through the layout
  /// ops that compute `value`, up to this argument.
  Operand operand(Value value) {
    SmallVector<Operation *> order;
    for (; Operation *maker = value.getDefiningOp();
         value = maker->getOperand(0))
      order.push_back(maker);
    auto argument = dyn_cast<BlockArgument>(value);
    std::optional<StridedView> view =
        StridedView::dense(graph::tensorType(value).getShape());
    for (Operation *maker : llvm::reverse(order))
      view = view ? view->through(maker) : view;
    return place(
        argument ? launch.getInputs()[argument.getArgNumber()] : Value(), view);
  }

  /// Returns the description of `value`, a result of the attention op, as a
  /// view of a result of the kernel. Searches forwards through the layout ops
  /// that read `value`, up to this result.
  Operand result(Value value) {
    const SmallVector<Operation *> order = layoutOpsAfter(value);
    const Value last = order.empty() ? value : order.back()->getResult(0);
    const auto results = kernel.getYield().getResults();
    const auto found = llvm::find(results, last) - results.begin();
    return place(found < std::distance(results.begin(), results.end())
                     ? launch.getResults()[size_t(found)]
                     : Value(),
                 storedView(value, order));
  }

  /// Returns the description of the gradient of the queries. cuDNN computes it
  /// together with the results of `op`, the gradients of keys and values.
  /// Without cuDNN, another launch computes it, together with `top`, the row
  /// maxima. `op` reads `top`, so this function finds the launch by `top`.
  Operand queryGradient(graph::AttentionKeyGradientOp op) {
    auto top = dyn_cast<BlockArgument>(op.getTop());
    auto maker = top ? launch.getInputs()[top.getArgNumber()]
                           .getDefiningOp<rank::LaunchOp>()
                     : rank::LaunchOp();
    rank::KernelOp other =
        maker ? writer.kernel(maker.getKernel()) : rank::KernelOp();
    auto gradient = other ? dyn_cast_or_null<graph::AttentionQueryGradientOp>(
                                attentionOf(other).getOperation())
                          : graph::AttentionQueryGradientOp();
    Operand made =
        gradient
            ? DescribedLaunch(maker, other, writer).result(gradient.getResult())
            : nullptr;
    isComplete &= made != nullptr;
    return made;
  }

  rank::LaunchOp launch;
  rank::KernelOp kernel;
  graph::AttentionOpInterface op;
  InstructionWriter &writer;
  /// Whether each tensor that has been described so far is an aligned view of a
  /// buffer.
  bool isComplete = true;
};
} // namespace

std::unique_ptr<program::AttentionT>
pcc::emit::describeAttention(rank::LaunchOp launch, rank::KernelOp kernel,
                             InstructionWriter &writer) {
  return DescribedLaunch(launch, kernel, writer).describe();
}
