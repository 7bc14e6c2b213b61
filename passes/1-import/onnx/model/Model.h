//===- Model.h - in-memory form of an ONNX model --------------------------===//
//
// One struct per message of onnx.proto, with the fields that pcc uses. Every
// std::string_view points into the mapped file or into the ModelStorage of the
// model. Copies of a Model share that storage, which lives as long as the last
// copy. Weights are never copied: a tensor whose elements lie in the model file
// as raw_data is a view of the mapping.
//
// "After readModel" marks properties that hold for a model that readModel has
// returned, but not for one that readModelAsWritten has returned.
//
//===----------------------------------------------------------------------===//

#ifndef PCC_PASSES_1_IMPORT_ONNX_MODEL_MODEL_H
#define PCC_PASSES_1_IMPORT_ONNX_MODEL_MODEL_H

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pcc::onnx {

class ModelStorage;
struct Graph;

/// Element types, numbered as in TensorProto.DataType. A file may contain
/// further numbers, which are kept as values outside of the enumerators.
enum class DataType : int32_t {
  Undefined = 0,
  Float = 1,
  UInt8 = 2,
  Int8 = 3,
  UInt16 = 4,
  Int16 = 5,
  Int32 = 6,
  Int64 = 7,
  String = 8,
  Bool = 9,
  Float16 = 10,
  Double = 11,
  UInt32 = 12,
  UInt64 = 13,
  Complex64 = 14,
  Complex128 = 15,
  BFloat16 = 16,
  Float8E4M3FN = 17,
  Float8E4M3FNUZ = 18,
  Float8E5M2 = 19,
  Float8E5M2FNUZ = 20,
  UInt4 = 21,
  Int4 = 22,
  Float4E2M1 = 23,
  Float8E8M0 = 24,
  UInt2 = 25,
  Int2 = 26,
};

/// An entry of a list `metadata_props` (StringStringEntryProto).
struct MetadataEntry {
  std::string_view key;
  std::string_view value;
};
using Metadata = std::vector<MetadataEntry>;

/// The location of external data as a tensor states it. Numbers are decimal
/// text as written; absent entries are empty. ExternalData.h interprets the
/// location.
struct ExternalLocation {
  std::string_view location;
  std::string_view offset;
  std::string_view length;
};

/// A constant (TensorProto). Whichever field of the message holds the elements,
/// `raw` has them in the layout of raw_data: little endian, row-major. Elements
/// of 4 bits are packed two to a byte, those of 2 bits four to a byte, with the
/// first element in the low bits.
///
/// The parser guarantees that no dim is negative, and that `raw` has the size
/// that type and dims demand. The size of `raw` is not guaranteed for external
/// data, strings and unknown types.
struct Tensor {
  std::string_view name;
  DataType dataType = DataType::Undefined;
  std::vector<int64_t> dims;
  /// Elements; empty for external data and for strings.
  std::string_view raw;
  /// Elements of a string tensor; empty for other types.
  std::vector<std::string_view> strings;
  /// Location of the elements in another file; unset if they lie in the model
  /// file.
  std::optional<ExternalLocation> external;
  Metadata metadata;
};

/// Returns the product of the dims; nothing if a dim is negative or if the
/// product exceeds 2^63 - 1.
std::optional<uint64_t> numElements(const std::vector<int64_t> &dims);

/// Returns the size of an element in bits; 0 for strings and unknown types.
unsigned bitWidth(DataType type);

/// Returns the name of an element type in ONNX's text form, such as "float" or
/// "int64". Returns "type 77" for the unknown number 77.
std::string typeName(DataType type);

/// Returns the number of bytes of Tensor::raw for this type and these dims.
/// Returns nothing if the number exceeds 2^63 - 1 or if elements of the type
/// have no fixed size.
std::optional<uint64_t> byteSize(DataType type,
                                 const std::vector<int64_t> &dims);

/// A constant in coordinate form (SparseTensorProto).
struct SparseTensor {
  /// Non-zero elements. values.name is the name of the sparse tensor.
  Tensor values;
  /// Positions of the non-zero elements.
  Tensor indices;
  /// Shape of the dense tensor.
  std::vector<int64_t> dims;
};

/// A dim of a value's shape: a number, a symbol, or neither if it is unknown. A
/// negative number in the file means unknown.
struct Dim {
  std::optional<int64_t> value;
  /// Symbol of a dynamic dim; empty if it has none.
  std::string_view param;
};

/// Kinds of types of a value (the alternatives of TypeProto).
enum class TypeKind { None, Tensor, Sequence, Map, Opaque, Sparse, Optional };

/// The type of a value (TypeProto).
struct Type {
  TypeKind kind = TypeKind::None;
  /// Element type of a Tensor or Sparse; type of the keys of a Map.
  DataType elementType = DataType::Undefined;
  /// Shape of a Tensor or Sparse. If unset, the rank is unknown; an empty shape
  /// is that of a scalar.
  std::optional<std::vector<Dim>> shape;
  /// Type of the contents of a Sequence, Map or Optional, as the only entry;
  /// empty for other kinds.
  std::vector<Type> inner;
};

/// Name and type of a value (ValueInfoProto).
struct ValueInfo {
  std::string_view name;
  Type type;
  Metadata metadata;
};

// Multi-device annotations (IR version 11 or later). A node refers to a
// configuration of the model, and states for its operands and results which
// device holds which shard.

/// A set of devices that the model can run on (DeviceConfigurationProto).
struct DeviceConfiguration {
  std::string_view name;
  int32_t numDevices = 0;
  /// Names of the devices; empty if they have none.
  std::vector<std::string_view> devices;
};

/// One factor of a split dim (SimpleShardedDimProto). The size of the factor is
/// `dimValue` or `dimParam`. If neither is set, the size follows from the
/// tensor.
struct SimpleShardedDim {
  std::optional<int64_t> dimValue;
  std::string_view dimParam;
  /// Number of equal parts into which the factor is split.
  int64_t numShards = 0;
};

/// A dim that is split (ShardedDimProto).
struct ShardedDim {
  /// Index of the dim; negative numbers count from the last one.
  int64_t axis = 0;
  /// Factors of the dim, major to minor. A dim has several factors if a reshape
  /// has merged dims, of which some are split.
  std::vector<SimpleShardedDim> simpleShardings;
};

/// Devices that hold the same shard (IntIntListEntryProto). A device list
/// refers to the group by `key`.
struct DeviceGroup {
  int64_t key = 0;
  std::vector<int64_t> devices;
};

/// The sharding of one operand or result of a node (ShardingSpecProto).
struct ShardingSpec {
  std::string_view tensorName;
  /// For each shard, row-major, the device or the device group that holds it.
  std::vector<int64_t> devices;
  std::vector<DeviceGroup> groups;
  std::vector<ShardedDim> shardedDims;
};

/// Returns the number of shards of a tensor: the product over all factors of
/// all dims. Returns INT64_MAX on overflow.
int64_t numShards(const ShardingSpec &spec);

/// The annotation of a node for one configuration
/// (NodeDeviceConfigurationProto).
struct NodeDeviceConfiguration {
  /// Name of the DeviceConfiguration.
  std::string_view configurationId;
  std::vector<ShardingSpec> shardingSpecs;
  std::optional<int32_t> pipelineStage;
};

/// Types of an attribute, numbered as in AttributeProto.AttributeType.
enum class AttributeType : int32_t {
  Undefined = 0,
  Float = 1,
  Int = 2,
  String = 3,
  Tensor = 4,
  Graph = 5,
  Floats = 6,
  Ints = 7,
  Strings = 8,
  Tensors = 9,
  Graphs = 10,
  SparseTensor = 11,
  SparseTensors = 12,
  TypeProto = 13,
  TypeProtos = 14,
};

/// An attribute of a node (AttributeProto). The parser guarantees that `type`
/// is an enumerator other than Undefined. The type tells which member holds the
/// value. A single Tensor, Graph, SparseTensor or TypeProto is the only entry
/// of the member for lists of that type.
struct Attribute {
  std::string_view name;
  AttributeType type = AttributeType::Undefined;
  /// Name of the function parameter that gives the attribute its value; empty
  /// outside of functions.
  std::string_view refAttrName;
  float f = 0;
  int64_t i = 0;
  std::string_view s;
  std::vector<float> floats;
  std::vector<int64_t> ints;
  std::vector<std::string_view> strings;
  std::vector<Tensor> tensors;
  std::vector<Graph> graphs;
  std::vector<SparseTensor> sparseTensors;
  std::vector<Type> types;
};

/// An op of a graph, or a call of a function (NodeProto).
struct Node {
  /// Name of the node; may be empty and need not be unique.
  std::string_view name;
  std::string_view opType;
  /// Domain of the op. The domain of the standard ops, "ai.onnx", is always
  /// represented by "".
  std::string_view domain;
  /// Overload of the function that the node calls; usually empty.
  std::string_view overload;
  /// Version of `domain` that defines the op; 0 until readModel sets it. Nodes
  /// of an inlined function may have another version than the main graph.
  int64_t opset = 0;
  /// Position of the node in the node list of its graph in the file, or in the
  /// graph that mergeTrainingInfo has made. A node of an inlined function has
  /// the position of the call. Identifies unnamed nodes.
  uint32_t index = 0;
  /// Names of the operands. An omitted optional operand is ""; omitted operands
  /// at the end of the list are left out.
  std::vector<std::string_view> inputs;
  /// Names of the results, with omitted ones as in `inputs`.
  std::vector<std::string_view> outputs;
  std::vector<Attribute> attributes;
  Metadata metadata;
  /// Multi-device annotations, at most one per configuration.
  std::vector<NodeDeviceConfiguration> deviceConfigurations;

  /// Returns the attribute with this name; null if there is none.
  const Attribute *attribute(std::string_view name) const;
  /// Returns a description for messages: `'name' (Op)`, or `#12 (Op)` for an
  /// unnamed node at position 12.
  std::string label() const;
};

/// A graph or subgraph (GraphProto).
struct Graph {
  std::string_view name;
  /// Nodes; in topological order after readModel.
  std::vector<Node> nodes;
  /// Constants that are defined at the start of the graph, such as weights.
  std::vector<Tensor> initializers;
  std::vector<SparseTensor> sparseInitializers;
  /// Inputs of the graph. An input with the name of an initializer has that
  /// initializer as its default value. Before IR version 4 every initializer
  /// was listed as an input, too.
  std::vector<ValueInfo> inputs;
  std::vector<ValueInfo> outputs;
  /// Types of further values.
  std::vector<ValueInfo> valueInfos;
  Metadata metadata;
};

/// A version of a domain that a model or function imports (OperatorSetIdProto).
struct OperatorSetId {
  std::string_view domain;
  int64_t version = 0;
};

/// Returns the version of `domain` in `opsets`, the highest one if the domain
/// is listed repeatedly; 0 if it is not imported. "ai.onnx" is equivalent to
/// "".
int64_t opsetVersion(const std::vector<OperatorSetId> &opsets,
                     std::string_view domain);

/// A function that nodes of the model can call (FunctionProto).
struct Function {
  std::string_view name;
  std::string_view domain;
  /// Distinguishes functions with the same domain and name; usually empty.
  std::string_view overload;
  std::vector<std::string_view> inputs;
  std::vector<std::string_view> outputs;
  /// Names of the attribute parameters without a default value.
  std::vector<std::string_view> attributes;
  /// Attribute parameters with their default values.
  std::vector<Attribute> attributeDefaults;
  std::vector<Node> nodes;
  /// Opsets that bind the nodes of the body.
  std::vector<OperatorSetId> opsets;
  std::vector<ValueInfo> valueInfos;
  Metadata metadata;

  /// Returns `domain.name` in quotes, followed by `:overload` if there is one.
  std::string label() const;
};

/// A training method that the model describes (TrainingInfoProto).
struct TrainingInfo {
  /// Graph without inputs that computes initial values.
  Graph initialization;
  /// Pairs of an initializer and the output of `initialization` that gives its
  /// initial value.
  Metadata initializationBinding;
  /// Graph of one training step, which may read values of the model's graph.
  Graph algorithm;
  /// Pairs of an initializer and the value that one step writes to it, an
  /// output of the model's graph or of `algorithm`.
  Metadata updateBinding;
};

/// An ONNX model (ModelProto).
struct Model {
  int64_t irVersion = 0;
  int64_t modelVersion = 0;
  std::string_view producerName;
  std::string_view producerVersion;
  std::string_view domain;
  std::vector<OperatorSetId> opsets;
  Graph graph;
  /// Functions; empty after readModel, which inlines all calls.
  std::vector<Function> functions;
  std::vector<DeviceConfiguration> configurations;
  Metadata metadata;
  std::vector<TrainingInfo> training;

  /// Path of the file as given by the caller, for messages.
  std::string path;
  /// Owner of the mapping and of all other viewed memory; never null in a read
  /// model.
  std::shared_ptr<ModelStorage> storage;

  /// Stores `text` in `storage` and returns a view of the stored copy.
  std::string_view intern(std::string text);
  /// Returns the offset of `bytes` in the model file. Returns nothing if
  /// `bytes` is not a non-empty view of the file, as for elements that had to
  /// be decoded.
  std::optional<uint64_t> fileOffset(std::string_view bytes) const;
};

} // namespace pcc::onnx

#endif // PCC_PASSES_1_IMPORT_ONNX_MODEL_MODEL_H
