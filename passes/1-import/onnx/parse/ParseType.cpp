//===- ParseType.cpp - parser of types and shapes of values ---------------===//

#include "passes/1-import/onnx/model/MessageText.h"
#include "passes/1-import/onnx/parse/ModelParser.h"
#include "status/Counted.h"

using namespace pcc::onnx;

void ModelParser::valueInfo(std::string_view message, ValueInfo &info) {
  NestingLevel level(*this);
  for (WireReader wire(message); wire.next();) {
    if (wire.field() == 1)
      info.name = wire.bytes();
    else if (wire.field() == 2)
      type(wire.bytes(), info.type);
    else if (wire.field() == 4)
      append(wire, info.metadata, &ModelParser::metadata);
  }
  if (const std::string claim = unknownType(info.type.elementType);
      !claim.empty())
    throw InvalidMessage{"value " + quoted(info.name) + " " + claim};
}

/// Parses `message`, which is an encoded TypeProto: the type of a value. Stores
/// the type in `type`. A TypeProto has one field for each kind of type, such as
/// a tensor or a sequence. A correct TypeProto contains only one of these
/// fields. If `message` contains several of these fields, the method stores the
/// type from the last one.
void ModelParser::type(std::string_view message, Type &type) {
  NestingLevel level(*this);
  type = {};
  for (WireReader wire(message); wire.next();) {
    switch (wire.field()) {
    case 1:
    case 8:
      type = {};
      type.kind = wire.field() == 1 ? TypeKind::Tensor : TypeKind::Sparse;
      tensorType(wire.bytes(), type);
      break;
    case 4:
      nestedType(wire.bytes(), TypeKind::Sequence, type);
      break;
    case 5:
      nestedType(wire.bytes(), TypeKind::Map, type);
      break;
    case 7:
      type = {};
      type.kind = TypeKind::Opaque;
      break;
    case 9:
      nestedType(wire.bytes(), TypeKind::Optional, type);
      break;
    default:
      break;
    }
  }
}

void ModelParser::tensorType(std::string_view message, Type &type) {
  NestingLevel level(*this);
  for (WireReader wire(message); wire.next();) {
    if (wire.field() == 1)
      type.elementType = static_cast<DataType>(wire.integer());
    else if (wire.field() == 2)
      shape(wire.bytes(), type.shape.emplace());
  }
}

/// Parses a type that contains another type:
///
///   Sequence, Optional   field 1 is the contained type
///   Map                  field 1 is the key type, field 2 the value type
void ModelParser::nestedType(std::string_view message, TypeKind kind,
                             Type &type) {
  NestingLevel level(*this);
  type = {};
  type.kind = kind;
  type.inner.resize(1);
  for (WireReader wire(message); wire.next();) {
    if (wire.field() == 1 && kind == TypeKind::Map)
      type.elementType = static_cast<DataType>(wire.integer());
    else if (wire.field() == (kind == TypeKind::Map ? 2u : 1u))
      this->type(wire.bytes(), type.inner.front());
  }
}

void ModelParser::shape(std::string_view message, std::vector<Dim> &dims) {
  NestingLevel level(*this);
  for (WireReader wire(message); wire.next();)
    if (wire.field() == 1)
      append(wire, dims, &ModelParser::dim);
  if (dims.size() > limits.rank)
    throw InvalidMessage{"a shape has more than " +
                         counted(limits.rank, "dim") + ", got " +
                         std::to_string(dims.size())};
}

/// Parses a Dimension, which is a number or a symbol. If the message contains
/// both, the last one is used.
void ModelParser::dim(std::string_view message, Dim &dim) {
  NestingLevel level(*this);
  for (WireReader wire(message); wire.next();) {
    if (wire.field() == 1)
      dim = {wire.integer(), {}};
    else if (wire.field() == 2)
      dim = {std::nullopt, wire.bytes()};
  }
  if (dim.value && *dim.value < 0)
    dim.value.reset();
}
