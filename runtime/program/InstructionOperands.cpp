//===- InstructionOperands.cpp - buffer operands of instructions ----------===//

#include "runtime/program/InstructionOperands.h"

#include <iterator>

namespace pcc::runtime {

using List = std::vector<int32_t>;

/// Returns the indices of the buffers that a kernel reads or writes.
///
/// A program computes the gradients of an attention in two kernels. The first
/// kernel writes the gradient of the query. The second kernel writes the
/// gradients of the key and the value. On a GPU, one call of cuDNN may replace
/// both kernels. The call takes the place of the second kernel, and writes all
/// three gradients. For the second kernel, the result therefore also contains
/// the buffer of the query's gradient.
static List listOf(const program::KernelT &kernel) {
  List list = kernel.buffers;
  if (kernel.attention &&
      kernel.attention->part == program::AttentionPart::KeyGradients)
    list.push_back(kernel.attention->query_gradient->buffer());
  return list;
}
static List listOf(const program::MatmulT &matmul) {
  return {matmul.a,        matmul.b,      matmul.c,     matmul.bias,
          matmul.residual, matmul.a_sums, matmul.b_sums};
}
static List listOf(const program::ConvT &conv) {
  return {conv.x, conv.w, conv.y, conv.bias, conv.residual};
}
static List listOf(const program::PoolT &pool) { return {pool.x, pool.y}; }
static List listOf(const program::CollectiveT &collective) {
  return {collective.in, collective.out, collective.scratch,
          collective.divided_rows, collective.whole_rows};
}
static List listOf(const program::CheckIndicesT &check) {
  return {check.buffer};
}
static List listOf(const program::CopyT &copy) {
  return {copy.source, copy.target};
}
static List listOf(const program::FillT &fill) { return {fill.buffer}; }
static List listOf(const program::HostOpT &op) {
  List list = op.inputs;
  list.insert(list.end(), op.outputs.begin(), op.outputs.end());
  return list;
}

/// Returns the indices of the buffers that an instruction reads or writes.
/// `table` points to the instruction. `Table` is the type of the instruction,
/// such as program::CopyT. The function casts `table` to this type, and calls
/// listOf().
///
/// The array `lists` contains one function per type of instruction. All
/// functions in an array must have the same parameter type, so the parameter is
/// a pointer to void.
template <typename Table> static List erased(const void *table) {
  return listOf(*static_cast<const Table *>(table));
}

/// Functions that list the buffers of an instruction, indexed by its kind
/// (InstructionBody).
static constexpr List (*lists[])(const void *) = {
    nullptr,
    erased<program::KernelT>,
    erased<program::MatmulT>,
    erased<program::ConvT>,
    erased<program::PoolT>,
    erased<program::CollectiveT>,
    erased<program::CheckIndicesT>,
    erased<program::CopyT>,
    erased<program::FillT>,
    erased<program::HostOpT>};
static_assert(std::size(lists) == size_t(program::InstructionBody::MAX) + 1);

List buffersOf(const program::InstructionT &instruction) {
  List list = lists[size_t(instruction.body.type)](instruction.body.value);
  std::erase(list, -1);
  return list;
}

/// Returns the buffers in which a kernel writes values that it computes. The
/// list is empty for the kernel that computes the gradient of the query of an
/// attention. One call of cuDNN may replace this kernel and the kernel for the
/// gradients of the key and the value. listOf() therefore adds the gradient of
/// the query to the buffers of the second kernel.
static List computedBy(const program::KernelT &kernel) {
  if (kernel.attention &&
      kernel.attention->part == program::AttentionPart::QueryGradient)
    return {};
  const List all = listOf(kernel);
  const size_t numInputs = kernel.buffers.size() - size_t(kernel.num_results);
  return List(all.begin() + int64_t(numInputs), all.end());
}

/// Returns a list with the result buffer of a collective that computes values,
/// such as the sums of an all-reduce. The list is empty for a collective that
/// only moves values, such as an all-gather, and for the first half of a split
/// collective.
static List computedBy(const program::CollectiveT &collective) {
  const bool reduces =
      collective.kind == program::CollectiveKind::AllReduce ||
      collective.kind == program::CollectiveKind::ReduceScatter;
  return reduces && collective.part != program::CollectivePart::Start
             ? List{collective.out}
             : List{};
}

List computedBuffersOf(const program::InstructionT &instruction) {
  const program::InstructionBodyUnion &body = instruction.body;
  List list;
  if (const program::KernelT *kernel = body.AsKernel())
    list = computedBy(*kernel);
  else if (const program::CollectiveT *collective = body.AsCollective())
    list = computedBy(*collective);
  else if (const program::MatmulT *matmul = body.AsMatmul())
    list = {matmul->c, matmul->a_sums, matmul->b_sums};
  else if (const program::ConvT *conv = body.AsConv())
    list = {conv->y};
  else if (const program::PoolT *pool = body.AsPool())
    list = {pool->y};
  else if (const program::HostOpT *op = body.AsHostOp())
    list = op->outputs;
  std::erase(list, -1);
  return list;
}

} // namespace pcc::runtime
