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

/// Returns whether cuDNN supports the attention `op`. `plan` holds the element
/// type and the sizes of `op`. The function returns true if all of these
/// conditions hold:
///
///   - The elements are bf16 or f16.
///   - `op` has no mask operand and no soft cap.
///   - `op` is not causal, or it has as many queries as keys.
///   - The number of elements of a query, a key and a value is a multiple of 8.
///     8 elements have 16 bytes. cuDNN requires that each query, key and value
///     begins at a multiple of 16 bytes.
static bool isKnown(graph::AttentionOpInterface op, const AttentionPlan &plan) {
  return (plan.element.isBF16() || plan.element.isF16()) && !op.getMask() &&
         op.getSoftcap().isZero() &&
         (!op.getCausal() || plan.queries == plan.keys) &&
         plan.depth % rowElements == 0 && plan.width % rowElements == 0;
}

namespace {
/// Builds the description of an attention op that is in a generated kernel. A
/// GPU device with cuDNN reads the description and calls cuDNN instead of the
/// kernel.
///
/// The kernel may also transpose, slice or reshape the operands and results of
/// the attention op. cuDNN does not execute these ops. The description contains
/// strided views of the kernel's buffers instead. For example, a transpose
/// becomes a view with exchanged strides. If an op cannot become a view, cuDNN
/// cannot be called, and no description is built.
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

  /// Describes to cuDNN where an operand or a result of the attention op is in
  /// memory. `stored` is the operand or result of the kernel launch whose
  /// buffer contains the tensor. `view` has the offset and the strides of the
  /// tensor in this buffer. Returns null and sets `isComplete` to false in
  /// three cases: `stored` is null, `view` is std::nullopt, or isAligned(*view)
  /// is false. The generated kernel then runs instead of cuDNN. Also returns
  /// null if `isComplete` is already false.
  Operand place(Value stored, const std::optional<StridedView> &view) {
    isComplete &= view && stored && isAligned(*view);
    if (!isComplete)
      return nullptr;
    return std::make_unique<program::AttentionOperand>(
        writer.bufferOf(stored), view->offset,
        flatbuffers::span<const int64_t, 4>(view->strides.data(), 4));
  }

  /// Returns whether cuDNN can access the elements of `view`. `view` is the
  /// offset and the strides of a tensor in a buffer. A row is a vector of
  /// elements along the last dim of the tensor, for example one query. The
  /// function returns true if both conditions hold for each row:
  ///
  ///   - The elements of the row are contiguous in the buffer.
  ///   - The row begins at a multiple of 16 bytes from the start of the buffer.
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

  /// Describes to cuDNN where the gradient of the queries is in memory. One
  /// call of cuDNN computes the gradients of the queries, keys and values. In
  /// the program, the query kernel computes the first gradient, and the key
  /// kernel computes the other two. `op` is in the key kernel. The query kernel
  /// also computes the largest attention score of each query, which is an
  /// operand of `op`. The function finds the query kernel by this operand.
  /// Returns null and sets `isComplete` to false if the function does not find
  /// the query kernel, or if cuDNN cannot access the gradient in memory.
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
