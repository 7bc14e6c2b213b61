//===- VerifyInstructions.cpp - bounds checks of instructions -------------===//

#include "runtime/program/VerifyInstructions.h"
#include "runtime/program/Program.h"
#include "runtime/program/TensorTable.h"
#include "status/Counted.h"

#include <algorithm>
#include <array>
#include <optional>

namespace pcc::runtime {

std::string findStoredLayoutFault(const program::LayoutT *layout,
                                  const Mesh &mesh,
                                  const std::vector<int64_t> &shape) {
  if (!layout)
    return "has no layout";
  const char *fault = findLayoutFault(layoutOf(*layout, mesh), mesh, shape);
  return fault ? std::string("has a layout that ") + fault : "";
}

namespace {
/// Range of element indices that an instruction accesses in a buffer, from
/// `low` to `high`, both included. The program file contains 64-bit numbers,
/// such as strides and loop counts. An index is a sum of products of these
/// numbers. The range has 128-bit limits, because a sum of large products does
/// not fit into 64 bits.
struct OffsetRange {
  __int128 low, high;
};
} // namespace

/// Returns a lower and an upper bound for the value of a scalar on all ranks
/// and in all microbatches. A scalar is an integer that an instruction computes
/// from the rank's coordinates and the number of the microbatch, such as the
/// index of the first element that a copy reads. The scalar is a constant plus
/// a sum of terms. A term is a coefficient times a coordinate. The value is
/// clamped to the range from `scalar.low` to `scalar.high`.
///
/// For example, suppose that the axis tp has size 4. The scalar 10 + 64 ·
/// (coordinate on tp) then has the bounds 10 and 10 + 64 · 3 = 202.
static OffsetRange rangeOf(const program::ScalarT &scalar) {
  OffsetRange range{scalar.base, scalar.base};
  for (const auto &term : scalar.terms) {
    const __int128 reach =
        __int128(term->coefficient) * (term->part->size() - 1);
    (reach < 0 ? range.low : range.high) += reach;
  }
  const auto clamped = [&](__int128 value) {
    return std::min<__int128>(std::max<__int128>(value, scalar.low),
                              scalar.high);
  };
  return {clamped(range.low), clamped(range.high)};
}

std::string findScalarFault(const program::ScalarT &scalar, const Mesh &mesh) {
  for (const auto &term : scalar.terms) {
    if (!term->part)
      return "has a scalar without a digit";
    const int64_t axis = term->part->axis();
    if (axis < 0 || axis >= int64_t(mesh.axes.size()) ||
        term->part->pre() < 1 || term->part->size() < 1 ||
        mesh.axes[axis].size %
                (int64_t(term->part->pre()) * term->part->size()) !=
            0)
      return "has a scalar of a digit that does not exist";
  }
  if (scalar.low > scalar.high)
    return "has a scalar of an empty range";
  return {};
}

/// Largest number of threads per CUDA block.
static constexpr int32_t kMaxThreadsOfBlock = 1024;

namespace {
/// Checks one instruction. Each check() returns a description of the fault, or
/// an empty string if the instruction is valid.
class Checker {
public:
  Checker(const program::ProgramT &program, const Mesh &mesh)
      : program(program), mesh(mesh) {}

  std::string check(const program::KernelT &kernel) const {
    if (kernel.kernel < 0 || kernel.kernel >= program.num_kernels)
      return "calls kernel " + std::to_string(kernel.kernel) + " of " +
             std::to_string(program.num_kernels);
    if (kernel.extent < 0 || kernel.grain < 1)
      return "has an impossible extent";
    if (!areBuffers(kernel.buffers))
      return noBuffer();
    const auto numBuffers = int32_t(kernel.buffers.size());
    if (kernel.num_results < 0 || kernel.num_results > numBuffers)
      return "has an impossible number of results";
    for (int32_t i = numBuffers - kernel.num_results; i < numBuffers; ++i)
      if (!isWritable(kernel.buffers[size_t(i)]))
        return noBuffer();
    if (isForGpus() && (kernel.blocks < 0 || kernel.threads < 1 ||
                        kernel.threads > kMaxThreadsOfBlock))
      return "has an impossible grid";
    for (const auto &scalar : kernel.scalars)
      if (std::string fault = findScalarFault(*scalar, mesh); !fault.empty())
        return fault;
    if (kernel.attention)
      if (std::string fault = check(*kernel.attention); !fault.empty())
        return fault;
    return kernel.parts.empty() ? std::string() : checkParts(kernel);
  }

  /// Checks the operands of an attention. The forward pass needs query, key,
  /// value and result. The backward pass needs query, key and value, the
  /// gradient of the result, and the gradients of query, key and value. All of
  /// these gradients are required even if the kernel computes only one, because
  /// a cuDNN call may replace the kernel and compute all three gradients of
  /// query, key and value.
  std::string check(const program::AttentionT &attention) const {
    using Dims = std::array<int64_t, 4>;
    using Operand = std::unique_ptr<program::AttentionOperand>;
    const Dims query = {attention.batch, attention.heads, attention.queries,
                        attention.depth},
               key = {attention.batch, attention.key_heads, attention.keys,
                      attention.depth},
               value = {attention.batch, attention.key_heads, attention.keys,
                        attention.width},
               result = {attention.batch, attention.heads, attention.queries,
                         attention.width};
    std::vector<std::pair<const Operand *, Dims>> operands = {
        {&attention.query, query},
        {&attention.key, key},
        {&attention.value, value}};
    if (attention.part == program::AttentionPart::Result)
      operands.push_back({&attention.result, result});
    else
      operands.insert(operands.end(), {{&attention.gradient, result},
                                       {&attention.query_gradient, query},
                                       {&attention.key_gradient, key},
                                       {&attention.value_gradient, value}});
    if (!isForGpus() || attention.part > program::AttentionPart::KeyGradients ||
        attention.key_heads < 1 || attention.heads % attention.key_heads != 0 ||
        (attention.causal && attention.queries != attention.keys))
      return "has an impossible attention";
    for (const auto &[operand, dims] : operands)
      if (!*operand || !isWithin(**operand, dims))
        return "has an attention with an operand in no buffer";
    return {};
  }

  /// Returns whether all elements of a strided operand with four dims lie
  /// within the operand's buffer.
  bool isWithin(const program::AttentionOperand &operand,
                const std::array<int64_t, 4> &dims) const {
    const auto *buffer = find(operand.buffer());
    if (!buffer || operand.offset() < 0)
      return false;
    __int128 last = operand.offset();
    for (size_t i = 0; i < dims.size(); ++i) {
      const int64_t stride = operand.strides()->Get(uint32_t(i));
      if (dims[i] < 1 || stride < 0)
        return false;
      last += __int128(dims[i] - 1) * stride;
    }
    return last < buffer->bytes / int64_t(sizeOf(typeOf(buffer->type)));
  }

  /// Checks a kernel that updates many tensors in one launch. A part is a group
  /// of tensors that the kernel updates together, such as a weight and its
  /// gradient. All tensors of a part have the same number of elements. A tile
  /// is a range of at most `tile` element indices of one part.
  ///
  /// - The table with the addresses of all tensors must fit into the kernel's
  ///   parameters.
  /// - Each buffer must have the number of elements of its part.
  /// - The grid must have one block per tile.
  std::string checkParts(const program::KernelT &kernel) const {
    const auto parts = int64_t(kernel.parts.size());
    const int64_t tensors = int64_t(kernel.buffers.size()) - kernel.shared;
    if (!isForGpus() || kernel.tile < 1 || kernel.shared < 0 || tensors < 1 ||
        tensors % parts != 0 ||
        parts > TensorTable::mostParts(tensors / parts, kernel.shared))
      return "has impossible parts";
    int64_t tiles = 0;
    for (int64_t i = 0; i < tensors; ++i) {
      const auto *buffer = find(kernel.buffers[size_t(kernel.shared + i)]);
      const int64_t elements = kernel.parts[size_t(i % parts)];
      if (!buffer || elements < 0 ||
          elements * int64_t(sizeOf(typeOf(buffer->type))) != buffer->bytes)
        return "has a part of another size";
      if (i < parts)
        tiles += (elements + kernel.tile - 1) / kernel.tile;
    }
    return tiles == kernel.blocks ? "" : "has an impossible grid";
  }

  /// Checks a matmul. The matmul computes c = activation(alpha * a * b + bias)
  /// + residual. The bias and the residual are optional. The buffer of `c` must
  /// not overlap the buffers of the operands. There is one exception: on a GPU,
  /// the residual may be `c` itself with the same strides.
  std::string check(const program::MatmulT &matmul) const {
    const auto *a = find(matmul.a), *b = find(matmul.b), *c = find(matmul.c);
    if (!a || !b || !isWritable(matmul.c) || !isOptional(matmul.bias) ||
        !isOptional(matmul.residual))
      return noBuffer();
    if (matmul.activation > program::Activation::Silu)
      return "has an unknown activation";
    const int32_t read = accumulates(matmul) ? -1 : matmul.residual;
    if (overwrites(matmul.c, {matmul.a, matmul.b, matmul.bias, read}))
      return overwritten();
    if (a->type != b->type || !mayBecome(a->type, c->type))
      return "mixes types";
    std::vector<int64_t> sizes = matmul.batch;
    if (!fits(*a, matmul.a_strides, sizes, matmul.m, matmul.k,
              matmul.a_offset) ||
        !fits(*b, matmul.b_strides, sizes, matmul.k, matmul.n,
              matmul.b_offset) ||
        !fits(*c, matmul.c_strides, sizes, matmul.m, matmul.n))
      return "reaches outside its matrices";
    if (matmul.bias >= 0 && !holds(matmul.bias, c->type, matmul.n))
      return "has a bias that does not have " + counted(matmul.n, "element");
    if (matmul.residual >= 0 &&
        (find(matmul.residual)->type != c->type ||
         !fits(*find(matmul.residual), matmul.residual_strides, sizes, matmul.m,
               matmul.n)))
      return "reaches outside its residual";
    return checkSums(matmul);
  }

  /// Checks the optional sums of a matmul. A matmul of an m x k matrix `a` and
  /// a k x n matrix `b` can also compute sums over k. `a_sums` is the buffer
  /// for the m sums of the rows of `a`. `b_sums` is the buffer for the n sums
  /// of the columns of `b`. The sums are gradients of a bias. The matmul may
  /// have only one of the two buffers. The program must be for a GPU. The
  /// matmul must not have a bias, an activation or batch dims.
  std::string checkSums(const program::MatmulT &matmul) const {
    const bool ofA = matmul.a_sums != -1;
    if (!ofA && matmul.b_sums == -1)
      return {};
    const int32_t sums = ofA ? matmul.a_sums : matmul.b_sums;
    if (!isForGpus() || (ofA && matmul.b_sums != -1) || matmul.bias != -1 ||
        matmul.activation != program::Activation::None ||
        !matmul.batch.empty() || matmul.m < 1 || matmul.n < 1 || matmul.k < 1)
      return "has sums that cannot be computed along with it";
    if (!isWritable(sums))
      return noBuffer();
    if (overwrites(sums, {matmul.a, matmul.b, matmul.c, matmul.residual}))
      return overwritten();
    return holds(sums, find(matmul.c)->type, ofA ? matmul.m : matmul.n)
               ? ""
               : "has sums of the wrong size or type";
  }

  /// Checks that the shapes of input, output and weights of a convolution match
  /// each other, and that its bias and its residual have the right sizes. The
  /// residual is an optional tensor that the instruction adds to the output.
  ///
  /// In an ordinary convolution, the window slides over the input `x`. Each
  /// position of the window gives one element per channel of the output `y`. In
  /// a transposed convolution, the window slides over the output `y`. Each
  /// position of the window receives the contributions of one element per
  /// channel of the input `x`. The variable `big` is the shape of the tensor
  /// under the window. The variable `little` is the shape of the other tensor.
  std::string check(const program::ConvT &conv) const {
    const auto *x = find(conv.x), *w = find(conv.w), *y = find(conv.y);
    if (!x || !w || !isWritable(conv.y) || !isOptional(conv.bias) ||
        !isOptional(conv.residual))
      return noBuffer();
    if (overwrites(conv.y, {conv.x, conv.w, conv.bias, conv.residual}))
      return overwritten();
    if (conv.activation > program::Activation::Silu || x->type != w->type ||
        x->type != y->type)
      return "mixes types or has an unknown activation";
    const size_t spatial = conv.strides.size();
    if (x->shape.size() != spatial + 2 || w->shape.size() != spatial + 2 ||
        y->shape.size() != spatial + 2 || spatial < 1 || spatial > 3)
      return "does not have the shapes of a convolution";
    const std::vector<int64_t> window(w->shape.begin() + 2, w->shape.end());
    const auto &big = conv.transposed ? y->shape : x->shape;
    const auto &little = conv.transposed ? x->shape : y->shape;
    if (!slides(big, little, window, conv.strides, conv.dilations,
                conv.pads_begin, conv.pads_end))
      return "has a window that does not match its shapes";
    const int64_t groups = conv.groups;
    if (groups < 1 || big[0] != little[0] || big[1] % groups != 0 ||
        little[1] % groups != 0 || w->shape[0] != little[1] ||
        w->shape[1] != big[1] / groups)
      return "has channels that do not match";
    if (conv.bias >= 0 && !holds(conv.bias, y->type, y->shape[1]))
      return "has a bias of the wrong size";
    if (conv.residual >= 0 &&
        !holds(conv.residual, y->type, numElements(y->shape)))
      return "has a residual of the wrong size";
    return {};
  }

  std::string check(const program::PoolT &pool) const {
    const auto *x = find(pool.x), *y = find(pool.y);
    if (!x || !isWritable(pool.y))
      return noBuffer();
    const size_t spatial = pool.window.size();
    if (pool.kind > program::PoolKind::AverageWithPadding ||
        x->type != y->type || x->shape.size() != spatial + 2 ||
        y->shape.size() != spatial + 2 || x->shape[0] != y->shape[0] ||
        x->shape[1] != y->shape[1] ||
        !slides(x->shape, y->shape, pool.window, pool.strides, pool.dilations,
                pool.pads_begin, pool.pads_end))
      return "has a window that does not match its shapes";
    return {};
  }

  /// Checks a collective: its kind, its group, its buffers and the layouts of
  /// operand and result. A layout describes how the ranks divide a tensor. Also
  /// checks the masks of a collective that sends only selected rows. Does not
  /// check whether the scratch buffer is large enough.
  std::string check(const program::CollectiveT &collective) const {
    const auto *in = find(collective.in), *out = find(collective.out);
    if (!in || !isWritable(collective.out) || !isOptional(collective.scratch))
      return noBuffer();
    if (collective.kind > program::CollectiveKind::Slice ||
        collective.reduction > program::Reduction::Prod ||
        in->type != out->type)
      return "has an unknown kind or reduction, or mixes types";
    const bool isLocal = collective.kind == program::CollectiveKind::Slice;
    if (collective.group < -1 ||
        collective.group >= int64_t(program.groups.size()) ||
        (collective.group == -1) != isLocal)
      return "is over group " + std::to_string(collective.group);
    if (std::string fault = checkPart(collective); !fault.empty())
      return fault;
    if (collective.scratch >= 0 &&
        (!isWritable(collective.scratch) ||
         overwrites(collective.scratch, {collective.in, collective.out})))
      return "has scratch that cannot be written";
    if (collective.kind == program::CollectiveKind::AllReduce ||
        collective.kind == program::CollectiveKind::Broadcast)
      return checkUniform(collective, *in, *out);
    if (overwrites(collective.out, {collective.in}))
      return overwritten();
    if (std::string fault = findStoredLayoutFault(collective.from.get(), mesh,
                                                  collective.shape);
        !fault.empty())
      return fault;
    if (std::string fault = checkTarget(collective); !fault.empty())
      return fault;
    if (numElements(localShape(layoutOf(*collective.from, mesh))) !=
            numElements(in->shape) ||
        numElements(localShape(layoutOf(*collective.to, mesh))) !=
            numElements(out->shape))
      return "has layouts that do not fit its buffers";
    return checkRows(collective);
  }

  /// Checks the fields `part` and `only` of a collective. Returns a description
  /// of the fault, or an empty string. A collective can be one instruction
  /// (Whole) or two: Start begins the communication, and Finish completes the
  /// communication. Only an all-reduce, a reduce-scatter or an all-gather may
  /// be Start or Finish. If the collective sends only selected rows (`row_dims`
  /// is not 0), the part must be Whole. `only` is the one microbatch that
  /// executes the instruction, or -1 for all microbatches. If the part is
  /// Whole, `only` must be -1.
  std::string checkPart(const program::CollectiveT &collective) const {
    const bool isWhole = collective.part == program::CollectivePart::Whole;
    if (collective.part > program::CollectivePart::Finish ||
        collective.only < -1 || collective.only >= program.microbatches ||
        (isWhole && collective.only != -1))
      return "has an impossible part";
    const bool hasParts =
        collective.kind == program::CollectiveKind::AllReduce ||
        ((collective.kind == program::CollectiveKind::ReduceScatter ||
          collective.kind == program::CollectiveKind::AllGather) &&
         collective.row_dims == 0);
    return isWhole || hasParts ? "" : "has parts, which its kind cannot have";
  }

  /// Checks the fields of a collective that select rows. Returns a description
  /// of the fault, or an empty string. A row is the block of elements at one
  /// index of the first `row_dims` dims. If `row_dims` is 0, there must be no
  /// masks. Otherwise the collective must be an all-gather, or a reduce-scatter
  /// that sums. The operand and the result must divide all other dims in the
  /// same way. The collective must not overwrite the masks, which are buffers
  /// of booleans.
  ///
  /// For example, let a group of 4 members have 8 rows on each member before an
  /// all-gather, and 32 rows after it. `divided_rows` [8, 4] says for each of
  /// this rank's 8 rows which members need the row. `whole_rows` [32] says
  /// which of all rows this rank needs.
  std::string checkRows(const program::CollectiveT &collective) const {
    if (collective.row_dims == 0)
      return collective.divided_rows == -1 && collective.whole_rows == -1
                 ? ""
                 : "has rows that no dims count";
    const bool gathers = collective.kind == program::CollectiveKind::AllGather;
    if (!gathers &&
        (collective.kind != program::CollectiveKind::ReduceScatter ||
         collective.reduction != program::Reduction::Sum))
      return "moves no rows";
    const Layout from = layoutOf(*collective.from, mesh),
                 to = layoutOf(*collective.to, mesh);
    if (collective.row_dims < 0 ||
        size_t(collective.row_dims) > from.dims.size())
      return "has too few dims for its rows";
    const auto behind = size_t(collective.row_dims);
    if (!std::equal(from.dims.begin() + ptrdiff_t(behind), from.dims.end(),
                    to.dims.begin() + ptrdiff_t(behind), to.dims.end()))
      return "changes its rows";
    const auto rowsOf = [&](const Layout &layout) {
      const std::vector<int64_t> shape = localShape(layout);
      return numElements(std::span(shape).first(behind));
    };
    const int64_t members =
        numParts(groupOf(*program.groups[size_t(collective.group)], mesh));
    const auto type = program::ElementType::Bool;
    if (!find(collective.divided_rows) || !find(collective.whole_rows))
      return noBuffer();
    if (!holds(collective.divided_rows, type,
               rowsOf(gathers ? from : to) * members) ||
        !holds(collective.whole_rows, type, rowsOf(gathers ? to : from)) ||
        overwrites(collective.out,
                   {collective.divided_rows, collective.whole_rows}) ||
        (collective.scratch >= 0 &&
         overwrites(collective.scratch,
                    {collective.divided_rows, collective.whole_rows})))
      return "has masks that do not fit its rows";
    return {};
  }

  /// Checks the result of a collective. The collective may replace a dim of the
  /// tensor by windows of this dim. The windows may overlap. For example, the
  /// windows {0, 1, 2} and {2, 3, 4} turn a dim of 5 elements into a dim of 6
  /// elements. `views` describes the windows of each dim. An all-gather or
  /// reduce-scatter must not have windows. The layout of the result describes
  /// how the ranks divide the shape that includes the windows.
  std::string checkTarget(const program::CollectiveT &collective) const {
    if (!collective.views.empty() &&
        (collective.views.size() != collective.shape.size() ||
         collective.kind == program::CollectiveKind::AllGather ||
         collective.kind == program::CollectiveKind::ReduceScatter))
      return "has views, which its kind cannot have";
    std::vector<int64_t> viewed = collective.shape;
    for (size_t dim = 0; dim < collective.views.size(); ++dim) {
      const std::optional<View> view = viewOf(*collective.views[dim]);
      if (!view)
        continue;
      if (const char *fault = findViewFault(*view, viewed[dim]))
        return fault;
      viewed[dim] = view->size();
    }
    return findStoredLayoutFault(collective.to.get(), mesh, viewed);
  }

  /// Checks a CheckIndices instruction, which tests at run time whether the
  /// indices in a tensor are in range. Returns a description of the fault, or
  /// an empty string. The tensor must have the element type I32 or I64. `sizes`
  /// lists the bounds of the indices: one bound for all indices, or one bound
  /// for each index of the last dim. No bound may be negative. For example, the
  /// shape is [100, 2], and `sizes` is {50, 80}. In each of 100 pairs, the
  /// first index must be less than 50, and the second index less than 80.
  std::string check(const program::CheckIndicesT &indices) const {
    const auto *buffer = find(indices.buffer);
    if (!buffer)
      return noBuffer();
    const ElementType type = typeOf(buffer->type);
    if (type != ElementType::I32 && type != ElementType::I64)
      return "checks a value that holds no indices";
    const size_t count = indices.sizes.size();
    if (count != 1 &&
        (buffer->shape.empty() || buffer->shape.back() != int64_t(count)))
      return "has another number of sizes than indices in a tuple";
    return std::all_of(indices.sizes.begin(), indices.sizes.end(),
                       [](int64_t size) { return size >= 0; })
               ? ""
               : "has a negative size";
  }

  /// Checks that a copy reads and writes only elements of its two buffers. The
  /// copy moves elements in nested loops. The index of the first element may
  /// depend on the rank and the microbatch. The check must succeed for all
  /// ranks and microbatches. If a loop has 0 iterations, the copy moves no
  /// element and is valid.
  std::string check(const program::CopyT &copy) const {
    const auto *source = find(copy.source), *target = find(copy.target);
    if (!source || !isWritable(copy.target))
      return noBuffer();
    if (source->type != target->type)
      return "mixes types";
    program::ScalarT zero;
    const auto &from = copy.source_offset ? *copy.source_offset : zero;
    const auto &to = copy.target_offset ? *copy.target_offset : zero;
    for (const program::ScalarT *scalar : {&from, &to})
      if (std::string fault = findScalarFault(*scalar, mesh); !fault.empty())
        return fault;
    OffsetRange reads = rangeOf(from), writes = rangeOf(to);
    for (const program::Loop &loop : copy.loops) {
      if (loop.extent() < 0)
        return "has a loop of negative extent";
      if (loop.extent() == 0)
        return {};
      if (!extend(reads, loop.extent(), loop.source_stride()) ||
          !extend(writes, loop.extent(), loop.target_stride()))
        return "has a loop that reaches too far";
    }
    return lies(reads, *source) && lies(writes, *target)
               ? ""
               : "copies outside its buffers";
  }

  std::string check(const program::FillT &fill) const {
    if (!isWritable(fill.buffer))
      return noBuffer();
    return fill.element.size() == sizeOf(typeOf(find(fill.buffer)->type))
               ? ""
               : "fills with an element of another size";
  }

  std::string check(const program::HostOpT &op) const {
    for (int32_t output : op.outputs)
      if (!isWritable(output))
        return noBuffer();
    return areBuffers(op.inputs) ? "" : noBuffer();
  }

private:
  static std::string noBuffer() {
    return "names a buffer that does not exist or cannot be written";
  }

  bool isForGpus() const { return program.target == "cuda"; }

  /// Returns whether a matmul adds its product to the old contents of its
  /// result. A matmul has an optional operand, the residual. The matmul adds
  /// the residual to the product, and writes the sum to the result `c`. If the
  /// residual has the same buffer and the same strides as `c`, the matmul adds
  /// the product to the old contents of `c`. Only a program for GPUs may
  /// contain such a matmul. For any other program, the function returns false.
  bool accumulates(const program::MatmulT &matmul) const {
    return isForGpus() && matmul.residual == matmul.c &&
           matmul.residual_strides == matmul.c_strides;
  }

  /// Returns whether a matmul may have a result of the element type `stored`.
  /// Both operands of the matmul have the element type `factors`. The two types
  /// must be equal, with one exception: on a GPU, operands of type F16 or BF16
  /// may have a result of type F32.
  bool mayBecome(program::ElementType factors,
                 program::ElementType stored) const {
    using program::ElementType;
    const bool isNarrow =
        factors == ElementType::F16 || factors == ElementType::BF16;
    return factors == stored ||
           (isForGpus() && isNarrow && stored == ElementType::F32);
  }

  static std::string overwritten() { return "writes where it reads"; }

  /// Returns whether an instruction that writes the buffer `target` could
  /// change a buffer in `others`. Buffers are given by their index. The index
  /// -1 means that there is no buffer.
  ///
  /// A buffer can have several slots. A slot is memory for one tensor. A buffer
  /// with 4 slots, for example, can hold the tensors of 4 microbatches at the
  /// same time. The function regards all slots of a buffer as one range of
  /// memory: from the first byte of the first slot to the last byte of the last
  /// slot. The result is true if the range of `target` overlaps the range of a
  /// buffer in `others`.
  bool overwrites(int32_t target, std::initializer_list<int32_t> others) const {
    const auto endOf = [](const program::BufferT &buffer) {
      return buffer.offset + (buffer.slots - 1) * buffer.slot_stride +
             buffer.bytes;
    };
    const program::BufferT &written = *find(target);
    for (int32_t index : others) {
      const program::BufferT *read = find(index);
      if (read && read->memory == written.memory &&
          read->index == written.index && written.bytes > 0 &&
          read->bytes > 0 && read->offset < endOf(written) &&
          written.offset < endOf(*read))
        return true;
    }
    return false;
  }

  /// Returns the buffer with index `index`, or null if there is none.
  const program::BufferT *find(int32_t index) const {
    if (index < 0 || index >= int64_t(program.buffers.size()))
      return nullptr;
    return program.buffers[index].get();
  }
  /// Returns whether `index` is valid for an optional buffer: -1 (no buffer),
  /// or the index of a buffer.
  bool isOptional(int32_t index) const { return index == -1 || find(index); }
  /// Returns whether instructions may write the buffer with index `index`. True
  /// if the buffer is in the arena (memory of intermediate results), or is part
  /// of a trainable parameter.
  bool isWritable(int32_t index) const {
    const program::BufferT *buffer = find(index);
    return buffer && (buffer->memory == program::Memory::Arena ||
                      (buffer->memory == program::Memory::Parameter &&
                       program.parameters[buffer->index]->trainable));
  }
  bool areBuffers(const std::vector<int32_t> &list) const {
    return std::all_of(list.begin(), list.end(),
                       [&](int32_t index) { return find(index); });
  }
  /// Returns whether the buffer with index `index` has the element type `type`
  /// and `count` elements.
  bool holds(int32_t index, program::ElementType type, int64_t count) const {
    const program::BufferT *buffer = find(index);
    return buffer->type == type && numElements(buffer->shape) == count;
  }

  static constexpr __int128 kFar = __int128(1) << 100;

  /// Extends a range of element offsets by a loop. The loop has `extent`
  /// iterations. Each iteration adds `stride` to the offset. For example, the
  /// range [5, 5] becomes [5, 35] with extent 4 and stride 10. Returns false if
  /// an offset reaches kFar or -kFar. No buffer is that large.
  static bool extend(OffsetRange &range, int64_t extent, int64_t stride) {
    const __int128 reach = __int128(extent - 1) * stride;
    (reach < 0 ? range.low : range.high) += reach;
    return range.low > -kFar && range.high < kFar;
  }
  /// Returns whether all offsets in `range` are indices of elements of
  /// `buffer`.
  static bool lies(const OffsetRange &range, const program::BufferT &buffer) {
    return range.low >= 0 && range.high < numElements(buffer.shape);
  }

  /// Returns whether all matrices of one matmul operand lie within its buffer.
  /// `sizes` contains the batch dims. Each matrix has `rows` rows and `columns`
  /// columns. `strides` contains the stride of each batch dim, then the stride
  /// between rows, then the stride between columns. `offset` is the index of
  /// the first element in the buffer. For example, a dense operand with two
  /// matrices of 3 rows and 4 columns has sizes {2} and strides {12, 4, 1}.
  static bool fits(const program::BufferT &buffer,
                   const std::vector<int64_t> &strides,
                   std::vector<int64_t> sizes, int64_t rows, int64_t columns,
                   int64_t offset = 0) {
    sizes.push_back(rows);
    sizes.push_back(columns);
    if (strides.size() != sizes.size() || sizes.size() > 12)
      return false;
    OffsetRange range{offset, offset};
    bool isEmpty = false;
    for (size_t i = 0; i < sizes.size(); ++i) {
      if (sizes[i] < 0 || strides[i] < 0)
        return false;
      isEmpty |= sizes[i] == 0;
      if (sizes[i] > 0 && !extend(range, sizes[i], strides[i]))
        return false;
    }
    return isEmpty || lies(range, buffer);
  }

  /// Checks an all-reduce or a broadcast. Returns a description of the fault,
  /// or an empty string. `in` is the buffer of the operand, and `out` is the
  /// buffer of the result. Both buffers must have the same number of elements.
  /// The root is the member of the group that sends its tensor in a broadcast.
  /// `collective.root` is the index of the root in the group, and must be less
  /// than the number of members.
  std::string checkUniform(const program::CollectiveT &collective,
                           const program::BufferT &in,
                           const program::BufferT &out) const {
    if (numElements(in.shape) != numElements(out.shape))
      return "has operands of different sizes";
    const int64_t size =
        numParts(groupOf(*program.groups[collective.group], mesh));
    return collective.root >= 0 && collective.root < size
               ? ""
               : "has a root outside its group";
  }

  /// Returns whether the shapes of a convolution or a pooling match. The window
  /// slides over `big`. `little` has one element per position of the window.
  /// Batch and channels, the first two dims, are ignored. `before` and `after`
  /// are padding. In each spatial dim, the equations must hold; the division
  /// rounds down:
  ///
  ///   extent = dilation * (window - 1) + 1
  ///   little = (big + before + after - extent) / stride + 1
  static bool slides(const std::vector<int64_t> &big,
                     const std::vector<int64_t> &little,
                     const std::vector<int64_t> &window,
                     const std::vector<int64_t> &strides,
                     const std::vector<int64_t> &dilations,
                     const std::vector<int64_t> &before,
                     const std::vector<int64_t> &after) {
    const size_t spatial = window.size();
    for (const auto *list : {&strides, &dilations, &before, &after})
      if (list->size() != spatial)
        return false;
    for (size_t i = 0; i < spatial; ++i) {
      constexpr int64_t most = int64_t(1) << 31;
      for (int64_t value : {window[i], strides[i], dilations[i]})
        if (value < 1 || value > most)
          return false;
      if (before[i] < -most || before[i] > most || after[i] < -most ||
          after[i] > most)
        return false;
      const __int128 room = __int128(big[i + 2]) + before[i] + after[i] -
                            __int128(dilations[i]) * (window[i] - 1) - 1;
      if (room < 0 || room / strides[i] + 1 != little[i + 2])
        return false;
    }
    return true;
  }

  const program::ProgramT &program;
  const Mesh &mesh;
};

using Finder = std::string (*)(const Checker &, const void *);

/// Calls the overload of Checker::check() for the type `Table`. `Table` is a
/// type of instruction in Program.fbs, such as MatmulT. `table` must point to
/// an instruction of this type. The result is a description of the
/// instruction's fault, or an empty string. The parameter `table` is a void
/// pointer, so that the functions for all types of instructions fit into one
/// array.
template <typename Table>
std::string find(const Checker &checker, const void *table) {
  return checker.check(*static_cast<const Table *>(table));
}
} // namespace

/// Functions that check an instruction, indexed by its kind (InstructionBody).
static constexpr Finder finders[] = {nullptr,
                                     find<program::KernelT>,
                                     find<program::MatmulT>,
                                     find<program::ConvT>,
                                     find<program::PoolT>,
                                     find<program::CollectiveT>,
                                     find<program::CheckIndicesT>,
                                     find<program::CopyT>,
                                     find<program::FillT>,
                                     find<program::HostOpT>};
static_assert(std::size(finders) == size_t(program::InstructionBody::MAX) + 1);

std::string findInstructionFault(const program::ProgramT &program,
                                 const Mesh &mesh,
                                 const program::InstructionT &instruction) {
  const auto kind = size_t(instruction.body.type);
  if (kind == 0 || kind >= std::size(finders) || !instruction.body.value)
    return "is of an unknown kind";
  return finders[kind](Checker(program, mesh), instruction.body.value);
}

} // namespace pcc::runtime
