//===- Inspect.cpp - the bundle description of `pcc inspect` --------------===//

#include "runtime/program/bundle/Inspect.h"
#include "runtime/program/InspectText.h"
#include "runtime/program/ShardsText.h"
#include "runtime/program/bundle/BundleFields.h"
#include "runtime/program/bundle/LayoutJson.h"
#include "sharding/ShardingText.h"
#include "status/PrintableText.h"
#include "status/Suggestions.h"

#include <fnmatch.h>
#include <nlohmann/json.hpp>

using Json = nlohmann::ordered_json;

namespace pcc::runtime {

namespace {
/// Mesh of a bundle. The class reads the mesh axes from the file bundle.json,
/// and adds the axis "mb" as the last axis (meshOf()).
class InspectMesh {
public:
  InspectMesh(const Json &bundle) : mesh(meshOf(bundle)) {}

  /// Returns coordinates as JSON, such as {"dp": 1, "tp": 0}.
  Json coordinatesJson(const Coordinates &at) const {
    Json json = Json::object();
    for (size_t i = 0; i + 1 < mesh.axes.size(); ++i)
      json[mesh.axes[i].name] = at[i];
    return json;
  }

  /// Returns the coordinate of a rank on the pipeline axis "pp", or 0 if the
  /// mesh has no axis "pp".
  int64_t pipelinePosition(const Coordinates &at) const {
    return mesh.axes[0].name == "pp" ? at[0] : 0;
  }

  /// Returns the index ranges of a dim that the rank at the coordinates `at`
  /// holds. The result is a JSON list of pairs [begin, end], such as [[0, 8],
  /// [16, 24]] for the ranges [0, 8) and [16, 24).
  ///
  /// The last entry of `at` is the number of a microbatch. The function ignores
  /// this entry. If the dim is split over microbatches, the rank can hold other
  /// ranges in microbatch 1 than in microbatch 0. The result then contains the
  /// ranges of all microbatches, in the order of the microbatches. If a range
  /// begins where the previous range ends, the function merges both ranges. For
  /// example, if the rank holds [0, 2) in microbatch 0 and [2, 4) in microbatch
  /// 1, the result is [[0, 4]].
  Json runsOf(const DimSharding &dim, Coordinates at) const {
    const bool isCut = isCutByMicrobatch({{dim}, {}, {}});
    Runs runs;
    for (int64_t m = 0; m < (isCut ? mesh.axes.back().size : 1); ++m) {
      microbatchOf(at) = m;
      for (const Run &run : dist::runsOf(dim, /*dimSize=*/1, mesh, at)) {
        if (!runs.empty() && runs.back().hi == run.lo)
          runs.back().hi = run.hi;
        else
          runs.push_back(run);
      }
    }
    Json list = Json::array();
    for (const Run &run : runs)
      list.push_back({run.lo, run.hi});
    return list;
  }

  Mesh mesh;
};

/// A tensor of a program. The file bundle.json has a JSON object for the
/// tensor. The field "layout" of this object describes how each dim of the
/// tensor is divided over ranks. `dims` is the parsed field "layout", with one
/// entry per dim. `entry` contains all other fields of the object, such as
/// "name".
struct InspectedTensor {
  Json entry;
  std::vector<DimSharding> dims;
};

/// Creates the JSON descriptions of ranks. All ranks with the same coordinate
/// on the pipeline axis run the same program. One object of this class
/// describes the ranks that run one of these programs. Each call of expand()
/// returns the description of one rank.
class RankExpander {
public:
  RankExpander(const InspectMesh &mesh, const Json &program)
      : mesh(mesh), program(program) {
    for (const char *list : lists)
      for (Json entry : program.at(list)) {
        InspectedTensor &tensor = tensors[list].emplace_back();
        tensor.dims = parseLayout(entry.at("layout")).value_or(Layout()).dims;
        entry.erase("layout");
        tensor.entry = std::move(entry);
      }
  }

  /// Returns the JSON description of the rank `rank`, whose coordinates are
  /// `at`.
  Json expand(int64_t rank, const Coordinates &at) const {
    Json json;
    json["rank"] = rank;
    json["stages"] = program.at("stages");
    json["coordinates"] = mesh.coordinatesJson(at);
    for (const char *field : {"arena_bytes", "arena_lower_bound_bytes",
                              "weight_bytes", "gradient_bytes", "state_bytes",
                              "received_bytes", "instructions", "actions"})
      json[field] = program.at(field);
    for (const char *list : lists)
      json[list] = tensorsJson(list, at);
    return json;
  }

private:
  static constexpr const char *lists[] = {"parameters", "inputs", "outputs"};

  /// Returns the tensors of one list ("parameters", "inputs" or "outputs"),
  /// with the index ranges of the rank at `at`.
  Json tensorsJson(const char *list, const Coordinates &at) const {
    Json entries = Json::array();
    const auto found = tensors.find(list);
    if (found == tensors.end())
      return entries;
    for (const InspectedTensor &tensor : found->second) {
      Json &entry = entries.emplace_back(tensor.entry);
      Json runs = Json::array();
      for (const DimSharding &dim : tensor.dims)
        runs.push_back(mesh.runsOf(dim, at));
      entry["runs"] = std::move(runs);
    }
    return entries;
  }

  const InspectMesh &mesh;
  const Json &program;
  std::map<std::string, std::vector<InspectedTensor>> tensors;
};
} // namespace

/// Removes entries from a list in the JSON object `bundle`. `list` is the name
/// of the list, such as "transfers". `fields` contains the names of the fields
/// of an entry that store a stage of the pipeline. An entry stays in the list
/// if one of these fields contains a stage in `stages`. For example, the fields
/// of a transfer are "from_stage" and "to_stage". A transfer from stage 0 to
/// stage 1 stays if `stages` contains 0 or 1.
static void keepStages(Json &bundle, const char *list,
                       std::initializer_list<const char *> fields,
                       const Json &stages) {
  Json kept = Json::array();
  for (const Json &entry : bundle.at(list))
    for (const char *field : fields)
      if (std::find(stages.begin(), stages.end(), entry.at(field)) !=
          stages.end()) {
        kept.push_back(entry);
        break;
      }
  bundle[list] = std::move(kept);
}

/// Returns the JSON object `bundle` with the field "ranks" in place of the
/// field "programs". The field "programs" has one entry per coordinate on the
/// pipeline axis, because all ranks with the same coordinate run the same
/// program. The field "ranks" has one entry per rank. For example, if each of 2
/// programs runs on 4 ranks, the field "ranks" has 8 entries.
///
/// If `onlyRank` is given, the field "ranks" has a single entry, for the rank
/// with this number. The lists "stages", "collectives" and "transfers" then
/// contain only the entries that belong to a pipeline stage of this rank, and
/// the planned step only the row of this rank.
static Json expand(Json bundle, std::optional<int64_t> onlyRank) {
  const InspectMesh mesh(bundle);
  const Json programs = bundle.at("programs");
  std::vector<RankExpander> expanders;
  for (const Json &program : programs)
    expanders.emplace_back(mesh, program);
  Json ranks = Json::array();
  for (int64_t rank = 0; rank < numRanks(mesh.mesh); ++rank) {
    if (onlyRank && rank != *onlyRank)
      continue;
    const Coordinates at = coordinatesOf(mesh.mesh, rank);
    ranks.push_back(
        expanders.at(size_t(mesh.pipelinePosition(at))).expand(rank, at));
  }
  bundle.at("programs") = std::move(ranks);
  Json result = Json::object();
  for (auto &[key, value] : bundle.items())
    result[key == "programs" ? "ranks" : key] = std::move(value);
  if (!onlyRank)
    return result;
  const Json stages = result.at("ranks").at(0).at("stages");
  keepStages(result, "stages", {"stage"}, stages);
  keepStages(result, "collectives", {"stage"}, stages);
  keepStages(result, "transfers", {"from_stage", "to_stage"}, stages);
  if (const auto planned = result.find("planned_step");
      planned != result.end()) {
    const size_t position =
        size_t(mesh.pipelinePosition(coordinatesOf(mesh.mesh, *onlyRank)));
    planned->at("rows") = Json::array({planned->at("rows").at(position)});
  }
  return result;
}

/// Adds the names of all tensors of `program` to `names`. Removes the tensors
/// from `program` whose names do not match `glob`. Adds the field "sharding", a
/// text such as "[-, tp]", to each tensor that stays. Also adds the element
/// type and the shape to inputs and outputs, which `bundle` lists.
static void keepTensors(Json &program, const Json &bundle,
                        const std::string &glob,
                        std::vector<std::string> &names) {
  const InspectMesh mesh(bundle);
  for (const char *list : {"parameters", "inputs", "outputs"}) {
    Json kept = Json::array();
    for (Json &tensor : program.at(list)) {
      const auto name = tensor.at("name").get<std::string>();
      names.push_back(name);
      if (name != glob && fnmatch(glob.c_str(), name.c_str(), FNM_NOESCAPE))
        continue;
      if (bundle.contains(list))
        for (const Json &port : bundle.at(list))
          if (port.at("name") == name)
            tensor.update(port);
      dist::Sharding sharding =
          parseLayout(tensor.at("layout")).value_or(Layout());
      tensor["sharding"] = dist::toBriefString(
          dist::withoutTime(std::move(sharding)), mesh.mesh);
      kept.push_back(std::move(tensor));
    }
    program[list] = std::move(kept);
  }
}

/// Returns `document` with each text, such as the name of an input, safe to
/// show in one line of a terminal.
static Json inPrintableTexts(Json document) {
  if (document.is_string())
    return printable(document.get<std::string>());
  if (document.is_structured())
    for (Json &entry : document)
      entry = inPrintableTexts(std::move(entry));
  return document;
}

/// Sets `text` to pictures of the tensors whose names match `glob`.
static Status describeShards(Json bundle, const std::string &glob,
                             std::string &text) {
  std::vector<std::string> names;
  bool hasAny = false;
  for (Json &program : bundle.at("programs")) {
    keepTensors(program, bundle, glob, names);
    for (const char *list : {"parameters", "inputs", "outputs"})
      hasAny = hasAny || !program.at(list).empty();
  }
  if (!hasAny)
    return Status::error(WrongUsage,
                         "no weight, input or output of the bundle is named '" +
                             glob + "'" + nearestOf(glob, names));
  text =
      shardsText(inPrintableTexts(expand(std::move(bundle), {})).at("ranks"));
  return Status::success();
}

/// Sets `text` to the description of `bundle` that `options` ask for, such as
/// the description of one rank. Returns an error with exit code 2 if a rank or
/// a tensor in `options` does not exist.
static Status describe(Json bundle, const InspectOptions &options,
                       std::string &text) {
  const auto world = bundle.at("world").get<int64_t>();
  if (options.rank && (*options.rank < 0 || *options.rank >= world))
    return Status::error(
        WrongUsage, "the bundle has no rank " + std::to_string(*options.rank) +
                        ", only 0 to " + std::to_string(world - 1));
  if (options.schedule) {
    text = scheduleText(bundle.at("programs"));
    return Status::success();
  }
  if (!options.shards.empty())
    return describeShards(std::move(bundle), options.shards, text);
  if (options.json)
    text = expand(std::move(bundle), options.rank).dump() + "\n";
  else if (options.rank)
    text = rankText(inPrintableTexts(expand(std::move(bundle), options.rank)));
  else
    text = inspectText(inPrintableTexts(std::move(bundle)), options.isVerbose);
  return Status::success();
}

Status inspectBundle(const InspectOptions &options, std::string &text) {
  Json bundle;
  PCC_RETURN_IF_ERROR(readBundleJson(options.bundle, bundle));
  return describe(std::move(bundle), options, text);
}

Status inspectRanks(const std::string &bundle, int64_t mostOfProgram,
                    Json &head, const std::function<void(const Json &)> &use) {
  PCC_RETURN_IF_ERROR(readBundleJson(bundle, head));
  const InspectMesh mesh(head);
  const Json programs = head.at("programs");
  head.erase("programs");
  const auto perProgram =
      numRanks(mesh.mesh) / static_cast<int64_t>(programs.size());
  for (size_t program = 0; program < programs.size(); ++program) {
    const RankExpander expander(mesh, programs[program]);
    const int64_t first = static_cast<int64_t>(program) * perProgram;
    for (int64_t i = 0; i < std::min(perProgram, mostOfProgram); ++i)
      use(expander.expand(first + i, coordinatesOf(mesh.mesh, first + i)));
  }
  return Status::success();
}

} // namespace pcc::runtime
