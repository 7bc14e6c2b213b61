//===- KernelRun.cpp - compiled kernels beside the meaning of their ops ---===//

#include "test/passes/7-emit/KernelRun.h"
#include "dialects/dist/DistDialect.h"
#include "dialects/graph/GraphDialect.h"
#include "dialects/rank/RankDialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "passes/7-emit/Passes.h"
#include "passes/7-emit/kernel/NativeCode.h"
#include "passes/7-emit/kernel/Plan.h"
#include "test/dialects/graph/reference/EvaluateOn.h"
#include "test/passes/7-emit/gpu/kernel/EmulatedGpu.h"
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

/// Returns the bits of element i as they are in memory.
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
    context.loadDialect<GraphDialect, dist::DistDialect, rank::RankDialect,
                        func::FuncDialect>();
    module = parseSourceString<ModuleOp>(text, &context);
    if (module)
      for (auto found : module->getOps<rank::KernelOp>())
        kernel = found;
    else
      error = "does not parse";
  }
};
} // namespace

namespace {
/// The kernels of a module, compiled.
class Code {
public:
  explicit Code(std::string name) : name(std::move(name)) {}
  virtual ~Code() = default;

  /// Runs kernel `number` and fills the buffers of its results. Returns an
  /// error, or an empty string.
  virtual std::string run(size_t number, std::vector<Bytes> &buffers,
                          const std::vector<int64_t> &scalars,
                          int64_t extent) = 0;

  const std::string name;
};

std::vector<void *> pointersTo(std::vector<Bytes> &buffers) {
  std::vector<void *> pointers;
  for (Bytes &buffer : buffers)
    pointers.push_back(buffer.data());
  return pointers;
}

/// A loaded object.
class HostCode : public Code {
public:
  HostCode(const emit::KernelObject &object, size_t cpu)
      : Code(object.cpu), cpu(cpu) {
    auto made = llvm::orc::LLJITBuilder().create();
    if (!made) {
      error = llvm::toString(made.takeError());
      return;
    }
    jit = std::move(*made);
    auto memory = llvm::MemoryBuffer::getMemBufferCopy(
        StringRef(object.bytes.data(), object.bytes.size()));
    if (auto failure = jit->addObjectFile(std::move(memory)))
      error = llvm::toString(std::move(failure));
  }

  /// Runs the kernel in two parts. UBSan would read the type of the kernel from
  /// the bytes before it, which may lie before its first page.
  __attribute__((no_sanitize("function"))) std::string
  run(size_t number, std::vector<Bytes> &buffers,
      const std::vector<int64_t> &scalars, int64_t extent) override {
    if (!error.empty())
      return error;
    auto symbol = jit->lookup("pcc_k_" + std::to_string(number) + "_" +
                              std::to_string(cpu));
    if (!symbol)
      return llvm::toString(symbol.takeError());
    auto entry = symbol->toPtr<Entry>();
    std::vector<void *> pointers = pointersTo(buffers);
    int64_t middle = extent / 3;
    entry(pointers.data(), scalars.data(), middle, extent);
    entry(pointers.data(), scalars.data(), 0, middle);
    return "";
  }

private:
  std::unique_ptr<llvm::orc::LLJIT> jit;
  size_t cpu = 0;
  std::string error;
};

class GpuCode : public Code {
public:
  explicit GpuCode(ModuleOp module) : Code("gpu"), gpu(module) {}

  std::string run(size_t number, std::vector<Bytes> &buffers,
                  const std::vector<int64_t> &scalars, int64_t) override {
    return gpu.run(number, pointersTo(buffers), scalars);
  }

private:
  emit::EmulatedGpu gpu;
};
} // namespace

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

/// Evaluates the ops of the kernel with the reference evaluator, and appends
/// the results to `wanted`. Returns an error, or an empty string.
static std::string meaningOf(rank::KernelOp kernel,
                             const std::vector<HostTensor> &operands,
                             std::vector<HostTensor> &wanted) {
  DenseMap<Value, HostTensor> values;
  Block &body = kernel.getBody().front();
  for (auto [argument, tensor] : llvm::zip(body.getArguments(), operands))
    values[argument] = tensor;
  for (Operation &op : body.without_terminator()) {
    std::string error;
    if (failed(evaluateOn(values, op, Numerics::Model, error)))
      return op.getName().getStringRef().str() + " " + error;
  }
  for (Value result : kernel.getYield().getResults())
    wanted.push_back(values[result]);
  return "";
}

static const StringRef processors[] = {"x86-64-v3", "x86-64-v4"};

/// Code is generated for all CPUs, and run if this machine can.
static bool hostRuns(size_t processor) {
  return processor == 0 ? __builtin_cpu_supports("x86-64-v3")
                        : __builtin_cpu_supports("x86-64-v4");
}

/// Returns the code that the host can run; nothing if the module does not
/// compile.
static std::vector<std::unique_ptr<Code>> codesOf(ModuleOp module) {
  std::vector<std::unique_ptr<Code>> codes;
  auto objects = emit::compileKernels(module, processors);
  if (failed(objects))
    return codes;
  for (auto [cpu, object] : llvm::enumerate(*objects))
    if (hostRuns(cpu))
      codes.push_back(std::make_unique<HostCode>(object, cpu));
  codes.push_back(std::make_unique<GpuCode>(module));
  return codes;
}

static std::vector<Bytes> resultBuffers(rank::KernelOp kernel,
                                        std::vector<Bytes> buffers) {
  for (Type result : kernel.getResultTypes()) {
    auto type = cast<RankedTensorType>(result);
    buffers.emplace_back(type.getNumElements() * bytesOf(type.getElementType()),
                         0x55);
  }
  return buffers;
}

std::string emit::difference(StringRef text, const Inputs &inputs,
                             double tolerance) {
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
  auto codes = codesOf(*session.module);
  if (codes.empty())
    return "does not compile";
  int64_t extent = planOf(kernel).extent;
  for (const auto &code : codes) {
    std::vector<Bytes> buffers = resultBuffers(kernel, packed);
    std::string error = code->run(0, buffers, inputs.scalars, extent);
    for (size_t i = 0; i < wanted.size() && error.empty(); ++i) {
      auto type = cast<RankedTensorType>(kernel.getResultTypes()[i]);
      error = compareTensors(unpack(buffers[operands.size() + i], type),
                             wanted[i], type.getElementType(), tolerance);
    }
    if (!error.empty())
      return code->name + ": " + error;
  }
  return "";
}

std::vector<int64_t> emit::results(StringRef text, const Inputs &inputs) {
  Session session(text);
  if (!session.kernel)
    return {};
  auto codes = codesOf(*session.module);
  if (codes.empty())
    return {};
  std::vector<Bytes> buffers = resultBuffers(session.kernel, {});
  std::string error = codes.front()->run(0, buffers, inputs.scalars,
                                         planOf(session.kernel).extent);
  if (!error.empty())
    return {};
  auto type = cast<RankedTensorType>(session.kernel.getResultTypes()[0]);
  return unpack(buffers[0], type).ints;
}

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

namespace {
/// Runs a function on random operands: launches by their code, other ops by the
/// reference evaluator.
struct FunctionRun {
  emit::Inputs inputs;
  /// Compiled kernels; null before kernels are formed.
  Code *code = nullptr;
  std::string error;
  llvm::StringMap<size_t> numbers;
  llvm::StringMap<rank::KernelOp> kernels;

  void collect(ModuleOp module) {
    for (auto kernel : module.getOps<rank::KernelOp>()) {
      numbers[kernel.getSymName()] = kernels.size();
      kernels[kernel.getSymName()] = kernel;
    }
  }

  std::vector<HostTensor> run(func::FuncOp function) {
    std::mt19937 engine(inputs.seed);
    std::vector<HostTensor> arguments;
    for (Type type : function.getArgumentTypes())
      arguments.push_back(
          randomTensor(cast<RankedTensorType>(type), inputs, engine));
    return runBlock(function.getBody().front(), arguments);
  }

  std::vector<HostTensor> runBlock(Block &body,
                                   ArrayRef<HostTensor> arguments) {
    DenseMap<Value, HostTensor> values;
    for (auto [argument, tensor] : llvm::zip(body.getArguments(), arguments))
      values[argument] = tensor;
    for (Operation &op : body.without_terminator()) {
      SmallVector<const HostTensor *> operands;
      for (Value operand : op.getOperands())
        operands.push_back(&values[operand]);
      SmallVector<HostTensor> results = runOp(op, operands);
      if (!error.empty())
        return {};
      for (auto [result, tensor] : llvm::zip(op.getResults(), results))
        values[result] = tensor;
    }
    std::vector<HostTensor> returned;
    for (Value operand : body.getTerminator()->getOperands())
      returned.push_back(values[operand]);
    return returned;
  }

  SmallVector<HostTensor> runOp(Operation &op,
                                ArrayRef<const HostTensor *> operands) {
    if (auto get = dyn_cast<GetParameterOp>(op)) {
      std::mt19937 engine(llvm::hash_value(get.getParameter()));
      return {randomTensor(tensorType(get.getResult()), inputs, engine)};
    }
    if (auto launch = dyn_cast<rank::LaunchOp>(op))
      return runLaunch(launch, operands);
    SmallVector<HostTensor> results;
    if (auto call = dyn_cast<rank::LibraryCallOp>(op)) {
      std::vector<HostTensor> arguments;
      for (const HostTensor *operand : operands)
        arguments.push_back(*operand);
      llvm::append_range(results, runBlock(call.getBody().front(), arguments));
      return results;
    }
    if (Status status = evaluate(&op, operands, results, Numerics::Model);
        status.failed())
      error = op.getName().getStringRef().str() + " " + status.message();
    return results;
  }

  SmallVector<HostTensor> runLaunch(rank::LaunchOp launch,
                                    ArrayRef<const HostTensor *> operands) {
    rank::KernelOp kernel = kernels[launch.getKernel()];
    std::vector<Bytes> buffers;
    for (auto [operand, tensor] : llvm::zip(launch.getInputs(), operands))
      buffers.push_back(pack(*tensor, tensorType(operand).getElementType()));
    buffers = resultBuffers(kernel, std::move(buffers));
    error = code->run(numbers[launch.getKernel()], buffers, inputs.scalars,
                      kernel.getExtent());
    SmallVector<HostTensor> results;
    for (auto [i, result] : llvm::enumerate(launch.getResults()))
      results.push_back(
          unpack(buffers[operands.size() + i], tensorType(result)));
    return results;
  }
};
} // namespace

std::string emit::functionDifference(StringRef text, const Inputs &inputs,
                                     double tolerance) {
  Session session(text);
  if (!session.module)
    return session.error;
  auto function = *session.module->getOps<func::FuncOp>().begin();
  FunctionRun plain;
  plain.inputs = inputs;
  std::vector<HostTensor> wanted = plain.run(function);
  if (!plain.error.empty())
    return plain.error;
  PassManager manager(&session.context);
  manager.addNestedPass<func::FuncOp>(createLowerForGpus());
  manager.addNestedPass<func::FuncOp>(createFormLibraryCalls());
  manager.addPass(createFormKernels());
  if (failed(manager.run(*session.module)))
    return "kernels cannot be formed";
  auto codes = codesOf(*session.module);
  if (codes.empty())
    return "does not compile";
  for (const auto &code : codes) {
    FunctionRun compiled;
    compiled.inputs = inputs;
    compiled.code = code.get();
    compiled.collect(*session.module);
    std::vector<HostTensor> got = compiled.run(function);
    std::string error = compiled.error;
    for (size_t i = 0; i < wanted.size() && error.empty(); ++i)
      error = compareTensors(
          got[i], wanted[i],
          cast<RankedTensorType>(function.getResultTypes()[i]).getElementType(),
          tolerance);
    if (!error.empty())
      return code->name + ": " + error;
  }
  return "";
}
