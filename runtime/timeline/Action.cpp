//===- Action.cpp - actions of a pipeline schedule and their spelling -----===//

#include "runtime/timeline/Action.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <iterator>

namespace pcc::runtime {
namespace {

struct Spelling {
  ActionKind kind;
  std::string_view name;
};

/// Spellings of action kinds that schedule files may contain.
constexpr std::array<Spelling, 12> spellings{{
    {ActionKind::Forward, "F"},
    {ActionKind::Backward, "B"},
    {ActionKind::InputGradient, "I"},
    {ActionKind::WeightGradient, "W"},
    {ActionKind::Update, "U"},
    {ActionKind::Unshard, "UNSHARD"},
    {ActionKind::Reshard, "RESHARD"},
    {ActionKind::ReduceGradient, "REDUCE_GRAD"},
    {ActionKind::SendForward, "SEND_F"},
    {ActionKind::ReceiveForward, "RECV_F"},
    {ActionKind::SendBackward, "SEND_B"},
    {ActionKind::ReceiveBackward, "RECV_B"},
}};

/// Parses the decimal number at the beginning of `text`, and removes it from
/// `text`. Returns std::nullopt if `text` does not begin with a number.
std::optional<int> takeNumber(std::string_view &text) {
  int number = 0;
  auto [end, failure] =
      std::from_chars(text.data(), text.data() + text.size(), number);
  // Reject a sign: std::from_chars accepts "-0".
  if (failure != std::errc() || text.front() == '-')
    return std::nullopt;
  text.remove_prefix(static_cast<size_t>(end - text.data()));
  return number;
}

/// Upper bound of stages and microbatches: parseAction() rejects a stage or a
/// microbatch that is equal to this number or larger. Callers allocate tables
/// that are indexed by stage or by microbatch. The upper bound limits the size
/// of these tables.
constexpr int largestNumber = 1 << 20;

} // namespace

bool isCompute(ActionKind kind) { return kind <= ActionKind::WeightGradient; }

std::string print(const Action &action) {
  std::string text = std::to_string(action.stage);
  for (const Spelling &spelling : spellings)
    if (spelling.kind == action.kind)
      text += spelling.name;
  if (action.microbatch >= 0)
    text += std::to_string(action.microbatch);
  return text;
}

/// Splits the name of an action into stage, kind and microbatch. For example,
/// "0SEND_F2" has stage 0, kind SEND_F and microbatch 2. The kind ends before
/// the first digit after the stage, because the name of a kind does not contain
/// digits.
std::optional<Action> parseAction(std::string_view text) {
  Action action;
  std::optional<int> stage = takeNumber(text);
  if (!stage || *stage >= largestNumber)
    return std::nullopt;
  action.stage = *stage;
  const std::string_view name =
      text.substr(0, text.find_first_of("0123456789"));
  auto spelling =
      std::find_if(spellings.begin(), spellings.end(),
                   [&](const Spelling &known) { return known.name == name; });
  if (spelling == spellings.end())
    return std::nullopt;
  action.kind = spelling->kind;
  text.remove_prefix(name.size());
  if (!text.empty()) {
    std::optional<int> microbatch = takeNumber(text);
    if (!microbatch || *microbatch >= largestNumber || !text.empty())
      return std::nullopt;
    action.microbatch = *microbatch;
  }
  if (isCompute(action.kind) && action.microbatch < 0)
    return std::nullopt;
  return action;
}

std::optional<Action> parseKind(std::string_view text) {
  for (const Spelling &spelling : spellings)
    if (spelling.name == text)
      return Action{spelling.kind, 0, -1};
  const std::optional<Action> action = parseAction("0" + std::string(text));
  return action && action->kind == ActionKind::Update ? action : std::nullopt;
}

std::string printKind(const Action &action) {
  const bool hasPart = action.kind == ActionKind::Update;
  return print({action.kind, 0, hasPart ? action.microbatch : -1}).substr(1);
}

} // namespace pcc::runtime
