//===- ParseAttribute.cpp - parser of attributes of nodes -----------------===//

#include "passes/1-import/onnx/parse/ModelParser.h"

#include "passes/1-import/onnx/model/MessageText.h"

using namespace pcc::onnx;

/// Returns the attribute type that belongs to field number `field` of
/// AttributeProto. An AttributeProto has one field for each attribute type. The
/// field holds the value of an attribute of that type. Example: field 3 holds
/// an integer, so the result for 3 is Int. Returns Undefined for a field that
/// does not hold a value, such as field 1, which holds the name.
static AttributeType typeOfField(uint32_t field) {
  switch (field) {
  case 2:
    return AttributeType::Float;
  case 3:
    return AttributeType::Int;
  case 4:
    return AttributeType::String;
  case 5:
    return AttributeType::Tensor;
  case 6:
    return AttributeType::Graph;
  case 7:
    return AttributeType::Floats;
  case 8:
    return AttributeType::Ints;
  case 9:
    return AttributeType::Strings;
  case 10:
    return AttributeType::Tensors;
  case 11:
    return AttributeType::Graphs;
  case 14:
    return AttributeType::TypeProto;
  case 15:
    return AttributeType::TypeProtos;
  case 22:
    return AttributeType::SparseTensor;
  case 23:
    return AttributeType::SparseTensors;
  default:
    return AttributeType::Undefined;
  }
}

/// Returns whether a parsed attribute has the right number of values. An
/// attribute of the type Tensor, SparseTensor, Graph or TypeProto must have
/// exactly one value. Example: if `attribute` has the type Tensor and the list
/// `attribute.tensors` has 0 or 2 entries, the result is false. For each other
/// attribute type, such as Int or Tensors, the result is true.
static bool hasItsValue(const Attribute &attribute) {
  switch (attribute.type) {
  case AttributeType::Tensor:
    return attribute.tensors.size() == 1;
  case AttributeType::Graph:
    return attribute.graphs.size() == 1;
  case AttributeType::SparseTensor:
    return attribute.sparseTensors.size() == 1;
  case AttributeType::TypeProto:
    return attribute.types.size() == 1;
  default:
    return true;
  }
}

/// Checks `attribute` after all its fields have been parsed. `found` is the
/// type of the values in the file; Undefined for none. Sets a missing
/// `attribute.type` to `found`. Throws InvalidMessage if the name, the type or
/// the values are invalid.
static void finishAttribute(Attribute &attribute, AttributeType found) {
  if (attribute.name.empty())
    throw InvalidMessage{"an attribute has no name"};
  const auto refuse = [&](const std::string &claim) {
    throw InvalidMessage{"attribute " + quoted(attribute.name) + " " + claim};
  };
  // `attribute.type` is Undefined if the file does not store the type of the
  // attribute. Example: a model with IR version 1 stores no attribute types.
  // The values of the attribute, however, have a type. Use this type (`found`).
  if (attribute.type == AttributeType::Undefined)
    attribute.type = found;
  const auto number = static_cast<int32_t>(attribute.type);
  if (number < 1 || number > static_cast<int32_t>(AttributeType::TypeProtos))
    refuse("has type " + std::to_string(number));
  if (found != AttributeType::Undefined && found != attribute.type)
    refuse("has type " + std::to_string(number) + ", got a value of type " +
           std::to_string(static_cast<int32_t>(found)));
  if (attribute.refAttrName.empty() && !hasItsValue(attribute))
    refuse("does not have exactly one value");
}

/// Parses `message`, an encoded AttributeProto, which is an attribute of a
/// node. Stores the attribute in `attribute`. An AttributeProto has one field
/// for each attribute type, such as the field i for an integer and the field f
/// for a float. A valid AttributeProto has values in the field of only one
/// type. Throws InvalidMessage if it has values of two types, such as i = 3 and
/// f = 0.5.
void ModelParser::attribute(std::string_view message, Attribute &attribute) {
  NestingLevel level(*this);
  AttributeType found = AttributeType::Undefined;
  for (WireReader wire(message); wire.next();) {
    const AttributeType here = typeOfField(wire.field());
    if (here == AttributeType::Undefined) {
      if (wire.field() == 1)
        attribute.name = wire.bytes();
      else if (wire.field() == 20)
        attribute.type = static_cast<AttributeType>(wire.integer());
      else if (wire.field() == 21)
        attribute.refAttrName = wire.bytes();
      continue;
    }
    if (found != AttributeType::Undefined && found != here)
      throw InvalidMessage{"attribute " + quoted(attribute.name) +
                           " has values of two types"};
    found = here;
    attributeValue(wire, here, attribute);
  }
  finishAttribute(attribute, found);
}

/// Parses the value in the current field of `wire`. Stores it in the member of
/// `attribute` that `type` selects: Int sets `i`, and Tensor appends to
/// `tensors`.
void ModelParser::attributeValue(const WireReader &wire, AttributeType type,
                                 Attribute &attribute) {
  switch (type) {
  case AttributeType::Float:
    attribute.f = wire.real();
    return;
  case AttributeType::Int:
    attribute.i = wire.integer();
    return;
  case AttributeType::String:
    attribute.s = wire.bytes();
    return;
  case AttributeType::Floats:
    return wire.appendReals(attribute.floats);
  case AttributeType::Ints:
    return wire.appendIntegers(attribute.ints);
  case AttributeType::Strings:
    attribute.strings.push_back(wire.bytes());
    return;
  case AttributeType::Tensor:
  case AttributeType::Tensors:
    return append(wire, attribute.tensors, &ModelParser::tensor);
  case AttributeType::Graph:
  case AttributeType::Graphs:
    return append(wire, attribute.graphs, &ModelParser::graph);
  case AttributeType::SparseTensor:
  case AttributeType::SparseTensors:
    return append(wire, attribute.sparseTensors, &ModelParser::sparseTensor);
  case AttributeType::TypeProto:
  case AttributeType::TypeProtos:
    return append(wire, attribute.types, &ModelParser::type);
  case AttributeType::Undefined:
    return;
  }
}
