//===- Remedy.cpp - options that change a plan, and what they cost --------===//

#include "passes/explain/Remedy.h"
#include "runtime/base/QuantityText.h"
#include "llvm/ADT/StringExtras.h"

#include <cmath>

using namespace pcc;
using namespace pcc::explain;

std::string explain::optionText(const Remedy &remedy) {
  std::vector<std::string> words;
  if (!remedy.omitted.empty())
    words.push_back("without " + remedy.omitted);
  for (const std::string &shard : remedy.shards)
    words.push_back("--shard '" + shard + "'");
  for (const std::string &name : remedy.stageAt)
    words.push_back("--stage-at '" + name + "'");
  for (const auto &[axis, size] : remedy.axes)
    words.push_back("--" + axis + " " + std::to_string(size));
  return llvm::join(words, " ");
}

std::string explain::differenceText(const emit::PlanPrice &own,
                                    const emit::PlanPrice &other) {
  std::vector<std::string> saved, spent;
  const auto compare = [&](double difference, const std::string &text) {
    if (difference != 0)
      (difference < 0 ? saved : spent).push_back(text);
  };
  // A difference below this limit, in seconds, counts as none: secondsText()
  // would show it as "0.00 us".
  constexpr double shortest = 0.5e-8;
  const double seconds = other.seconds - own.seconds;
  compare(std::abs(seconds) < shortest ? 0 : seconds,
          runtime::secondsText(std::abs(seconds)) + " a step");
  const auto received =
      static_cast<double>(other.receivedBytes - own.receivedBytes);
  compare(received,
          runtime::bytesText(std::abs(received)) + " received a step");
  const auto memory = static_cast<double>(other.memoryBytes - own.memoryBytes);
  compare(memory, runtime::bytesText(std::abs(memory)) + " of memory a rank");
  std::string text;
  if (!saved.empty())
    text = "saves " + llvm::join(saved, " and ");
  if (!spent.empty())
    text += (text.empty() ? "costs " : ", costs ") + llvm::join(spent, " and ");
  return text;
}
