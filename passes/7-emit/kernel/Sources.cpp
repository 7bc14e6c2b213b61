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

/// Emits the code that computes one element of the result of `op`, which is a
/// dist.global_index op. The number of the element is i = `at[0]`. The op
/// belongs to one dim of a tensor, and each rank holds a shard of this dim.
/// Element i of the result is the index of element i of the shard in the whole
/// dim. Example: a dim of 64 elements is split over two ranks. On the second
/// rank, the shard begins at index 32, and element 5 of the result is 37.
///
/// The size of a dim can be written as a product of factors, such as 6 = 2 · 3.
/// An element of the dim then has one index along each factor, as if the dim
/// were reshaped from [6] to [2, 3]. Each factor may be split over ranks. The
/// shard of a rank then consists of one part of each factor. The emitted code
/// first computes the index of element i in each part. The emitted code then
/// computes the sum over all factors of (offset + index in the part) · stride:
///
///   - The offset is the index along the factor at which the part begins.
///   - The stride is the product of the sizes of all later factors.
///
/// Example: a dim has 6 = 2 · 3 elements, and the factor 2 is split over two
/// ranks. Each rank holds 1 of the 2 indices along the factor 2, and all 3
/// indices along the factor 3. For i = 1 on the second rank, the sum is
/// 3 + 1 = 4:
///
///   factor   index in the part   offset   stride   (offset + index) · stride
///   2        0                   1        3        (1 + 0) · 3 = 3
///   3        1                   0        1        (0 + 1) · 1 = 1
///
/// A part may contain padding. Example: a dim of 5 elements is split over two
/// ranks, and both parts have 3 elements. The first part has the indices 0, 1
/// and 2. The second part has the indices 3 and 4 and one element of padding.
/// For an element of padding, the emitted code gives an index that lies beyond
/// the end of the dim. In the example, this index is 5.
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
