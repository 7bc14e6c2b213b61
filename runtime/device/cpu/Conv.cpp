//===- Conv.cpp - convolutions by oneDNN or by loops ----------------------===//
//
// oneDNN selects the memory layouts of a convolution (blocked by channels).
// Where they differ from the dense layout of the buffers, x is reordered into
// scratch memory before the convolution, and y out of it afterwards:
//
//   x ──────── reorder ──> scratch ──┐
//   weights ─────────────────────────┴─ convolution ──> (+) ── reorder ──> y
//   residual ── reorder ─────────────────────────────────┘
//
// Element types that oneDNN lacks, negative pads, and cases for which oneDNN
// has only a slow reference implementation are computed by loops.
//
//===----------------------------------------------------------------------===//

#include "runtime/device/MatmulProblem.h"
#include "runtime/device/cpu/DnnlCall.h"
#include "runtime/tensor/ElementDispatch.h"

#include <algorithm>
#include <array>

namespace pcc::runtime {

using dnnl::memory;

namespace {
/// Executes a convolution with a oneDNN primitive:
///
///   y = activation(convolution of x and the filter + bias + residual)
///
/// The bias is optional. The residual, a tensor with the shape of y, is
/// optional too. If the primitive needs other memory formats of x and y than
/// the program uses, x is copied before the convolution, and y afterwards. The
/// residual is copied to the primitive's output first, because the primitive
/// adds the convolution to the contents of its output.
class DnnlConv : public Operation {
public:
  DnnlConv(CpuResources &resources, const LoadContext &context,
           const program::ConvT &conv)
      : resources(resources), context(context), conv(conv),
        type(*dnnlTypeOf(typeOf(bufferOf(conv.y).type))), call(resources),
        xCall(resources), yCall(resources), residualCall(resources),
        x(dense(bufferOf(conv.x).shape)), y(dense(bufferOf(conv.y).shape)),
        w(weightDesc()) {}

  /// Creates the oneDNN primitives. Sets `created` to false if oneDNN has no
  /// fast implementation; the caller must then discard this object.
  Status create(bool &created) {
    return conv.transposed ? createAs<dnnl::deconvolution_forward>(
                                 dnnl::algorithm::deconvolution_direct, created)
                           : createAs<dnnl::convolution_forward>(
                                 dnnl::algorithm::convolution_auto, created);
  }

  Status run(const RunContext &run) override {
    struct ConvStep {
      bool isNeeded;
      DnnlCall &call;
    };
    // Four calls of oneDNN primitives, in the order of execution. The first
    // member of each entry, `isNeeded`, is true if the convolution needs the
    // call. The loop below skips a call if `isNeeded` is false. For example,
    // the loop skips `residualCall` if the convolution has no residual.
    const std::array<ConvStep, 4> steps = {{{reordersX, xCall},
                                            {conv.residual >= 0, residualCall},
                                            {true, call},
                                            {reordersY, yCall}}};
    for (const ConvStep &step : steps)
      if (step.isNeeded)
        PCC_RETURN_IF_ERROR(step.call.run(context.buffers, run.microbatch));
    return Status::success();
  }

private:
  /// Returns the program's buffer with index `index`.
  const program::BufferT &bufferOf(int32_t index) const {
    return *context.program.buffers[index];
  }

  /// Returns the strides of a dense row-major tensor of `shape`.
  static memory::dims denseStrides(const memory::dims &shape) {
    memory::dims strides(shape.size(), 1);
    for (size_t i = shape.size(); i-- > 1;)
      strides[i - 1] = strides[i] * shape[i];
    return strides;
  }
  /// Returns oneDNN's description of a dense row-major tensor of `shape`.
  memory::desc dense(const memory::dims &shape) const {
    return {shape, type, denseStrides(shape)};
  }
  /// Returns a description with the shape of `plain` and no fixed memory format
  /// (format_tag::any). oneDNN selects the format when it creates the
  /// primitive.
  memory::desc any(const memory::desc &plain) const {
    return {plain.dims(), type, memory::format_tag::any};
  }

  /// Returns oneDNN's description of the filter. The dims of the filter before
  /// its spatial dims are, where `in` and `out` are the numbers of input and
  /// output channels:
  ///
  ///   for oneDNN                      [groups, out / groups, in / groups]
  ///   in the program                  [out, in / groups]
  ///   in the program, if transposed   [in, out / groups]
  ///
  /// With one group, oneDNN expects no dim `groups`. The strides in the
  /// description let oneDNN read the program's filter without a copy.
  memory::desc weightDesc() const {
    const std::vector<int64_t> &shape = bufferOf(conv.w).shape;
    memory::dims dims = {shape[0] / conv.groups, shape[1]};
    dims.insert(dims.end(), shape.begin() + 2, shape.end());
    memory::dims strides = denseStrides(dims);
    const int64_t groupStride = dims[0] * strides[0];
    if (conv.transposed) {
      std::swap(dims[0], dims[1]);
      std::swap(strides[0], strides[1]);
    }
    if (conv.groups > 1) {
      dims.insert(dims.begin(), conv.groups);
      strides.insert(strides.begin(), groupStride);
    }
    return {dims, type, strides};
  }

  /// Returns the attributes of the oneDNN primitive. The attributes contain a
  /// list of post-ops. A post-op is an operation that the primitive applies to
  /// its result. The list contains:
  ///
  /// 1. If the convolution has a residual: addition of the previous contents of
  ///    the result's memory. Before the primitive runs, another oneDNN call
  ///    copies the residual to this memory.
  /// 2. If the convolution has an activation: the activation.
  dnnl::primitive_attr postOps() const {
    dnnl::post_ops ops;
    if (conv.residual >= 0)
      ops.append_sum(1.0f);
    appendActivation(ops, conv.activation);
    return attributes(ops);
  }

  /// Creates the oneDNN primitive of the convolution, and the primitives that
  /// copy x, y and the residual if necessary. `Primitive` is oneDNN's class for
  /// a convolution or for a transposed convolution. `algorithm` is oneDNN's
  /// constant, such as convolution_auto. If oneDNN has no fast implementation,
  /// the function creates no primitive and sets `created` to false.
  ///
  /// Adjacent input elements have dilation 1 in the program and dilation 0 in
  /// oneDNN.
  template <typename Primitive>
  Status createAs(dnnl::algorithm algorithm, bool &created) {
    created = false;
    memory::dims dilations = conv.dilations;
    for (int64_t &dilation : dilations)
      --dilation;
    const memory::desc weights = mayPack(context, conv.w) ? any(w) : w;
    const memory::desc bias(conv.bias >= 0
                                ? memory::dims{bufferOf(conv.y).shape[1]}
                                : memory::dims{},
                            type, memory::format_tag::a);
    typename Primitive::primitive_desc description;
    try {
      const auto kind = dnnl::prop_kind::forward_inference;
      description = {
          conv.bias >= 0
              ? typename Primitive::desc(kind, algorithm, any(x), weights, bias,
                                         any(y), conv.strides, dilations,
                                         conv.pads_begin, conv.pads_end)
              : typename Primitive::desc(kind, algorithm, any(x), weights,
                                         any(y), conv.strides, dilations,
                                         conv.pads_begin, conv.pads_end),
          postOps(), resources.engine()};
    } catch (const dnnl::error &) {
      return Status::success();
    }
    // If oneDNN has only a slow reference implementation for the convolution,
    // `created` stays false. The caller then executes the convolution with the
    // loops of the class PlainConv, which are faster.
    if (isReference(description.impl_info_str()))
      return Status::success();
    created = true;
    return bind<Primitive>(description, bias);
  }

  /// Prepares the oneDNN calls of run(), which executes them in this order:
  ///
  ///   xCall         copies x to oneDNN's format, if the formats differ
  ///   residualCall  copies the residual, if any, to the output of `call`
  ///   call          computes the convolution
  ///   yCall         copies y to the program's format, if the formats differ
  ///
  /// The scratch memory has x and y in oneDNN's formats (if copied),
  /// followed by temporary memory that the four calls share.
  template <typename Primitive>
  Status bind(const typename Primitive::primitive_desc &description,
              const memory::desc &bias) {
    PCC_RETURN_IF_ERROR(makeWeight(resources, context, conv.w, w,
                                   description.weights_desc(), weight));
    size_t offset = 0;
    const auto place = [&](const memory::desc &desc) {
      const size_t at = offset;
      offset += (desc.get_size() + kAlignment - 1) / kAlignment * kAlignment;
      return at;
    };
    reordersX = description.src_desc() != x;
    reordersY = description.dst_desc() != y;
    const memory::desc blockedX = description.src_desc();
    const memory::desc blockedY = description.dst_desc();
    const size_t xAt = reordersX ? place(blockedX) : 0;
    const size_t yAt = reordersY ? place(blockedY) : 0;
    addOperand(call, DNNL_ARG_SRC, blockedX, reordersX, xAt, conv.x);
    addOperand(call, DNNL_ARG_DST, blockedY, reordersY, yAt, conv.y);
    call.addWeight(DNNL_ARG_WEIGHTS, weight);
    if (conv.bias >= 0)
      call.addBuffer(DNNL_ARG_BIAS, bias, conv.bias);
    call.finish(Primitive(description), description.scratchpad_desc(), offset);
    if (reordersX) {
      xCall.addBuffer(DNNL_ARG_FROM, x, conv.x);
      xCall.addScratch(DNNL_ARG_TO, blockedX, xAt);
      finishReorder(xCall, x, blockedX, offset);
    }
    if (reordersY) {
      yCall.addScratch(DNNL_ARG_FROM, blockedY, yAt);
      yCall.addBuffer(DNNL_ARG_TO, y, conv.y);
      finishReorder(yCall, blockedY, y, offset);
    }
    if (conv.residual >= 0) {
      residualCall.addBuffer(DNNL_ARG_FROM, y, conv.residual);
      addOperand(residualCall, DNNL_ARG_TO, blockedY, reordersY, yAt, conv.y);
      finishReorder(residualCall, y, blockedY, offset);
    }
    return Status::success();
  }

  /// Adds an operand to `to`, the call of a oneDNN primitive. `argument` is
  /// oneDNN's number of the operand, such as DNNL_ARG_SRC. `desc` is the
  /// operand's shape, element type and memory format.
  ///
  /// - If `inScratch` is true, the operand is in scratch memory, `offset` bytes
  ///   after the beginning of the scratch memory.
  /// - If `inScratch` is false, the operand is the program's buffer with index
  ///   `buffer`.
  static void addOperand(DnnlCall &to, int argument, const memory::desc &desc,
                         bool inScratch, size_t offset, int32_t buffer) {
    if (inScratch)
      to.addScratch(argument, desc, offset);
    else
      to.addBuffer(argument, desc, buffer);
  }

  /// Completes `reorder`, the call of a oneDNN primitive that copies a tensor
  /// from one memory format to another. `from` and `to` describe the two
  /// formats. The source and the target of the copy must already be operands of
  /// `reorder`. This function creates the primitive, and adds it to `reorder`.
  ///
  /// The primitive may need memory for intermediate results. This memory begins
  /// `offset` bytes after the beginning of the scratch memory, which all
  /// operations of the device use one after another.
  void finishReorder(DnnlCall &reorder, const memory::desc &from,
                     const memory::desc &to, size_t offset) {
    const dnnl::reorder::primitive_desc description(
        resources.engine(), from, resources.engine(), to, attributes({}));
    reorder.finish(dnnl::reorder(description), description.scratchpad_desc(),
                   offset);
  }

  CpuResources &resources;
  LoadContext context;
  const program::ConvT &conv;
  memory::data_type type;
  DnnlCall call, xCall, yCall, residualCall;
  /// oneDNN's memory descriptors of the input x, the output y and the filter w.
  /// A memory descriptor contains the shape, the element type and the strides
  /// of a tensor. These three descriptors describe the tensors as the buffers
  /// of the program store them. oneDNN may select other strides for its
  /// primitives.
  memory::desc x, y, w;
  WeightOperand weight;
  /// `reordersX`: whether the primitive reads the input x in another memory
  /// format than the buffer of x has. `reordersY`: whether it writes the output
  /// y in another format than the buffer of y has.
  bool reordersX = false, reordersY = false;
};

//===----------------------------------------------------------------------===//
// Plain loops
//===----------------------------------------------------------------------===//

/// One spatial dim of a convolution. `in`, `out` and `window` are the sizes of
/// the input, of the output and of the filter along the dim. `before` is the
/// padding at the beginning of the dim.
///
/// The class PlainConv always uses three ConvDim objects. If a convolution has
/// fewer spatial dims, the first objects keep the default values, which have no
/// effect.
struct ConvDim {
  int64_t in = 1, out = 1, window = 1, stride = 1, dilation = 1, before = 0;
};

/// Executes a convolution with nested loops. The loops support all element
/// types and negative paddings. oneDNN supports only some element types and no
/// negative paddings.
///
/// The threads compute the output in parallel. Each thread computes some of the
/// planes of the output. A plane consists of all elements that have the same
/// batch index and the same channel.
class PlainConv : public Operation {
public:
  PlainConv(CpuResources &resources, const LoadContext &context,
            const program::ConvT &conv)
      : threads(resources.threads()), context(context), conv(conv),
        x(*context.program.buffers[conv.x]),
        y(*context.program.buffers[conv.y]),
        w(*context.program.buffers[conv.w]) {
    const size_t spatial = conv.strides.size();
    for (size_t i = 0; i < spatial; ++i)
      dims[i + 3 - spatial] = {x.shape[i + 2],    y.shape[i + 2],
                               w.shape[i + 2],    conv.strides[i],
                               conv.dilations[i], conv.pads_begin[i]};
  }

  Status run(const RunContext &run) override {
    const int64_t planes = y.shape[0] * y.shape[1];
    dispatch(typeOf(y.type), [&](auto element) {
      using T = decltype(element);
      threads.parallelFor(planes, 1, [&](int64_t begin, int64_t end) {
        for (int64_t plane = begin; plane < end; ++plane)
          runPlane<T>(run, plane);
      });
    });
    return Status::success();
  }

private:
  /// Returns the address of a tensor of the program. `buffer` is the index of
  /// the buffer that contains the tensor. A buffer may have separate memory for
  /// different microbatches. The returned address is in the memory for the
  /// microbatch `run.microbatch`. Returns null if `buffer` is -1, which means
  /// that there is no such tensor. For example, a convolution may have no bias.
  template <typename T>
  const T *operand(int32_t buffer, const RunContext &run) const {
    return buffer < 0 ? nullptr
                      : static_cast<const T *>(
                            context.buffers.at(buffer, run.microbatch));
  }

  /// Computes one plane of the output y. A plane consists of all elements of y
  /// that have the same batch index and the same channel. `plane` is the index
  /// of the plane: batch index * number of channels + channel. `run` contains
  /// the index of the microbatch, which determines the addresses of the
  /// buffers.
  ///
  /// Each element of the plane is activation(convolution + bias + residual).
  /// The bias and the residual are optional. A residual is a tensor with the
  /// shape of y. If the elements are integers, no activation is applied.
  template <typename T> void runPlane(const RunContext &run, int64_t plane) {
    using C = Computed<T>;
    const int64_t channel = plane % y.shape[1], batch = plane / y.shape[1];
    const T *bias = operand<T>(conv.bias, run);
    const T *residual = operand<T>(conv.residual, run);
    const T *input = operand<T>(conv.x, run) + batch * x.shape[1] * inSize();
    const int64_t first = plane * outSize();
    T *output =
        static_cast<T *>(context.buffers.at(conv.y, run.microbatch)) + first;
    std::array<int64_t, 3> at;
    int64_t index = 0;
    for (at[0] = 0; at[0] < dims[0].out; ++at[0])
      for (at[1] = 0; at[1] < dims[1].out; ++at[1])
        for (at[2] = 0; at[2] < dims[2].out; ++at[2], ++index) {
          C sum = sumAt(input, operand<T>(conv.w, run), channel, at);
          if (bias)
            sum += static_cast<C>(bias[channel]);
          if (residual)
            sum += static_cast<C>(residual[first + index]);
          if constexpr (std::is_floating_point_v<C>)
            sum = activate(conv.activation, sum);
          output[index] = static_cast<T>(sum);
        }
  }

  int64_t inSize() const { return dims[0].in * dims[1].in * dims[2].in; }
  int64_t outSize() const { return dims[0].out * dims[1].out * dims[2].out; }

  /// Returns the index of the input element that is multiplied by filter
  /// element `w` to compute output element `at`. The indices are along the dim
  /// `dim`:
  ///
  ///   convolution              index = at * stride - before + w * dilation
  ///   transposed convolution   at = index * stride - before + w * dilation
  ///
  /// Returns -1 if the index is outside the input, or is not an integer because
  /// of the stride of a transposed convolution.
  int64_t tap(const ConvDim &dim, int64_t at, int64_t w) const {
    int64_t from = 0;
    if (!conv.transposed) {
      from = at * dim.stride - dim.before + w * dim.dilation;
    } else {
      from = at + dim.before - w * dim.dilation;
      if (from < 0 || from % dim.stride != 0)
        return -1;
      from /= dim.stride;
    }
    return from >= 0 && from < dim.in ? from : -1;
  }

  /// Returns one output element without bias: a sum over the filter window and
  /// over the input channels of one group. `input` is the address of the input
  /// at one batch index. `channel` and `at` are the channel and the spatial
  /// indices of the output element.
  template <typename T>
  Computed<T> sumAt(const T *input, const T *weights, int64_t channel,
                    const std::array<int64_t, 3> &at) const {
    using C = Computed<T>;
    const int64_t outPerGroup = y.shape[1] / conv.groups;
    const int64_t inPerGroup = x.shape[1] / conv.groups;
    const int64_t group = channel / outPerGroup;
    const int64_t window = dims[0].window * dims[1].window * dims[2].window;
    C sum = 0;
    for (int64_t c = 0; c < inPerGroup; ++c) {
      const int64_t in = group * inPerGroup + c;
      const int64_t row = conv.transposed
                              ? in * outPerGroup + channel % outPerGroup
                              : channel * inPerGroup + c;
      for (int64_t i = 0; i < window; ++i) {
        const std::array<int64_t, 3> w = {i / (dims[1].window * dims[2].window),
                                          i / dims[2].window % dims[1].window,
                                          i % dims[2].window};
        int64_t index = in;
        bool inside = true;
        for (int d = 0; d < 3; ++d) {
          const int64_t from = tap(dims[d], at[d], w[d]);
          inside &= from >= 0;
          index = index * dims[d].in + from;
        }
        if (inside)
          sum += static_cast<C>(input[index]) *
                 static_cast<C>(weights[row * window + i]);
      }
    }
    return sum;
  }

  const ThreadTeam &threads;
  LoadContext context;
  const program::ConvT &conv;
  const program::BufferT &x, &y, &w;
  std::array<ConvDim, 3> dims;
};
} // namespace

/// Returns whether oneDNN may compute the convolution:
///
/// - no padding is negative;
/// - all tensors have elements;
/// - oneDNN supports the element type.
static bool isForDnnl(const LoadContext &context, const program::ConvT &conv) {
  for (const auto *pads : {&conv.pads_begin, &conv.pads_end})
    for (int64_t pad : *pads)
      if (pad < 0)
        return false;
  for (int32_t buffer : {conv.x, conv.w, conv.y})
    if (numElements(context.program.buffers[buffer]->shape) == 0)
      return false;
  return dnnlTypeOf(typeOf(context.program.buffers[conv.y]->type)).has_value();
}

Status prepareConv(CpuResources &resources, const LoadContext &context,
                   const program::InstructionT &instruction,
                   std::unique_ptr<Operation> &operation) {
  const program::ConvT &conv = *instruction.body.AsConv();
  if (isForDnnl(context, conv)) {
    auto dnnlConv = std::make_unique<DnnlConv>(resources, context, conv);
    bool created = false;
    Status status = dnnlConv->create(created);
    if (created || status.failed()) {
      operation = std::move(dnnlConv);
      return status;
    }
  }
  operation = std::make_unique<PlainConv>(resources, context, conv);
  return Status::success();
}

} // namespace pcc::runtime
