//===- Annotate.cpp - copies a model file with annotations ----------------===//
//
// Field numbers are those of onnx.proto. A message of the file is copied field
// by field, except for fields that something is known to be changed in.
//
//===----------------------------------------------------------------------===//

#include "passes/1-import/onnx/write/Annotate.h"

#include "passes/1-import/onnx/model/Rope.h"
#include "passes/1-import/onnx/model/Storage.h"
#include "passes/1-import/onnx/model/Wire.h"

#include <algorithm>
#include <functional>
#include <set>

using namespace pcc::onnx;

namespace {

class Annotator {
public:
  Annotator(const Model &model, const Annotation &annotation)
      : model(model), annotation(annotation) {}

  Rope annotated(std::string_view file);

private:
  Rope graph(std::string_view message);
  Rope node(std::string_view message, const NodeDeviceConfiguration *own) const;
  Rope tensor(std::string_view message) const;
  Rope externalEntry(std::string_view message) const;
  void valueInfo(const Wire &wire,
                 const std::map<std::string, std::string, std::less<>> &texts,
                 Rope &graph);
  void addInitializerInfos(Rope &graph) const;

  const Model &model;
  const Annotation &annotation;
  uint32_t numNodes = 0;
  bool hasGraph = false;
  /// Initializers whose value infos have been annotated.
  std::set<std::string_view> informed;
};

} // namespace

/// The string in `field` of a message; the last one, as readers take it.
static std::string_view textOf(std::string_view message, uint32_t field) {
  std::string_view text;
  for (Wire wire(message); wire.next();)
    if (wire.field() == field)
      text = wire.bytes();
  return text;
}

static Rope entry(std::string_view key, std::string_view value) {
  Rope entry;
  entry.addBytes(1, key);
  entry.addBytes(2, value);
  return entry;
}

/// `message` without those of its fields that `drop` names.
static Rope copyOf(std::string_view message,
                   const std::function<bool(const Wire &)> &drop) {
  Rope copy;
  for (Wire wire(message); wire.next();)
    if (!drop(wire))
      copy.copy(wire.whole());
  return copy;
}

//===----------------------------------------------------------------------===//
// Annotations as messages
//===----------------------------------------------------------------------===//

static Rope messageOf(const DeviceConfiguration &configuration) {
  Rope message;
  message.addBytes(1, configuration.name);
  message.addInteger(2, configuration.numDevices);
  for (std::string_view device : configuration.devices)
    message.addBytes(3, device);
  return message;
}

static Rope messageOf(const ShardedDim &dim) {
  Rope message;
  message.addInteger(1, dim.axis);
  for (const SimpleShardedDim &simple : dim.simpleShardings) {
    Rope own;
    if (simple.dimValue)
      own.addInteger(1, *simple.dimValue);
    else if (!simple.dimParam.empty())
      own.addBytes(2, simple.dimParam);
    own.addInteger(3, simple.numShards);
    message.addMessage(2, std::move(own));
  }
  return message;
}

static Rope messageOf(const ShardingSpec &spec) {
  Rope message;
  message.addBytes(1, spec.tensorName);
  message.addIntegers(2, spec.devices);
  for (const DeviceGroup &group : spec.groups) {
    Rope own;
    own.addInteger(1, group.key);
    own.addIntegers(2, group.devices);
    message.addMessage(3, std::move(own));
  }
  for (const ShardedDim &dim : spec.shardedDims)
    message.addMessage(4, messageOf(dim));
  return message;
}

static Rope messageOf(const NodeDeviceConfiguration &configuration) {
  Rope message;
  message.addBytes(1, configuration.configurationId);
  for (const ShardingSpec &spec : configuration.shardingSpecs)
    message.addMessage(2, messageOf(spec));
  if (configuration.pipelineStage)
    message.addInteger(3, *configuration.pipelineStage);
  return message;
}

//===----------------------------------------------------------------------===//
// The file
//===----------------------------------------------------------------------===//

Rope Annotator::node(std::string_view message,
                     const NodeDeviceConfiguration *own) const {
  Rope copy = copyOf(message, [&](const Wire &wire) {
    return wire.field() == 10 &&
           textOf(wire.bytes(), 1) == annotation.configuration.name;
  });
  if (own)
    copy.addMessage(10, messageOf(*own));
  return copy;
}

Rope Annotator::externalEntry(std::string_view message) const {
  if (textOf(message, 1) != "location")
    return copyOf(message, [](const Wire &) { return false; });
  return entry("location",
               annotation.locationPrefix + std::string(textOf(message, 2)));
}

Rope Annotator::tensor(std::string_view message) const {
  Rope copy;
  for (Wire wire(message); wire.next();)
    if (wire.field() == 13 && !annotation.locationPrefix.empty())
      copy.addMessage(13, externalEntry(wire.bytes()));
    else
      copy.copy(wire.whole());
  return copy;
}

/// The value info that `wire` stands at, with its text in `texts`.
void Annotator::valueInfo(
    const Wire &wire,
    const std::map<std::string, std::string, std::less<>> &texts, Rope &graph) {
  const std::string_view name = textOf(wire.bytes(), 1);
  const auto text = texts.find(name);
  if (text == texts.end())
    return graph.copy(wire.whole());
  Rope copy = copyOf(wire.bytes(), [&](const Wire &field) {
    return field.field() == 4 &&
           textOf(field.bytes(), 1) == annotation.valueKey;
  });
  copy.addMessage(4, entry(annotation.valueKey, text->second));
  graph.addMessage(wire.field(), std::move(copy));
  informed.insert(name);
}

static Rope typeOf(const Tensor &tensor) {
  Rope shape, type, all;
  for (int64_t size : tensor.dims) {
    Rope dim;
    dim.addInteger(1, size);
    shape.addMessage(1, std::move(dim));
  }
  type.addInteger(1, static_cast<int64_t>(tensor.dataType));
  type.addMessage(2, std::move(shape));
  all.addMessage(1, std::move(type));
  return all;
}

void Annotator::addInitializerInfos(Rope &graph) const {
  for (const Tensor &tensor : model.graph.initializers) {
    const auto text = annotation.initializers.find(tensor.name);
    if (text == annotation.initializers.end() || informed.count(tensor.name))
      continue;
    Rope info;
    info.addBytes(1, tensor.name);
    info.addMessage(2, typeOf(tensor));
    info.addMessage(4, entry(annotation.valueKey, text->second));
    graph.addMessage(13, std::move(info));
  }
}

Rope Annotator::graph(std::string_view message) {
  Rope copy;
  for (Wire wire(message); wire.next();) {
    if (wire.field() == 1) {
      const auto own = annotation.nodes.find(numNodes++);
      copy.addMessage(1, node(wire.bytes(), own == annotation.nodes.end()
                                                ? nullptr
                                                : &own->second));
    } else if (wire.field() == 5) {
      copy.addMessage(5, tensor(wire.bytes()));
    } else if (wire.field() == 11) {
      valueInfo(wire, annotation.inputs, copy);
    } else if (wire.field() == 12) {
      valueInfo(wire, annotation.outputs, copy);
    } else if (wire.field() == 13) {
      valueInfo(wire, annotation.initializers, copy);
    } else {
      copy.copy(wire.whole());
    }
  }
  if (!hasGraph)
    addInitializerInfos(copy);
  hasGraph = true;
  return copy;
}

Rope Annotator::annotated(std::string_view file) {
  constexpr int64_t firstVersion = 11;
  auto isReplaced = [&](const Wire &wire) {
    return (wire.field() == 14 &&
            annotation.metadata.count(std::string(textOf(wire.bytes(), 1)))) ||
           (wire.field() == 26 &&
            textOf(wire.bytes(), 1) == annotation.configuration.name);
  };
  Rope copy;
  for (Wire wire(file); wire.next();)
    if (wire.field() == 1)
      copy.addInteger(1, std::max(firstVersion, wire.integer()));
    else if (wire.field() == 7)
      copy.addMessage(7, graph(wire.bytes()));
    else if (!isReplaced(wire))
      copy.copy(wire.whole());
  for (const auto &[key, value] : annotation.metadata)
    copy.addMessage(14, entry(key, value));
  copy.addMessage(26, messageOf(annotation.configuration));
  return copy;
}

void pcc::onnx::writeAnnotated(const Model &model, const Annotation &annotation,
                               std::ostream &out) {
  Annotator(model, annotation).annotated(model.storage->file()).write(out);
}
