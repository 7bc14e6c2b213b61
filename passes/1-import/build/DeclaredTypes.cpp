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

/// Formats the shape that a model declares for a value, for an error message.
/// The text has an "x" between two dims. The text of a dim is:
///
///   its size   if the model declares the size
///   its name   if the model declares a name instead of a size
///   "?"        if the model declares neither
///
/// For example, the text is "batchx10x?" for a dim `batch`, a dim of size 10,
/// and a dim with neither a size nor a name. The text is "no dims" for a
/// scalar.
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

/// Returns the MLIR tensor type of the ONNX value `name`. `values` maps the
/// name of each imported ONNX value to an SSA value or to an initializer.
/// Returns null in each of these cases:
///
///  - `values` has no SSA value and no initializer with the name `name`.
///  - `name` is an initializer, and pcc does not support the element type of
///    the initializer.
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
