//===- ExplanationSummary.cpp - explanation of a plan for a page ----------===//

#include "runtime/report/ExplanationSummary.h"

#include <algorithm>
#include <map>

namespace pcc::runtime {

using Json = nlohmann::ordered_json;

/// Largest number of nodes that one entry names.
static constexpr size_t mostNodes = 8;

/// Returns `text` with one "#" in place of each number within a name. A number
/// is within a name if it follows a letter, a dot or an underscore. For
/// example, "h.12.fc1" becomes "h.#.fc#".
static std::string withoutNumbers(const std::string &text) {
  std::string result;
  for (size_t i = 0; i < text.size(); ++i) {
    const bool isInName =
        isdigit(static_cast<unsigned char>(text[i])) && !result.empty() &&
        (isalpha(static_cast<unsigned char>(result.back())) ||
         result.back() == '.' || result.back() == '_' || result.back() == '#');
    if (!isInName)
      result += text[i];
    else if (result.back() != '#')
      result += '#';
  }
  return result;
}

/// Returns a key that is equal for collectives that are merged into one entry
/// of "reasons". They may differ only in the stage, the block, the number of
/// calls, and the numbers in names.
static std::string keyOf(Json collective) {
  for (const char *field : {"count", "stage", "per", "block"})
    collective.erase(field);
  return withoutNumbers(
      collective.dump(-1, ' ', false, Json::error_handler_t::replace));
}

static void addNode(Json &entry, const std::string &node) {
  Json &nodes = entry["nodes"];
  if (node.empty() ||
      std::find(nodes.begin(), nodes.end(), node) != nodes.end())
    return;
  if (nodes.size() < mostNodes)
    nodes.push_back(node);
  else
    entry["more_nodes"] = entry["more_nodes"].get<int64_t>() + 1;
}

static void addCollective(Json &entry, const Json &collective,
                          int64_t microbatches) {
  const int64_t calls =
      collective.at("count").get<int64_t>() *
      (collective.at("per") == "microbatch" ? microbatches : 1);
  entry["calls"] = entry["calls"].get<int64_t>() + calls;
  Json &stages = entry["stages"];
  if (std::find(stages.begin(), stages.end(), collective.at("stage")) ==
      stages.end())
    stages.push_back(collective.at("stage"));
  addNode(entry, collective.at("node").get<std::string>());
}

/// Returns the seconds that the collectives of `entry` take in one step, summed
/// over all calls in all stages.
static double secondsOf(const Json &entry) {
  return entry.at("calls").get<double>() * entry.at("seconds").get<double>();
}

static Json reasonsOf(const Json &collectives, int64_t microbatches) {
  std::vector<Json> reasons;
  std::map<std::string, size_t> numberOfKey;
  for (const Json &collective : collectives) {
    const auto [found, isNew] =
        numberOfKey.insert({keyOf(collective), reasons.size()});
    if (isNew) {
      reasons.push_back(collective);
      reasons.back().update(Json{{"calls", 0},
                                 {"stages", Json::array()},
                                 {"nodes", Json::array()},
                                 {"more_nodes", 0}});
    }
    addCollective(reasons[found->second], collective, microbatches);
  }
  std::stable_sort(reasons.begin(), reasons.end(),
                   [](const Json &left, const Json &right) {
                     return secondsOf(left) > secondsOf(right);
                   });
  return reasons;
}

/// Returns a copy of the list `collectives` in which each entry has only the
/// fields about its kind, bytes, seconds and place, such as "axes" and "stage".
/// The copy lacks the causes of the collectives.
static Json listOf(const Json &collectives) {
  Json list = Json::array();
  for (const Json &collective : collectives) {
    Json &entry = list.emplace_back(Json::object());
    for (const char *field :
         {"kind", "axes", "ranks_per_group", "stage", "per", "count",
          "received_bytes", "seconds", "link", "block"})
      if (collective.contains(field))
        entry[field] = collective[field];
  }
  return list;
}

Json summarizeExplanation(const Json &explained) {
  Json summary = Json::object();
  for (const auto &[key, value] : explained.items())
    if (key != "collectives")
      summary[key] = value;
  summary["collectives"] = listOf(explained.at("collectives"));
  summary["reasons"] = reasonsOf(explained.at("collectives"),
                                 explained.at("microbatches").get<int64_t>());
  return summary;
}

} // namespace pcc::runtime
