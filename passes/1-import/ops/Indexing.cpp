//===- Indexing.cpp - gathers, scatters, one-hot --------------------------===//

#include "passes/1-import/OpTable.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace pcc::graph;

namespace pcc::ingest {

/// Operand `i` as indices that the dialect takes: i32 or i64.
static Value indexOperand(NodeImport &n, size_t i) {
  Value indices = n.operand(i);
  if (n.failed())
    return {};
  Type type = n.elementType(i);
  if (type.isInteger(64) || type.isInteger(32))
    return indices;
  return n.cast(indices, n.getBuilder().getI64Type());
}

static Value gather(NodeImport &n) {
  Value data = n.operand(0);
  int64_t dim = n.dim("axis", 0, shapeOf(data).size());
  return n.make<GatherOp>(data, indexOperand(n, 1), static_cast<uint64_t>(dim));
}

static Value gatherElements(NodeImport &n) {
  Value data = n.operand(0);
  int64_t dim = n.dim("axis", 0, shapeOf(data).size());
  return n.make<GatherElementsOp>(data, indexOperand(n, 1),
                                  static_cast<uint64_t>(dim));
}

static Value gatherNd(NodeImport &n) {
  int64_t batch = n.integer("batch_dims", 0);
  if (batch < 0)
    return n.invalid("batch_dims is " + Twine(batch));
  return n.make<GatherNdOp>(n.operand(0), indexOperand(n, 1),
                            static_cast<uint64_t>(batch));
}

static ScatterKind scatterKind(NodeImport &n) {
  std::string word = n.text("reduction", "none");
  auto kind = llvm::StringSwitch<std::optional<ScatterKind>>(word)
                  .Case("none", ScatterKind::Set)
                  .Case("add", ScatterKind::Add)
                  .Case("mul", ScatterKind::Mul)
                  .Case("max", ScatterKind::Max)
                  .Case("min", ScatterKind::Min)
                  .Default(std::nullopt);
  if (!kind)
    n.invalid("reduction is '" + word + "'");
  return kind.value_or(ScatterKind::Set);
}

static Value scatterElements(NodeImport &n) {
  Value data = n.operand(0);
  int64_t dim = n.dim("axis", 0, shapeOf(data).size());
  ScatterKind kind = scatterKind(n);
  return n.make<ScatterElementsOp>(kind, data, indexOperand(n, 1), n.operand(2),
                                   static_cast<uint64_t>(dim));
}

static Value scatterNd(NodeImport &n) {
  ScatterKind kind = scatterKind(n);
  return n.make<ScatterNdOp>(kind, n.operand(0), indexOperand(n, 1),
                             n.operand(2));
}

static Value oneHot(NodeImport &n) {
  Value indices = indexOperand(n, 0), values = n.operand(2);
  SmallVector<int64_t> depth = n.integers(1);
  if (n.failed())
    return {};
  if (depth.size() != 1 || depth[0] < 0 ||
      shapeOf(values) != ArrayRef<int64_t>{2})
    return n.invalid("needs one depth, and two values: off and on");
  SmallVector<int64_t> shape(shapeOf(indices));
  int64_t dim = n.dim("axis", -1, shape.size() + 1);
  shape.insert(shape.begin() + dim, depth[0]);
  Value off = n.reshape(n.sliceDim(values, 0, 0, 1), {}),
        on = n.reshape(n.sliceDim(values, 0, 1, 1), {});
  return n.makeTyped<OneHotOp>(RankedTensorType::get(shape, n.elementType(2)),
                               indices, on, off, static_cast<uint64_t>(dim));
}

void addIndexingOps(OpTable &table) {
  static constexpr OpForm forms[] = {
      {"Gather", 1, 2, 2, gather},
      {"GatherElements", 11, 2, 2, gatherElements},
      {"GatherND", 11, 2, 2, gatherNd},
      {"Scatter", 9, 3, 3, scatterElements},
      {"ScatterElements", 11, 3, 3, scatterElements},
      {"ScatterND", 11, 3, 3, scatterNd},
      {"OneHot", 9, 3, 3, oneHot},
  };
  table.add("", forms);
}

} // namespace pcc::ingest
