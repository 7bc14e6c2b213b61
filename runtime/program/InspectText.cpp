//===- InspectText.cpp - readable text of a bundle description ------------===//

#include "runtime/program/InspectText.h"
#include "runtime/base/QuantityText.h"
#include "runtime/program/InspectTables.h"
#include "status/Counted.h"

#include <nlohmann/json.hpp>

namespace pcc::runtime {

using Json = nlohmann::ordered_json;

/// Returns a byte count as text. `field` is the name of the field of `entry`
/// that stores the count, such as "arena_bytes". For example, if this field has
/// the value 98304, the result is "96.0 KiB".
static std::string bytesOf(const Json &entry, const char *field) {
  return bytesText(entry.at(field).get<double>());
}

std::string meshText(const Json &object) {
  std::string text;
  for (const auto &[name, value] : object.items())
    text += (text.empty() ? "" : ", ") + name + "=" + value.dump();
  return text.empty() ? "one rank" : text;
}

/// Returns the index ranges of a tensor as text. For example, "[0:8+16:24,
/// 0:64]" means indices 0 to 7 and 16 to 23 of dim 0, and 0 to 63 of dim 1.
static std::string runsText(const Json &runs) {
  std::string text = "[";
  for (const Json &dim : runs) {
    text += text.size() > 1 ? ", " : "";
    std::string parts;
    for (const Json &run : dim)
      parts += (parts.empty() ? "" : "+") + run.at(0).dump() + ":" +
               run.at(1).dump();
    text += parts.empty() ? "nothing" : parts;
  }
  return text + "]";
}

double allocatedBytes(const Json &rank) {
  double bytes = 0;
  for (const char *part : {"weight_bytes", "state_bytes", "arena_bytes"})
    bytes += rank.at(part).get<double>();
  return bytes;
}

std::string leftOutText(const std::string &target) {
  return target == "cuda" ? ", besides what CUDA libraries take" : "";
}

/// Returns one line about the stages and the memory of a rank. The gradients
/// are in the arena, so the total is the sum of weights, optimizer state and
/// arena.
static std::string memoryText(const Json &rank) {
  std::string text = ": stages " + rank.at("stages").dump() + ", memory " +
                     bytesText(allocatedBytes(rank)) + " (weights " +
                     bytesOf(rank, "weight_bytes");
  text += ", state " + bytesOf(rank, "state_bytes") + ", arena " +
          bytesOf(rank, "arena_bytes") + " with gradients " +
          bytesOf(rank, "gradient_bytes");
  text += ", lower bound " + bytesOf(rank, "arena_lower_bound_bytes") +
          "), receives " + bytesOf(rank, "received_bytes") + " per step, " +
          counted(rank.at("instructions").get<int64_t>(), "instruction") + "\n";
  return text;
}

/// Returns one line per tensor: its name and the index ranges that the rank
/// holds. `list` is "parameters", "inputs" or "outputs".
static std::string tensorsText(const Json &rank, const char *list) {
  std::string text;
  for (const Json &tensor : rank.at(list))
    text += "    " + tensor.at("name").get<std::string>() + " " +
            runsText(tensor.at("runs")) + "\n";
  return text.empty() ? "" : "  " + std::string(list) + "\n" + text;
}

/// Returns the collectives that run once per step or once per microbatch, as
/// text with a heading. `per` is "step" or "microbatch".
static std::string collectivesText(const Json &collectives,
                                   const std::string &per) {
  std::string text;
  for (const Json &entry : collectives)
    if (entry.at("per") == per)
      text += "  stage " + entry.at("stage").dump() + ": " +
              entry.at("count").dump() + " x " +
              entry.at("kind").get<std::string>() + " over " +
              entry.at("axes").dump() + ", receives " +
              bytesOf(entry, "received_bytes") + ", at '" +
              entry.at("node").get<std::string>() + "'\n";
  return text.empty() ? "" : "collectives per " + per + "\n" + text;
}

std::string scheduleText(const Json &programs) {
  std::string text;
  for (const Json &program : programs)
    text += joinedActions(program, ",") + "\n";
  return text;
}

/// Returns the transfers between stages as text, one line each.
static std::string transfersText(const Json &transfers) {
  std::string text;
  for (const Json &transfer : transfers)
    text += "transfer from stage " + transfer.at("from_stage").dump() + " to " +
            transfer.at("to_stage").dump() + ": " +
            transfer.at("value").get<std::string>() + ", " +
            bytesOf(transfer, "bytes") + "\n";
  return text;
}

/// Returns the collectives and the transfers between stages as text, one line
/// each. The collectives that run once per step and those that run once per
/// microbatch have a heading each.
static std::string communicationList(const Json &bundle) {
  std::string text;
  for (const char *per : {"step", "microbatch"})
    text += collectivesText(bundle.at("collectives"), per);
  return text + transfersText(bundle.at("transfers"));
}

/// Returns the lines about the whole bundle: one line with the number of ranks,
/// the mesh and the target, a line about memory that the text leaves out, and
/// then the inputs and outputs of the model.
static std::string headText(const Json &bundle) {
  const Json &kernels = bundle.at("kernels");
  const std::string leftOut =
      leftOutText(bundle.at("target").get<std::string>());
  const std::string memoryHint =
      leftOut.empty() ? "" : "memory is that of tensors" + leftOut + "\n";
  return countText(bundle.at("world").get<int64_t>(), "rank") + " (" +
         meshText(bundle.at("mesh")) + "), target " +
         bundle.at("target").get<std::string>() +
         (bundle.at("tf32").get<bool>() ? " with tf32, " : ", ") +
         countText(bundle.at("microbatches").get<int64_t>(), "microbatch") +
         ", " + countText(kernels.at("unique").get<int64_t>(), "kernel") +
         " called " + countText(kernels.at("calls").get<int64_t>(), "time") +
         "\n" + memoryHint + portsText(bundle, "inputs") +
         portsText(bundle, "outputs");
}

/// Divides the programs of a bundle into at most `most` groups. Each group is
/// shown as one entry, such as a row of a table.
static std::vector<ProgramGroup> groupsOf(const Json &bundle, size_t most) {
  const Json &programs = bundle.at("programs");
  const int64_t perProgram =
      bundle.at("world").get<int64_t>() / static_cast<int64_t>(programs.size());
  return groupPrograms(programs, perProgram, most);
}

std::string inspectText(const Json &bundle, bool isVerbose) {
  constexpr size_t mostGroups = 12, mostActionRows = 6;
  const Json &programs = bundle.at("programs");
  std::string text = headText(bundle);
  if (!isVerbose)
    return text + memoryTableText(groupsOf(bundle, mostGroups)) +
           actionsText(groupsOf(bundle, mostActionRows)) +
           communicationText(bundle) +
           "\n--rank R tells all about a rank, --shards GLOB draws what ranks "
           "hold of a weight, -v lists all\n";
  text += "ranks\n";
  for (const ProgramGroup &group : groupsOf(bundle, programs.size()))
    text += "  " + rangeText(group) + memoryText(*group.programs.front());
  text += "actions of a step\n";
  for (const ProgramGroup &group : groupsOf(bundle, programs.size()))
    text += "  " + rangeText(group) + ": " +
            joinedActions(*group.programs.front(), " ") + "\n";
  return text + communicationList(bundle);
}

std::string rankText(const Json &bundle) {
  const Json &rank = bundle.at("ranks").at(0);
  std::string text = headText(bundle) + "rank " + rank.at("rank").dump() +
                     " (" + meshText(rank.at("coordinates")) + ")" +
                     memoryText(rank) + "actions of a step\n  " +
                     joinedActions(rank, " ") + "\n";
  for (const char *list : {"parameters", "inputs", "outputs"})
    text += tensorsText(rank, list);
  return text + communicationList(bundle);
}

} // namespace pcc::runtime
