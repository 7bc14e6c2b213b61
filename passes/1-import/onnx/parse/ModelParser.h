//===- ModelParser.h - parser of the messages of onnx.proto ---------------===//

#ifndef PCC_PASSES_1_IMPORT_ONNX_PARSE_MODELPARSER_H
#define PCC_PASSES_1_IMPORT_ONNX_PARSE_MODELPARSER_H

#include "passes/1-import/onnx/model/Model.h"
#include "passes/1-import/onnx/model/ModelStorage.h"
#include "passes/1-import/onnx/model/ReadLimits.h"
#include "passes/1-import/onnx/model/WireReader.h"
#include "status/Counted.h"

#include <string>
#include <string_view>
#include <vector>

namespace pcc::onnx {

/// Exception for a protobuf message that can be decoded but is not valid ONNX.
struct InvalidMessage {
  std::string message;
};

/// Parses an ONNX file (a ModelProto) into a Model. Each method parses one
/// message type of onnx.proto and ignores unknown fields. A method throws
/// WireError if the bytes are not an encoded message. It throws InvalidMessage
/// if the message is not valid ONNX or exceeds a limit. The parser does not
/// check whether messages agree with each other.
class ModelParser {
public:
  /// Prepares to parse one model. `limits` are the largest sizes that the model
  /// may have. `storage` receives the tensor elements that the parser must
  /// convert. Example: the file may store the elements of an int32 tensor as
  /// varints. The parser converts these varints to an array of 4-byte integers,
  /// and stores the array in `storage`. Both arguments must outlive the parser.
  ModelParser(ModelStorage &storage, const ReadLimits &limits)
      : storage(storage), limits(limits) {}

  /// Parses the bytes of a whole model file. String views in `model` point into
  /// `message`, which must stay alive as long as `model`.
  void model(std::string_view message, Model &model);
  /// Returns whether the parser found an IR version. A file without one might
  /// not be an ONNX model.
  bool sawVersion() const { return versionSeen; }
  /// Returns whether the last error occurred in the bytes of a field of the
  /// ModelProto (the message of the whole model), such as `graph`. Returns
  /// false if the file was cut off, so that bytes of the field are missing.
  /// Must be called only after an error.
  bool failedInside() const { return insideField; }

private:
  class NestingLevel;

  // The methods from `modelField` to `metadata` are defined in ParseGraph.cpp.

  /// Parses one field of a ModelProto. A ModelProto is the protobuf message
  /// that holds a whole ONNX model. The field to parse is the current field of
  /// `wire`. The method stores the value of the field in `model`. The method
  /// ignores a field that pcc does not use.
  void modelField(const WireReader &wire, Model &model);
  void graph(std::string_view message, Graph &graph);
  void trainingInfo(std::string_view message, TrainingInfo &info);
  void node(std::string_view message, Node &node);
  void function(std::string_view message, Function &function);
  void operatorSet(std::string_view message, OperatorSetId &opset);
  void metadata(std::string_view message, MetadataEntry &entry);

  // The methods `attribute` and `attributeValue` are defined in
  // ParseAttribute.cpp.

  /// Parses `message`, which is an encoded AttributeProto: the name, the type
  /// and the value of a node's attribute. Stores all three in `attribute`.
  void attribute(std::string_view message, Attribute &attribute);
  /// Parses the value of an attribute and stores the value in `attribute`. The
  /// value lies in the current field of `wire`, which is the field that `wire`
  /// decoded last. `type` is the type of the attribute. It selects the member
  /// of `attribute`: for example, the type Int sets the member `i`, and the
  /// type Ints appends to the member `ints`. If the type is Undefined, the
  /// method does nothing.
  void attributeValue(const WireReader &wire, AttributeType type,
                      Attribute &attribute);

  // The methods from `valueInfo` to `dim` are defined in ParseType.cpp.

  /// Parses `message`, which is an encoded ValueInfoProto: the name, the type
  /// and the metadata of a value. Stores all three in `info`.
  void valueInfo(std::string_view message, ValueInfo &info);
  void type(std::string_view message, Type &type);
  /// Parses the type of a dense or sparse tensor: element type and shape.
  void tensorType(std::string_view message, Type &type);
  /// Parses `message`, the type of a sequence, a map or an optional value, as
  /// `kind` states. Stores the type of the elements or values in `type.inner`,
  /// and the type of the keys of a map in `type.elementType`.
  void nestedType(std::string_view message, TypeKind kind, Type &type);
  void shape(std::string_view message, std::vector<Dim> &dims);
  void dim(std::string_view message, Dim &dim);

  // The methods from `tensor` to `checkTensor` are defined in ParseTensor.cpp.

  /// Parses `message`, which is an encoded TensorProto: a constant tensor.
  /// Stores the name, the element type, the shape and the elements of that
  /// tensor in `tensor`. If the elements lie in another file, the method stores
  /// the name of that file and the byte offset of the elements in that file.
  void tensor(std::string_view message, Tensor &tensor);
  void sparseTensor(std::string_view message, SparseTensor &tensor);
  /// Parses one entry of the list external_data in a TensorProto. Stores the
  /// value of the entry in the member of `location` with the name of its key:
  /// location, offset or length. Ignores any other key.
  void externalEntry(std::string_view message, ExternalLocation &location);
  /// Parses the elements of a tensor that the file stores as a list of numbers,
  /// such as float_data or int32_data. The method converts the numbers to the
  /// bytes of an array in memory. The method then sets `tensor.raw` to these
  /// bytes. Example: a list of two floats gives 8 bytes. `message` is the whole
  /// encoded TensorProto. The element type in `tensor` must already be set.
  void typedElements(std::string_view message, Tensor &tensor);
  /// Throws InvalidMessage if the shape of `tensor` is invalid or exceeds a
  /// limit, or if the elements do not match the element type and the shape.
  void checkTensor(const Tensor &tensor) const;

  // The methods from `deviceConfiguration` to `deviceGroup` are defined in
  // ParseDevices.cpp.

  /// Parses `message`, which is an encoded DeviceConfigurationProto: a set of
  /// devices on which the model can run. Stores the name of the set, the number
  /// of devices, and the names of the devices in `configuration`.
  void deviceConfiguration(std::string_view message,
                           DeviceConfiguration &configuration);
  void nodeDeviceConfiguration(std::string_view message,
                               NodeDeviceConfiguration &configuration);
  void shardingSpec(std::string_view message, ShardingSpec &spec);
  void shardedDim(std::string_view message, ShardedDim &dim);
  void simpleShardedDim(std::string_view message, SimpleShardedDim &dim);
  void deviceGroup(std::string_view message, DeviceGroup &group);

  /// Parses one nested message and appends the result to `list`. The nested
  /// message is the value of the current field of `wire`, the field that `wire`
  /// decoded last. append() adds an empty entry to `list`. Then `read`, a
  /// method of this class, parses the nested message and fills the entry.
  /// Example: if `list` is the list of a graph's nodes, `read` is the method
  /// node(), and append() appends one node.
  template <typename T>
  void append(const WireReader &wire, std::vector<T> &list,
              void (ModelParser::*read)(std::string_view, T &)) {
    std::string_view message = wire.bytes();
    (this->*read)(message, list.emplace_back());
  }

  ModelStorage &storage;
  const ReadLimits &limits;
  /// Nesting depth of the protobuf message being parsed, from 1.
  int depth = 0;
  /// Number of messages parsed so far.
  uint64_t messages = 0;
  bool versionSeen = false;
  /// Whether the parser is inside a field of the ModelProto, such as `graph`.
  /// The method model() sets this flag at the start of each field, and clears
  /// it at the end. If an exception stops the parser inside a field, the flag
  /// stays true, and failedInside() returns it.
  bool insideField = false;
};

/// Scope guard for the parsing of one message. The constructor adds 1 to the
/// number of parsed messages and to the nesting depth; the destructor subtracts
/// 1 from the depth. The constructor throws InvalidMessage if the number of
/// messages or the depth exceeds its limit in ReadLimits.
class ModelParser::NestingLevel {
public:
  explicit NestingLevel(ModelParser &parser) : parser(parser) {
    if (++parser.depth > parser.limits.depth)
      throw InvalidMessage{"messages are nested more than " +
                           std::to_string(parser.limits.depth) + " deep"};
    if (++parser.messages > parser.limits.messages)
      throw InvalidMessage{"there are more than " +
                           counted(parser.limits.messages, "message")};
  }
  ~NestingLevel() { --parser.depth; }
  NestingLevel(const NestingLevel &) = delete;
  NestingLevel &operator=(const NestingLevel &) = delete;

private:
  ModelParser &parser;
};

} // namespace pcc::onnx

#endif // PCC_PASSES_1_IMPORT_ONNX_PARSE_MODELPARSER_H
