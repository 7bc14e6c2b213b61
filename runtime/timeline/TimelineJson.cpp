//===- TimelineJson.cpp - a timeline as JSON ------------------------------===//

#include "runtime/timeline/TimelineJson.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

namespace pcc::runtime {

using Json = nlohmann::ordered_json;

/// Largest number of collectives that the JSON of a timeline lists.
static constexpr int64_t mostCollectives = 5000;

static double rounded(double seconds) {
  return std::round(seconds * 1e9) / 1e9;
}

static bool isCollective(const TimedAction &timed) {
  return timed.action.kind == ActionKind::Communication;
}

static Json toJson(const TimedAction &timed) {
  return {nameOf(timed), rounded(timed.start), rounded(timed.end)};
}

static Json messagesJson(const std::vector<TimedAction> &messages,
                         bool hasCollectives) {
  Json list = Json::array();
  for (const TimedAction &timed : messages)
    if (hasCollectives || !isCollective(timed)) {
      list.push_back(toJson(timed));
      list.back().push_back(timed.message);
    }
  return list;
}

static void addMemory(Json &row, const MemoryCurve &curve) {
  row["weight_bytes"] = curve.weights;
  row["state_bytes"] = curve.state;
  row["arena_bytes"] = curve.arena;
  Json points = Json::array();
  for (const MemoryPoint &point : curve.points)
    points.push_back(
        {rounded(point.seconds), point.gradients, point.activations});
  row["memory"] = std::move(points);
}

static Json rowJson(const Timeline &timeline, size_t row, bool hasCollectives) {
  Json json = {{"name", rowName(timeline, row)}};
  if (row < timeline.idle.size())
    json["idle_seconds"] = rounded(timeline.idle[row]);
  if (row < timeline.memory.size())
    addMemory(json, timeline.memory[row]);
  json["actions"] = Json::array();
  for (const TimedAction &timed : timeline.positions[row])
    json["actions"].push_back(toJson(timed));
  json["messages"] = row < timeline.messages.size()
                         ? messagesJson(timeline.messages[row], hasCollectives)
                         : Json::array();
  return json;
}

Json toJson(const Timeline &timeline) {
  int64_t collectives = 0;
  for (const std::vector<TimedAction> &row : timeline.messages)
    collectives += std::count_if(row.begin(), row.end(), isCollective);
  const bool hasCollectives = collectives <= mostCollectives;
  Json json = {{"seconds", rounded(timeline.makespan)}};
  if (!hasCollectives)
    json["collectives_left_out"] = collectives;
  json["rows"] = Json::array();
  for (size_t row = 0; row < timeline.positions.size(); ++row)
    json["rows"].push_back(rowJson(timeline, row, hasCollectives));
  return json;
}

} // namespace pcc::runtime
