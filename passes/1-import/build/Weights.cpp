//===- Weights.cpp - initializers as graph parameters or constants --------===//

#include "passes/1-import/build/Weights.h"
#include "passes/1-import/build/DenseElements.h"
#include "passes/1-import/onnx/model/MessageText.h"
#include "runtime/base/MappedFile.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace pcc::graph;

namespace pcc::onnx_import {

static StringRef asRef(std::string_view text) {
  return StringRef(text.data(), text.size());
}

Type builtinType(onnx::DataType type, MLIRContext *context) {
  Builder b(context);
  using enum onnx::DataType;
  // clang-format off
  switch (type) {
  case Float:    return b.getF32Type();
  case Double:   return b.getF64Type();
  case Float16:  return b.getF16Type();
  case BFloat16: return b.getBF16Type();
  case Bool:     return b.getI1Type();
  case Int8:     return b.getI8Type();
  case Int16:    return b.getI16Type();
  case Int32:    return b.getI32Type();
  case Int64:    return b.getI64Type();
  case UInt8:    return b.getIntegerType(8, /*isSigned=*/false);
  case UInt16:   return b.getIntegerType(16, /*isSigned=*/false);
  case UInt32:   return b.getIntegerType(32, /*isSigned=*/false);
  case UInt64:   return b.getIntegerType(64, /*isSigned=*/false);
  default:       return {};
  }
  // clang-format on
}

onnx::DataType dataTypeOf(Type type) {
  using enum onnx::DataType;
  constexpr onnx::DataType all[] = {Float,  Double, Float16, BFloat16, Bool,
                                    Int8,   Int16,  Int32,   Int64,    UInt8,
                                    UInt16, UInt32, UInt64};
  for (onnx::DataType candidate : all)
    if (builtinType(candidate, type.getContext()) == type)
      return candidate;
  return Undefined;
}

/// Returns the entry of `metadata` in which torch.export stores the kind of an
/// initializer, such as PARAMETER or BUFFER. Returns an empty string if there
/// is no such entry.
static StringRef inputKind(const onnx::Metadata &metadata) {
  for (const onnx::MetadataEntry &entry : metadata)
    if (entry.key == "pkg.torch.export.graph_signature.InputSpec.kind")
      return asRef(entry.value);
  return {};
}

Weights::Weights(const onnx::Model &model, const ImportOptions &options,
                 ModuleOp module)
    : model(model),
      data(model.path, {options.externalDataRoot, options.allowAbsentWeights}),
      module(module), context(module.getContext()), trains(options.trains) {
  const auto note = [&](const auto &named) {
    const StringRef kind = inputKind(named.metadata);
    if (kind.ends_with("BUFFER"))
      buffers.insert(asRef(named.name));
    else if (kind.ends_with("PARAMETER"))
      parameters.insert(asRef(named.name));
  };
  llvm::for_each(model.graph.valueInfos, note);
  llvm::for_each(model.graph.initializers, note);
}

RankedTensorType Weights::typeOf(const onnx::Tensor &tensor, Emitter &emitter) {
  Type element = builtinType(tensor.dataType, context);
  if (tensor.dataType == onnx::DataType::Undefined) {
    emitter.invalid("tensor " + onnx::quoted(tensor.name) +
                    " has the data type 0, which means that it has none");
    return {};
  }
  if (!element) {
    emitter.unsupported("tensor " + onnx::quoted(tensor.name) + " has type " +
                        onnx::typeName(tensor.dataType));
    return {};
  }
  if (std::string mistake = describeShapeError(tensor.dims); !mistake.empty()) {
    emitter.invalid("tensor " + onnx::quoted(tensor.name) + " has " + mistake);
    return {};
  }
  return RankedTensorType::get(tensor.dims, element);
}

/// Returns whether `tensor` has exactly one element. For example, returns true
/// for a tensor of the shape [] and for a tensor of the shape [1, 1].
static bool isScalar(const onnx::Tensor &tensor) {
  return ShapedType::getNumElements(tensor.dims) == 1;
}

static bool isFloat(const onnx::Tensor &tensor, MLIRContext *context) {
  return isa_and_present<FloatType>(builtinType(tensor.dataType, context));
}

bool Weights::isTrained(const onnx::Tensor &tensor) const {
  const StringRef name = asRef(tensor.name);
  return trains && isFloat(tensor, context) &&
         ShapedType::getNumElements(tensor.dims) > 0 &&
         !buffers.contains(name) &&
         (!isScalar(tensor) || parameters.empty() ||
          parameters.contains(name)) &&
         trains(name);
}

bool Weights::isWeight(const onnx::Tensor &tensor) const {
  int64_t count = ShapedType::getNumElements(tensor.dims);
  return count > foldLimit || (count > 1 && isFloat(tensor, context)) ||
         (count == 1 && isTrained(tensor));
}

bool Weights::becomesParameter(const onnx::Tensor &tensor) const {
  const bool isWritten = written.contains(asRef(tensor.name));
  return (isWeight(tensor) || (isWritten && !isScalar(tensor))) &&
         (tensor.external || model.fileOffset(tensor.raw));
}

/// Imports `tensor` as a `graph.parameter` (weight) or a `graph.constant`, and
/// returns its SSA value. A weight refers to bytes in a file, or stores one
/// initial value for all its elements.
Value Weights::make(const onnx::Tensor &tensor, Emitter &emitter) {
  RankedTensorType type = typeOf(tensor, emitter);
  if (!type)
    return {};
  if (becomesParameter(tensor))
    return makeParameter(tensor, type, emitter);
  if (written.contains(asRef(tensor.name)) || isTrained(tensor))
    return makeFilled(tensor, type, emitter);
  if (!tensor.external)
    return emitter.constant(elementsFromBytes(type, asRef(tensor.raw)));
  DenseElementsAttr value = elements(tensor, emitter);
  return value ? emitter.constant(value) : Value();
}

Value Weights::makeConstantNode(const onnx::Tensor &tensor, Emitter &emitter) {
  if (ShapedType::getNumElements(tensor.dims) > foldLimit)
    return make(tensor, emitter);
  DenseElementsAttr value = elements(tensor, emitter);
  return value ? emitter.constant(value) : Value();
}

/// Reads the elements of a tensor from a file into `elements`. `type` is the
/// type of the tensor. `reference` holds the path of the file, relative to the
/// directory `root`. It also holds the offset and the length of the tensor's
/// bytes in the file. Returns an error if the file is missing or too short, or
/// if it changes during the read. The error tells pcc to exit with the code 3
/// (CannotRead).
static Status readElements(const std::string &root,
                           const onnx::DataReference &reference,
                           RankedTensorType type, DenseElementsAttr &elements) {
  runtime::MappedFile file;
  std::span<const std::byte> bytes;
  PCC_RETURN_IF_ERROR(
      runtime::MappedFile::open(root + "/" + reference.path, file, CannotRead));
  PCC_RETURN_IF_ERROR(
      file.slice(reference.offset, reference.length, CannotRead, bytes));
  elements = elementsFromBytes(
      type,
      StringRef(reinterpret_cast<const char *>(bytes.data()), bytes.size()));
  return file.checkUnchanged(CannotRead);
}

DenseElementsAttr Weights::elements(const onnx::Tensor &tensor,
                                    Emitter &emitter) {
  if (written.contains(asRef(tensor.name)))
    return {};
  return elementsOf(tensor, emitter);
}

DenseElementsAttr Weights::elementsOf(const onnx::Tensor &tensor,
                                      Emitter &emitter) {
  if (ShapedType::getNumElements(tensor.dims) > foldLimit)
    return {};
  RankedTensorType type = typeOf(tensor, emitter);
  if (!type)
    return {};
  if (!tensor.external)
    return elementsFromBytes(type, asRef(tensor.raw));
  auto reference = data.resolve(model, tensor);
  if (!reference) {
    emitter.fail(reference.status());
    return {};
  }
  DenseElementsAttr elements;
  Status status = readElements(data.root(), *reference, type, elements);
  if (status.ok())
    return elements;
  emitter.fail(status);
  return {};
}

Value Weights::makeFilled(const onnx::Tensor &tensor, RankedTensorType type,
                          Emitter &emitter) {
  DenseElementsAttr value = elementsOf(tensor, emitter);
  if (!value || !value.isSplat())
    return emitter.unsupported(
        "'" + asRef(tensor.name) +
        "' is changed by training, but its initial elements are not stored as "
        "bytes (raw_data); store them so, or keep them by --freeze");
  auto name = StringAttr::get(context, symbolFor(tensor));
  OpBuilder builder(context);
  // Insert the parameter before @main, which is the module's last op.
  builder.setInsertionPoint(&module.getBody()->back());
  auto parameter = ParameterOp::create(builder, emitter.getLoc(), name, type);
  parameter.setFillAttr(builder.getF64FloatAttr(toDoubles(value).front()));
  return readOf(tensor, type, name, emitter);
}

std::string Weights::symbolFor(const onnx::Tensor &tensor) {
  std::string symbol(tensor.name);
  for (size_t i = 1; !symbols.insert(symbol).second; ++i)
    symbol = std::string(tensor.name) + "." + std::to_string(i);
  return symbol;
}

Value Weights::makeParameter(const onnx::Tensor &tensor, RankedTensorType type,
                             Emitter &emitter) {
  auto reference = data.resolve(model, tensor);
  if (!reference)
    return emitter.fail(reference.status());
  auto file =
      StringAttr::get(context, reference->present ? reference->path : "");
  auto weight = WeightAttr::get(context, file, reference->offset,
                                reference->length, type, {});
  OpBuilder builder(context);
  builder.setInsertionPoint(&module.getBody()->back());
  auto name = StringAttr::get(context, symbolFor(tensor));
  auto parameter =
      ParameterOp::create(builder, emitter.getLoc(), name, type, weight);
  parameter.setBuffer(buffers.contains(asRef(tensor.name)));
  return readOf(tensor, type, name, emitter);
}

Value Weights::readOf(const onnx::Tensor &tensor, RankedTensorType type,
                      StringAttr name, Emitter &emitter) {
  Value read = emitter.makeTyped<GetParameterOp>(type, name.getValue());
  if (isScalar(tensor) && !written.contains(asRef(tensor.name)) && read)
    if (!tensor.external || data.resolve(model, tensor)->present)
      initial[read] = elementsOf(tensor, emitter);
  return read;
}

/// Computes the elements of `value` at compile time: if `w` has the element 2,
/// mul(w, constant 3) has the element 6. `known` holds the elements of some SSA
/// values. The function adds the elements of each op that it folds. Returns
/// null if `value` depends on unknown elements, such as an input of the model,
/// or on an op that cannot be folded (for example, over 16384 result elements).
static DenseElementsAttr evaluate(Value value,
                                  DenseMap<Value, DenseElementsAttr> &known) {
  if (auto found = known.lookup(value))
    return found;
  Operation *op = value.getDefiningOp();
  if (auto constant = dyn_cast_or_null<ConstantOp>(op))
    return dyn_cast<DenseElementsAttr>(constant.getValue());
  if (!op || op->getNumResults() != 1 || op->getNumOperands() == 0 ||
      tensorType(value).getNumElements() > foldLimit)
    return {};
  SmallVector<Attribute> operands;
  for (Value operand : op->getOperands()) {
    operands.push_back(evaluate(operand, known));
    if (!operands.back())
      return {};
  }
  SmallVector<OpFoldResult> results;
  if (mlir::failed(op->fold(operands, results)) || results.size() != 1)
    return {};
  if (auto same = dyn_cast<Value>(results.front()))
    return evaluate(same, known);
  auto elements = dyn_cast<DenseElementsAttr>(cast<Attribute>(results.front()));
  if (elements)
    known[value] = elements;
  return elements;
}

DenseElementsAttr Weights::initialElements(Value value) const {
  DenseMap<Value, DenseElementsAttr> known = initial;
  return evaluate(value, known);
}

} // namespace pcc::onnx_import
