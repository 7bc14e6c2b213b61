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

/// Parses an ONNX file (a ModelProto) into a Model. The parser has one method
/// for each message type of onnx.proto. The parameter `message` of a method is
/// the encoded message. The other parameter is an empty struct, which the
/// method fills. An error is a WireError or an InvalidMessage exception.
/// Unknown fields are skipped. The parser does not check whether one message
/// agrees with another, such as whether a node's operand exists.
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
  /// Returns whether the parser failed inside a field of the ModelProto, such
  /// as `graph`. Call this method only after an error. The result true means
  /// that all bytes of the field exist but cannot be parsed: the file is
  /// damaged. The result false means that the file is truncated or is not an
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

  /// Appends an empty entry to `list`. Then calls `read`, which parses the
  /// message in the current field of `wire` and fills the new entry.
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
  /// An error in the field leaves this flag true, so that `failedInside` can
  /// report where the error occurred.
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
