//===- SummaryText.cpp - the few lines that a user sees after compile -----===//

#include "runtime/program/SummaryText.h"
#include "runtime/base/QuantityText.h"
#include "runtime/program/InspectText.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <map>

namespace pcc::runtime {

using Json = nlohmann::ordered_json;

/// Returns the element type of most weights, such as "f32"; empty without
/// weights.
static std::string mainType(const Json &programs) {
  std::map<std::string, double> elements;
  for (const Json &program : programs)
    for (const Json &parameter : program.at("parameters")) {
      double count = 1;
      for (const Json &size : parameter.at("shape"))
        count *= size.get<double>();
      elements[parameter.at("dtype").get<std::string>()] += count;
    }
  const auto most = std::max_element(
      elements.begin(), elements.end(),
      [](const auto &a, const auto &b) { return a.second < b.second; });
  return most == elements.end() ? "" : most->first;
}

/// Returns a text with the memory of the rank that needs the most, and the
/// parts of this memory, such as "up to 3.0 GiB (2.0 GiB weights + 1.0 GiB
/// arena)". The text has no "up to" if all ranks need the same memory.
static std::string memoryText(const Json &programs) {
  const Json *largest = &programs.at(0);
  bool isSame = true;
  for (const Json &program : programs) {
    isSame = isSame && allocatedBytes(program) == allocatedBytes(*largest);
    if (allocatedBytes(program) > allocatedBytes(*largest))
      largest = &program;
  }
  std::string parts;
  for (const char *part : {"weight", "state", "arena"})
    if (const double bytes =
            largest->at(part + std::string("_bytes")).get<double>();
        bytes > 0)
      parts += (parts.empty() ? "" : " + ") + bytesText(bytes) + " " +
               (part == std::string("weight") ? "weights" : part);
  return (isSame ? "" : "up to ") + bytesText(allocatedBytes(*largest)) +
         (parts.empty() ? "" : " (" + parts + ")");
}

/// Returns the most bytes that a rank receives in a step.
static double mostReceived(const Json &programs) {
  double most = 0;
  for (const Json &program : programs)
    most = std::max(most, program.at("received_bytes").get<double>());
  return most;
}

std::string summaryText(const Json &bundle, const StepEstimate &step) {
  const Json &programs = bundle.at("programs");
  const std::string type = mainType(programs);
  std::string text = countText(bundle.at("world").get<int64_t>(), "rank");
  if (bundle.at("world") > 1)
    text += " (" + meshText(bundle.at("mesh")) + ")";
  text += ", " + bundle.at("target").get<std::string>() +
          (type.empty() ? "" : ", " + type) +
          "\n  each rank: " + memoryText(programs) +
          leftOutText(bundle.at("target").get<std::string>()) +
          "\n  each step: about " + secondsText(step.seconds);
  if (bundle.at("world") > 1)
    text += ", " + shareText(step.idleShare) + " idle; receives up to " +
            bytesText(mostReceived(programs));
  return text;
}

} // namespace pcc::runtime
