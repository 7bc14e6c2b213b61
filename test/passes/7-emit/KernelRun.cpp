//===- KernelRun.cpp - compiled kernels beside the meaning of their ops ---===//

#include "test/passes/7-emit/KernelRun.h"
#include "dialects/dist/DistDialect.h"
#include "dialects/graph/GraphDialect.h"
#include "dialects/graph/meaning/Meaning.h"
#include "dialects/rank/RankDialect.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "passes/7-emit/KernelCode.h"
#include "passes/7-emit/KernelPlan.h"
#include "llvm/ExecutionEngine/Orc/LLJIT.h"
#include "llvm/Support/TargetSelect.h"
#include <cmath>
#include <cstring>
#include <random>

using namespace mlir;
using namespace pcc;
using namespace pcc::graph;

using Bytes = std::vector<char>;
using Entry = void (*)(void *const *, const int64_t *, int64_t, int64_t);

//===----------------------------------------------------------------------===//
// Elements in memory
//===----------------------------------------------------------------------===//

static size_t bytesOf(Type element) {
  return std::max(1u, element.getIntOrFloatBitWidth() / 8);
}

/// The bits of element i, as they lie in memory.
static uint64_t bitsOf(const HostTensor &tensor, Type element, int64_t i) {
  if (tensor.kind != ElementKind::Float)
    return tensor.ints[i];
  APFloat value(tensor.floats[i]);
  bool losesInfo;
  value.convert(cast<FloatType>(element).getFloatSemantics(),
                APFloat::rmNearestTiesToEven, &losesInfo);
  return value.bitcastToAPInt().getZExtValue();
}

static Bytes pack(const HostTensor &tensor, Type element) {
  size_t size = bytesOf(element);
  Bytes bytes(tensor.numElements() * size);
  for (int64_t i = 0; i < tensor.numElements(); ++i) {
    uint64_t bits = bitsOf(tensor, element, i);
    std::memcpy(bytes.data() + i * size, &bits, size);
  }
  return bytes;
}

static HostTensor unpack(const Bytes &bytes, RankedTensorType type) {
  HostTensor tensor = HostTensor::zeros(type);
  Type element = type.getElementType();
  size_t size = bytesOf(element);
  for (int64_t i = 0; i < tensor.numElements(); ++i) {
    uint64_t bits = 0;
    std::memcpy(&bits, bytes.data() + i * size, size);
    if (auto floating = dyn_cast<FloatType>(element)) {
      APFloat value(floating.getFloatSemantics(),
                    APInt(floating.getWidth(), bits));
      bool losesInfo;
      value.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven,
                    &losesInfo);
      tensor.floats[i] = value.convertToDouble();
    } else {
      APInt value(size * 8, bits);
      tensor.ints[i] = element.isUnsignedInteger() || element.isInteger(1)
                           ? int64_t(value.getZExtValue())
                           : value.getSExtValue();
    }
  }
  return tensor;
}

static HostTensor randomTensor(RankedTensorType type,
                               const emit::Inputs &inputs,
                               std::mt19937 &engine) {
  HostTensor tensor = HostTensor::zeros(type);
  std::uniform_real_distribution<double> number(inputs.low, inputs.high);
  bool isBool = tensor.kind == ElementKind::Bool;
  std::uniform_int_distribution<int64_t> integer(isBool ? 0 : inputs.least,
                                                 isBool ? 1 : inputs.most);
  for (double &x : tensor.floats)
    x = number(engine);
  for (int64_t &x : tensor.ints)
    x = integer(engine);
  roundTo(type.getElementType(), tensor);
  return tensor;
}

//===----------------------------------------------------------------------===//
// Running
//===----------------------------------------------------------------------===//

namespace {
struct Session {
  MLIRContext context{MLIRContext::Threading::DISABLED};
  OwningOpRef<ModuleOp> module;
  rank::KernelOp kernel;
  std::string error;

  explicit Session(StringRef text) {
    context.loadDialect<GraphDialect, dist::DistDialect, rank::RankDialect>();
    module = parseSourceString<ModuleOp>(text, &context);
    if (module)
      kernel = *module->getOps<rank::KernelOp>().begin();
    else
      error = "does not parse";
  }
};
} // namespace

/// Runs the kernel of variant `cpu` and fills `buffers` of its results.
static std::string runObject(const emit::KernelObject &object, size_t cpu,
                             std::vector<Bytes> &buffers,
                             const std::vector<int64_t> &scalars,
                             int64_t extent) {
  auto jit = llvm::orc::LLJITBuilder().create();
  if (!jit)
    return llvm::toString(jit.takeError());
  auto memory = llvm::MemoryBuffer::getMemBufferCopy(
      StringRef(object.bytes.data(), object.bytes.size()));
  if (auto error = (*jit)->addObjectFile(std::move(memory)))
    return llvm::toString(std::move(error));
  auto symbol = (*jit)->lookup("pcc_k_0_" + std::to_string(cpu));
  if (!symbol)
    return llvm::toString(symbol.takeError());
  auto entry = symbol->toPtr<Entry>();
  std::vector<void *> pointers;
  for (Bytes &buffer : buffers)
    pointers.push_back(buffer.data());
  int64_t middle = extent / 3;
  entry(pointers.data(), scalars.data(), middle, extent);
  entry(pointers.data(), scalars.data(), 0, middle);
  return "";
}

static double precisionOf(Type element) {
  if (element.isBF16())
    return 1.0 / 128;
  return element.isF16() ? 1.0 / 1024 : 0;
}

static std::string compareTensors(const HostTensor &got, const HostTensor &want,
                                  Type element, double tolerance) {
  tolerance += precisionOf(element);
  for (int64_t i = 0; i < want.numElements(); ++i) {
    if (want.kind != ElementKind::Float) {
      if (got.ints[i] != want.ints[i])
        return "element " + std::to_string(i) + " is " +
               std::to_string(got.ints[i]) + ", not " +
               std::to_string(want.ints[i]);
      continue;
    }
    double g = got.floats[i], w = want.floats[i];
    bool equal = (std::isnan(g) && std::isnan(w)) || g == w ||
                 std::fabs(g - w) <= tolerance * std::max(1.0, std::fabs(w));
    if (!equal)
      return "element " + std::to_string(i) + " is " + std::to_string(g) +
             ", not " + std::to_string(w);
  }
  return "";
}

/// What the kernel's results should be.
static std::string meaningOf(rank::KernelOp kernel,
                             const std::vector<HostTensor> &operands,
                             std::vector<HostTensor> &wanted) {
  DenseMap<Value, HostTensor> values;
  Block &body = kernel.getBody().front();
  for (auto [argument, tensor] : llvm::zip(body.getArguments(), operands))
    values[argument] = tensor;
  for (Operation &op : body.without_terminator()) {
    SmallVector<const HostTensor *> inputs;
    for (Value operand : op.getOperands())
      inputs.push_back(&values[operand]);
    SmallVector<HostTensor> outputs;
    std::string error;
    if (failed(evaluate(&op, inputs, outputs, Numerics::Model, error)))
      return op.getName().getStringRef().str() + " " + error;
    for (auto [result, tensor] : llvm::zip(op.getResults(), outputs))
      values[result] = tensor;
  }
  for (Value result : kernel.getYield().getResults())
    wanted.push_back(values[result]);
  return "";
}

static const StringRef processors[] = {"x86-64-v3", "x86-64-v4"};

static std::vector<Bytes> resultBuffers(rank::KernelOp kernel,
                                        std::vector<Bytes> buffers) {
  for (Type result : kernel.getResultTypes()) {
    auto type = cast<RankedTensorType>(result);
    buffers.emplace_back(type.getNumElements() * bytesOf(type.getElementType()),
                         0x55);
  }
  return buffers;
}

std::string emit::difference(StringRef text, Inputs inputs, double tolerance) {
  Session session(text);
  rank::KernelOp kernel = session.kernel;
  if (!kernel)
    return session.error;
  std::mt19937 engine(inputs.seed);
  std::vector<HostTensor> operands, wanted;
  std::vector<Bytes> packed;
  for (Type argument : kernel.getArgumentTypes()) {
    auto type = cast<RankedTensorType>(argument);
    operands.push_back(randomTensor(type, inputs, engine));
    packed.push_back(pack(operands.back(), type.getElementType()));
  }
  if (std::string error = meaningOf(kernel, operands, wanted); !error.empty())
    return error;
  auto objects = compileKernels(*session.module, processors);
  if (failed(objects))
    return "does not compile";
  int64_t extent = planOf(kernel).extent;
  for (auto [cpu, object] : llvm::enumerate(*objects)) {
    std::vector<Bytes> buffers = resultBuffers(kernel, packed);
    std::string error = runObject(object, cpu, buffers, inputs.scalars, extent);
    for (size_t i = 0; i < wanted.size() && error.empty(); ++i) {
      auto type = cast<RankedTensorType>(kernel.getResultTypes()[i]);
      error = compareTensors(unpack(buffers[operands.size() + i], type),
                             wanted[i], type.getElementType(), tolerance);
    }
    if (!error.empty())
      return object.cpu + ": " + error;
  }
  return "";
}

std::vector<int64_t> emit::results(StringRef text, Inputs inputs) {
  Session session(text);
  if (!session.kernel)
    return {};
  auto objects = compileKernels(*session.module, processors);
  if (failed(objects))
    return {};
  std::vector<Bytes> buffers = resultBuffers(session.kernel, {});
  std::string error = runObject(objects->front(), 0, buffers, inputs.scalars,
                                planOf(session.kernel).extent);
  if (!error.empty())
    return {};
  auto type = cast<RankedTensorType>(session.kernel.getResultTypes()[0]);
  return unpack(buffers[0], type).ints;
}
