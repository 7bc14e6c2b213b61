//===- Writer.cpp - kernel code, from results back to operands ------------===//

#include "passes/7-emit/kernel/Writer.h"
#include "dialects/graph/GraphDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace pcc;
using namespace pcc::emit;

const ReadTable &ReadTable::get() {
  static const ReadTable table = [] {
    ReadTable table;
    addElementWiseReads(table);
    addFloatFunctionReads(table);
    addLayoutReads(table);
    addIndexingReads(table);
    addSourceReads(table);
    addRowReads(table);
    addAttentionReads(table);
    return table;
  }();
  return table;
}

//===----------------------------------------------------------------------===//
// Elements
//===----------------------------------------------------------------------===//

Value KernelWriter::read(Value tensor, ArrayRef<Index> at) {
  for (const Known &entry : llvm::reverse(known))
    if (entry.tensor == tensor && ArrayRef(entry.at) == at)
      return entry.element;
  Value element;
  if (Value pointer = pointers.lookup(tensor)) {
    auto type = graph::tensorType(tensor);
    element = load(pointer, type.getElementType(),
                   indices.linearise(at, type.getShape()));
  } else {
    element = readKept(tensor, at);
  }
  if (!element) {
    // The kernel computes bf16 and f16 elements as f32. Round such an element
    // to the precision of bf16 or f16. Example: this kernel computes an
    // element, uses the element in another op, and also stores the element to
    // memory as bf16. A second kernel loads the bf16 from memory. Due to the
    // rounding, both kernels compute with the same value.
    element = scalar().rounded(
        ReadTable::get().read(*this, cast<OpResult>(tensor), at),
        graph::tensorType(tensor).getElementType());
  }
  remember(tensor, at, element);
  return element;
}

Value KernelWriter::readBroadcast(Value tensor, ArrayRef<Index> at) {
  ArrayRef<int64_t> shape = graph::tensorType(tensor).getShape();
  MultiIndex place(at.take_back(shape.size()));
  for (auto [index, size] : llvm::zip_equal(place, shape))
    if (size == 1)
      index = IndexSpace::constant(0);
  return read(tensor, place);
}

Value KernelWriter::readScalar(Value tensor) {
  return read(tensor, MultiIndex(graph::tensorType(tensor).getRank()));
}

void KernelWriter::remember(Value tensor, ArrayRef<Index> at, Value element) {
  known.push_back({tensor, MultiIndex(at), element});
}

/// Emits the address of element `position` of the buffer at `pointer`.
/// `storage` is the type of the elements in memory.
static Value elementPointer(KernelWriter &w, Value pointer, Type storage,
                            const Index &position) {
  Value offset = w.materialise(position);
  return LLVM::GEPOp::create(w.builder, w.loc, pointer.getType(), storage,
                             pointer, ValueRange{offset},
                             LLVM::GEPNoWrapFlags::inbounds);
}

/// Returns the alignment, in bytes, of element number `position` of a buffer.
/// The alignment holds for all values of the loop counters that `position`
/// contains. `storage` is the element type in memory. The buffer is aligned to
/// `buffers` bytes, and at least to the size of an element.
static unsigned alignmentAt(const Index &position, Type storage,
                            int64_t buffers) {
  const int64_t size = storage.getIntOrFloatBitWidth() / 8;
  uint64_t alignment = std::max<uint64_t>(buffers, size);
  auto limit = [&](int64_t elements) {
    alignment = llvm::MinAlign(alignment, uint64_t(std::abs(elements) * size));
  };
  limit(position.constant);
  for (const Index::AffineTerm &term : position.terms)
    limit(term.coefficient);
  return unsigned(alignment);
}

Value KernelWriter::load(Value pointer, Type element, const Index &position) {
  Type storage = storageType(element);
  Value stored = LLVM::LoadOp::create(
      builder, loc, storage, elementPointer(*this, pointer, storage, position),
      alignmentAt(position, storage, alignment));
  return scalar().fromStorage(stored, element);
}

void KernelWriter::store(Value pointer, Type element, const Index &position,
                         Value value) {
  Value stored = scalar().toStorage(value, element);
  Type storage = storageType(element);
  LLVM::StoreOp::create(builder, loc, stored,
                        elementPointer(*this, pointer, storage, position),
                        alignmentAt(position, storage, alignment));
}

void KernelWriter::storeResult(Value result, Value output, ArrayRef<Index> at) {
  auto type = graph::tensorType(result);
  const Store made{output, type.getElementType(),
                   indices.linearise(at, type.getShape()), read(result, at)};
  if (waiting)
    waiting->push_back(made);
  else
    store(made.pointer, made.element, made.position, made.value);
}

void KernelWriter::storeTogether(llvm::function_ref<void()> body) {
  std::vector<Store> stores;
  waiting = &stores;
  body();
  waiting = nullptr;
  for (const Store &made : stores)
    store(made.pointer, made.element, made.position, made.value);
}

/// Returns whether a tensor of shape `from` can be broadcast to `to`, as in
/// NumPy.
static bool broadcastsTo(ArrayRef<int64_t> from, ArrayRef<int64_t> to) {
  return from.size() <= to.size() &&
         llvm::all_of(llvm::zip_equal(from, to.take_back(from.size())),
                      [](auto sizes) {
                        auto [own, all] = sizes;
                        return own == all || own == 1;
                      });
}

void KernelWriter::readAhead(ArrayRef<MultiIndex> places,
                             ArrayRef<int64_t> shape) {
  for (Value tensor : llvm::make_first_range(pointers))
    if (broadcastsTo(graph::tensorType(tensor).getShape(), shape))
      for (const MultiIndex &at : places)
        readBroadcast(tensor, at);
}

//===----------------------------------------------------------------------===//
// Rows
//===----------------------------------------------------------------------===//

MultiIndex KernelWriter::rowPlace(ArrayRef<Index> inner) const {
  MultiIndex place(rows.shape.size());
  for (auto [dim, index] : llvm::zip_equal(rows.outerDims, outer))
    place[dim] = index;
  for (auto [dim, index] : llvm::zip_equal(rows.innerDims, inner))
    place[dim] = index;
  return place;
}

MultiIndex KernelWriter::innerOf(ArrayRef<Index> at) const {
  MultiIndex inner;
  for (int64_t dim : rows.innerDims)
    inner.push_back(at[dim]);
  return inner;
}

Value KernelWriter::readKept(Value tensor, ArrayRef<Index> at) {
  Value buffer = rowBuffers.lookup(tensor);
  if (!buffer || ArrayRef(rowPlace(innerOf(at))) != at)
    return {};
  Type type = computeType(graph::tensorType(tensor).getElementType());
  return loadFromRow(buffer, type, innerOf(at));
}

Value KernelWriter::allocate(Type type, int64_t count) {
  OpBuilder::InsertionGuard guard(builder);
  Operation *function = builder.getInsertionBlock()->getParentOp();
  if (!isa<LLVM::LLVMFuncOp>(function))
    function = function->getParentOfType<LLVM::LLVMFuncOp>();
  builder.setInsertionPointToStart(&function->getRegion(0).front());
  Value size = arith::ConstantIntOp::create(builder, loc, count, 64);
  auto pointer = LLVM::LLVMPointerType::get(builder.getContext());
  return LLVM::AllocaOp::create(builder, loc, pointer, type, size,
                                /*alignment=*/64);
}

Value KernelWriter::allocateRow(Type type) {
  std::optional<int64_t> slots = threads.numSlots(rows);
  return slots ? allocate(type, *slots) : Value();
}

void KernelWriter::storeInRow(Value buffer, ArrayRef<Index> inner,
                              Value element) {
  Value pointer = elementPointer(*this, buffer, element.getType(),
                                 *threads.slotOf(*this, inner));
  LLVM::StoreOp::create(builder, loc, element, pointer);
}

Value KernelWriter::loadFromRow(Value buffer, Type type,
                                ArrayRef<Index> inner) {
  std::optional<Index> slot = threads.slotOf(*this, inner);
  if (!slot)
    return {};
  return LLVM::LoadOp::create(builder, loc, type,
                              elementPointer(*this, buffer, type, *slot));
}

void KernelWriter::keepRow(Value tensor) {
  if (pointers.contains(tensor) || rowBuffers.contains(tensor))
    return;
  Type type = computeType(graph::tensorType(tensor).getElementType());
  Value buffer = allocateRow(type);
  if (!buffer)
    return;
  overRow([&](ArrayRef<Index> inner) {
    storeInRow(buffer, inner, read(tensor, rowPlace(inner)));
  });
  rowBuffers[tensor] = buffer;
}

void KernelWriter::overRow(llvm::function_ref<void(ArrayRef<Index>)> body) {
  threads.forEach(*this, {}, [&](ArrayRef<Index> inner, ValueRange) {
    body(inner);
    return SmallVector<Value>();
  });
}

void KernelWriter::once(llvm::function_ref<void()> body) {
  threads.once(*this, body);
}

void KernelWriter::storeRow(llvm::function_ref<void()> body) {
  threads.store(*this, body);
}

SmallVector<Value> KernelWriter::foldRow(ValueRange start, NestBody body,
                                         MergeBody merge) {
  return threads.join(*this, threads.forEach(*this, start, body), merge);
}

//===----------------------------------------------------------------------===//
// Control flow
//===----------------------------------------------------------------------===//

SmallVector<Value> KernelWriter::loop(Value low, Value high, int64_t extent,
                                      ValueRange carried, LoopBody body) {
  Value step = arith::ConstantIntOp::create(builder, loc, 1, 64);
  auto loopOp = scf::ForOp::create(builder, loc, low, high, step, carried);
  OpBuilder::InsertionGuard guard(builder);
  size_t numKnown = known.size();
  Block *block = loopOp.getBody();
  if (block->mightHaveTerminator())
    block->getTerminator()->erase();
  builder.setInsertionPointToEnd(block);
  Index index = indices.leaf(loopOp.getInductionVar(), 0, extent - 1);
  scf::YieldOp::create(builder, loc, body(index, loopOp.getRegionIterArgs()));
  known.resize(numKnown);
  return SmallVector<Value>(loopOp.getResults());
}

SmallVector<Value> KernelWriter::loop(int64_t extent, ValueRange carried,
                                      LoopBody body) {
  if (extent == 1)
    return body(IndexSpace::constant(0), carried);
  Value low = arith::ConstantIntOp::create(builder, loc, 0, 64);
  Value high = arith::ConstantIntOp::create(builder, loc, extent, 64);
  return loop(low, high, extent, carried, body);
}

SmallVector<Value> KernelWriter::loops(ArrayRef<int64_t> shape,
                                       ArrayRef<int64_t> groups,
                                       ValueRange carried, NestBody body) {
  if (groups.empty())
    return body({}, carried);
  ArrayRef<int64_t> own = shape.take_front(groups[0]);
  return loop(ShapedType::getNumElements(own), carried,
              [&](const Index &position, ValueRange values) {
                MultiIndex place = indices.delinearise(position, own);
                auto withOwn = [&](ArrayRef<Index> rest, ValueRange inner) {
                  MultiIndex all(place);
                  llvm::append_range(all, rest);
                  return body(all, inner);
                };
                return loops(shape.drop_front(groups[0]), groups.drop_front(),
                             values, withOwn);
              });
}

SmallVector<Value> KernelWriter::branch(Value condition, TypeRange types,
                                        Branches onTrue, Branches onFalse) {
  auto ifOp = scf::IfOp::create(builder, loc, types, condition,
                                /*addThenBlock=*/true, /*addElseBlock=*/true);
  auto fill = [&](Block *block, Branches write) {
    OpBuilder::InsertionGuard guard(builder);
    size_t numKnown = known.size();
    builder.setInsertionPointToEnd(block);
    scf::YieldOp::create(builder, loc, write());
    known.resize(numKnown);
  };
  fill(ifOp.thenBlock(), onTrue);
  fill(ifOp.elseBlock(), onFalse);
  return SmallVector<Value>(ifOp.getResults());
}

Value KernelWriter::branch(Value condition, Type type, Branch onTrue,
                           Branch onFalse) {
  return branch(
      condition, TypeRange{type}, [&] { return SmallVector<Value>{onTrue()}; },
      [&] { return SmallVector<Value>{onFalse()}; })[0];
}

SmallVector<Value> KernelWriter::branch(Value condition, ValueRange otherwise,
                                        Branches onTrue) {
  return branch(condition, TypeRange(otherwise), onTrue,
                [&] { return SmallVector<Value>(otherwise); });
}

void KernelWriter::branch(Value condition, llvm::function_ref<void()> onTrue,
                          llvm::function_ref<void()> onFalse) {
  auto nothing = [](llvm::function_ref<void()> body) {
    body();
    return SmallVector<Value>();
  };
  branch(
      condition, TypeRange(), [&] { return nothing(onTrue); },
      [&] { return nothing(onFalse); });
}
