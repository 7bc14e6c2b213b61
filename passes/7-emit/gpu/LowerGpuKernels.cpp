//===- LowerGpuKernels.cpp - kernels for threads of a GPU -----------------===//

#include "passes/7-emit/gpu/LowerGpuKernels.h"
#include "mlir/Conversion/GPUToNVVM/GPUToNVVMPass.h"
#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Transforms/DialectConversion.h"
#include "passes/7-emit/KernelRows.h"
#include "passes/7-emit/KernelSignature.h"
#include "passes/7-emit/LowerKernels.h"
#include "passes/7-emit/RandomWeights.h"
#include "passes/7-emit/gpu/FusedAttention.h"
#include "passes/7-emit/gpu/TeamThreads.h"
#include "passes/7-emit/gpu/TurnedTiles.h"

using namespace mlir;
using namespace pcc;
using namespace pcc::emit;

//===----------------------------------------------------------------------===//
// One kernel
//===----------------------------------------------------------------------===//

/// Elements that every thread takes `vector` neighbours of.
static void writeMap(KernelWriter &w, rank::KernelOp kernel,
                     const GpuPlan &plan, ArrayRef<Value> outputs,
                     const Index &chunk) {
  const KernelPlan &loops = plan.loops;
  const Index start = w.indices.scale(chunk, plan.vector);
  std::vector<Place> places;
  for (int64_t lane = 0; lane < plan.vector; ++lane)
    places.push_back(
        w.indices.delineariseLane(start, lane, loops.shape, loops.groups));
  w.readAhead(places, loops.shape);
  w.storeTogether([&] {
    for (const Place &at : places)
      for (auto [result, output] :
           llvm::zip_equal(kernel.getYield().getResults(), outputs))
        w.storeResult(result, output, at);
  });
}

namespace {
/// Numbers of the current thread and block, as i64.
struct ThreadNumbers {
  Value thread, block;
};
} // namespace

template <typename Register>
static Value readNumber(OpBuilder &builder, Location loc, int64_t count) {
  auto range = LLVM::ConstantRangeAttr::get(builder.getContext(), APInt(32, 0),
                                            APInt(32, uint64_t(count)));
  Value number = Register::create(builder, loc, builder.getI32Type(), range);
  return arith::ExtUIOp::create(builder, loc, builder.getI64Type(), number);
}

static void writeMapKernel(KernelWriter &w, rank::KernelOp kernel,
                           const GpuPlan &plan, ArrayRef<Value> outputs,
                           const ThreadNumbers &at) {
  const int64_t chunks =
      ShapedType::getNumElements(plan.loops.shape) / plan.vector;
  ScalarBuilder s = w.scalar();
  Type i64 = w.builder.getI64Type();
  Value number =
      s.add(s.mul(at.block, s.integer(i64, plan.threads)), at.thread);
  const Index chunk = w.indices.leaf(number, 0, chunks - 1);
  if (chunks == plan.blocks * plan.threads) {
    writeMap(w, kernel, plan, outputs, chunk);
    return;
  }
  Value isThere =
      s.compare(arith::CmpIPredicate::slt, number, s.integer(i64, chunks));
  w.branch(isThere, ValueRange(), [&] {
    writeMap(w, kernel, plan, outputs, chunk);
    return SmallVector<Value>();
  });
}

/// Teams of the last block that no row is left for go over the last row as
/// well, since no thread may miss a meeting, and store nothing: a result may
/// lie where an operand does.
static void writeRowKernel(KernelWriter &w, TeamThreads &threads,
                           rank::KernelOp kernel, const GpuPlan &plan,
                           ArrayRef<Value> outputs, Value block) {
  const int64_t rows = plan.loops.rows->outerSize();
  Index row = w.indices.add(
      w.indices.scale(w.indices.leaf(block, 0, plan.blocks - 1), plan.teams),
      threads.teamNumber());
  if (rangeOf(row).high >= rows) {
    ScalarBuilder s = w.scalar();
    Value number = w.materialise(row);
    Value last = s.integer(w.builder.getI64Type(), rows - 1);
    threads.setIsWanted(s.compare(arith::CmpIPredicate::sle, number, last));
    row = w.indices.leaf(s.smaller(number, last, /*isUnsigned=*/false), 0,
                         rows - 1);
  }
  writeRow(w, kernel, plan.loops, outputs, row);
}

/// Of buffers in the arena and in shared memory: as wide as an access is.
static constexpr int64_t alignmentOfBuffers = 16;

/// A function that is launched with so many threads in a block.
static LLVM::LLVMFuncOp makeEntry(OpBuilder &builder, ArrayRef<Type> types,
                                  int64_t threads, const Twine &name) {
  auto function = LLVM::LLVMFuncOp::create(
      builder, builder.getUnknownLoc(), name.str(),
      LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(builder.getContext()),
                                  types));
  function->setAttr(NVVM::NVVMDialect::getKernelFuncAttrName(),
                    builder.getUnitAttr());
  function->setAttr(NVVM::NVVMDialect::getMaxntidAttrName(),
                    builder.getDenseI32ArrayAttr({int32_t(threads)}));
  return function;
}

static LLVM::LLVMFuncOp makeEntry(OpBuilder &builder, rank::KernelOp kernel,
                                  const GpuPlan &plan, const Twine &name) {
  LLVM::LLVMFuncOp function =
      makeEntry(builder, signatureOf(kernel), plan.threads, name);
  // A result may lie where an operand of its type does.
  SmallVector<Type> tensors(kernel.getArgumentTypes());
  llvm::append_range(tensors, kernel.getResultTypes());
  for (auto [i, tensor] : llvm::enumerate(tensors)) {
    const bool mayShare =
        llvm::is_contained(kernel.getArgumentTypes(), tensor) &&
        llvm::is_contained(kernel.getResultTypes(), tensor);
    if (!mayShare)
      function.setArgAttr(i, LLVM::LLVMDialect::getNoAliasAttrName(),
                          builder.getUnitAttr());
    function.setArgAttr(i, LLVM::LLVMDialect::getAlignAttrName(),
                        builder.getI32IntegerAttr(alignmentOfBuffers));
  }
  return function;
}

static void writeKernel(OpBuilder &builder, rank::KernelOp kernel,
                        const Twine &name) {
  const GpuPlan plan = gpuPlanOf(kernel);
  LLVM::LLVMFuncOp function = makeEntry(builder, kernel, plan, name);
  Location loc = function.getLoc();
  OpBuilder inside(kernel.getContext());
  inside.setInsertionPointToStart(function.addEntryBlock(inside));
  // Without elements there are no blocks.
  if (plan.blocks > 0) {
    const ThreadNumbers at{
        readNumber<NVVM::ThreadIdXOp>(inside, loc, plan.threads),
        readNumber<NVVM::BlockIdXOp>(inside, loc, plan.blocks)};
    IndexSpace indices;
    const Index thread = indices.leaf(at.thread, 0, plan.threads - 1);
    TeamThreads threads(indices, plan, thread);
    KernelWriter w(inside, loc, indices, threads);
    w.alignment = alignmentOfBuffers;
    auto outputs = bindArguments(w, kernel, function.getArguments());
    const Index block = indices.leaf(at.block, 0, plan.blocks - 1);
    if (auto attention = attentionOf(kernel))
      writeFusedAttention(w, attention, outputs, block, thread);
    else if (plan.loops.rows)
      writeRowKernel(w, threads, kernel, plan, outputs, at.block);
    else if (plan.turnedDim >= 0)
      writeTurnedTiles(w, kernel, plan, outputs, block, thread);
    else
      writeMapKernel(w, kernel, plan, outputs, at);
  }
  LLVM::ReturnOp::create(inside, loc, ValueRange());
}

/// A thread per element of the loops that are given.
static void writeRandomKernel(OpBuilder &builder, ArrayRef<Type> types,
                              const Twine &name) {
  constexpr int64_t threads = runtime::RandomScalars::threads;
  SmallVector<Type> arguments{LLVM::LLVMPointerType::get(builder.getContext())};
  arguments.append(numRandomScalars, builder.getI64Type());
  LLVM::LLVMFuncOp function = makeEntry(builder, arguments, threads, name);
  Location loc = function.getLoc();
  OpBuilder inside(builder.getContext());
  inside.setInsertionPointToStart(function.addEntryBlock(inside));
  IndexSpace indices;
  OneThread alone;
  KernelWriter w(inside, loc, indices, alone);
  ScalarBuilder s = w.scalar();
  Type i64 = builder.getI64Type();
  Value thread = readNumber<NVVM::ThreadIdXOp>(inside, loc, threads),
        block = readNumber<NVVM::BlockIdXOp>(
            inside, loc, std::numeric_limits<int32_t>::max());
  Value number = s.add(s.mul(block, s.integer(i64, threads)), thread);
  ValueRange scalars = function.getArguments().drop_front();
  Value isThere = s.compare(arith::CmpIPredicate::slt, number,
                            numRandomElements(w, scalars));
  w.branch(isThere, ValueRange(), [&] {
    writeRandomElement(w, types, function.getArgument(0), scalars, number);
    return SmallVector<Value>();
  });
  LLVM::ReturnOp::create(inside, loc, ValueRange());
}

//===----------------------------------------------------------------------===//
// The module
//===----------------------------------------------------------------------===//

/// libdevice has libm's functions by names of its own.
static void callLibdevice(ModuleOp module) {
  for (auto function : module.getOps<LLVM::LLVMFuncOp>())
    if (function.isExternal() && !function.getSymName().starts_with("__nv_")) {
      const std::string name = "__nv_" + function.getSymName().str();
      (void)SymbolTable::replaceAllSymbolUses(
          function, StringAttr::get(module.getContext(), name), module);
      function.setSymName(name);
    }
}

static LogicalResult toNvvm(ModuleOp module) {
  callLibdevice(module);
  LLVMTypeConverter types(module.getContext());
  RewritePatternSet patterns(module.getContext());
  populateLibDeviceConversionPatterns(types, patterns);
  ConversionTarget target(*module.getContext());
  // What is not named here, as square roots, is IEEE's by an instruction;
  // libdevice would ask for approximations.
  target.addLegalDialect<LLVM::LLVMDialect, math::MathDialect>();
  target.addIllegalOp<math::ErfOp, math::ExpOp, math::LogOp, math::Log1pOp,
                      math::TanhOp>();
  if (failed(applyPartialConversion(module, target, std::move(patterns))))
    return failure();
  return lowerToLlvmDialect(module);
}

OwningOpRef<ModuleOp> pcc::emit::lowerGpuKernels(ModuleOp module) {
  DialectRegistry registry;
  registerKernelDialects(registry);
  registry.insert<NVVM::NVVMDialect>();
  auto write = [](OpBuilder &builder, rank::KernelOp kernel, int64_t number) {
    writeKernel(builder, kernel, "pcc_k_" + Twine(number));
  };
  auto writeRandom = [](OpBuilder &builder, ArrayRef<Type> types,
                        int64_t number) {
    writeRandomKernel(builder, types, "pcc_k_" + Twine(number));
  };
  OwningOpRef<ModuleOp> lowered =
      writeKernels(module, registry, write, writeRandom);
  if (failed(toNvvm(*lowered)))
    return nullptr;
  return lowered;
}
