//===- ParseType.cpp - types and shapes of values -------------------------===//

#include "passes/1-import/onnx/parse/Parser.h"

using namespace pcc::onnx;

void Parser::valueInfo(std::string_view message, ValueInfo &info) {
  Level level(*this);
  for (Wire wire(message); wire.next();) {
    if (wire.field() == 1)
      info.name = wire.bytes();
    else if (wire.field() == 2)
      type(wire.bytes(), info.type);
    else if (wire.field() == 4)
      append(wire, info.metadata, &Parser::metadata);
  }
}

void Parser::type(std::string_view message, Type &type) {
  Level level(*this);
  type = {};
  for (Wire wire(message); wire.next();) {
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

void Parser::tensorType(std::string_view message, Type &type) {
  Level level(*this);
  for (Wire wire(message); wire.next();) {
    if (wire.field() == 1)
      type.elementType = static_cast<DataType>(wire.integer());
    else if (wire.field() == 2)
      shape(wire.bytes(), type.shape.emplace());
  }
}

/// Sequence and Optional hold their type in field 1; a Map holds the type of
/// its keys there and that of its values in field 2.
void Parser::nestedType(std::string_view message, TypeKind kind, Type &type) {
  Level level(*this);
  type = {};
  type.kind = kind;
  type.inner.resize(1);
  for (Wire wire(message); wire.next();) {
    if (wire.field() == 1 && kind == TypeKind::Map)
      type.elementType = static_cast<DataType>(wire.integer());
    else if (wire.field() == (kind == TypeKind::Map ? 2u : 1u))
      this->type(wire.bytes(), type.inner.front());
  }
}

void Parser::shape(std::string_view message, std::vector<Dim> &dims) {
  Level level(*this);
  for (Wire wire(message); wire.next();)
    if (wire.field() == 1)
      append(wire, dims, &Parser::dim);
  if (dims.size() > limits.rank)
    throw Refusal{"a shape has more than " + std::to_string(limits.rank) +
                  " dims, got " + std::to_string(dims.size())};
}

void Parser::dim(std::string_view message, Dim &dim) {
  Level level(*this);
  for (Wire wire(message); wire.next();) {
    if (wire.field() == 1)
      dim = {wire.integer(), {}};
    else if (wire.field() == 2)
      dim = {std::nullopt, wire.bytes()};
  }
  if (dim.value && *dim.value < 0)
    dim.value.reset();
}
