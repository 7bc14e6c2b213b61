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
/// Emits the loops of one kernel into the kernel's function. `outputs` are the
/// pointers to the buffers of the results. The loops run over the outer
/// iterations (independent units of work) in [begin, end).
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

  /// Emits, for each result in turn, a loop nest over its elements. Used for
  /// kernels whose results differ in shape, so that no common loop can compute
  /// them.
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

  /// Emits one outer iteration (unit of work) of a kernel without reductions.
  /// `iteration` is the row-major number of the indices along the outermost
  /// dims. The loops run over all other dims.
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

/// Emits the function `name` with the loops of `kernel`. The function has
/// internal linkage. Its arguments are those of signatureOf(), then `begin` and
/// `end`: the range of outer iterations (independent units of work).
///
/// All pointers are marked noalias. But a kernel that updates a weight in place
/// gets one buffer as operand and as result. noalias is safe there: the kernel
/// is element-wise, so it loads each element before it stores the element at
/// the same index.
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

/// Creates the function `name` without a body. Its parameters are those of the
/// type PccKernelFunction: a list of buffers, a list of scalars, and the range
/// [begin, end) of outer iterations (independent units of work).
static LLVM::LLVMFuncOp makeEntry(OpBuilder &builder, const Twine &name) {
  MLIRContext *context = builder.getContext();
  Type pointer = LLVM::LLVMPointerType::get(context),
       i64 = builder.getI64Type();
  return LLVM::LLVMFuncOp::create(
      builder, builder.getUnknownLoc(), name.str(),
      LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(context),
                                  {pointer, pointer, i64, i64}));
}

/// Emits the load of entry `number` of the array at pointer `list`. The entries
/// have the type `type`.
static Value loadArgument(OpBuilder &inside, Value list, Type type,
                          int32_t number) {
  Location loc = inside.getUnknownLoc();
  Value address = LLVM::GEPOp::create(inside, loc, list.getType(), type, list,
                                      ArrayRef<LLVM::GEPArg>{number});
  return LLVM::LoadOp::create(inside, loc, type, address);
}

/// Emits the function `name` that the runtime calls. The runtime passes two
/// lists: pointers and scalars. The function loads the arguments of `body` from
/// the lists, and calls `body`.
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

/// Emits the CPU version of a multi-tensor kernel (attribute `in_parts`), for
/// programs for GPUs that run on a machine without a GPU. A part is one group
/// of tensors that are computed together. The two lists that the runtime passes
/// hold:
///
///   buffers   shared operands | first tensor of each part | second of each ...
///   scalars   number of parts | number of elements of each part
///
/// One call computes all parts, and ignores the arguments `begin` and `end`.
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

/// Emits the CPU version of a kernel that generates a random weight. The CPU
/// version is used if a program for GPUs runs on a machine without a GPU.
/// `types` are the weight's element types. Each outer iteration (unit of work)
/// generates one element.
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

/// Expands ops for which CPUs have no instructions: math functions of f32
/// become polynomials, and conversions from and to bf16 become integer
/// arithmetic.
static LogicalResult expandForProcessors(ModuleOp module) {
  RewritePatternSet patterns(module.getContext());
  populateMathPolynomialApproximationPatterns(
      patterns, MathPolynomialApproximationOptions());
  // The code must also run on CPUs without bf16 instructions.
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
