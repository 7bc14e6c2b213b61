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

/// Returns the kind of an initializer that torch.export stored in `metadata`,
/// such as PARAMETER or BUFFER. Returns an empty string if there is none.
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
      module(module), context(module.getContext()) {
  for (const onnx::ValueInfo &info : model.graph.valueInfos)
    if (inputKind(info.metadata).ends_with("BUFFER"))
      buffers.insert(asRef(info.name));
  for (const onnx::Tensor &tensor : model.graph.initializers)
    if (inputKind(tensor.metadata).ends_with("BUFFER"))
      buffers.insert(asRef(tensor.name));
}

RankedTensorType Weights::typeOf(const onnx::Tensor &tensor, Emitter &emitter) {
  Type element = builtinType(tensor.dataType, context);
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

/// Returns whether `tensor` has a single element. A single element cannot be
/// sharded, so the import makes it a constant of the program, not a parameter.
static bool isScalar(const onnx::Tensor &tensor) {
  return ShapedType::getNumElements(tensor.dims) == 1;
}

bool Weights::isWeight(const onnx::Tensor &tensor) const {
  int64_t count = ShapedType::getNumElements(tensor.dims);
  if (count > foldLimit)
    return true;
  return !tensor.dims.empty() && count > 1 &&
         isa_and_present<FloatType>(builtinType(tensor.dataType, context));
}

bool Weights::becomesParameter(const onnx::Tensor &tensor) const {
  const bool isWritten = written.contains(asRef(tensor.name));
  return (isWeight(tensor) || (isWritten && !isScalar(tensor))) &&
         (tensor.external || model.fileOffset(tensor.raw));
}

/// A parameter refers to raw bytes in a file. ONNX may store elements in fields
/// other than raw_data, and the model reader decodes these into memory. A
/// tensor with decoded elements becomes a constant, whatever its size.
Value Weights::make(const onnx::Tensor &tensor, Emitter &emitter) {
  RankedTensorType type = typeOf(tensor, emitter);
  if (!type)
    return {};
  if (becomesParameter(tensor))
    return makeParameter(tensor, type, emitter);
  if (written.contains(asRef(tensor.name)))
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

/// Reads the elements of a tensor of type `type` from the external file
/// root/reference.path. Returns exit code 3 if the file is shorter than it was
/// when the reference was made, or changes while it is read.
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
    emitter.fail(reference.status().code(), reference.status().message());
    return {};
  }
  DenseElementsAttr elements;
  Status status = readElements(data.root(), *reference, type, elements);
  if (status.ok())
    return elements;
  emitter.fail(status.code(), status.message());
  return {};
}

Value Weights::makeFilled(const onnx::Tensor &tensor, RankedTensorType type,
                          Emitter &emitter) {
  DenseElementsAttr value = elementsOf(tensor, emitter);
  if (!value || !value.isSplat())
    return emitter.unsupported(
        "'" + asRef(tensor.name) +
        "' is written by training, but its initial elements cannot be read");
  auto name = StringAttr::get(context, symbolFor(tensor));
  OpBuilder builder(context);
  // Insert the parameter before @main, which is the module's last op.
  builder.setInsertionPoint(&module.getBody()->back());
  auto parameter = ParameterOp::create(builder, emitter.getLoc(), name, type);
  parameter.setFillAttr(builder.getF64FloatAttr(toDoubles(value).front()));
  return emitter.makeTyped<GetParameterOp>(type, name.getValue());
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
    return emitter.fail(reference.status().code(),
                        reference.status().message());
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
  return emitter.makeTyped<GetParameterOp>(type, name.getValue());
}

} // namespace pcc::onnx_import
