//===- DevicePlan.cpp - device configuration, mesh and stages of a model --===//

#include "passes/1-import/devices/DevicePlan.h"
#include "passes/1-import/build/Locations.h"
#include "passes/1-import/onnx/model/MessageText.h"

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

/// Chooses one device configuration of the ONNX model. A device configuration
/// is a named set of devices. Each annotation of a node contains the name of
/// the device configuration for which the annotation holds. The first of these
/// rules that applies decides:
///
///   1. `options` contain a name. The function chooses the device configuration
///      with this name.
///   2. The metadata entry `pcc.configuration` of the model contains a name.
///      The function chooses the device configuration with this name.
///   3. No node has an annotation. The function chooses no device
///      configuration.
///   4. All annotations contain the same name. The function chooses the device
///      configuration with this name.
///   5. The annotations contain several names, and `options` contain a mesh.
///      worldOf(options) is the number of ranks that the user requests. Among
///      the device configurations with these names, the function chooses the
///      one with this number of devices. For example, the annotations contain
///      the names "small" and "large". The device configuration "small" has 4
///      devices, and "large" has 8 devices. If the user requests 8 ranks, the
///      function chooses "large".
///
/// Returns an error in three cases:
///
///  - The name according to rule 1 or rule 2 is not the name of a device
///    configuration of the model.
///  - The annotations contain several names, and none of the five rules
///    applies.
///  - Rule 5 applies, but not exactly one of the device configurations has the
///    requested number of devices.
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

/// Divides the devices into groups of equal size. All devices of a group run
/// the same pipeline stages. The groups are called positions. Three numbers
/// determine the groups:
///
///   number of stages      The annotations of the nodes contain the numbers of
///                         the stages. The number of stages is the largest of
///                         these numbers plus 1, or 0 if there are no such
///                         numbers.
///   stages per group      The value of the option --virtual-stages.
///   number of groups      The value of the option --pp. Without --pp, the
///                         number of groups is the number of stages divided by
///                         the stages per group, but at least 1.
///
/// Stage s runs on the group with the number s modulo the number of groups. For
/// example, there are 8 devices and 4 stages, --virtual-stages is 2, and --pp
/// is absent. There are then 4 / 2 = 2 groups:
///
///   group 0   devices 0 to 3   stages 0 and 2
///   group 1   devices 4 to 7   stages 1 and 3
///
/// Returns an error in four cases:
///
///   - The number of stages is not a multiple of the stages per group.
///   - The number of stages is not 0, and is not the number of groups times the
///     stages per group.
///   - The number of devices is not a multiple of the number of groups.
///   - Two nodes with the same name have different stages.
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
                  " has " + std::to_string(devices) + " devices, which " +
                  std::to_string(numPositions) +
                  " positions of a pipeline do not divide");
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

/// Checks that the pipeline stage of `node` runs on the devices of `layout`, or
/// assigns a stage to `node` if `node` has no stage. `layout` assigns the
/// shards of one operand or result of `node` to devices.
///
/// The devices of the model form groups of equal size. All devices of a group
/// run the same stages. The devices of `layout` are one group. For example, 8
/// devices form two groups, and there are 4 stages:
///
///   group 0   devices 0 to 3   stages 0 and 2
///   group 1   devices 4 to 7   stages 1 and 3
///
/// There are three cases:
///
///   1. `node` has a stage. The function returns an error if the devices of
///      `layout` do not run this stage. In the example, it returns an error if
///      `node` has stage 1 and `layout` assigns the shards to devices 0 to 3.
///   2. `node` has no stage, and each group runs at most one stage. Group 0
///      then runs stage 0, group 1 runs stage 1, and so on. The function
///      assigns `node` to the stage that the devices of `layout` run.
///   3. `node` has no stage, and each group runs several stages. The function
///      returns an error, because the stage of `node` stays unknown. In the
///      example, `layout` assigns the shards to devices 0 to 3. `node` may then
///      belong to stage 0 or to stage 2.
///
/// If `layout` lists no devices, or if there is only one group, the function
/// does nothing.
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

/// Parses a mesh such as "dp=2,tp=4". Returns nothing if the text has another
/// form, names an axis twice or has a size outside of [1, 65536].
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

/// Sets the member `axes` to the mesh of one pipeline stage. The member
/// `configuration` is the device configuration that pcc uses. A device
/// configuration is a named set of devices in the ONNX model. `configuration`
/// is null if pcc uses no device configuration. The first of these rules that
/// applies decides:
///
///   1. The user gives a mesh. The function stores the mesh of the user in
///      `axes`.
///   2. The metadata of the model contain the entry `pcc.mesh`, such as
///      "dp=2,tp=4". In addition, `configuration` is null, or `configuration`
///      has the name that the metadata entry `pcc.configuration` contains. The
///      function stores the mesh from the entry `pcc.mesh` in `axes`.
///   3. `configuration` is not null. Sharding annotations in the model list the
///      devices that hold each shard of a tensor. commonAxes() derives the
///      sizes of the mesh axes from these lists. The function names the axes a,
///      b and so on.
///
/// If no rule applies, `axes` stays empty. Returns an error if rule 2 applies,
/// and the text in `pcc.mesh` has another form than "dp=2,tp=4" or asks for
/// more than 65536 devices. Also returns an error if `configuration` is not
/// null, and the number of devices in the mesh is not `devicesPerStage`.
/// `devicesPerStage` is the number of devices that `configuration` has for each
/// pipeline stage.
Status DevicePlan::findMesh(const ImportOptions &options) {
  const std::string_view text = metadataOf(model.metadata, meshKey);
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
                " has " + std::to_string(devicesPerStage) + " devices" +
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
