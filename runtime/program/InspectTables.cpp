//===- InspectTables.cpp - short tables about many ranks ------------------===//

#include "runtime/program/InspectTables.h"
#include "runtime/base/QuantityText.h"
#include "runtime/base/TextTable.h"
#include "runtime/program/InspectText.h"
#include "status/Counted.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <map>
#include <tuple>
#include <unistd.h>

namespace pcc::runtime {

using Json = nlohmann::ordered_json;

std::vector<ProgramGroup> groupPrograms(const Json &programs,
                                        int64_t perProgram, size_t most) {
  const size_t perGroup = (programs.size() + most - 1) / most;
  std::vector<ProgramGroup> groups;
  for (size_t i = 0; i < programs.size(); ++i) {
    if (i % perGroup == 0)
      groups.push_back({.first = int64_t(i) * perProgram});
    groups.back().last = int64_t(i + 1) * perProgram - 1;
    groups.back().programs.push_back(&programs[i]);
  }
  return groups;
}

/// Returns "3" for one number, otherwise a range such as "0-3".
static std::string rangeText(int64_t first, int64_t last) {
  return std::to_string(first) +
         (last > first ? "-" + std::to_string(last) : "");
}

std::string rangeText(const ProgramGroup &group) {
  return group.first == group.last ? "rank " + std::to_string(group.first)
                                   : "ranks " + std::to_string(group.first) +
                                         " to " + std::to_string(group.last);
}

std::string joinedActions(const Json &program, const char *separator) {
  std::string text;
  for (const Json &action : program.at("actions"))
    text += (text.empty() ? "" : separator) + action.get<std::string>();
  return text;
}

std::string portsText(const Json &bundle, const char *list) {
  constexpr size_t mostNamed = 5;
  const Json &ports = bundle.at(list);
  std::string text;
  for (size_t i = 0; i < std::min(ports.size(), mostNamed); ++i)
    text += (i ? ", " : "") + ports[i].at("name").get<std::string>() + " " +
            ports[i].at("dtype").get<std::string>() +
            ports[i].at("shape").dump();
  if (ports.size() > mostNamed)
    text += " and " + std::to_string(ports.size() - mostNamed) + " more";
  return std::string(list) + " " + (text.empty() ? "none" : text) + "\n";
}

/// Returns the numbers of all stages of a group in ascending order, such as
/// "0-3" or "0,4".
static std::string stagesText(const ProgramGroup &group) {
  std::vector<int64_t> stages;
  for (const Json *program : group.programs)
    for (const Json &stage : program->at("stages"))
      stages.push_back(stage.get<int64_t>());
  std::sort(stages.begin(), stages.end());
  std::string text;
  for (size_t first = 0, next = 0; first < stages.size(); first = next) {
    for (next = first + 1;
         next < stages.size() && stages[next] == stages[next - 1] + 1;)
      ++next;
    text +=
        (text.empty() ? "" : ",") + rangeText(stages[first], stages[next - 1]);
  }
  return text;
}

/// Returns the largest result of `bytesOf` for the programs of `group`, as text
/// such as "1.5 MiB". Returns "-" if the largest result is 0.
template <typename BytesOf>
static std::string largest(const ProgramGroup &group, BytesOf bytesOf) {
  double most = 0;
  for (const Json *program : group.programs)
    most = std::max(most, double(bytesOf(*program)));
  return most > 0 ? bytesText(most) : "-";
}

std::string memoryTableText(const std::vector<ProgramGroup> &groups) {
  TextTable table{{"ranks", "stages", "memory", "weights", "state", "arena",
                   "gradients in it", "received"},
                  {}};
  for (const ProgramGroup &group : groups) {
    std::vector<std::string> &row = table.rows.emplace_back();
    row = {rangeText(group.first, group.last), stagesText(group),
           largest(group, allocatedBytes)};
    for (const char *field : {"weight_bytes", "state_bytes", "arena_bytes",
                              "gradient_bytes", "received_bytes"})
      row.push_back(largest(group, [&](const Json &program) {
        return program.at(field).get<double>();
      }));
  }
  const bool isJoined = groups.front().programs.size() > 1;
  return std::string("\nmemory of each rank, and what it receives in a step") +
         (isJoined ? "; where ranks differ, the most\n" : "\n") +
         alignedText(table, tableWidth(STDOUT_FILENO));
}

std::string actionsText(const std::vector<ProgramGroup> &groups) {
  constexpr size_t mostWidth = 80;
  size_t positions = 0;
  for (const ProgramGroup &group : groups)
    positions += group.programs.size();
  std::string text = "\nactions of a step";
  if (positions > groups.size())
    text += ", at " + std::to_string(groups.size()) + " of " +
            counted(positions, "position");
  text += "\n";
  for (ProgramGroup group : groups) {
    std::string actions = joinedActions(*group.programs.front(), " ");
    if (actions.size() > mostWidth)
      actions = actions.substr(0, actions.rfind(' ', mostWidth)) + " …";
    const int64_t perProgram = (group.last - group.first + 1) /
                               static_cast<int64_t>(group.programs.size());
    group.last = group.first + perProgram - 1;
    text += "  " + rangeText(group) + ": " + actions + "\n";
  }
  return text;
}

namespace {
/// Calls and bytes of one kind of communication in a step, on one rank.
struct Traffic {
  std::string axes, kind;
  int64_t calls = 0;
  double bytes = 0;
};
} // namespace

/// Maps each stage to the index of the program in `programs` that runs this
/// stage. There is one program per pipeline rank.
static std::map<int64_t, size_t> positionsOf(const Json &programs) {
  std::map<int64_t, size_t> positions;
  for (size_t position = 0; position < programs.size(); ++position)
    for (const Json &stage : programs[position].at("stages"))
      positions[stage.get<int64_t>()] = position;
  return positions;
}

/// Returns the communication of one rank in a step, for each program of the
/// bundle. Entry i belongs to program i, and has one Traffic for each pair of
/// mesh axes and kind, such as "tp all-gather".
static std::vector<std::map<std::string, Traffic>>
trafficOfPositions(const Json &bundle) {
  const std::map<int64_t, size_t> positions =
      positionsOf(bundle.at("programs"));
  std::vector<std::map<std::string, Traffic>> all(bundle.at("programs").size());
  const auto add = [&](const Json &entry, const char *stage,
                       const std::string &axes, const std::string &kind,
                       const char *bytes, int64_t count) {
    Traffic &traffic =
        all[positions.at(entry.at(stage).get<int64_t>())][axes + " " + kind];
    const int64_t calls =
        count * (entry.at("per") == "step"
                     ? 1
                     : bundle.at("microbatches").get<int64_t>());
    traffic = {axes, kind, traffic.calls + calls,
               traffic.bytes + double(calls) * entry.at(bytes).get<double>()};
  };
  for (const Json &entry : bundle.at("collectives")) {
    std::string axes;
    for (const Json &axis : entry.at("axes"))
      axes += (axes.empty() ? "" : "+") + axis.get<std::string>();
    add(entry, "stage", axes, entry.at("kind").get<std::string>(),
        "received_bytes", entry.at("count").get<int64_t>());
  }
  for (const Json &entry : bundle.at("transfers"))
    if (positions.at(entry.at("from_stage").get<int64_t>()) !=
        positions.at(entry.at("to_stage").get<int64_t>()))
      add(entry, "to_stage", "pp", "transfer", "bytes", 1);
  return all;
}

/// Returns one entry for each pair of mesh axes and kind of communication, such
/// as ("tp", all-gather). The entry has the calls and bytes of the rank that
/// receives the most bytes for this pair. The entries are sorted by bytes,
/// largest first.
static std::vector<Traffic> mostTraffic(const Json &bundle) {
  std::map<std::string, Traffic> most;
  for (const auto &position : trafficOfPositions(bundle))
    for (const auto &[key, traffic] : position)
      if (Traffic &other = most[key]; other.bytes <= traffic.bytes)
        other = traffic;
  std::vector<Traffic> sorted;
  for (const auto &[key, traffic] : most)
    sorted.push_back(traffic);
  std::sort(sorted.begin(), sorted.end(),
            [](const Traffic &a, const Traffic &b) {
              return std::tie(b.bytes, a.axes, a.kind) <
                     std::tie(a.bytes, b.axes, b.kind);
            });
  return sorted;
}

std::string communicationText(const Json &bundle) {
  constexpr size_t mostRows = 8;
  const std::vector<Traffic> all = mostTraffic(bundle);
  if (all.empty())
    return "\nno communication\n";
  TextTable table{{"over", "kind", "calls", "received"}, {}};
  for (const Traffic &traffic : all)
    if (table.rows.size() < mostRows)
      table.rows.push_back({traffic.axes, traffic.kind,
                            std::to_string(traffic.calls),
                            bytesText(traffic.bytes)});
  return "\ncommunication of a step, on the rank with the most of each kind\n" +
         alignedText(table, tableWidth(STDOUT_FILENO)) +
         (all.size() > mostRows
              ? "and " + std::to_string(all.size() - mostRows) + " more\n"
              : "");
}

} // namespace pcc::runtime
