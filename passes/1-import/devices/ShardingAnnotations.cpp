//===- ShardingAnnotations.cpp - shardings requested by a model -----------===//

#include "passes/1-import/devices/ShardingAnnotations.h"
#include "passes/1-import/onnx/model/MessageText.h"
#include "sharding/ShardingText.h"
#include "status/Counted.h"
#include "status/PrintableText.h"

#include <algorithm>

using namespace pcc;
using namespace pcc::onnx_import;

void ShardingAnnotations::collectMetadata() {
  for (const auto *infos : {&model.graph.inputs, &model.graph.valueInfos})
    for (const onnx::ValueInfo &info : *infos)
      if (auto text = metadataOf(info.metadata, shardingKey); !text.empty())
        values[info.name].text = text;
  for (const onnx::Tensor &tensor : model.graph.initializers)
    if (auto text = metadataOf(tensor.metadata, shardingKey); !text.empty())
      values[tensor.name].text = text;
  for (const onnx::ValueInfo &info : model.graph.outputs)
    if (auto text = metadataOf(info.metadata, shardingKey); !text.empty())
      values[info.name].outputText = text;
}

void ShardingAnnotations::collectNodeAnnotations() {
  for (const auto &[node, own] : plan.annotated())
    for (const onnx::ShardingSpec &spec : own->shardingSpecs) {
      const auto &outputs = node->outputs;
      ValueAnnotations &words = values[spec.tensorName];
      if (std::find(outputs.begin(), outputs.end(), spec.tensorName) !=
          outputs.end())
        words.producer = {node, &spec};
      else
        words.users.push_back({node, &spec});
    }
}

Status ShardingAnnotations::read(const ImportOptions &options) {
  PCC_RETURN_IF_ERROR(plan.read(options));
  collectNodeAnnotations();
  if (options.configuration != "none")
    collectMetadata();
  return Status::success();
}

//===----------------------------------------------------------------------===//
// Shardings
//===----------------------------------------------------------------------===//

std::optional<int64_t>
ShardingAnnotations::sizeOf(const onnx::SimpleShardedDim &simple) const {
  if (simple.dimValue)
    return simple.dimValue;
  auto bound = dims.find(std::string(simple.dimParam));
  return bound == dims.end() ? std::nullopt : std::optional(bound->second);
}

/// Appends the sizes of the factors of `dim` to `sizes`. `dim` has `size`
/// elements and is a product of factors, such as 768 = 12 x 64. If one factor
/// has no size in the annotation, computes its size from `size` and the other
/// factors. Returns an error message if the product of the factors is not
/// `size`, or if several factors have no size. Returns "" on success.
std::string ShardingAnnotations::factorsOf(const onnx::ShardedDim &dim,
                                           int64_t size,
                                           std::vector<int64_t> &sizes) const {
  int64_t known = 1, open = -1;
  bool fits = true;
  std::string text;
  for (const onnx::SimpleShardedDim &simple : dim.simpleShardings) {
    std::optional<int64_t> own = sizeOf(simple);
    text += (text.empty() ? "" : " x ") + (own ? std::to_string(*own) : "?");
    fits &= own ? *own >= 0 && !__builtin_mul_overflow(known, *own, &known)
                : open < 0;
    if (!own)
      open = static_cast<int64_t>(sizes.size());
    sizes.push_back(own.value_or(1));
  }
  if (open >= 0 && sizes.size() == 1)
    sizes[0] = known = size;
  else if (open >= 0 && known > 0 && size % known == 0) {
    sizes[open] = size / known;
    known = size;
  }
  if (fits && known == size)
    return "";
  return "splits axis " + std::to_string(dim.axis) + " of " + text +
         " elements, but that axis has " + std::to_string(size);
}

/// Formats a shape for messages: "[2, 10]".
static std::string shapeText(const dist::Shape &shape) {
  std::string text = "[";
  for (size_t i = 0; i < shape.size(); ++i)
    text += (i ? ", " : "") + std::to_string(shape[i]);
  return text + "]";
}

/// Sets `asked` to the sharding that the annotation `word` of a node gives for
/// one tensor. Each split dim is a product of factors, such as 768 = 12 x 64.
/// The sharding holds the size and the mesh axes of each factor.
Status ShardingAnnotations::convert(const NodeAnnotation &word,
                                    const Shape &shape,
                                    RequestedSharding &asked) const {
  const onnx::ShardingSpec &spec = *word.spec;
  auto refuse = [&](const std::string &what) {
    return onnx_import::refuse(*word.node, spec.tensorName, what);
  };
  auto factors = plan.axesOf(spec);
  if (!factors)
    return refuse(factors.status().message());
  const auto rank = static_cast<int64_t>(shape.size());
  dist::Sharding sharding = dist::Sharding::whole(rank);
  auto next = factors->begin();
  for (const onnx::ShardedDim &dim : spec.shardedDims) {
    const std::string axis = "splits axis " + std::to_string(dim.axis);
    if (dim.axis < -rank || dim.axis >= rank)
      return refuse(axis + ", but the tensor of shape " + shapeText(shape) +
                    " has " + counted(rank, "axis"));
    const int64_t index = dim.axis < 0 ? dim.axis + rank : dim.axis;
    dist::DimSharding &target = sharding.dims[index];
    if (!target.factors.empty())
      return refuse(axis + " twice");
    std::vector<int64_t> sizes;
    if (std::string mistake = factorsOf(dim, shape[index], sizes);
        !mistake.empty())
      return refuse(mistake);
    for (int64_t size : sizes)
      target.factors.push_back({size, *next++});
  }
  if (auto problem = dist::findError(sharding, mesh(), shape))
    return refuse("cannot be met: " + *problem);
  asked = dist::canonical(sharding);
  return Status::success();
}

Status ShardingAnnotations::parse(std::string_view name, std::string_view text,
                                  const Shape &shape,
                                  RequestedSharding &asked) const {
  auto sharding = dist::parseSharding(text, mesh(), shape);
  if (sharding) {
    asked = std::move(*sharding);
    return Status::success();
  }
  return onnx_import::refuse("metadata " + std::string(shardingKey) + " of " +
                             onnx::quoted(name) + ": cannot shard it as " +
                             printable(text) + ": " +
                             sharding.status().message());
}

Status ShardingAnnotations::shardingAtDefinition(
    std::string_view name, const Shape &shape, RequestedSharding &asked) const {
  asked.reset();
  auto found = values.find(name);
  if (found == values.end())
    return Status::success();
  const ValueAnnotations &words = found->second;
  RequestedSharding other;
  if (!words.text.empty())
    PCC_RETURN_IF_ERROR(parse(name, words.text, shape, asked));
  if (words.producer.spec)
    PCC_RETURN_IF_ERROR(convert(words.producer, shape, asked ? other : asked));
  if (other && !dist::samePlacement(*asked, *other))
    return refuse(*words.producer.node, name,
                  "contradicts its metadata " + std::string(shardingKey) +
                      ", which is " + printable(words.text));
  if (asked)
    return Status::success();
  for (const NodeAnnotation &user : words.users) {
    PCC_RETURN_IF_ERROR(convert(user, shape, asked ? other : asked));
    if (other && !dist::samePlacement(*asked, *other)) {
      asked.reset();
      return Status::success();
    }
  }
  return Status::success();
}

Status ShardingAnnotations::shardingAtUse(const onnx::Node &node,
                                          std::string_view name,
                                          const Shape &shape,
                                          RequestedSharding &asked) const {
  asked.reset();
  auto found = values.find(name);
  if (found == values.end())
    return Status::success();
  for (const NodeAnnotation &user : found->second.users)
    if (user.node == &node)
      return convert(user, shape, asked);
  return Status::success();
}

Status ShardingAnnotations::shardingAtOutput(std::string_view name,
                                             const Shape &shape,
                                             RequestedSharding &asked) const {
  auto found = values.find(name);
  if (found != values.end() && !found->second.outputText.empty())
    return parse(name, found->second.outputText, shape, asked);
  return shardingAtDefinition(name, shape, asked);
}
