//===- InspectText.cpp - readable text of a bundle description ------------===//

#include "runtime/program/InspectText.h"
#include "runtime/base/QuantityText.h"

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

/// Returns the inputs or outputs of the model as text, one line each.
static std::string portsText(const Json &ports) {
  std::string text;
  for (const Json &port : ports)
    text += "  " + port.at("name").get<std::string>() + " " +
            port.at("dtype").get<std::string>() + port.at("shape").dump() +
            "\n";
  return text;
}

/// Returns text such as "rank 3" or "ranks 4 to 7".
static std::string rangeText(const Json &ranks, size_t first, size_t next) {
  const std::string number = ranks[first].at("rank").dump();
  return next == first + 1
             ? "rank " + number
             : "ranks " + number + " to " + ranks[next - 1].at("rank").dump();
}

/// Returns whether two ranks run the same program. Their lines are then equal.
static bool isAlike(const Json &left, const Json &right) {
  return left.at("stages") == right.at("stages");
}

double allocatedBytes(const Json &rank) {
  double bytes = 0;
  for (const char *part : {"weight_bytes", "state_bytes", "arena_bytes"})
    bytes += rank.at(part).get<double>();
  return bytes;
}

/// Returns the stages and the memory of a rank. Gradients lie in the arena.
static std::string memoryText(const Json &rank) {
  std::string text = ": stages " + rank.at("stages").dump() + ", memory " +
                     bytesText(allocatedBytes(rank)) + " (weights " +
                     bytesOf(rank, "weight_bytes");
  text += ", state " + bytesOf(rank, "state_bytes") + ", arena " +
          bytesOf(rank, "arena_bytes") + " with gradients " +
          bytesOf(rank, "gradient_bytes");
  text += ", lower bound " + bytesOf(rank, "arena_lower_bound_bytes") +
          "), receives " + bytesOf(rank, "received_bytes") + " per step, " +
          rank.at("instructions").dump() + " instructions\n";
  return text;
}

/// Returns one line for each group of ranks that run the same program.
static std::string ranksText(const Json &ranks) {
  std::string text;
  for (size_t first = 0, next = 0; first < ranks.size(); first = next) {
    for (next = first + 1;
         next < ranks.size() && isAlike(ranks[first], ranks[next]);)
      ++next;
    text += "  " + rangeText(ranks, first, next) +
            (ranks.size() == 1
                 ? " (" + meshText(ranks[first].at("coordinates")) + ")"
                 : "") +
            memoryText(ranks[first]);
  }
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
              bytesOf(entry, "received_bytes") + ", at \"" +
              entry.at("node").get<std::string>() + "\"\n";
  return text.empty() ? "" : "collectives per " + per + "\n" + text;
}

/// Joins names of actions, with `separator` between two names. An action is a
/// computation of one stage for one microbatch. For example, "0F3" is the
/// forward pass of stage 0 for microbatch 3. The actions ["0F3", "0B3"] with
/// the separator "," become "0F3,0B3".
static std::string actionsText(const Json &actions, const char *separator) {
  std::string text;
  for (const Json &action : actions)
    text += (text.empty() ? "" : separator) + action.get<std::string>();
  return text;
}

std::string scheduleText(const Json &programs) {
  std::string text;
  for (const Json &program : programs)
    text += actionsText(program.at("actions"), ",") + "\n";
  return text;
}

/// Returns a table of the actions that each rank runs in one step. An action is
/// a computation of one stage for one microbatch. For example, "0F3" is the
/// forward pass of stage 0 for microbatch 3. Consecutive ranks with equal
/// actions have one line in common. For example, ranks 0 to 3 may have this
/// line:
///
///     ranks 0 to 3: 0F0 0F1 0B0 0B1
static std::string tableText(const Json &ranks) {
  std::string text;
  for (size_t first = 0, next = 0; first < ranks.size(); first = next) {
    const Json &actions = ranks[first].at("actions");
    for (next = first + 1;
         next < ranks.size() && ranks[next].at("actions") == actions;)
      ++next;
    text += "  " + rangeText(ranks, first, next) + ": " +
            actionsText(actions, " ") + "\n";
  }
  return "actions of a step\n" + text;
}

std::string inspectText(const Json &bundle) {
  std::string text =
      bundle.at("world").dump() + " ranks (" + meshText(bundle.at("mesh")) +
      "), target " + bundle.at("target").get<std::string>() +
      (bundle.at("tf32").get<bool>() ? " with tf32, " : ", ") +
      bundle.at("microbatches").dump() + " microbatches, " +
      bundle.at("kernels").at("unique").dump() + " kernels called " +
      bundle.at("kernels").at("calls").dump() + " times\n";
  text += "inputs\n" + portsText(bundle.at("inputs"));
  text += "outputs\n" + portsText(bundle.at("outputs")) + "ranks\n";
  text += ranksText(bundle.at("ranks"));
  text += tableText(bundle.at("ranks"));
  if (bundle.at("ranks").size() == 1)
    for (const char *list : {"parameters", "inputs", "outputs"})
      text += tensorsText(bundle.at("ranks").at(0), list);
  for (const char *per : {"step", "microbatch"})
    text += collectivesText(bundle.at("collectives"), per);
  for (const Json &transfer : bundle.at("transfers"))
    text += "transfer from stage " + transfer.at("from_stage").dump() + " to " +
            transfer.at("to_stage").dump() + ": " +
            transfer.at("value").get<std::string>() + ", " +
            bytesOf(transfer, "bytes") + "\n";
  return text;
}

} // namespace pcc::runtime
