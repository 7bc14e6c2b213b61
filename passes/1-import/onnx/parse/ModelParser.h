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

/// Exception that the parser throws for a protobuf message that can be decoded
/// but is not valid ONNX. parseModel (ReadModel.cpp) turns it into a Status.
struct InvalidMessage {
  std::string message;
};

/// Parses the bytes of an ONNX file (a ModelProto) into a Model. There is one
/// method per message type of onnx.proto. Each method parses `message` into a
/// struct that is in its initial state, and throws WireError or InvalidMessage.
/// Unknown fields are skipped.
///
/// The parser checks each message by itself. The folder check/ has the checks
/// that relate messages to each other.
class ModelParser {
public:
  /// Prepares to parse one model. Strings that have to be decoded are stored in
  /// `storage`; all other strings are views of the file. Both arguments must
  /// outlive the parser.
  ModelParser(ModelStorage &storage, const ReadLimits &limits)
      : storage(storage), limits(limits) {}

  /// Parses the bytes of a whole model file. String views in `model` point into
  /// `message`, which must stay alive as long as `model`.
  void model(std::string_view message, Model &model);
  /// Returns whether the parser found an IR version. If it found one, a file
  /// that cannot be parsed is a damaged model; otherwise the file may be of
  /// another kind.
  bool sawVersion() const { return versionSeen; }
  /// Returns, after an error, whether the error occurred inside a field of the
  /// ModelProto. If so, the file is a damaged model. Otherwise the file may be
  /// truncated or of another kind.
  bool failedInside() const { return insideField; }

private:
  class NestingLevel;

  // These methods are defined in ParseGraph.cpp. The first one parses the
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
  /// Parses the current field of an AttributeProto and stores it in the member
  /// of `attribute` for values of type `type`. A list is extended by one entry.
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
  /// Parses one key-value entry of a tensor's external_data. Stores the value
  /// in the member of `location` that the key names: location, offset or
  /// length.
  void externalEntry(std::string_view message, ExternalLocation &location);
  /// Stores the elements that are in typed fields, such as float_data, in
  /// Tensor::raw. `message` is the whole TensorProto.
  void typedElements(std::string_view message, Tensor &tensor);
  /// Throws InvalidMessage if `tensor` lacks a property that the comment of
  /// Tensor promises.
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
  /// Nesting depth: the number of protobuf messages that enclose the message
  /// being parsed, plus 1 for that message.
  int depth = 0;
  /// Number of messages parsed so far.
  uint64_t messages = 0;
  bool versionSeen = false;
  /// Whether a field of the ModelProto is being parsed; stays true after an
  /// error in that field.
  bool insideField = false;
};

/// Scope guard that each parsing method creates for its message. The
/// constructor increments the number of messages and the nesting depth, and
/// throws InvalidMessage if either exceeds its limit. The destructor decrements
/// the nesting depth. The parser's recursion is thereby limited.
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
