//===- DeclaredTypes.cpp - types that an ONNX graph declares of values ----===//

#include "passes/1-import/build/DeclaredTypes.h"
#include "passes/1-import/onnx/model/MessageText.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace pcc::graph;

namespace pcc::onnx_import {

/// Formats a shape for messages, such as "2x10"; "no dims" for a scalar.
static std::string shapeText(ArrayRef<int64_t> shape) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  llvm::interleave(shape, stream, "x");
  return shape.empty() ? "no dims" : text;
}

/// Formats a declared shape for messages, such as "batchx10x?"; "no dims" for a
/// scalar. A "?" stands for a dim with neither a size nor a name.
static std::string shapeText(const std::vector<onnx::Dim> &shape) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  llvm::interleave(
      shape, stream,
      [&](const onnx::Dim &dim) {
        if (dim.value)
          stream << *dim.value;
        else
          stream << (dim.param.empty() ? "?" : StringRef(dim.param));
      },
      "x");
  return shape.empty() ? "no dims" : text;
}

/// Returns the tensor type of the ONNX value `name`. Returns null if `values`
/// lacks the name, or if pcc lacks the element type of the initializer `name`.
static RankedTensorType typeOfValue(StringRef name, const ValueTable &values,
                                    MLIRContext *context) {
  if (Value value = values.lookup(name))
    return tensorType(value);
  const onnx::Tensor *tensor = values.initializer(name);
  Type element = tensor ? builtinType(tensor->dataType, context) : Type();
  return element ? RankedTensorType::get(tensor->dims, element)
                 : RankedTensorType();
}

static Status checkDeclaredType(const onnx::ValueInfo &info, StringRef word,
                                const ValueTable &values,
                                MLIRContext *context) {
  const StringRef name = ValueTable::asRef(info.name);
  if (info.type.kind != onnx::TypeKind::Tensor)
    return Status::success();
  const RankedTensorType type = typeOfValue(name, values, context);
  if (!type)
    return Status::success();
  std::string who = word.str() + " " + onnx::quoted(info.name);
  if (Value value = values.lookup(name))
    if (StringRef node = nodeName(value.getLoc()); !node.empty())
      who += " of node " + onnx::quoted(node.str());
  const Type declared = builtinType(info.type.elementType, context);
  if (info.type.elementType != onnx::DataType::Undefined &&
      declared != type.getElementType()) {
    std::string got;
    llvm::raw_string_ostream(got) << type.getElementType();
    return Status::error(CannotRead, who + " has elements of type " + got +
                                         ", but the model declares " +
                                         onnx::typeName(info.type.elementType));
  }
  if (onnx::contradicts(info.type, type.getShape()))
    return Status::error(UnboundDim, who + " has the shape " +
                                         shapeText(type.getShape()) +
                                         ", but the model declares " +
                                         shapeText(*info.type.shape));
  return Status::success();
}

onnx::DataType elementTypeOf(StringRef name, const ValueTable &values) {
  if (const onnx::Tensor *tensor = values.initializer(name))
    return tensor->dataType;
  Value value = values.lookup(name);
  return value ? dataTypeOf(tensorType(value).getElementType())
               : onnx::DataType::Undefined;
}

Status checkDeclaredTypes(const onnx::Graph &graph, const ValueTable &values) {
  MLIRContext *context = values.weights.getContext();
  for (const onnx::ValueInfo &output : graph.outputs)
    PCC_RETURN_IF_ERROR(checkDeclaredType(output, "output", values, context));
  for (const onnx::ValueInfo &info : graph.valueInfos)
    PCC_RETURN_IF_ERROR(checkDeclaredType(info, "value", values, context));
  return Status::success();
}

} // namespace pcc::onnx_import
