//===- ReplaceWeights.cpp - copy of an ONNX file with other weights -------===//
//
// Numbers of fields are those of onnx.proto. Messages that contain a change are
// rebuilt field by field; all other fields are copied as encoded. Thereby
// fields that pcc does not know survive.
//
//===----------------------------------------------------------------------===//

#include "passes/1-import/onnx/write/ReplaceWeights.h"

#include "passes/1-import/onnx/model/ModelStorage.h"
#include "passes/1-import/onnx/model/WireReader.h"

using namespace pcc::onnx;

/// Returns whether field number `field` of TensorProto holds elements, or holds
/// the location of elements in another file.
static bool holdsElements(uint32_t field) {
  constexpr uint32_t rawData = 9, externalData = 13, dataLocation = 14;
  const bool isTyped = (field >= 4 && field <= 7) || field == 10 || field == 11;
  return isTyped || field == rawData || field == externalData ||
         field == dataLocation;
}

/// Returns an encoded StringStringEntryProto with this key and value.
static MessageBuilder entry(std::string_view key, const std::string &value) {
  MessageBuilder entry;
  entry.addBytes(1, key);
  entry.addBytes(2, value);
  return entry;
}

static void addElements(const EmbeddedElements &elements,
                        MessageBuilder &tensor) {
  tensor.addLater(9, elements.size, elements.write);
}

static void addElements(const ExternalElements &elements,
                        MessageBuilder &tensor) {
  constexpr int64_t external = 1;
  tensor.addMessage(13, entry("location", elements.location));
  tensor.addMessage(13, entry("offset", std::to_string(elements.offset)));
  tensor.addMessage(13, entry("length", std::to_string(elements.length)));
  tensor.addInteger(14, external);
}

/// Appends a copy of one initializer (a constant tensor of the model) to
/// `graph`, which is the GraphProto of the new file. The reader `wire` reads
/// the fields of the GraphProto in the old file; its current field holds the
/// initializer. The map `weights` has names of initializers as keys. If
/// `weights` has elements for the name of this initializer, the copy has these
/// elements. Otherwise the copy has the elements of the old file.
static void addTensor(const WireReader &wire, const ReplacedWeights &weights,
                      MessageBuilder &graph) {
  std::string_view name;
  for (WireReader field(wire.bytes()); field.next();)
    if (field.field() == 8)
      name = field.bytes();
  const auto replaced = weights.find(name);
  if (replaced == weights.end())
    return graph.copy(wire.whole());
  MessageBuilder tensor;
  for (WireReader field(wire.bytes()); field.next();)
    if (!holdsElements(field.field()))
      tensor.copy(field.whole());
  std::visit([&](const auto &elements) { addElements(elements, tensor); },
             replaced->second);
  graph.addMessage(wire.field(), std::move(tensor));
}

/// Reads the model file message by message, and appends each message to the
/// result. The model file contains the main graph, and the main graph contains
/// the initializers. The function encodes these messages again: the ModelProto,
/// the main graph, and each initializer that has new elements in `weights`. All
/// other messages are copied byte by byte.
MessageBuilder pcc::onnx::replaceWeights(const Model &model,
                                         const ReplacedWeights &weights) {
  constexpr uint32_t graphField = 7, initializerField = 5;
  MessageBuilder copy;
  for (WireReader wire(model.storage->file()); wire.next();) {
    if (wire.field() != graphField) {
      copy.copy(wire.whole());
      continue;
    }
    MessageBuilder graph;
    for (WireReader field(wire.bytes()); field.next();)
      if (field.field() == initializerField)
        addTensor(field, weights, graph);
      else
        graph.copy(field.whole());
    copy.addMessage(graphField, std::move(graph));
  }
  return copy;
}
