//===- BundleSummary.cpp - description of a bundle for a page -------------===//

#include "runtime/report/BundleSummary.h"

#include "runtime/program/bundle/BundleFields.h"
#include "runtime/program/bundle/Inspect.h"
#include "runtime/report/ExplanationSummary.h"

#include <filesystem>
#include <map>
#include <set>

namespace pcc::runtime {

using Json = nlohmann::ordered_json;

namespace {
/// Largest number of different shards of one weight that the summary lists. A
/// report page shows the listed shards.
constexpr size_t mostParts = 16;
/// If more than this number of ranks run one program, only the weight shards of
/// the first 1024 of these ranks are listed.
constexpr int64_t mostRanksOfProgram = 1024;

/// Joins the descriptions of ranks that run the same stages.
class RankGroups {
public:
  /// Adds one rank, an entry of the list "ranks" of `pcc inspect --json`. Ranks
  /// must come in order of their numbers.
  void add(const Json &rank) {
    const std::string stages = rank.at("stages").dump();
    const auto [found, isNew] = numberOfStages.insert({stages, groups.size()});
    const size_t number = found->second;
    if (isNew)
      addGroup(rank);
    groups[number]["ranks"][1] = rank.at("rank");
    for (const Json &parameter : rank.at("parameters"))
      addPart(number, rank.at("rank"), parameter);
  }

  void writeTo(Json &summary) {
    summary["groups"] = std::move(groups);
    summary["parameters"] = std::move(parameters);
  }

private:
  void addGroup(const Json &rank) {
    Json group = {{"ranks", {rank.at("rank"), rank.at("rank")}}};
    for (const auto &[key, value] : rank.items())
      if (key != "rank" && key != "parameters" && key != "inputs" &&
          key != "outputs" && key != "coordinates")
        group[key] = value;
    groups.push_back(std::move(group));
  }

  void addPart(size_t group, const Json &rank, const Json &parameter) {
    const std::string &name =
        parameter.at("name").get_ref<const std::string &>();
    const auto [found, isNew] =
        numberOfParameter.insert({{group, name}, parameters.size()});
    if (isNew) {
      Json entry = parameter;
      entry.erase("runs");
      entry["group"] = group;
      entry["parts"] = Json::array();
      entry["more"] = 0;
      parameters.push_back(std::move(entry));
      held.emplace_back();
    }
    if (!held[found->second].insert(parameter.at("runs").dump()).second)
      return;
    Json &entry = parameters[found->second];
    if (entry["parts"].size() < mostParts)
      entry["parts"].push_back(
          {{"rank", rank}, {"runs", parameter.at("runs")}});
    else
      entry["more"] = entry["more"].get<int64_t>() + 1;
  }

  Json groups = Json::array(), parameters = Json::array();
  std::map<std::string, size_t> numberOfStages;
  std::map<std::pair<size_t, std::string>, size_t> numberOfParameter;
  /// For each entry of `parameters`: the index ranges of all different shards
  /// that addPart() has seen, each as JSON text.
  std::vector<std::set<std::string>> held;
};
} // namespace

/// Returns a copy of `inspected`, the JSON of `pcc inspect`, without the fields
/// "ranks", "programs" and "seal", and without the ranks of each stage.
/// RankGroups::writeTo() adds groups of ranks instead.
static Json headOf(const Json &inspected) {
  Json head = Json::object();
  for (const auto &[key, value] : inspected.items())
    if (key != "ranks" && key != "programs" && key != "seal")
      head[key] = value;
  for (Json &stage : head.at("stages"))
    stage.erase("ranks");
  return head;
}

Json summarizeBundle(const Json &inspected) {
  RankGroups groups;
  for (const Json &rank : inspected.at("ranks"))
    groups.add(rank);
  Json summary = headOf(inspected);
  groups.writeTo(summary);
  return summary;
}

static Status addDescription(const std::string &bundle, Json &summary) {
  RankGroups groups;
  Json head;
  PCC_RETURN_IF_ERROR(
      inspectRanks(bundle, mostRanksOfProgram, head,
                   [&](const Json &rank) { groups.add(rank); }));
  summary = headOf(head);
  groups.writeTo(summary);
  // inspectRanks() describes only the first ranks of a large group. The last
  // rank that add() has seen may therefore not be the last rank of the group.
  // Compute the number of the last rank.
  const auto perGroup = head.at("world").get<int64_t>() /
                        static_cast<int64_t>(summary["groups"].size());
  for (Json &group : summary["groups"])
    group["ranks"][1] = group["ranks"][0].get<int64_t>() + perGroup - 1;
  if (perGroup > mostRanksOfProgram)
    summary["parts_of_ranks"] = mostRanksOfProgram;
  return Status::success();
}

/// Adds the summary of explain.json in `bundle` to `source`, if the file is
/// there.
static Status addReasons(const std::string &bundle, Json &source) {
  const std::string path = bundle + "/explain.json";
  std::error_code error;
  if (!std::filesystem::exists(std::filesystem::symlink_status(path, error)))
    return Status::success();
  Json content;
  PCC_RETURN_IF_ERROR(readExplainJson(bundle, content));
  source["explain"] = summarizeExplanation(content);
  return Status::success();
}

Status addBundle(const std::string &bundle, Json &source) {
  PCC_RETURN_IF_ERROR(addDescription(bundle, source["bundle"]));
  return addReasons(bundle, source);
}

} // namespace pcc::runtime
