//===- LowerKernels.cpp - kernels as loops in the LLVM dialect ------------===//

#include "passes/7-emit/kernel/LowerKernels.h"
#include "dialects/graph/GraphDialect.h"
#include "mlir/Conversion/Passes.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/Transforms/Passes.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "mlir/Transforms/Passes.h"
#include "passes/7-emit/kernel/ColumnReductions.h"
#include "passes/7-emit/kernel/RandomWeights.h"
#include "passes/7-emit/kernel/RowReductions.h"
#include "passes/7-emit/kernel/Signature.h"
#include "llvm/Support/DebugLog.h"

#define DEBUG_TYPE "lower-kernels"

using namespace mlir;
using namespace pcc;
using namespace pcc::emit;

void pcc::emit::registerKernelDialects(DialectRegistry &registry) {
  registry.insert<arith::ArithDialect, cf::ControlFlowDialect,
                  LLVM::LLVMDialect, math::MathDialect, scf::SCFDialect>();
}

//===----------------------------------------------------------------------===//
// One kernel
//===----------------------------------------------------------------------===//

namespace {
/// Emits the loops of one kernel. The code executes the iterations `begin` to
/// `end` − 1 of the outermost loop. Threads share its independent iterations.
/// `outputs` are the addresses of the kernel's results.
struct BodyWriter {
  rank::KernelOp kernel;
  KernelPlan plan;
  KernelWriter &w;
  SmallVector<Value> outputs;
  Value begin, end;

  rank::YieldOp yield() { return kernel.getYield(); }

  void write() {
    w.loop(begin, end, plan.extent, {},
           [&](const Index &iteration, ValueRange) {
             if (plan.hasOwnShapes)
               writeApart();
             else if (plan.width > 0)
               writeColumns(w, kernel, plan, outputs, iteration);
             else if (plan.rows)
               writeRow(w, kernel, plan, outputs, iteration);
             else
               writeElements(iteration);
             return SmallVector<Value>();
           });
  }

  /// Emits a separate loop nest for each result of a kernel with attention or
  /// its gradients. These results can have different shapes.
  void writeApart() {
    for (auto [result, output] :
         llvm::zip_equal(yield().getResults(), outputs)) {
      auto shape = graph::tensorType(result).getShape();
      const SmallVector<int64_t> groups(shape.size(), 1);
      w.loops(shape, groups, {}, [&](ArrayRef<Index> at, ValueRange) {
        w.storeResult(result, output, at);
        return SmallVector<Value>();
      });
    }
  }

  /// Emits iteration number `iteration` of the parallel outermost loops of a
  /// kernel without reductions. The number determines the indices along the
  /// dims of these loops. The iteration stores all result elements with these
  /// indices, by loops over the other dims.
  void writeElements(const Index &iteration) {
    int64_t numOuter = 0;
    for (int64_t group : ArrayRef(plan.groups).take_front(plan.numParallel))
      numOuter += group;
    ArrayRef<int64_t> shape = plan.shape;
    MultiIndex outer =
        w.indices.delinearise(iteration, shape.take_front(numOuter));
    w.loops(shape.drop_front(numOuter),
            ArrayRef(plan.groups).drop_front(plan.numParallel), {},
            [&](ArrayRef<Index> inner, ValueRange) {
              MultiIndex at(outer);
              llvm::append_range(at, inner);
              for (auto [result, output] :
                   llvm::zip_equal(yield().getResults(), outputs))
                w.storeResult(result, output, at);
              return SmallVector<Value>();
            });
  }
};
} // namespace

/// Emits the function `name` with the loops of `kernel`. The parameters are
/// signatureOf(kernel) and the range [begin, end) of outermost iterations. All
/// pointers are `noalias`, although an in-place update passes the same buffer
/// as operand and as result. This is correct only because the code loads each
/// element before it stores the new value of this element.
static LLVM::LLVMFuncOp writeBody(OpBuilder &builder, rank::KernelOp kernel,
                                  const Twine &name) {
  MLIRContext *context = kernel.getContext();
  Location loc = builder.getUnknownLoc();
  SmallVector<Type> types = signatureOf(kernel);
  const size_t numOwn = types.size();
  types.append(2, builder.getI64Type());
  auto function = LLVM::LLVMFuncOp::create(
      builder, loc, name.str(),
      LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(context), types),
      LLVM::Linkage::Internal);
  for (auto [i, type] : llvm::enumerate(types))
    if (isa<LLVM::LLVMPointerType>(type))
      function.setArgAttr(i, LLVM::LLVMDialect::getNoAliasAttrName(),
                          builder.getUnitAttr());
  OpBuilder inside(context);
  inside.setInsertionPointToStart(function.addEntryBlock(inside));
  OneThreadWriter alone(inside, loc);
  KernelWriter &writer = alone.w;
  auto arguments = function.getArguments();
  BodyWriter body{kernel,
                  planOf(kernel),
                  writer,
                  bindArguments(writer, kernel, arguments.take_front(numOwn)),
                  arguments[numOwn],
                  arguments[numOwn + 1]};
  body.write();
  LLVM::ReturnOp::create(inside, loc, ValueRange());
  return function;
}

/// Creates the function `name` of type PccKernelFunction, without a body, by
/// which the runtime executes a kernel. The parameters are an array of tensor
/// addresses, an array of integers, and the range [begin, end) of outermost
/// iterations.
static LLVM::LLVMFuncOp makeEntry(OpBuilder &builder, const Twine &name) {
  MLIRContext *context = builder.getContext();
  Type pointer = LLVM::LLVMPointerType::get(context),
       i64 = builder.getI64Type();
  return LLVM::LLVMFuncOp::create(
      builder, builder.getUnknownLoc(), name.str(),
      LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(context),
                                  {pointer, pointer, i64, i64}));
}

/// Emits the load of the array element with index `number`. `list` is the
/// address of the array, and `type` the type of the element.
static Value loadArgument(OpBuilder &inside, Value list, Type type,
                          int32_t number) {
  Location loc = inside.getUnknownLoc();
  Value address = LLVM::GEPOp::create(inside, loc, list.getType(), type, list,
                                      ArrayRef<LLVM::GEPArg>{number});
  return LLVM::LoadOp::create(inside, loc, type, address);
}

/// Emits the function `name`, which the runtime calls to execute a kernel. The
/// function loads the arguments of `body` from two arrays, one of pointers and
/// one of scalars.
static void writeEntry(OpBuilder &builder, LLVM::LLVMFuncOp body,
                       const Twine &name) {
  Location loc = builder.getUnknownLoc();
  LLVM::LLVMFuncOp function = makeEntry(builder, name);
  OpBuilder inside(builder.getContext());
  inside.setInsertionPointToStart(function.addEntryBlock(inside));
  SmallVector<Value> operands;
  int32_t next[2] = {0, 0};
  for (Type type : body.getArgumentTypes().drop_back(2)) {
    int which = isa<LLVM::LLVMPointerType>(type) ? 0 : 1;
    operands.push_back(
        loadArgument(inside, function.getArgument(which), type, next[which]++));
  }
  operands.append({function.getArgument(2), function.getArgument(3)});
  LLVM::CallOp::create(inside, loc, body, operands);
  LLVM::ReturnOp::create(inside, loc, ValueRange());
}

//===----------------------------------------------------------------------===//
// Kernels in parts
//===----------------------------------------------------------------------===//

/// Emits the function `name` of a kernel that processes many groups of tensors
/// in one call, like the multi-tensor kernels of NVIDIA Apex. The function
/// receives the addresses of tensors in the array `buffers`, and integers in
/// the array `scalars`. Example for two groups (operands w and g, result n),
/// which share one operand, the learning rate:
///
///   buffers   addresses of learning rate, w0, w1, g0, g1, n0, n1
///   scalars   2 (number of groups), size of group 0, size of group 1
static void writePartsKernel(OpBuilder &builder, rank::KernelOp kernel,
                             const Twine &name) {
  Location loc = builder.getUnknownLoc();
  LLVM::LLVMFuncOp function = makeEntry(builder, name);
  OpBuilder inside(builder.getContext());
  inside.setInsertionPointToStart(function.addEntryBlock(inside));
  OneThreadWriter alone(inside, loc);
  KernelWriter &w = alone.w;
  ScalarBuilder s = w.scalar();
  Type i64 = builder.getI64Type(),
       pointer = LLVM::LLVMPointerType::get(builder.getContext());
  Value buffers = function.getArgument(0), scalars = function.getArgument(1);
  auto load = [&](Value list, Type type, Value at) -> Value {
    Value address = LLVM::GEPOp::create(inside, loc, list.getType(), type, list,
                                        ValueRange{at});
    return LLVM::LoadOp::create(inside, loc, type, address);
  };
  constexpr int64_t any = std::numeric_limits<int64_t>::max();
  Value zero = s.integer(i64, 0), one = s.integer(i64, 1);
  Value parts = load(scalars, i64, zero);
  w.loop(zero, parts, any, {}, [&](const Index &index, ValueRange) {
    Value part = w.materialise(index);
    const auto shared = int64_t(sharedArgumentsOf(kernel).size());
    auto ofPart = [&](int64_t tensor) {
      Value first =
          s.add(s.integer(i64, shared), s.mul(parts, s.integer(i64, tensor)));
      return load(buffers, pointer, s.add(first, part));
    };
    SmallVector<Value> arguments;
    for (int64_t i = 0; i < shared; ++i)
      arguments.push_back(load(buffers, pointer, s.integer(i64, i)));
    for (int64_t i = 0; i < numPartTensorsOf(kernel); ++i)
      arguments.push_back(ofPart(i));
    const SmallVector<Value> outputs = bindArguments(w, kernel, arguments);
    Value elements = load(scalars, i64, s.add(part, one));
    w.loop(zero, elements, any, {}, [&](const Index &element, ValueRange) {
      for (auto [result, output] :
           llvm::zip_equal(kernel.getYield().getResults(), outputs))
        w.storeResult(result, output, {element});
      return SmallVector<Value>();
    });
    return SmallVector<Value>();
  });
  LLVM::ReturnOp::create(inside, loc, ValueRange());
}

//===----------------------------------------------------------------------===//
// Random weights
//===----------------------------------------------------------------------===//

/// Emits the function `name`, a CPU kernel that fills a range of elements of a
/// weight with random numbers. `types` lists the stored type and the type after
/// each cast, such as [bf16, f32]. Numbers are generated in the first type and
/// stored in the last type.
static void writeRandomKernel(OpBuilder &builder, ArrayRef<Type> types,
                              const Twine &name) {
  Location loc = builder.getUnknownLoc();
  LLVM::LLVMFuncOp function = makeEntry(builder, name);
  OpBuilder inside(builder.getContext());
  inside.setInsertionPointToStart(function.addEntryBlock(inside));
  auto load = [&](Value list, Type type, int32_t number) {
    return loadArgument(inside, list, type, number);
  };
  Value target = load(function.getArgument(0),
                      LLVM::LLVMPointerType::get(builder.getContext()), 0);
  SmallVector<Value> scalars;
  for (int32_t i = 0; i < numRandomScalars; ++i)
    scalars.push_back(load(function.getArgument(1), builder.getI64Type(), i));
  OneThreadWriter alone(inside, loc);
  KernelWriter &w = alone.w;
  w.loop(function.getArgument(2), function.getArgument(3),
         std::numeric_limits<int64_t>::max(), {},
         [&](const Index &number, ValueRange) {
           writeRandomElement(w, types, target, scalars, w.materialise(number));
           return SmallVector<Value>();
         });
  LLVM::ReturnOp::create(inside, loc, ValueRange());
}

//===----------------------------------------------------------------------===//
// The module
//===----------------------------------------------------------------------===//

LogicalResult pcc::emit::lowerToLlvmDialect(ModuleOp module) {
  PassManager manager(module.getContext());
  manager.addPass(createCSEPass());
  manager.addPass(createSCFToControlFlowPass());
  manager.addPass(createConvertMathToLLVMPass());
  manager.addPass(createArithToLLVMConversionPass());
  manager.addPass(createConvertControlFlowToLLVMPass());
  return manager.run(module);
}

/// Replaces ops for which a CPU may have no instruction, in two cases:
///
/// - A math function of f32, such as exp, becomes arithmetic that evaluates a
///   polynomial approximation.
/// - A conversion between bf16 and f32 becomes integer arithmetic on the bits,
///   such as shifts.
static LogicalResult expandForProcessors(ModuleOp module) {
  RewritePatternSet patterns(module.getContext());
  populateMathPolynomialApproximationPatterns(
      patterns, MathPolynomialApproximationOptions());
  // Replace conversions between bf16 and f32 by integer arithmetic. The
  // generated code must also run on CPUs that have no instructions for bf16.
  arith::populateExpandBFloat16Patterns(patterns);
  GreedyRewriteConfig config;
  config.enableFolding(false);
  return applyPatternsGreedily(module, std::move(patterns), config);
}

OwningOpRef<ModuleOp> pcc::emit::writeKernels(
    ModuleOp module, const DialectRegistry &registry,
    llvm::function_ref<void(OpBuilder &, rank::KernelOp, int64_t)> write,
    llvm::function_ref<void(OpBuilder &, ArrayRef<Type>, int64_t)>
        writeRandom) {
  MLIRContext *context = module.getContext();
  context->appendDialectRegistry(registry);
  for (StringRef name : registry.getDialectNames())
    context->getOrLoadDialect(name);
  OwningOpRef<ModuleOp> written = ModuleOp::create(module.getLoc());
  OpBuilder builder(context);
  int64_t number = 0;
  for (auto kernel : module.getOps<rank::KernelOp>()) {
    builder.setInsertionPointToEnd(written->getBody());
    write(builder, kernel, number++);
  }
  for (const ElementTypes &types : randomKernelsOf(module)) {
    builder.setInsertionPointToEnd(written->getBody());
    writeRandom(builder, types, number++);
  }
  LDBG() << "wrote " << number << " kernels";
  return written;
}

OwningOpRef<ModuleOp> pcc::emit::lowerKernels(ModuleOp module) {
  DialectRegistry registry;
  registerKernelDialects(registry);
  auto write = [](OpBuilder &builder, rank::KernelOp kernel, int64_t number) {
    if (kernel.getInParts())
      return writePartsKernel(builder, kernel, "pcc_k_" + Twine(number));
    auto body = writeBody(builder, kernel, "pcc_loops_" + Twine(number));
    writeEntry(builder, body, "pcc_k_" + Twine(number));
  };
  auto writeRandom = [](OpBuilder &builder, ArrayRef<Type> types,
                        int64_t number) {
    writeRandomKernel(builder, types, "pcc_k_" + Twine(number));
  };
  OwningOpRef<ModuleOp> lowered =
      writeKernels(module, registry, write, writeRandom);
  if (failed(expandForProcessors(*lowered)) ||
      failed(lowerToLlvmDialect(*lowered)))
    return nullptr;
  return lowered;
}
