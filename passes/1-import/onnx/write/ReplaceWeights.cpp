//===- ReplaceWeights.cpp - copies a model with other weights -------------===//
//
// Field numbers are those of onnx.proto. A message of the file is copied field
// by field, except for fields that something is known to be changed in.
//
//===----------------------------------------------------------------------===//

#include "passes/1-import/onnx/write/ReplaceWeights.h"

#include "passes/1-import/onnx/model/ModelStorage.h"
#include "passes/1-import/onnx/model/WireReader.h"

using namespace pcc::onnx;

/// The fields of a TensorProto that hold elements or say where they are.
static bool holdsElements(uint32_t field) {
  constexpr uint32_t rawData = 9, externalData = 13, dataLocation = 14;
  const bool isTyped = (field >= 4 && field <= 7) || field == 10 || field == 11;
  return isTyped || field == rawData || field == externalData ||
         field == dataLocation;
}

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

/// The field at which `wire` stands, an initializer.
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
