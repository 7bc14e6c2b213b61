//===- WriteAnnotated.cpp - copy of an ONNX file with annotations ---------===//
//
// Numbers of fields are those of onnx.proto. Messages that contain a change are
// rebuilt field by field; all other fields are copied as encoded. Thereby
// fields that pcc does not know survive.
//
//===----------------------------------------------------------------------===//

#include "passes/1-import/onnx/write/WriteAnnotated.h"

#include "passes/1-import/onnx/model/MessageBuilder.h"
#include "passes/1-import/onnx/model/ModelStorage.h"
#include "passes/1-import/onnx/model/WireReader.h"

#include <algorithm>
#include <functional>
#include <set>

using namespace pcc::onnx;

namespace {

/// Creates a copy of a model file, and adds the contents of `annotation` to the
/// copy. The file consists of nested protobuf messages. Messages that change
/// are encoded again; the bytes of all other messages are copied. Each method
/// encodes one kind of message, such as NodeProto. The method returns the new
/// message, or appends it to the message that contains it.
class Annotator {
public:
  Annotator(const Model &model, const Annotation &annotation)
      : model(model), annotation(annotation) {}

  /// Returns a copy of the model file, with the contents of `annotation` added.
  /// `file` contains the bytes of the model file.
  MessageBuilder annotated(std::string_view file);

private:
  MessageBuilder graph(std::string_view message);
  /// Returns a copy of the NodeProto `message` without its device annotation
  /// for `annotation.configuration`. Adds the device annotation `own` to the
  /// copy, if it is not null.
  MessageBuilder node(std::string_view message,
                      const NodeDeviceConfiguration *own) const;
  /// Returns a copy of `message`, which is the TensorProto of an initializer (a
  /// constant tensor of the model). If another file holds the elements of the
  /// tensor, `message` contains the path of that file. In the copy, the path
  /// begins with `annotation.locationPrefix`. Example: the prefix "../model/"
  /// changes the path "weights.bin" to "../model/weights.bin".
  MessageBuilder tensor(std::string_view message) const;
  /// Returns a copy of `message`, which is one entry of the list external_data
  /// in a TensorProto. The list tells where the elements of the tensor lie in
  /// another file. An entry has a key and a value. In the entry with the key
  /// "location", the value is the path of the other file. The copy of this
  /// entry has `annotation.locationPrefix` before the path. Example: the prefix
  /// "../model/" changes the path "weights.bin" to "../model/weights.bin".
  MessageBuilder externalEntry(std::string_view message) const;
  /// Appends a copy of the ValueInfoProto in the current field of `wire` to
  /// `graph`, the GraphProto of the new file. If `texts` has a text for the
  /// value, the copy gets it as metadata with the key `annotation.valueKey`.
  void valueInfo(const WireReader &wire,
                 const std::map<std::string, std::string, std::less<>> &texts,
                 MessageBuilder &graph);
  /// Appends a new ValueInfoProto to `graph` for each initializer that has a
  /// text in `annotation.initializers`. The text becomes metadata with the key
  /// `annotation.valueKey`. Skips an initializer whose name is in `informed`.
  void addInitializerInfos(MessageBuilder &graph) const;

  const Model &model;
  const Annotation &annotation;
  /// Number of nodes that the method `graph` has copied so far. The nodes are
  /// numbered from 0, so this number is also the index of the next node. The
  /// method `graph` looks up the annotation of the next node in the map
  /// `annotation.nodes`, which has the indices of nodes as keys.
  uint32_t numNodes = 0;
  /// Whether the method `graph` has already copied a GraphProto. A GraphProto
  /// is the protobuf message of a graph. A model file may split the main graph
  /// into several GraphProto messages. The method `graph` is then called once
  /// for each GraphProto. Only the first call of `graph` calls the method
  /// addInitializerInfos. A second call of addInitializerInfos would add the
  /// same ValueInfoProto messages again.
  bool hasGraph = false;
  /// Names of the values for which valueInfo() has added a text to a copied
  /// ValueInfoProto. addInitializerInfos() must not create a second
  /// ValueInfoProto for these values.
  std::set<std::string_view> informed;
};

} // namespace

/// Returns the string in field number `field` of `message`; empty if there is
/// none. If the field occurs several times, returns the last occurrence, as
/// protobuf does.
static std::string_view textOf(std::string_view message, uint32_t field) {
  std::string_view text;
  for (WireReader wire(message); wire.next();)
    if (wire.field() == field)
      text = wire.bytes();
  return text;
}

/// Returns an encoded StringStringEntryProto with this key and value.
static MessageBuilder entry(std::string_view key, std::string_view value) {
  MessageBuilder entry;
  entry.addBytes(1, key);
  entry.addBytes(2, value);
  return entry;
}

/// Returns a copy of `message` without the fields for which `drop` returns
/// true.
static MessageBuilder
copyOf(std::string_view message,
       const std::function<bool(const WireReader &)> &drop) {
  MessageBuilder copy;
  for (WireReader wire(message); wire.next();)
    if (!drop(wire))
      copy.copy(wire.whole());
  return copy;
}

//===----------------------------------------------------------------------===//
// Encoding of annotations
//===----------------------------------------------------------------------===//

/// Returns the encoded DeviceConfigurationProto of `configuration`. A
/// DeviceConfigurationProto is the message for a named set of devices. It has
/// the name of the set and the number of devices. It may also have a name for
/// each device.
static MessageBuilder messageOf(const DeviceConfiguration &configuration) {
  MessageBuilder message;
  message.addBytes(1, configuration.name);
  message.addInteger(2, configuration.numDevices);
  for (std::string_view device : configuration.devices)
    message.addBytes(3, device);
  return message;
}

static MessageBuilder messageOf(const ShardedDim &dim) {
  MessageBuilder message;
  message.addInteger(1, dim.axis);
  for (const SimpleShardedDim &simple : dim.simpleShardings) {
    MessageBuilder own;
    if (simple.dimValue)
      own.addInteger(1, *simple.dimValue);
    else if (!simple.dimParam.empty())
      own.addBytes(2, simple.dimParam);
    own.addInteger(3, simple.numShards);
    message.addMessage(2, std::move(own));
  }
  return message;
}

static MessageBuilder messageOf(const ShardingSpec &spec) {
  MessageBuilder message;
  message.addBytes(1, spec.tensorName);
  message.addIntegers(2, spec.devices);
  for (const DeviceGroup &group : spec.groups) {
    MessageBuilder own;
    own.addInteger(1, group.key);
    own.addIntegers(2, group.devices);
    message.addMessage(3, std::move(own));
  }
  for (const ShardedDim &dim : spec.shardedDims)
    message.addMessage(4, messageOf(dim));
  return message;
}

static MessageBuilder messageOf(const NodeDeviceConfiguration &configuration) {
  MessageBuilder message;
  message.addBytes(1, configuration.configurationId);
  for (const ShardingSpec &spec : configuration.shardingSpecs)
    message.addMessage(2, messageOf(spec));
  if (configuration.pipelineStage)
    message.addInteger(3, *configuration.pipelineStage);
  return message;
}

//===----------------------------------------------------------------------===//
// Copying the file
//===----------------------------------------------------------------------===//

MessageBuilder Annotator::node(std::string_view message,
                               const NodeDeviceConfiguration *own) const {
  MessageBuilder copy = copyOf(message, [&](const WireReader &wire) {
    return wire.field() == 10 &&
           textOf(wire.bytes(), 1) == annotation.configuration.name;
  });
  if (own)
    copy.addMessage(10, messageOf(*own));
  return copy;
}

MessageBuilder Annotator::externalEntry(std::string_view message) const {
  if (textOf(message, 1) != "location")
    return copyOf(message, [](const WireReader &) { return false; });
  return entry("location",
               annotation.locationPrefix + std::string(textOf(message, 2)));
}

MessageBuilder Annotator::tensor(std::string_view message) const {
  MessageBuilder copy;
  for (WireReader wire(message); wire.next();)
    if (wire.field() == 13 && !annotation.locationPrefix.empty())
      copy.addMessage(13, externalEntry(wire.bytes()));
    else
      copy.copy(wire.whole());
  return copy;
}

/// Copies the ValueInfoProto in the current field of `wire` to `graph`. If
/// `texts` has a text for the value, adds it as metadata with the key
/// `annotation.valueKey`. The text replaces metadata with this key.
void Annotator::valueInfo(
    const WireReader &wire,
    const std::map<std::string, std::string, std::less<>> &texts,
    MessageBuilder &graph) {
  const std::string_view name = textOf(wire.bytes(), 1);
  const auto text = texts.find(name);
  if (text == texts.end())
    return graph.copy(wire.whole());
  MessageBuilder copy = copyOf(wire.bytes(), [&](const WireReader &field) {
    return field.field() == 4 &&
           textOf(field.bytes(), 1) == annotation.valueKey;
  });
  copy.addMessage(4, entry(annotation.valueKey, text->second));
  graph.addMessage(wire.field(), std::move(copy));
  informed.insert(name);
}

/// Returns the encoded TypeProto of `tensor`: its element type and shape.
static MessageBuilder typeOf(const Tensor &tensor) {
  MessageBuilder shape, type, all;
  for (int64_t size : tensor.dims) {
    MessageBuilder dim;
    dim.addInteger(1, size);
    shape.addMessage(1, std::move(dim));
  }
  type.addInteger(1, static_cast<int64_t>(tensor.dataType));
  type.addMessage(2, std::move(shape));
  all.addMessage(1, std::move(type));
  return all;
}

void Annotator::addInitializerInfos(MessageBuilder &graph) const {
  for (const Tensor &tensor : model.graph.initializers) {
    const auto text = annotation.initializers.find(tensor.name);
    if (text == annotation.initializers.end() || informed.count(tensor.name))
      continue;
    MessageBuilder info;
    info.addBytes(1, tensor.name);
    info.addMessage(2, typeOf(tensor));
    info.addMessage(4, entry(annotation.valueKey, text->second));
    graph.addMessage(13, std::move(info));
  }
}

/// Returns a copy of the GraphProto `message` with the device annotations,
/// metadata and path prefixes of `annotation`. An initializer with metadata but
/// without a value_info gets a value_info.
MessageBuilder Annotator::graph(std::string_view message) {
  MessageBuilder copy;
  for (WireReader wire(message); wire.next();) {
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

/// Returns a copy of the ModelProto `file` with the contents of `annotation`.
/// The IR version becomes at least 11, because older versions have no device
/// configurations (field 26).
MessageBuilder Annotator::annotated(std::string_view file) {
  constexpr int64_t firstVersion = 11;
  auto isReplaced = [&](const WireReader &wire) {
    return (wire.field() == 14 &&
            annotation.metadata.count(std::string(textOf(wire.bytes(), 1)))) ||
           (wire.field() == 26 &&
            textOf(wire.bytes(), 1) == annotation.configuration.name);
  };
  MessageBuilder copy;
  for (WireReader wire(file); wire.next();)
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
