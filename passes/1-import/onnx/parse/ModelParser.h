//===- ModelParser.h - parser of the messages of onnx.proto ---------------===//

#ifndef PCC_PASSES_1_IMPORT_ONNX_PARSE_MODELPARSER_H
#define PCC_PASSES_1_IMPORT_ONNX_PARSE_MODELPARSER_H

#include "passes/1-import/onnx/model/Model.h"
#include "passes/1-import/onnx/model/ModelStorage.h"
#include "passes/1-import/onnx/model/ReadLimits.h"
#include "passes/1-import/onnx/model/WireReader.h"

#include <string>
#include <string_view>
#include <vector>

namespace pcc::onnx {

/// Exception for a protobuf message that can be decoded but is not valid ONNX.
struct InvalidMessage {
  std::string message;
};

/// Parses an ONNX file (a ModelProto) into a Model, with one method per message
/// type of onnx.proto. Each method parses `message` into an empty struct, and
/// throws WireError or InvalidMessage. Unknown fields are skipped. Messages are
/// not checked against each other.
class ModelParser {
public:
  /// Prepares to parse one model. Elements and strings that must be decoded are
  /// stored in `storage`. Both arguments must outlive the parser.
  ModelParser(ModelStorage &storage, const ReadLimits &limits)
      : storage(storage), limits(limits) {}

  /// Parses the bytes of a whole model file. String views in `model` point into
  /// `message`, which must stay alive as long as `model`.
  void model(std::string_view message, Model &model);
  /// Returns whether the parser found an IR version. A file without one might
  /// not be an ONNX model.
  bool sawVersion() const { return versionSeen; }
  /// After an error, returns whether it occurred inside a field of the
  /// ModelProto. If so, the file is damaged; if not, it is truncated or not an
  /// ONNX model.
  bool failedInside() const { return insideField; }

private:
  class NestingLevel;

  // The next methods are defined in ParseGraph.cpp. `modelField` parses the
  // current field of a ModelProto.
  void modelField(const WireReader &wire, Model &model);
  void graph(std::string_view message, Graph &graph);
  void trainingInfo(std::string_view message, TrainingInfo &info);
  void node(std::string_view message, Node &node);
  void function(std::string_view message, Function &function);
  void operatorSet(std::string_view message, OperatorSetId &opset);
  void metadata(std::string_view message, MetadataEntry &entry);

  // These methods are defined in ParseAttribute.cpp.
  void attribute(std::string_view message, Attribute &attribute);
  /// Parses the value in the current field, which has the type `type`, into
  /// `attribute`. For a list type, appends the value to the attribute's list.
  void attributeValue(const WireReader &wire, AttributeType type,
                      Attribute &attribute);

  // These methods are defined in ParseType.cpp.
  void valueInfo(std::string_view message, ValueInfo &info);
  void type(std::string_view message, Type &type);
  /// Parses the type of a dense or sparse tensor: element type and shape.
  void tensorType(std::string_view message, Type &type);
  /// Parses the type of a sequence, map or optional, which contains another
  /// type.
  void nestedType(std::string_view message, TypeKind kind, Type &type);
  void shape(std::string_view message, std::vector<Dim> &dims);
  void dim(std::string_view message, Dim &dim);

  // These methods are defined in ParseTensor.cpp.
  void tensor(std::string_view message, Tensor &tensor);
  void sparseTensor(std::string_view message, SparseTensor &tensor);
  /// Parses one entry of a tensor's external_data into `location`. The key of
  /// the entry is location, offset or length.
  void externalEntry(std::string_view message, ExternalLocation &location);
  /// Stores the elements that are in typed fields, such as float_data, in
  /// Tensor::raw. `message` is the whole TensorProto.
  void typedElements(std::string_view message, Tensor &tensor);
  /// Throws InvalidMessage if `tensor` has too many dims, a negative dim, or
  /// elements that do not fit its type and shape.
  void checkTensor(const Tensor &tensor) const;

  // These methods are defined in ParseDevices.cpp.
  void deviceConfiguration(std::string_view message,
                           DeviceConfiguration &configuration);
  void nodeDeviceConfiguration(std::string_view message,
                               NodeDeviceConfiguration &configuration);
  void shardingSpec(std::string_view message, ShardingSpec &spec);
  void shardedDim(std::string_view message, ShardedDim &dim);
  void simpleShardedDim(std::string_view message, SimpleShardedDim &dim);
  void deviceGroup(std::string_view message, DeviceGroup &group);

  /// Appends an entry to `list` and calls `read` to parse the message in the
  /// current field into it.
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
  /// Whether a field of the ModelProto is being parsed; stays true after an
  /// error in that field.
  bool insideField = false;
};

/// Scope guard around the parsing of one message. Counts messages and nesting
/// depth, and throws InvalidMessage if either exceeds its limit.
class ModelParser::NestingLevel {
public:
  explicit NestingLevel(ModelParser &parser) : parser(parser) {
    if (++parser.depth > parser.limits.depth)
      throw InvalidMessage{"messages are nested more than " +
                           std::to_string(parser.limits.depth) + " deep"};
    if (++parser.messages > parser.limits.messages)
      throw InvalidMessage{"there are more than " +
                           std::to_string(parser.limits.messages) +
                           " messages"};
  }
  ~NestingLevel() { --parser.depth; }
  NestingLevel(const NestingLevel &) = delete;
  NestingLevel &operator=(const NestingLevel &) = delete;

private:
  ModelParser &parser;
};

} // namespace pcc::onnx

#endif // PCC_PASSES_1_IMPORT_ONNX_PARSE_MODELPARSER_H
