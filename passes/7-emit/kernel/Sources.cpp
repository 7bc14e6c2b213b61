//===- Sources.cpp - code of constants, iotas and global indices ----------===//

#include "dialects/dist/DistDialect.h"
#include "dialects/graph/GraphDialect.h"
#include "passes/7-emit/kernel/Writer.h"

using namespace mlir;
using namespace pcc;
using namespace pcc::emit;

/// Emits an element of the constant `op`, whose elements are all equal.
static Value constant(KernelWriter &w, Operation *op, ArrayRef<Index>) {
  auto value = cast<DenseElementsAttr>(cast<graph::ConstantOp>(op).getValue());
  Type type = computeType(value.getElementType());
  ScalarBuilder s = w.scalar();
  if (isa<FloatType>(type))
    return s.number(type, value.getSplatValue<APFloat>().convertToDouble());
  APInt bits = value.getSplatValue<APInt>();
  return arith::ConstantOp::create(w.builder, w.loc,
                                   IntegerAttr::get(type, bits));
}

/// Emits the conversion of `number`, an i64 ≥ 0, to an element of the tensor
/// `result`. Example: the number 3 becomes 3.0 if the elements are floats.
///
/// The returned value has the type in which kernels compute. This is f32 if the
/// elements are bf16 or f16. In this case, the number is rounded to the
/// precision of bf16 or f16, and is returned as an f32.
static Value asElement(KernelWriter &w, Value number, Value result) {
  return w.scalar().convert(number, w.builder.getI64Type(),
                            graph::tensorType(result).getElementType());
}

static Value iota(KernelWriter &w, Operation *op, ArrayRef<Index> at) {
  return asElement(w, w.materialise(at[cast<graph::IotaOp>(op).getDim()]),
                   op->getResult(0));
}

/// Emits element `at[0]` of the result of a dist.global_index op. This op
/// converts an index along a dim of the rank's shard to the index along the
/// same dim of the whole tensor. Ranks may split several factors of the dim.
/// Example: if 2 ranks split the 64 of 192 = 3 · 64, local index 32 on rank 1
/// is global index 64 + 32 = 96. An element of padding gets an index beyond the
/// end of the dim.
static Value globalIndex(KernelWriter &w, Operation *op, ArrayRef<Index> at) {
  auto index = cast<dist::GlobalIndexOp>(op);
  dist::DimSharding dim = index.getSharding().getSharding().dims[0];
  if (dim.factors.empty())
    dim.factors.push_back({int64_t(index.getSize()), {}});
  SmallVector<int64_t> locals, sizes;
  for (const dist::Factor &factor : dim.factors) {
    locals.push_back(factor.localSize());
    sizes.push_back(factor.size);
  }
  MultiIndex parts = w.indices.delinearise(at[0], locals);
  SmallVector<int64_t> strides = rowMajorStrides(sizes);
  ScalarBuilder s = w.scalar();
  Type i64 = w.builder.getI64Type();
  Value sum = s.integer(i64, 0), isPadding = s.boolean(false);
  ArrayRef<Value> offsets = w.scalars[op];
  for (auto [i, factor] : llvm::enumerate(dim.factors)) {
    Value part = w.materialise(parts[i]);
    if (factor.numParts() > 1) {
      part = s.add(part, offsets.front());
      offsets = offsets.drop_front();
    }
    Value isOver =
        s.compare(arith::CmpIPredicate::sge, part, s.integer(i64, factor.size));
    isPadding = s.either(isPadding, isOver);
    sum = s.add(sum, s.mul(part, s.integer(i64, strides[i])));
  }
  Value over = s.larger(sum, s.integer(i64, index.getSize()),
                        /*isUnsigned=*/false);
  return asElement(w, s.select(isPadding, over, sum), index.getResult());
}

void pcc::emit::addSourceReads(ReadTable &table) {
  table.add<graph::ConstantOp>(constant);
  table.add<graph::IotaOp>(iota);
  table.add<dist::GlobalIndexOp>(globalIndex);
}
