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
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace pcc::onnx {

class ModelStorage;
struct Graph;

/// Element type of a tensor. Each enumerator has the number that
/// TensorProto.DataType gives to the type. A DataType may also hold a number
/// that has no enumerator, such as 77: the parser does not reject element types
/// that it does not know.
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

/// A key and its value in a `metadata_props` list (StringStringEntryProto).
struct MetadataEntry {
  std::string_view key;
  std::string_view value;
};
using Metadata = std::vector<MetadataEntry>;

/// The location of a tensor's external data, which are elements in another
/// file. `location` is the name of that file. `offset` and `length` are decimal
/// text, such as "4096", as in the model file. A member is empty if the model
/// file does not set it.
struct ExternalLocation {
  std::string_view location;
  std::string_view offset;
  std::string_view length;
};

/// A constant tensor (TensorProto) without negative dims. `raw` holds the
/// elements as bytes: little endian, row-major. Elements of 4 or 2 bits share a
/// byte, the first in the low bits. If `raw` is not empty and the element type
/// is known, `raw` has exactly the size that the shape requires.
struct Tensor {
  std::string_view name;
  DataType dataType = DataType::Undefined;
  std::vector<int64_t> dims;
  /// Elements as bytes; empty for external data and for strings.
  std::string_view raw;
  /// Elements of a string tensor; empty for other types.
  std::vector<std::string_view> strings;
  /// Location of the elements in another file (external data); unset if the
  /// elements lie in the model file.
  std::optional<ExternalLocation> external;
  Metadata metadata;
};

/// Returns the product of `dims`. Returns nothing if a dim is negative or if
/// the product exceeds 2^63 - 1.
std::optional<uint64_t> numElements(const std::vector<int64_t> &dims);

/// Returns the size of an element in bits; 0 for strings and unknown types.
unsigned bitWidth(DataType type);

/// Returns the name of an element type in ONNX's text form, such as "float" or
/// "int64". Returns "type 77" for the unknown number 77.
std::string typeName(DataType type);
/// Returns "" if ONNX has the element type `type`. Otherwise, returns the end
/// of an error message: "has the data type 77, which ONNX does not have".
std::string unknownType(DataType type);

/// Returns the number of bytes that the elements of a tensor need in
/// Tensor::raw. Elements of 4 or 2 bits share a byte. Returns nothing if the
/// element type is unknown or has no fixed size, if a dim is negative, or if
/// the number of elements or bytes exceeds 2^63 - 1.
std::optional<uint64_t> byteSize(DataType type,
                                 const std::vector<int64_t> &dims);

/// A constant tensor that lists only its non-zero elements (SparseTensorProto).
struct SparseTensor {
  /// Values of the non-zero elements, as a tensor. ONNX gives a sparse tensor
  /// no name field of its own. The name of this tensor (`values.name`) is
  /// therefore also the name of the sparse tensor.
  Tensor values;
  /// Indices of the non-zero elements in the dense tensor. The shape [n] stores
  /// n row-major indices. The shape [n, rank] stores n rows with one index per
  /// dim.
  Tensor indices;
  /// Shape of the sparse tensor. The shape counts the zeros and the non-zero
  /// elements. Example: a 3 x 4 tensor with two non-zero elements has `dims` =
  /// [3, 4].
  std::vector<int64_t> dims;
};

/// A dim of a value's shape: a size, a symbol such as "batch", or neither if
/// the size is unknown. A negative size in the file also means unknown.
struct Dim {
  std::optional<int64_t> value;
  /// Symbol of a dynamic dim, such as "batch"; empty if it has none.
  std::string_view param;
};

/// Kinds of types that a value may have (the alternatives of TypeProto).
enum class TypeKind { None, Tensor, Sequence, Map, Opaque, Sparse, Optional };

/// The type of a value (TypeProto).
struct Type {
  TypeKind kind = TypeKind::None;
  /// Element type. For the kinds Tensor and Sparse, it is the type of the
  /// elements of the tensor. For the kind Map, it is the type of the keys of
  /// the map. For every other kind, it is Undefined.
  DataType elementType = DataType::Undefined;
  /// Shape, for the kinds Tensor and Sparse. Unset if the rank is unknown; an
  /// empty list is the shape of a scalar.
  std::optional<std::vector<Dim>> shape;
  /// The type that this type contains, as the only entry of the list. For a
  /// Sequence, it is the type of the elements. For a Map, it is the type of the
  /// values (the type of the keys is `elementType`). For an Optional, it is the
  /// type of the optional value. The list is empty for each other kind.
  std::vector<Type> inner;
};

/// Returns whether a tensor of shape `shape` cannot have the type `declared`.
/// This is the case if `declared` has another rank, or another size of a dim.
/// An unknown rank in `declared` fits every shape, and an unknown dim fits
/// every size. Example: `declared` has the dims [?, 4], where ? is an unknown
/// size. The result is false for `shape` = [2, 4], but true for [2, 5] and for
/// [2].
bool contradicts(const Type &declared, std::span<const int64_t> shape);

/// Name and type of a value (ValueInfoProto).
struct ValueInfo {
  std::string_view name;
  Type type;
  Metadata metadata;
};

// Multi-device annotations (IR version 11 or later). A node's annotation tells
// which device holds which shard of the node's tensors.

/// A set of devices that the model can run on (DeviceConfigurationProto).
struct DeviceConfiguration {
  std::string_view name;
  int32_t numDevices = 0;
  /// Names of the devices; empty if the devices have no names.
  std::vector<std::string_view> devices;
};

/// One factor of a dim that is split over devices (SimpleShardedDimProto). A
/// dim is a product of factors, and each factor is split by itself. Example: a
/// dim of size 768 consists of 12 attention heads with 64 elements each, so its
/// factors are 12 and 64. The member `dimValue` is the size of the factor as a
/// number. The member `dimParam` is the size as a symbol, such as "heads". If
/// the file gives neither, the size is computed from the tensor's shape.
struct SimpleShardedDim {
  std::optional<int64_t> dimValue;
  std::string_view dimParam;
  /// Number of equal parts into which this factor is split. A dim of a tensor
  /// is a product of factors. Example: a dim of size 768 consists of 12
  /// attention heads with 64 elements each, so its factors are 12 and 64. If
  /// the factor 12 has `numShards` = 4, each shard has 3 heads. If the factor
  /// 64 has `numShards` = 1, each of these heads is whole.
  int64_t numShards = 0;
};

/// A dim of a tensor that is split over devices (ShardedDimProto).
struct ShardedDim {
  /// Index of the split dim in the shape of the tensor, from 0. A negative
  /// index counts from the end of the shape: -1 is the last dim.
  int64_t axis = 0;
  /// Factors of the dim. The split treats the dim like several smaller dims,
  /// its factors. The product of the sizes of the factors is the size of the
  /// dim. The first factor varies slowest. Example: a dim of size 768 has the
  /// factors 12 and 64. Index 70 of the dim is index 1 of the factor 12 and
  /// index 6 of the factor 64, because 1 * 64 + 6 = 70.
  std::vector<SimpleShardedDim> simpleShardings;
};

/// A group of devices that all hold the same shard of a tensor
/// (IntIntListEntryProto). In the list ShardingSpec::devices, the number `key`
/// stands for all `devices` of the group.
struct DeviceGroup {
  int64_t key = 0;
  std::vector<int64_t> devices;
};

/// The sharding of one operand or result of a node (ShardingSpecProto).
struct ShardingSpec {
  std::string_view tensorName;
  /// Devices that hold the shards, which are numbered in row-major order. Entry
  /// i is the device of shard i, or the `key` of a group in `groups`. The list
  /// may be empty. If there is only one shard, all entries belong to this
  /// shard.
  std::vector<int64_t> devices;
  std::vector<DeviceGroup> groups;
  std::vector<ShardedDim> shardedDims;
};

/// Returns the number of shards into which `spec` splits a tensor. The number
/// is the product of the members `numShards` in `spec`. Example: a tensor has
/// two dims. If one is split into 2 parts and the other is split into 4 parts,
/// the tensor has 8 shards. Returns INT64_MAX if the product overflows.
int64_t numShards(const ShardingSpec &spec);

/// The annotation of a node for one device configuration: its pipeline stage
/// and the shardings of its tensors (NodeDeviceConfigurationProto).
struct NodeDeviceConfiguration {
  /// Name of the device configuration, which is a set of devices. The members
  /// `shardingSpecs` and `pipelineStage` apply if the model runs on these
  /// devices.
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

/// An attribute of a node (AttributeProto). `type` determines which member
/// holds the value. A single tensor, graph or type is stored as a list of one
/// entry.
struct Attribute {
  std::string_view name;
  AttributeType type = AttributeType::Undefined;
  /// Name of the function parameter from which this attribute takes its value.
  /// Empty if the attribute has its own value.
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
  /// Domain of the op; "" for the standard domain, even if it is spelled
  /// "ai.onnx" in the file.
  std::string_view domain;
  /// Overload of the called function, if several functions have the same domain
  /// and name; usually empty.
  std::string_view overload;
  /// Opset version that applies to the node; 0 until readModel sets it.
  int64_t opset = 0;
  /// Index of the node in the node list of its graph or function, from 0. Error
  /// messages use the index to identify a node that has no name. If a function
  /// call is replaced by the nodes of the function's body, each of these nodes
  /// gets the index of the call.
  uint32_t index = 0;
  /// Names of the operands. The name "" stands for an optional operand that the
  /// node omits. If the node omits the last operands, the list ends before
  /// these operands. Example: an op has four operands, and the last three are
  /// optional. The node passes the value a as operand 0, passes the value c as
  /// operand 2, and omits the operands 1 and 3. The list is then
  /// ["a", "", "c"].
  std::vector<std::string_view> inputs;
  /// Names of the results. The name "" stands for a result that the node omits.
  /// The parser removes each "" at the end of the list. Example: an op has four
  /// results. A node omits the results 1 and 3. The name of result 0 is "a",
  /// and the name of result 2 is "c". The list is then ["a", "", "c"].
  std::vector<std::string_view> outputs;
  std::vector<Attribute> attributes;
  Metadata metadata;
  /// Multi-device annotations of the node. An annotation gives the pipeline
  /// stage of the node, and describes how its tensors are split over devices.
  /// Each annotation belongs to one device configuration (a set of devices with
  /// a name). After readModel, no two annotations of a node belong to the same
  /// device configuration.
  std::vector<NodeDeviceConfiguration> deviceConfigurations;

  /// Returns the attribute with this name; null if there is none.
  const Attribute *attribute(std::string_view name) const;
  /// Returns a text that identifies the node in an error message. The text
  /// consists of the name of the node in single quotes and its op type.
  /// Example: a node with the name conv1 and the op type Conv has the label
  /// `'conv1' (Conv)`. If the node has no name, the label contains the member
  /// `index` instead. Example: with the index 12, the label is `#12 (Conv)`.
  std::string label() const;
};

/// A graph or subgraph (GraphProto).
struct Graph {
  std::string_view name;
  /// Nodes; in topological order after readModel.
  std::vector<Node> nodes;
  /// Constant tensors of the graph, such as weights.
  std::vector<Tensor> initializers;
  std::vector<SparseTensor> sparseInitializers;
  /// Inputs of the graph. An input with the name of an initializer has that
  /// initializer as its default value.
  std::vector<ValueInfo> inputs;
  std::vector<ValueInfo> outputs;
  /// Types of the values that are neither inputs nor outputs of the graph, such
  /// as a node's result that only other nodes read. A value may have no entry.
  std::vector<ValueInfo> valueInfos;
  Metadata metadata;
};

/// An opset that a model or function imports: a domain and its version
/// (OperatorSetIdProto).
struct OperatorSetId {
  std::string_view domain;
  int64_t version = 0;
};

/// Returns the highest version that `opsets` lists for the operator domain
/// `domain`. Returns 0 if `opsets` does not list the domain. The standard ONNX
/// domain has two names: for `domain`, "ai.onnx" and "" give the same result.
int64_t opsetVersion(const std::vector<OperatorSetId> &opsets,
                     std::string_view domain);

/// A function that nodes of the model can call (FunctionProto).
struct Function {
  std::string_view name;
  std::string_view domain;
  /// Overload of the function, if several functions have the same domain and
  /// name; usually empty.
  std::string_view overload;
  std::vector<std::string_view> inputs;
  std::vector<std::string_view> outputs;
  /// Names of the function's attribute parameters that have no default value.
  std::vector<std::string_view> attributes;
  /// Attribute parameters of the function that have a default value. Each entry
  /// holds the name and the default value of one parameter.
  std::vector<Attribute> attributeDefaults;
  std::vector<Node> nodes;
  /// Opset versions that apply to the nodes of the function's body.
  std::vector<OperatorSetId> opsets;
  std::vector<ValueInfo> valueInfos;
  Metadata metadata;

  /// Returns the domain, the name and the overload of the function in single
  /// quotes, for an error message: `'com.acme.Scale:v2'`. Leaves out an empty
  /// domain or overload.
  std::string label() const;
};

/// A description of the training of the model (TrainingInfoProto). It consists
/// of two graphs and two lists. The graph `initialization` computes initial
/// values of weights, and `initializationBinding` assigns these values to
/// weights. The graph `algorithm` computes one training step, and
/// `updateBinding` assigns its results to weights.
struct TrainingInfo {
  /// Graph that computes initial values of weights. It has no inputs.
  Graph initialization;
  /// Initial values of the weights. Each entry belongs to one weight. The key
  /// is the name of the weight, which is an initializer. The value is the name
  /// of an output of the graph `initialization`. Before the first training
  /// step, the weight gets the value of this output. Example: the entry (w,
  /// w_init) assigns the output w_init to the weight w.
  Metadata initializationBinding;
  /// Graph of one training step. Its nodes may read values of the model's main
  /// graph.
  Graph algorithm;
  /// New values of the weights after a training step. Each entry belongs to one
  /// weight. The key is the name of the weight, which is an initializer. The
  /// value is the name of an output of the graph `algorithm`. After the step,
  /// the weight gets the value of this output. Example: the entry (w, w_new)
  /// assigns the output w_new to the weight w.
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
  /// Functions that nodes may call; empty after readModel, which inlines all
  /// calls.
  std::vector<Function> functions;
  std::vector<DeviceConfiguration> configurations;
  Metadata metadata;
  std::vector<TrainingInfo> training;

  /// Path of the model file, as the caller gives it to the function that reads
  /// the model. The weights of a model may lie in other files. pcc searches
  /// several directories for these files. The first one is the directory of
  /// `path`.
  std::string path;
  /// Owns the mapped file and all other memory to which string views in the
  /// model point. Never null in a model that has been read.
  std::shared_ptr<ModelStorage> storage;

  /// Stores `text` in `storage` and returns a view of the stored copy.
  std::string_view intern(std::string text);
  /// Returns the offset in bytes of `bytes` from the start of the model file,
  /// if `bytes` points into the memory to which the file is mapped. Returns
  /// nullopt if `bytes` is empty or lies in other memory, such as a string that
  /// intern() has stored.
  std::optional<uint64_t> fileOffset(std::string_view bytes) const;
};

} // namespace pcc::onnx

#endif // PCC_PASSES_1_IMPORT_ONNX_MODEL_MODEL_H
