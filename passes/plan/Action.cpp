//===- Action.cpp - how action tables are written and read ----------------===//

#include "passes/plan/Action.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <iterator>

namespace pcc::plan {
namespace {

struct Spelling {
  ActionKind kind;
  std::string_view name;
};

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

bool isMessage(ActionKind kind) { return kind >= ActionKind::SendForward; }

/// The number at the start of `text`, which it is cut off from.
std::optional<int> takeNumber(std::string_view &text) {
  int number = 0;
  auto [end, failure] =
      std::from_chars(text.data(), text.data() + text.size(), number);
  if (failure != std::errc() || number < 0)
    return std::nullopt;
  text.remove_prefix(static_cast<size_t>(end - text.data()));
  return number;
}

std::string_view trim(std::string_view text) {
  const size_t first = text.find_first_not_of(" \t\r\"");
  if (first == text.npos)
    return {};
  return text.substr(first, text.find_last_not_of(" \t\r\"") - first + 1);
}

/// Cuts the part before `separator` off `text`.
std::string_view takeUntil(std::string_view &text, char separator) {
  const size_t at = text.find(separator);
  std::string_view part = text.substr(0, at);
  text = at == text.npos ? std::string_view() : text.substr(at + 1);
  return part;
}

/// Appends the actions of one field; false if it has none that is known.
bool readField(std::string_view field, std::vector<Action> &actions) {
  constexpr std::string_view fused = ")OVERLAP_F_B";
  if (field.starts_with('(') && field.ends_with(fused)) {
    std::string_view rest = field.substr(1, field.size() - 1 - fused.size());
    while (!rest.empty())
      if (!readField(trim(takeUntil(rest, ';')), actions))
        return false;
    return true;
  }
  std::optional<Action> action = parseAction(field);
  if (action && !isMessage(action->kind))
    actions.push_back(*action);
  return action.has_value();
}

/// Fills what follows from the rows: counts, and the row of each stage.
void completeTable(ActionTable &table) {
  for (const std::vector<Action> &row : table.positions)
    for (const Action &action : row) {
      table.numStages = std::max(table.numStages, action.stage + 1);
      table.numMicrobatches =
          std::max(table.numMicrobatches, action.microbatch + 1);
    }
  table.positionOfStage.assign(table.numStages, -1);
  for (int position = 0; position < table.numPositions(); ++position)
    for (const Action &action : table.positions[position])
      if (table.positionOfStage[action.stage] < 0)
        table.positionOfStage[action.stage] = position;
}

/// Keeps a misprinted number from becoming a table of that size.
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

std::vector<int> ActionTable::stagesOf(int position) const {
  std::vector<int> stages;
  for (int stage = 0; stage < numStages; ++stage)
    if (positionOfStage[stage] == position)
      stages.push_back(stage);
  return stages;
}

std::string printCsv(const ActionTable &table) {
  std::string text;
  for (const std::vector<Action> &row : table.positions) {
    for (size_t i = 0; i < row.size(); ++i)
      text += (i ? "," : "") + print(row[i]);
    text += '\n';
  }
  return text;
}

ActionTableOrError parseCsv(std::string_view text) {
  ActionTableOrError result;
  for (int line = 1; !text.empty(); ++line) {
    std::string_view rest = takeUntil(text, '\n');
    if (trim(rest).empty())
      continue;
    std::vector<Action> row;
    while (!rest.empty()) {
      const std::string_view field = trim(takeUntil(rest, ','));
      if (!field.empty() && !readField(field, row)) {
        result.error = "line " + std::to_string(line) + " of the schedule: '" +
                       std::string(field) +
                       "' is no action (expected for example 0F3, 0B3, 0I3 or "
                       "0W3)";
        return result;
      }
    }
    result.table.positions.push_back(std::move(row));
  }
  completeTable(result.table);
  for (int stage = 0; stage < result.table.numStages; ++stage)
    if (result.table.positionOfStage[stage] < 0) {
      result.error = "the schedule has no action of stage " +
                     std::to_string(stage) + ", but one of stage " +
                     std::to_string(result.table.numStages - 1);
      return result;
    }
  if (result.table.numStages == 0)
    result.error = "the schedule has no actions";
  return result;
}

} // namespace pcc::plan
