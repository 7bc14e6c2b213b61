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
/// Emits the loops of one kernel. The outermost loop of a kernel has
/// independent iterations. Several threads can share these iterations: each
/// thread calls the code of the kernel with its own values of `begin` and
/// `end`. The code executes the iterations from `begin` to `end` − 1. Example:
/// for a loop of 100 iterations, one thread passes 0 and 50, and another thread
/// passes 50 and 100.
///
/// `outputs` contains one pointer per result of the kernel. The pointer is the
/// address of the memory to which the code writes the result.
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

  /// Emits a separate loop nest for each result of the kernel. The loop nest
  /// runs over the elements of this result and stores each element.
  ///
  /// The kernel contains attention or the gradients of attention. The results
  /// of this kernel can have different shapes, so one loop nest for all results
  /// is not possible. Example: the gradient of the queries has the shape
  /// [8, 64], and the gradient of the keys has the shape [32, 64].
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

  /// Emits unit of work number `iteration` of a kernel without reductions. Each
  /// thread executes some of the units. All results of the kernel have one
  /// shape. A unit computes all elements with equal indices along the outermost
  /// dims, by loops over the other dims. `plan` determines the number of
  /// outermost dims.
  ///
  /// Example: a shape [8, 64, 100] with the outermost dims [8, 64] gives 8 · 64
  /// = 512 units. Unit 130 = 2 · 64 + 2 computes the elements [2, 2, k] of each
  /// result, by a loop over k.
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

/// Emits the function `name` with the loops of `kernel`, for calls within the
/// module. The parameters are the types of signatureOf(kernel), then the range
/// [begin, end) of iterations of the outermost loop.
///
/// Each pointer has the LLVM attribute `noalias`, although a weight that an
/// element-wise kernel updates in place is both an operand and a result. The
/// code is correct only because the code loads each element before it stores
/// the new value of the same element.
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

/// Creates the function `name` of type PccKernelFunction, without a body. The
/// runtime calls the function to execute a kernel. The parameters are an array
/// of the addresses of tensors, an array of the integer arguments of the
/// kernel, and the numbers `begin` and `end`. One call executes the iterations
/// from `begin` to `end` − 1 of the kernel's outermost loop, so that several
/// threads can share the iterations. A kernel with the attribute `in_parts`
/// ignores `begin` and `end`, and one call executes the whole kernel.
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

/// Emits the function `name`. The runtime calls this function to execute a
/// kernel. The function has four parameters: an array of pointers, an array of
/// scalars, and the numbers `begin` and `end`.
///
/// The new function calls the function `body`, which contains the loops of the
/// kernel. `body` has no arrays as parameters. It has one parameter for each
/// pointer and for each scalar, and finally `begin` and `end`. The new function
/// therefore loads each argument of the call from the arrays. Example: for a
/// kernel with two pointers and one scalar, the new function calls
/// body(pointers[0], pointers[1], scalars[0], begin, end).
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

/// Emits the function `name` of a kernel that is marked `in_parts`. One call
/// processes many parts, as a multi-tensor optimizer (NVIDIA Apex) does. A part
/// is a group of tensors of equal size: one for each result and each operand
/// that is not shared. All parts use the shared operands. Example: parts 0 and
/// 1 have the operands w and g and the result n, and share the learning rate.
/// The parameters of the function are:
///
///   buffers   addresses of learning rate, w0, w1, g0, g1, n0, n1
///   scalars   2 (number of parts), size of part 0, size of part 1
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

/// Emits the function `name`, a CPU kernel that fills a weight with random
/// numbers. The runtime passes a range of element numbers. The function is a
/// loop over this range, which generates one element per iteration.
///
/// A model may store a weight in one element type and convert it to another
/// one. `types` lists the stored type and the type after each conversion:
/// [bf16, f32] for a bf16 weight that the model converts to f32. The function
/// generates a number in the first type, converts it in the same steps, and
/// stores it in the last type.
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
///   - A math function of f32, such as exp, becomes arithmetic that evaluates a
///     polynomial approximation.
///   - A conversion between bf16 and f32 becomes integer arithmetic on the bits,
///     such as shifts.
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
