//===- NodeImport.cpp - view of one ONNX node for its normalizer ----------===//

#include "passes/1-import/build/NodeImport.h"
#include "dialects/dist/DistDialect.h"
#include "dialects/graph/GraphDialect.h"
#include "status/Counted.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace pcc::onnx_import {

static StringRef asRef(std::string_view text) {
  return ValueTable::asRef(text);
}

NodeImport::NodeImport(const onnx::Node &node, const ImportOptions &options,
                       ValueTable &values, OpBuilder &builder, Location loc,
                       ExitCode mismatchExitCode)
    : Emitter(builder, loc, mismatchExitCode), node(node), options(options),
      values(values) {}

//===----------------------------------------------------------------------===//
// Operands
//===----------------------------------------------------------------------===//

bool NodeImport::has(size_t i) const {
  return i < node.inputs.size() && !node.inputs[i].empty();
}

Value NodeImport::operand(size_t i) {
  return has(i) ? values.get(asRef(node.inputs[i]), *this) : Value();
}

SmallVector<Value> NodeImport::operands(size_t first) {
  SmallVector<Value> result;
  for (size_t i = first; i < node.inputs.size(); ++i)
    result.push_back(operand(i));
  return result;
}

Value NodeImport::named(StringRef name) { return values.get(name, *this); }

Type NodeImport::elementType(size_t i) {
  Value value = operand(i);
  return value ? graph::tensorType(value).getElementType()
               : builder.getF32Type();
}

SmallVector<Value> NodeImport::sequence(size_t i) {
  const SmallVector<Value> *found =
      has(i) ? values.sequence(asRef(node.inputs[i])) : nullptr;
  if (found)
    return *found;
  unsupported("operand " + Twine(i) + " is not a sequence of known length");
  return {};
}

DenseElementsAttr NodeImport::constantOperand(size_t i) {
  DenseElementsAttr value = has(i)
                                ? values.elements(asRef(node.inputs[i]), *this)
                                : DenseElementsAttr();
  if (!value)
    unsupported("operand " + Twine(i) + " ('" +
                (has(i) ? asRef(node.inputs[i]) : StringRef()) +
                "') must be known while compiling, but it depends on inputs "
                "or is too large");
  return value;
}

SmallVector<int64_t> NodeImport::integers(size_t i) {
  DenseElementsAttr value = constantOperand(i);
  return value ? toIntegers(value) : SmallVector<int64_t>();
}

SmallVector<double> NodeImport::doubles(size_t i) {
  DenseElementsAttr value = constantOperand(i);
  return value ? toDoubles(value) : SmallVector<double>();
}

std::optional<SmallVector<int64_t>> NodeImport::integersOf(StringRef name,
                                                           size_t i) {
  if (hasAttribute(name))
    return integerList(name);
  if (has(i))
    return integers(i);
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

bool NodeImport::hasAttribute(StringRef name) const {
  return node.attribute(std::string_view(name)) != nullptr;
}

/// Returns the ONNX name of the attribute type `type`, such as "ints", for
/// error messages.
static StringRef wordFor(onnx::AttributeType type) {
  static constexpr StringLiteral words[] = {
      "undefined",      "float",   "int",    "string",
      "tensor",         "graph",   "floats", "ints",
      "strings",        "tensors", "graphs", "sparse tensor",
      "sparse tensors", "type",    "types"};
  auto number = static_cast<size_t>(type);
  return number < std::size(words) ? words[number] : words[0];
}

const onnx::Attribute *NodeImport::attribute(StringRef name,
                                             onnx::AttributeType type) {
  const onnx::Attribute *found = node.attribute(std::string_view(name));
  if (!found || found->type == type)
    return found;
  invalid("attribute '" + name + "' is of type " + wordFor(found->type) +
          ", not " + wordFor(type));
  return nullptr;
}

int64_t NodeImport::integer(StringRef name, int64_t otherwise) {
  const onnx::Attribute *found = attribute(name, onnx::AttributeType::Int);
  return found ? found->i : otherwise;
}

double NodeImport::real(StringRef name, double otherwise) {
  const onnx::Attribute *found = attribute(name, onnx::AttributeType::Float);
  return found ? found->f : otherwise;
}

std::string NodeImport::text(StringRef name, StringRef otherwise) {
  const onnx::Attribute *found = attribute(name, onnx::AttributeType::String);
  return found ? std::string(found->s) : otherwise.str();
}

std::optional<SmallVector<int64_t>> NodeImport::integerList(StringRef name) {
  const onnx::Attribute *found = attribute(name, onnx::AttributeType::Ints);
  if (!found)
    return std::nullopt;
  return SmallVector<int64_t>(found->ints.begin(), found->ints.end());
}

SmallVector<std::string_view> NodeImport::textList(StringRef name) {
  const onnx::Attribute *found = attribute(name, onnx::AttributeType::Strings);
  return found ? SmallVector<std::string_view>(found->strings.begin(),
                                               found->strings.end())
               : SmallVector<std::string_view>();
}

std::optional<SmallVector<double>> NodeImport::realList(StringRef name) {
  const onnx::Attribute *found = attribute(name, onnx::AttributeType::Floats);
  if (!found)
    return std::nullopt;
  return SmallVector<double>(found->floats.begin(), found->floats.end());
}

const onnx::Tensor *NodeImport::tensor(StringRef name) {
  const onnx::Attribute *found = attribute(name, onnx::AttributeType::Tensor);
  return found ? &found->tensors.front() : nullptr;
}

/// Creates an SSA value that holds the elements of `tensor`. The tensor may
/// become a weight, and each weight needs a name. If `tensor` has no name, the
/// name of output 0 of the ONNX node becomes the name of the weight. For
/// example, the ONNX node w = Constant(value = tensor) with a large `tensor`
/// creates a weight called w.
Value NodeImport::constantTensor(const onnx::Tensor &tensor) {
  if (!tensor.name.empty() || node.outputs.empty())
    return values.weights.makeConstantNode(tensor, *this);
  onnx::Tensor named = tensor;
  named.name = node.outputs.front();
  return values.weights.makeConstantNode(named, *this);
}

int64_t NodeImport::dim(StringRef name, int64_t otherwise, int64_t rank) {
  return normalizeDim(integer(name, otherwise), rank);
}

//===----------------------------------------------------------------------===//
// Checks
//===----------------------------------------------------------------------===//

int64_t NodeImport::normalizeDim(int64_t dim, int64_t rank) {
  if (dim >= -rank && dim < rank)
    return dim < 0 ? dim + rank : dim;
  invalid("axis " + Twine(dim) + " is no dim of the tensor, which has " +
          counted(rank, "dim"));
  return 0;
}

SmallVector<int64_t> NodeImport::normalizeDims(ArrayRef<int64_t> dims,
                                               int64_t rank) {
  SmallVector<int64_t> result;
  for (int64_t dim : dims)
    result.push_back(normalizeDim(dim, rank));
  llvm::sort(result);
  if (std::adjacent_find(result.begin(), result.end()) != result.end())
    invalid("names one axis twice");
  return result;
}

Type NodeImport::typeOf(int64_t dataType) {
  if (dataType == static_cast<int64_t>(onnx::DataType::Undefined))
    invalid("names no element type");
  const auto asked = static_cast<onnx::DataType>(dataType);
  if (std::string claim = onnx::unknownType(asked); !claim.empty())
    invalid("makes a tensor that " + claim);
  Type type =
      builtinType(static_cast<onnx::DataType>(dataType), builder.getContext());
  if (!type) {
    unsupported("makes a tensor of " +
                onnx::typeName(static_cast<onnx::DataType>(dataType)));
    return builder.getF32Type();
  }
  return type;
}

//===----------------------------------------------------------------------===//
// Results
//===----------------------------------------------------------------------===//

bool NodeImport::isOutputUsed(size_t i) const {
  return i < node.outputs.size() && !node.outputs[i].empty();
}

void NodeImport::set(size_t i, Value value) {
  if (failed() || !value || !isOutputUsed(i))
    return;
  StringRef name = asRef(node.outputs[i]);
  values.define(name, value);
  Operation *op = value.getDefiningOp();
  // Store the ONNX name of the output in the attribute `graph.name` of `op`. An
  // op that already has a name keeps this name: an ONNX Identity node creates
  // no op, so two ONNX names may stand for one result. A constant, a weight, a
  // sharding constraint (`dist.pin`) and an op with several results get no
  // name. `op` is null if `value` is an argument of @main.
  bool named = !op || op->hasTrait<graph::IsStored>() || isa<dist::PinOp>(op) ||
               op->hasAttr(graph::nameName);
  if (!named && op->getNumResults() == 1)
    op->setAttr(graph::nameName, builder.getStringAttr(name));
}

void NodeImport::setSequence(size_t i, ArrayRef<Value> elements) {
  if (!failed() && isOutputUsed(i))
    values.defineSequence(asRef(node.outputs[i]), elements);
}

} // namespace pcc::onnx_import
