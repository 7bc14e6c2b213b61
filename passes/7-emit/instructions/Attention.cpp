//===- Attention.cpp - descriptions of attention kernels for cuDNN --------===//

#include "passes/7-emit/instructions/Attention.h"
#include "passes/7-emit/gpu/kernel/AttentionPlan.h"
#include "passes/7-emit/kernel/StridedView.h"
#include "runtime/program/InstructionOperands.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace pcc;
using namespace pcc::emit;

/// Number of bf16 or f16 elements in 16 bytes. A row is a vector of elements
/// along the last dim of a tensor, for example one query. cuDNN requires that
/// each row of its operands and results begins at a multiple of 16 bytes.
static constexpr int64_t rowElements = 8;

/// Returns whether cuDNN supports `op`: bf16 or f16, no mask operand, and no
/// soft cap. Causal attention must have as many queries as keys. The size in
/// bytes of each query, key and value vector must be a multiple of 16.
static bool isKnown(graph::AttentionOpInterface op, const AttentionPlan &plan) {
  return (plan.element.isBF16() || plan.element.isF16()) && !op.getMask() &&
         op.getSoftcap().isZero() &&
         (!op.getCausal() || plan.queries == plan.keys) &&
         plan.depth % rowElements == 0 && plan.width % rowElements == 0;
}

namespace {
/// Builds the description of a kernel's attention op. A GPU device with cuDNN
/// calls cuDNN instead of the kernel. Transposes, slices and reshapes in the
/// kernel become strided views of its buffers. No description is built if an op
/// cannot become a view.
class DescribedLaunch {
public:
  DescribedLaunch(rank::LaunchOp launch, rank::KernelOp kernel,
                  InstructionWriter &writer)
      : launch(launch), kernel(kernel), op(attentionOf(kernel)),
        writer(writer) {}

  /// Returns a description by which cuDNN can compute the attention op of a
  /// kernel. Returns null if the kernel contains no attention op, or one that
  /// cuDNN does not support.
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

  /// Describes a tensor to cuDNN as the strided `view` of the buffer of
  /// `stored`, an operand or result of the launch. Returns null and sets
  /// `isComplete` to false if `stored` or `view` is missing or cuDNN cannot
  /// access the elements.
  Operand place(Value stored, const std::optional<StridedView> &view) {
    isComplete &= view && stored && isAligned(*view);
    if (!isComplete)
      return nullptr;
    return std::make_unique<program::AttentionOperand>(
        writer.bufferOf(stored), view->offset,
        flatbuffers::span<const int64_t, 4>(view->strides.data(), 4));
  }

  /// Returns whether each row of `view`, along the last dim, is contiguous and
  /// begins at a multiple of 16 bytes. cuDNN requires this layout.
  static bool isAligned(const StridedView &view) {
    return view.offset % rowElements == 0 && view.strides.back() == 1 &&
           llvm::all_of(llvm::drop_end(view.strides), [](int64_t stride) {
             return stride % rowElements == 0;
           });
  }

  /// Describes `value`, an operand of an attention op, as a strided view of an
  /// argument of the kernel that contains the op. Searches backwards, through
  /// transposes, slices and reshapes, for this argument.
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

  /// Describes `value`, a result of an attention op, as a strided view of a
  /// result of the kernel that contains the op. Searches forwards, through
  /// transposes and reshapes, for this kernel result.
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

  /// Describes the gradient of the queries, which another kernel of the program
  /// computes. One cuDNN call computes the gradients of queries, keys and
  /// values. Returns null and sets `isComplete` to false if the other kernel is
  /// not found or cuDNN cannot access the gradient.
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
  /// Whether cuDNN can read and write all operands and results of the attention
  /// op. Each operand and each result must be a strided view of a buffer. A row
  /// of a view is a vector of elements along the last dim, for example one
  /// query. The elements of a row must be contiguous. Each row must begin at a
  /// multiple of 16 bytes, because cuDNN requires this alignment.
  bool isComplete = true;
};
} // namespace

std::unique_ptr<program::AttentionT>
pcc::emit::describeAttention(rank::LaunchOp launch, rank::KernelOp kernel,
                             InstructionWriter &writer) {
  return DescribedLaunch(launch, kernel, writer).describe();
}
