//===- LowerGpuKernels.cpp - lowering of kernels to the NVVM dialect ------===//

#include "passes/7-emit/gpu/kernel/LowerGpuKernels.h"
#include "mlir/Conversion/GPUToNVVM/GPUToNVVMPass.h"
#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Transforms/DialectConversion.h"
#include "passes/7-emit/gpu/kernel/FusedAttention.h"
#include "passes/7-emit/gpu/kernel/TeamThreads.h"
#include "passes/7-emit/gpu/kernel/TransposeTiles.h"
#include "passes/7-emit/kernel/LowerKernels.h"
#include "passes/7-emit/kernel/RandomWeights.h"
#include "passes/7-emit/kernel/RowReductions.h"
#include "passes/7-emit/kernel/Signature.h"
#include "runtime/program/TensorTable.h"

using namespace mlir;
using namespace pcc;
using namespace pcc::emit;

//===----------------------------------------------------------------------===//
// One kernel
//===----------------------------------------------------------------------===//

/// Emits the computation and the stores of one thread. The elements of each
/// result are divided into groups of `plan.vector` neighboring elements. The
/// thread computes group number `chunk` of each result. Example: if
/// `plan.vector` is 4, group 2 consists of elements 8 to 11. `outputs` are the
/// pointers to the results.
static void writeMap(KernelWriter &w, rank::KernelOp kernel,
                     const GpuPlan &plan, ArrayRef<Value> outputs,
                     const Index &chunk) {
  const KernelPlan &loops = plan.loops;
  const Index start = w.indices.scale(chunk, plan.vector);
  std::vector<MultiIndex> places;
  for (int64_t lane = 0; lane < plan.vector; ++lane)
    places.push_back(
        w.indices.delineariseLane(start, lane, loops.shape, loops.groups));
  w.readAhead(places, loops.shape);
  // Emit all stores to one result before the stores to the next result. LLVM
  // can then merge stores to neighboring addresses into one wide store.
  w.storeTogether([&] {
    for (auto [result, output] :
         llvm::zip_equal(kernel.getYield().getResults(), outputs))
      for (const MultiIndex &at : places)
        w.storeResult(result, output, at);
  });
}

namespace {
/// Position of the current thread. `thread` is the index of the thread in its
/// block. `block` is the index of the block in the grid. Both are of type i64.
struct ThreadNumbers {
  Value thread, block;
};
} // namespace

/// Emits the read of a special register, such as the thread index, as an i64.
/// Tells LLVM's optimizer that the value lies in [0, count).
template <typename Register>
static Value readNumber(OpBuilder &builder, Location loc, int64_t count) {
  auto range = LLVM::ConstantRangeAttr::get(builder.getContext(), APInt(32, 0),
                                            APInt(32, uint64_t(count)));
  Value number = Register::create(builder, loc, builder.getI32Type(), range);
  return arith::ExtUIOp::create(builder, loc, builder.getI64Type(), number);
}

/// Emits the body of a kernel without reductions. Each thread computes
/// `plan.vector` neighboring elements. Surplus threads of the last block do
/// nothing.
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

/// Emits the body of a kernel with reductions, one row per team of threads.
/// Surplus teams in the last block repeat the last row, because all threads
/// must reach each barrier. Surplus teams must not store: another team may
/// already have overwritten the operand with its result.
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

/// Alignment of buffers, in bytes: enough for the widest load and store.
static constexpr int64_t alignmentOfBuffers = 16;

/// Creates the kernel entry point `name`, without a body. `types` are its
/// parameter types. Blocks have `threads` threads.
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

/// Creates the entry point `name` of `kernel`, without a body. Its pointers to
/// operands and results are aligned to 16 bytes. A pointer is noalias if its
/// tensor cannot share a buffer with another tensor.
static LLVM::LLVMFuncOp makeEntry(OpBuilder &builder, rank::KernelOp kernel,
                                  const GpuPlan &plan, const Twine &name) {
  LLVM::LLVMFuncOp function =
      makeEntry(builder, signatureOf(kernel), plan.threads, name);
  // Two tensors may share a buffer if one tensor is an operand, the other
  // tensor is a result, and their types are equal. Mark a pointer noalias if
  // its tensor cannot share a buffer with any other tensor.
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

//===----------------------------------------------------------------------===//
// Many tensors
//===----------------------------------------------------------------------===//

namespace {
/// Emits the code with which a kernel reads its table of tensors. The kernel
/// computes many tensors in one launch, and the table is an argument of the
/// kernel. The table contains the address and the size of each tensor. The
/// tensors are grouped into parts. A part is a group of tensors of equal size
/// that are computed together, such as a weight and its gradient.
struct TableReader {
  KernelWriter &w;
  runtime::TensorTable table;
  /// Pointer to the tensor table (addresses and sizes of tensors), an array of
  /// i64.
  Value words;

  /// Emits the load of the i64 at index `word` of the tensor table.
  Value at(Value word) {
    Type i64 = w.builder.getI64Type();
    Value address =
        LLVM::GEPOp::create(w.builder, w.loc, words.getType(), i64, words,
                            ValueRange{word}, LLVM::GEPNoWrapFlags::inbounds);
    return LLVM::LoadOp::create(w.builder, w.loc, i64, address);
  }

  /// Emits a binary search for the part that contains tile number `tile`, and
  /// returns the number of the part. A part is a group of tensors of equal
  /// size, such as a weight and its gradient. The table has the first tile of
  /// each part, in ascending order.
  Value findPart(Value tile) {
    ScalarBuilder s = w.scalar();
    Type i64 = tile.getType();
    Value part = s.integer(i64, 0);
    for (int64_t step = table.slots() / 2; step > 0; step /= 2) {
      Value next = s.add(part, s.integer(i64, step));
      Value isBehind = s.compare(arith::CmpIPredicate::sle, at(next), tile);
      part = s.select(isBehind, next, part);
    }
    return part;
  }

  /// Emits the load of a tensor size from the tensor table. The size is the
  /// number of elements of each tensor in part number `part`. A part is a group
  /// of tensors of equal size, such as a weight and its gradient.
  Value elements(Value part) {
    ScalarBuilder s = w.scalar();
    return at(s.add(part, s.integer(part.getType(), table.elementsAt(0))));
  }

  /// Emits the address of element `element` of tensor `tensor` in group `part`,
  /// such as a weight and its gradient. `storage` is the element type in
  /// memory. Tells LLVM that the tensor is in global memory and is aligned to
  /// 16 bytes.
  Value address(Value part, int64_t tensor, Type storage, Value element) {
    ScalarBuilder s = w.scalar();
    Type i64 = part.getType();
    Value word = s.add(s.mul(part, s.integer(i64, table.tensors)),
                       s.integer(i64, table.addressAt(0, tensor)));
    auto global = LLVM::LLVMPointerType::get(w.builder.getContext(), 1);
    Value begin = LLVM::IntToPtrOp::create(w.builder, w.loc, global, at(word));
    LLVM::AssumeOp::create(w.builder, w.loc, s.boolean(true),
                           LLVM::AssumeAlignTag(), begin,
                           s.integer(i64, widestAccess));
    return LLVM::GEPOp::create(w.builder, w.loc, global, storage, begin,
                               ValueRange{element},
                               LLVM::GEPNoWrapFlags::inbounds);
  }
};
} // namespace

/// Creates the entry point `name` of a multi-tensor kernel, without a body. The
/// first parameter is an i64 array of tensor addresses and sizes, passed by
/// value. The other parameters are pointers to operands that all tensors share,
/// such as a learning rate.
static LLVM::LLVMFuncOp
makePartsEntry(OpBuilder &builder, rank::KernelOp kernel, const GpuPlan &plan,
               const runtime::TensorTable &table, const Twine &name) {
  Type pointer = LLVM::LLVMPointerType::get(builder.getContext());
  SmallVector<Type> types(1 + sharedArgumentsOf(kernel).size(), pointer);
  LLVM::LLVMFuncOp function = makeEntry(builder, types, plan.threads, name);
  function.setArgAttr(0, LLVM::LLVMDialect::getByValAttrName(),
                      TypeAttr::get(LLVM::LLVMArrayType::get(
                          builder.getI64Type(), unsigned(table.words()))));
  function.setArgAttr(0, NVVM::NVVMDialect::getGridConstantAttrName(),
                      builder.getUnitAttr());
  function.setArgAttr(0, LLVM::LLVMDialect::getAlignAttrName(),
                      builder.getI32IntegerAttr(sizeof(int64_t)));
  for (unsigned i = 1; i < types.size(); ++i)
    function.setArgAttr(i, LLVM::LLVMDialect::getNoAliasAttrName(),
                        builder.getUnitAttr());
  return function;
}

/// Emits the computation of `plan.vector` neighboring elements of a tile by
/// this thread. `outputs` point to the start of the tile in each result. The
/// tensor ends `left` elements after this start. Complete vectors get code
/// without checks, so LLVM can merge loads and stores.
static void writeTile(KernelWriter &w, rank::KernelOp kernel,
                      const GpuPlan &plan, ArrayRef<Value> outputs,
                      const Index &thread, Value left) {
  ScalarBuilder s = w.scalar();
  const Index start = w.indices.scale(thread, plan.vector);
  auto isWithin = [&](const Index &last) {
    return s.compare(arith::CmpIPredicate::slt, w.materialise(last), left);
  };
  auto storeAt = [&](const Index &at) {
    for (auto [result, output] :
         llvm::zip_equal(kernel.getYield().getResults(), outputs))
      w.storeResult(result, output, {at});
  };
  w.branch(
      isWithin(w.indices.add(start, IndexSpace::constant(plan.vector - 1))),
      [&] { writeMap(w, kernel, plan, outputs, thread); },
      [&] {
        for (int64_t lane = 0; lane < plan.vector; ++lane) {
          const Index at = w.indices.add(start, IndexSpace::constant(lane));
          w.branch(isWithin(at), [&] { storeAt(at); }, [] {});
        }
      });
}

/// Adds the entry block of `function` and returns a builder at its start.
static OpBuilder startOf(LLVM::LLVMFuncOp function) {
  OpBuilder inside(function.getContext());
  inside.setInsertionPointToStart(function.addEntryBlock(inside));
  return inside;
}

/// Emits the function `name` of a multi-tensor kernel. Block n computes tile n:
/// a range of indices in all tensors of one group, such as a weight and its
/// gradient. The block finds the group in a table, the first kernel argument.
static void writePartsKernel(OpBuilder &builder, rank::KernelOp kernel,
                             const Twine &name) {
  const GpuPlan plan = gpuPlanOf(kernel);
  const size_t numShared = sharedArgumentsOf(kernel).size();
  const auto table = runtime::TensorTable::largest(numPartTensorsOf(kernel),
                                                   int64_t(numShared));
  LLVM::LLVMFuncOp function =
      makePartsEntry(builder, kernel, plan, table, name);
  Location loc = function.getLoc();
  OpBuilder inside = startOf(function);
  OneThreadWriter alone(inside, loc);
  KernelWriter &w = alone.w;
  ScalarBuilder s = w.scalar();
  constexpr int64_t any = std::numeric_limits<int32_t>::max();
  const Index thread =
      w.indices.leaf(readNumber<NVVM::ThreadIdXOp>(inside, loc, plan.threads),
                     0, plan.threads - 1);
  Value tile = readNumber<NVVM::BlockIdXOp>(inside, loc, any);
  TableReader reader{w, table, function.getArgument(0)};
  Value part = reader.findPart(tile);
  const int64_t tileSize = ShapedType::getNumElements(plan.loops.shape);
  Value element = s.mul(s.sub(tile, reader.at(part)),
                        s.integer(builder.getI64Type(), tileSize));
  SmallVector<Value> pointers(function.getArguments().drop_front());
  SmallVector<Type> tensors(kernel.getArgumentTypes().drop_front(numShared));
  llvm::append_range(tensors, kernel.getResultTypes());
  for (auto [i, tensor] : llvm::enumerate(tensors)) {
    Type type = storageType(cast<RankedTensorType>(tensor).getElementType());
    pointers.push_back(reader.address(part, int64_t(i), type, element));
  }
  writeTile(w, kernel, plan, bindArguments(w, kernel, pointers), thread,
            s.sub(reader.elements(part), element));
  LLVM::ReturnOp::create(inside, loc, ValueRange());
}

/// Emits the function `name` of `kernel`.
static void writeKernel(OpBuilder &builder, rank::KernelOp kernel,
                        const Twine &name) {
  if (kernel.getInParts())
    return writePartsKernel(builder, kernel, name);
  const GpuPlan plan = gpuPlanOf(kernel);
  LLVM::LLVMFuncOp function = makeEntry(builder, kernel, plan, name);
  Location loc = function.getLoc();
  OpBuilder inside = startOf(function);
  // A kernel with 0 blocks is never launched, so its function stays empty.
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
    else if (plan.transposedDim >= 0)
      writeTransposeTiles(w, kernel, plan, outputs, block, thread);
    else
      writeMapKernel(w, kernel, plan, outputs, at);
  }
  LLVM::ReturnOp::create(inside, loc, ValueRange());
}

/// Emits the function `name` of a kernel that fills a weight with random
/// numbers. Each thread generates one element. The thread first generates the
/// element in the type that the model stores, then applies the type conversions
/// of the model. `types` lists the stored type, then the type after each
/// conversion. Example: [f32, bf16] for a weight that is stored in f32 and
/// converted to bf16.
static void writeRandomKernel(OpBuilder &builder, ArrayRef<Type> types,
                              const Twine &name) {
  constexpr int64_t threads = runtime::RandomScalars::threads;
  SmallVector<Type> arguments{LLVM::LLVMPointerType::get(builder.getContext())};
  arguments.append(numRandomScalars, builder.getI64Type());
  LLVM::LLVMFuncOp function = makeEntry(builder, arguments, threads, name);
  Location loc = function.getLoc();
  OpBuilder inside = startOf(function);
  OneThreadWriter alone(inside, loc);
  KernelWriter &w = alone.w;
  ScalarBuilder s = w.scalar();
  Value thread = readNumber<NVVM::ThreadIdXOp>(inside, loc, threads),
        block = readNumber<NVVM::BlockIdXOp>(
            inside, loc, std::numeric_limits<int32_t>::max());
  Value number =
      s.add(s.mul(block, s.integer(builder.getI64Type(), threads)), thread);
  ValueRange scalars = function.getArguments().drop_front();
  Value isThere = s.compare(arith::CmpIPredicate::slt, number,
                            numRandomElements(w, scalars));
  auto write = [&] {
    writeRandomElement(w, types, function.getArgument(0), scalars, number);
  };
  w.branch(isThere, write, [] {});
  LLVM::ReturnOp::create(inside, loc, ValueRange());
}

//===----------------------------------------------------------------------===//
// The module
//===----------------------------------------------------------------------===//

/// Renames the libm functions that `module` calls to those of libdevice,
/// NVIDIA's math library: `expf` becomes `__nv_expf`.
static void callLibdevice(ModuleOp module) {
  for (auto function : module.getOps<LLVM::LLVMFuncOp>())
    if (function.isExternal() && !function.getSymName().starts_with("__nv_")) {
      const std::string name = "__nv_" + function.getSymName().str();
      (void)SymbolTable::replaceAllSymbolUses(
          function, StringAttr::get(module.getContext(), name), module);
      function.setSymName(name);
    }
}

/// Converts `module` to the LLVM and NVVM dialects.
static LogicalResult toNvvm(ModuleOp module) {
  callLibdevice(module);
  LLVMTypeConverter types(module.getContext());
  RewritePatternSet patterns(module.getContext());
  populateLibDeviceConversionPatterns(types, patterns);
  ConversionTarget target(*module.getContext());
  // Five math ops are converted to calls of libdevice, NVIDIA's math library.
  // The call of addIllegalOp() lists these five ops. The functions of libdevice
  // are approximate. All other math ops, such as math.sqrt, are left to LLVM.
  // LLVM rounds the results of these ops correctly.
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
