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
  /// Returns a copy of `message`, which is the NodeProto of a node. A NodeProto
  /// has a list of device annotations. A device annotation has the pipeline
  /// stage of the node and the shardings of the node's tensors. Each device
  /// annotation refers to a device configuration, which is a set of devices
  /// with a name. The copy does not have the device annotation that refers to
  /// `annotation.configuration`. If `own` is not null, the method adds the
  /// device annotation `own` to the copy in its place.
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
  /// Appends a copy of one ValueInfoProto to `graph`, which is the GraphProto
  /// of the new file. A ValueInfoProto is the message with the name, the type
  /// and the metadata of a value. The reader `wire` reads the fields of the
  /// GraphProto in the old file; its current field holds the ValueInfoProto.
  /// The map `texts` has names of values as keys. If `texts` has a text for
  /// this value, the method adds a pair to the metadata of the copy: the key is
  /// `annotation.valueKey`, such as "pcc.sharding", and the value is the text.
  void valueInfo(const WireReader &wire,
                 const std::map<std::string, std::string, std::less<>> &texts,
                 MessageBuilder &graph);
  /// Appends a new ValueInfoProto to `graph`, the GraphProto of the new file,
  /// for each initializer that has a text in the map `annotation.initializers`.
  /// The keys of this map are names of initializers. The text describes the
  /// initializer, for example its sharding. A ValueInfoProto is the message
  /// with the name, the type and the metadata of a value. The new
  /// ValueInfoProto has the name and the type of the initializer. Its metadata
  /// has one pair: the key is `annotation.valueKey`, such as "pcc.sharding",
  /// and the value is the text.
  ///
  /// The method skips an initializer if its name is in the set `informed`. The
  /// new file then already has a ValueInfoProto with a text for this name.
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
  /// Names of the values that have a text of `annotation` in the metadata of
  /// their ValueInfoProto in the new file. A ValueInfoProto is the message with
  /// the name, the type and the metadata of a value. The method `valueInfo`
  /// copies a ValueInfoProto from the old file to the new file. If `annotation`
  /// has a text for the value, the method adds the text to the metadata, and
  /// adds the name of the value to `informed`. The method addInitializerInfos
  /// does not create a second ValueInfoProto for a name in `informed`.
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

/// Copies the ValueInfoProto in the current field of `wire` to `graph`. A
/// ValueInfoProto is the message with the name, the type and the metadata of a
/// value. Metadata is a list of pairs of a key and a text. The map `texts` has
/// the names of values as keys. If `texts` contains the name of this value, the
/// method adds one pair to the metadata of the copy: the key
/// `annotation.valueKey` and the text from `texts`. If the file already has a
/// pair with that key, the new pair replaces it.
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

/// Returns a copy of the GraphProto `message` with these changed fields:
///
///    1  node         The device annotation comes from `annotation.nodes`.
///                    Annotations for other device configurations stay.
///    5  initializer  The path of external data gets the location prefix.
///   11  input        The metadata has the text from `annotation.inputs`.
///   12  output       The metadata has the text from `annotation.outputs`.
///   13  value_info   The metadata has the text from `annotation.initializers`.
///                    An initializer with a text but no value_info gets one.
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

/// Returns a copy of `file`, which is a ModelProto. The copy may differ from
/// the original in the fields with these numbers and names:
///
///    1  ir_version      at least 11; older versions have no field 26
///    7  graph           the result of the method `graph`
///   14  metadata_props  also has the entries of `annotation.metadata`
///   26  configuration   also has the message of `annotation.configuration`
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
