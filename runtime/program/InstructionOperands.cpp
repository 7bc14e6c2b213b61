//===- InstructionOperands.cpp - buffer operands of instructions ----------===//

#include "runtime/program/InstructionOperands.h"

#include <iterator>

namespace pcc::runtime {

using List = std::vector<int32_t>;

/// Returns the buffers of a kernel. The kernel of an attention's key gradient
/// may use cuDNN, which also writes the query's gradient. The buffer of that
/// gradient is therefore added.
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

/// Casts `table` to an instruction of type `Table` and calls listOf().
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

} // namespace pcc::runtime
