//===- Sequences.cpp - import of sequence ops as lists of values ----------===//
//
// Exporters express chunk, split and stack by sequences of tensors. The length
// of each sequence is known during the import. A sequence is therefore a list
// of values in the ValueTable, and sequence ops create no op for the sequence
// itself.
//
//===----------------------------------------------------------------------===//

#include "passes/1-import/build/OpTable.h"
#include "status/Counted.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace pcc::graph;

namespace pcc::onnx_import {

/// Imports SequenceAt, which returns one element of a sequence. Operand 1 is
/// the element's index; a negative index counts from the end.
static Value sequenceAt(NodeImport &n) {
  SmallVector<Value> elements = n.sequence(0);
  SmallVector<int64_t> place = n.integers(1);
  if (n.failed())
    return {};
  if (place.size() != 1)
    return n.invalid("needs exactly one position");
  int64_t at = n.normalizeDim(place[0], elements.size());
  return n.failed() ? Value() : elements[at];
}

static Value sequenceConstruct(NodeImport &n) {
  n.setSequence(0, n.operands());
  return {};
}

static Value sequenceLength(NodeImport &n) {
  double length = n.sequence(0).size();
  return n.scalar(length, n.getBuilder().getI64Type());
}

/// Imports ConcatFromSequence, which concatenates the tensors of a sequence.
/// With the attribute new_axis it stacks them along a new dim instead.
static Value concatFromSequence(NodeImport &n) {
  SmallVector<Value> elements = n.sequence(0);
  bool fresh = n.integer("new_axis", 0);
  if (n.failed() || elements.empty())
    return n.invalid("joins nothing");
  int64_t rank = shapeOf(elements.front()).size() + fresh;
  int64_t dim = n.dim("axis", 0, rank);
  if (n.failed() || !fresh)
    return n.concat(elements, dim);
  for (Value &element : elements) {
    SmallVector<int64_t> shape(shapeOf(element));
    if (static_cast<int64_t>(shape.size()) != rank - 1)
      return n.invalid("joins tensors of different ranks");
    shape.insert(shape.begin() + dim, 1);
    element = n.reshape(element, shape);
  }
  return n.concat(elements, dim);
}

/// Largest number of tensors into which SplitToSequence may split its operand.
static constexpr int64_t longestSequence = 4096;

/// Returns the sizes of the parts into which SplitToSequence splits a dim of
/// `whole` elements. They depend on operand 1:
///
///   vector   element i is the size of part i
///   scalar   all parts have this size, but the last may be smaller
///   absent   all parts have size 1
static SmallVector<int64_t> partSizes(NodeImport &n, int64_t whole) {
  DenseElementsAttr given =
      n.has(1) ? n.constantOperand(1) : DenseElementsAttr();
  if (n.failed())
    return {};
  SmallVector<int64_t> sizes =
      given ? toIntegers(given) : SmallVector<int64_t>{1};
  if (given && given.getType().getRank() != 0)
    return sizes;
  if (sizes[0] < 1 || whole / sizes[0] > longestSequence) {
    n.invalid("makes parts of " + counted(sizes[0], "element"));
    return {};
  }
  SmallVector<int64_t> parts;
  for (int64_t left = whole; left > 0; left -= sizes[0])
    parts.push_back(std::min(left, sizes[0]));
  return parts;
}

/// Imports SplitToSequence, which splits operand 0 along the dim `axis` into a
/// sequence of tensors. Operand 1 gives the sizes along this dim. Without
/// operand 1, each size is 1, and keepdims = 0 removes the dim.
static Value splitToSequence(NodeImport &n) {
  Value x = n.operand(0);
  int64_t dim = n.dim("axis", 0, shapeOf(x).size());
  if (n.failed())
    return {};
  SmallVector<int64_t> parts = partSizes(n, shapeOf(x)[dim]);
  bool keep = n.has(1) || n.integer("keepdims", 1);
  SmallVector<Value> elements;
  SmallVector<int64_t> dropped(shapeOf(x));
  dropped.erase(dropped.begin() + dim);
  int64_t start = 0;
  for (int64_t size : parts) {
    if (n.failed() || size < 0)
      return n.invalid("makes parts of " + counted(size, "element"));
    Value part = n.sliceDim(x, dim, start, size);
    elements.push_back(keep ? part : n.reshape(part, dropped));
    start += size;
  }
  if (!n.failed() && start != shapeOf(x)[dim])
    return n.invalid("splits " + counted(shapeOf(x)[dim], "element") +
                     " into parts of " + Twine(start));
  n.setSequence(0, elements);
  return {};
}

void addSequenceOps(OpTable &table) {
  static constexpr OpForm forms[] = {
      {"SequenceAt", 11, 2, 2, sequenceAt},
      {"SequenceConstruct", 11, 1, anyNumber, sequenceConstruct},
      {"SequenceLength", 11, 1, 1, sequenceLength},
      {"ConcatFromSequence", 11, 1, 1, concatFromSequence},
      {"SplitToSequence", 11, 1, 2, splitToSequence},
  };
  table.add("", forms);
}

} // namespace pcc::onnx_import
