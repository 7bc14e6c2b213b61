//===- DevicePlan.cpp - device configuration, mesh and stages of a model --===//

#include "passes/1-import/devices/DevicePlan.h"
#include "passes/1-import/build/Locations.h"
#include "passes/1-import/onnx/model/MessageText.h"
#include "status/Counted.h"

#include <algorithm>
#include <charconv>
#include <set>

using namespace pcc;
using namespace pcc::onnx_import;

Status onnx_import::refuse(std::string what) {
  return Status::error(CannotMeet, std::move(what));
}

Status onnx_import::refuse(const onnx::Node &node, const std::string &what) {
  Status error = refuse("node " + node.label() + what);
  if (auto line = pythonLine(node))
    error.addNote("the node was exported from " + line->file + ":" +
                  std::to_string(line->line));
  return error;
}

Status onnx_import::refuse(const onnx::Node &node, std::string_view tensor,
                           const std::string &what) {
  return refuse(node, ": the sharding of " + onnx::quoted(tensor) + " " + what);
}

std::string_view onnx_import::metadataOf(const onnx::Metadata &metadata,
                                         std::string_view key) {
  for (const onnx::MetadataEntry &entry : metadata)
    if (entry.key == key)
      return entry.value;
  return {};
}

//===----------------------------------------------------------------------===//
// The configuration
//===----------------------------------------------------------------------===//

/// Adds names of device configurations to the set `names`. A device
/// configuration is a named set of devices in an ONNX model. An annotation of a
/// node holds for one device configuration, and contains its name. The function
/// adds the names in all annotations of `nodes`, and in all annotations of the
/// nodes in subgraphs of `nodes`.
static void addConfigurations(const std::vector<onnx::Node> &nodes,
                              std::set<std::string_view> &names) {
  for (const onnx::Node &node : nodes) {
    for (const onnx::NodeDeviceConfiguration &own : node.deviceConfigurations)
      names.insert(own.configurationId);
    for (const onnx::Attribute &attribute : node.attributes)
      for (const onnx::Graph &graph : attribute.graphs)
        addConfigurations(graph.nodes, names);
  }
}

/// Returns the device configuration of `model` called `name`; null if there is
/// none.
static const onnx::DeviceConfiguration *find(const onnx::Model &model,
                                             std::string_view name) {
  for (const onnx::DeviceConfiguration &configuration : model.configurations)
    if (configuration.name == name)
      return &configuration;
  return nullptr;
}

/// Returns the number of ranks that the user requests: the product of the sizes
/// of the mesh axes, times --pp (1 by default). `options.mesh` must be set.
static int64_t worldOf(const ImportOptions &options) {
  int64_t world = options.pipeline.value_or(1);
  for (const auto &[name, size] : *options.mesh)
    world *= size;
  return world;
}

/// Chooses one device configuration (named set of devices) by the rules in the
/// comment of DevicePlan. Returns an error if a given name does not exist, or
/// if the annotations contain several names and no rule selects one.
Status DevicePlan::chooseConfiguration(const ImportOptions &options) {
  std::set<std::string_view> used;
  addConfigurations(model.graph.nodes, used);
  std::string_view name = options.configuration;
  if (name.empty())
    name = metadataOf(model.metadata, configurationKey);
  std::set<std::string_view> fitting = used;
  if (used.size() > 1 && options.mesh)
    std::erase_if(fitting, [&](std::string_view other) {
      return find(model, other)->numDevices != worldOf(options);
    });
  if (name.empty() && fitting.size() == 1)
    name = *fitting.begin();
  configuration = find(model, name);
  if (!name.empty() && !configuration)
    return refuse("the model has no device configuration " +
                  onnx::quoted(name));
  if (!name.empty() || used.empty())
    return Status::success();
  std::string names;
  for (std::string_view other : used)
    names += (names.empty() ? "" : " and ") + onnx::quoted(other);
  return refuse("nodes refer to the device configurations " + names +
                "; --configuration NAME chooses one");
}

void DevicePlan::collect(const std::vector<onnx::Node> &nodesOfGraph) {
  for (const onnx::Node &node : nodesOfGraph) {
    for (const onnx::NodeDeviceConfiguration &own : node.deviceConfigurations)
      if (own.configurationId == configuration->name)
        nodes.push_back({&node, &own});
    for (const onnx::Attribute &attribute : node.attributes)
      for (const onnx::Graph &graph : attribute.graphs)
        collect(graph.nodes);
  }
}

//===----------------------------------------------------------------------===//
// Stages
//===----------------------------------------------------------------------===//

/// Divides the devices into --pp groups of equal size. By default, the number
/// of groups is the number of stages divided by --virtual-stages. Stage s runs
/// on group s modulo the number of groups. Returns an error if the number of
/// stages is not the number of groups times --virtual-stages, if the devices
/// cannot be divided evenly, or if nodes with the same name have different
/// stages.
Status DevicePlan::findStages(const ImportOptions &options) {
  const int64_t perPosition = options.virtualStages;
  for (const auto &[node, own] : nodes)
    if (own->pipelineStage)
      stages = std::max<int64_t>(stages, *own->pipelineStage + 1);
  const std::string count = std::to_string(stages) + " pipeline stages";
  if (stages % perPosition != 0)
    return refuse("the model has " + count + ", which --virtual-stages " +
                  std::to_string(perPosition) + " does not divide");
  numPositions =
      options.pipeline.value_or(std::max<int64_t>(1, stages / perPosition));
  if (stages != 0 && stages != numPositions * perPosition)
    return refuse("the model has " + count + ", but --pp asks for " +
                  std::to_string(numPositions * perPosition));
  const int64_t devices = configuration->numDevices;
  if (devices % numPositions != 0)
    return refuse("device configuration " + onnx::quoted(configuration->name) +
                  " has " + counted(devices, "device") + ", which " +
                  counted(numPositions, "position") +
                  " of a pipeline do not divide");
  devicesPerStage = devices / numPositions;
  for (const auto &[node, own] : nodes)
    if (own->pipelineStage)
      PCC_RETURN_IF_ERROR(setStage(*node, *own->pipelineStage));
  return Status::success();
}

Status DevicePlan::setStage(const onnx::Node &node, int64_t stage) {
  auto [known, isNew] = nodeStages.insert({nameInLocations(node), stage});
  if (isNew || known->second == stage)
    return Status::success();
  return refuse(node, " is on pipeline stage " + std::to_string(stage) +
                          ", and another node of that name on stage " +
                          std::to_string(known->second));
}

/// Checks that the devices of `layout` run the pipeline stage of `node`.
/// Assigns a node without a stage to the stage of these devices, or returns an
/// error if they run several stages. Does nothing if `layout` lists no devices,
/// or if all devices run all stages.
Status DevicePlan::placeNode(const onnx::Node &node,
                             const ShardLayout &layout) {
  if (layout.shards.empty() || numPositions == 1)
    return Status::success();
  const int64_t position = layout.firstDevice / devicesPerStage;
  const std::string devices =
      " lies on devices " + std::to_string(layout.firstDevice) + " to " +
      std::to_string(layout.firstDevice + devicesPerStage - 1);
  auto stage = nodeStages.find(nameInLocations(node));
  if (stage == nodeStages.end() && stages > numPositions)
    return refuse(node, devices + " and does not say on which stage");
  if (stage == nodeStages.end()) {
    stages = numPositions;
    return setStage(node, position);
  }
  if (stage->second % numPositions == position)
    return Status::success();
  return refuse(node, devices + ", which are not those of pipeline stage " +
                          std::to_string(stage->second));
}

//===----------------------------------------------------------------------===//
// The mesh
//===----------------------------------------------------------------------===//

size_t DevicePlan::indexOf(ShardLayout layout) {
  // `firstDevice` is the number of the first device of a pipeline stage. All
  // stages have the same mesh, so the choice of mesh axes does not depend on
  // the stage. Set `firstDevice` to 0, so that a layout on devices 4 to 7
  // equals a layout on devices 0 to 3 with the same shards.
  layout.firstDevice = 0;
  auto same = std::find(layouts.begin(), layouts.end(), layout);
  if (same == layouts.end())
    same = layouts.insert(layouts.end(), std::move(layout));
  return same - layouts.begin();
}

Status DevicePlan::findLayouts() {
  for (const auto &[node, own] : nodes)
    for (const onnx::ShardingSpec &spec : own->shardingSpecs) {
      auto layout = layoutOf(spec, devicesPerStage);
      if (!layout)
        return refuse(*node, spec.tensorName, layout.status().message());
      PCC_RETURN_IF_ERROR(placeNode(*node, *layout));
      layoutOfSpec[&spec] = indexOf(std::move(*layout));
    }
  return Status::success();
}

/// Parses a mesh such as "dp=2,tp=4". Returns nothing if the text is malformed,
/// names an axis twice or has a size outside of [1, 65536].
static std::optional<dist::Mesh> parseMesh(std::string_view text) {
  dist::Mesh mesh;
  while (!text.empty()) {
    const std::string_view axis = text.substr(0, text.find(','));
    text.remove_prefix(std::min(text.size(), axis.size() + 1));
    const size_t equals = axis.find('=');
    int64_t size = 0;
    if (equals == std::string_view::npos || equals == 0)
      return std::nullopt;
    const char *end = axis.data() + axis.size();
    auto [last, code] = std::from_chars(axis.data() + equals + 1, end, size);
    if (code != std::errc() || last != end || size < 1 || size > 65536 ||
        mesh.sizeOf(axis.substr(0, equals)) != 0)
      return std::nullopt;
    mesh.axes.push_back({std::string(axis.substr(0, equals)), size});
  }
  return mesh;
}

/// Sets `axes`, the mesh of one pipeline stage. The mesh comes from `options`,
/// else from the metadata `pcc.mesh`, else from the sharding annotations.
/// Returns an error if `pcc.mesh` is invalid, or if `axes` does not have
/// `devicesPerStage` devices.
Status DevicePlan::findMesh(const ImportOptions &options) {
  const std::string_view text = metadataOf(model.metadata, meshKey);
  // The mesh in `pcc.mesh` is meant only for the device configuration that the
  // metadata entry `pcc.configuration` names.
  const bool isOfText =
      !configuration ||
      configuration->name == metadataOf(model.metadata, configurationKey);
  if (options.mesh) {
    takeMesh(options);
  } else if (!text.empty() && isOfText) {
    auto parsed = parseMesh(text);
    if (!parsed || parsed->size() > 65536)
      return refuse("metadata " + std::string(meshKey) +
                    " needs a form like 'dp=2,tp=4', got " +
                    onnx::quoted(text));
    axes = std::move(*parsed);
  } else if (configuration) {
    char name = 'a';
    for (int64_t size : commonAxes(layouts, devicesPerStage))
      axes.axes.push_back({std::string(1, name++), size});
  }
  if (!configuration || axes.size() == devicesPerStage)
    return Status::success();
  return refuse("device configuration " + onnx::quoted(configuration->name) +
                " has " + counted(devicesPerStage, "device") +
                (numPositions > 1 ? " per stage" : "") + ", but the mesh " +
                textOf(axes) + " has " + std::to_string(axes.size()));
}

void DevicePlan::takeMesh(const ImportOptions &options) {
  for (const auto &[name, size] : *options.mesh)
    axes.axes.push_back({name, size});
}

Status DevicePlan::read(const ImportOptions &options) {
  if (options.configuration == "none") {
    if (options.mesh)
      takeMesh(options);
    return Status::success();
  }
  PCC_RETURN_IF_ERROR(chooseConfiguration(options));
  if (configuration) {
    collect(model.graph.nodes);
    PCC_RETURN_IF_ERROR(findStages(options));
    PCC_RETURN_IF_ERROR(findLayouts());
  }
  return findMesh(options);
}

StatusOr<std::vector<dist::SubAxes>>
DevicePlan::axesOf(const onnx::ShardingSpec &spec) const {
  return onnx_import::axesOf(layouts[layoutOfSpec.at(&spec)], axes);
}
