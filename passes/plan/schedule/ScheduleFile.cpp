//===- ScheduleFile.cpp - parser of user-written CSV schedules ------------===//

#include "passes/plan/schedule/ScheduleFile.h"

#include "passes/plan/schedule/ScheduleCheck.h"
#include "status/Counted.h"

#include <algorithm>

namespace pcc::plan {
namespace {

/// An action of a schedule file. Line and column are counted from 1.
struct ParsedAction {
  Action action;
  size_t line = 0, column = 0;
};

using ParsedRow = std::vector<ParsedAction>;

/// Returns whether an action of the kind `kind` is a send or a receive. The
/// action must be from a schedule file. In a schedule file, the kinds of sends
/// and receives are SEND_F, RECV_F, SEND_B and RECV_B. The enumeration
/// ActionKind lists these four kinds after all other kinds that a schedule file
/// can have. SendForward (SEND_F) is the first of these four kinds.
bool isMessage(ActionKind kind) { return kind >= ActionKind::SendForward; }

/// Splits `text` at the first `separator`. Returns the part before the
/// separator, and sets `text` to the part after the separator. For example, let
/// `text` be "0F0,0F1,0F2", and let `separator` be a comma. The function
/// returns "0F0" and sets `text` to "0F1,0F2". If `text` does not contain
/// `separator`, the function returns the whole text and sets `text` to an empty
/// string.
std::string_view takeUntil(std::string_view &text, char separator) {
  const size_t at = text.find(separator);
  std::string_view part = text.substr(0, at);
  text = at == text.npos ? std::string_view() : text.substr(at + 1);
  return part;
}

/// Returns `text` without blanks and quotes at its ends.
std::string_view trim(std::string_view text) {
  constexpr std::string_view blank = " \t\r\"";
  const size_t first = text.find_first_not_of(blank);
  if (first == text.npos)
    return {};
  return text.substr(first, text.find_last_not_of(blank) - first + 1);
}

std::string printLocation(size_t line, size_t column) {
  return "line " + std::to_string(line) + ", column " + std::to_string(column) +
         ": ";
}

/// Parses the text of a schedule file into rows of actions, one row per line.
class ScheduleText {
public:
  /// Parses `text`, the content of a schedule file. Each line of the file lists
  /// the actions of one pipeline rank. The function appends the actions of each
  /// line to `rows`, as one element. It skips empty lines. If a line contains
  /// anything that is not an action, the function returns false and sets
  /// `error`.
  bool read(std::string_view text);

  std::vector<ParsedRow> rows;
  std::string error;

private:
  bool readLine(std::string_view text, size_t line);
  bool readField(std::string_view field, size_t line, size_t column);
  bool readAction(std::string_view field, size_t line, size_t column);
};

/// Returns the first 40 bytes of `field`, followed by "…" if `field` has more
/// bytes. `field` is the text of an action in the schedule file. An error
/// message contains the result.
std::string shorten(std::string_view field) {
  constexpr size_t longest = 40;
  return std::string(field.substr(0, longest)) +
         (field.size() > longest ? "…" : "");
}

/// Parses `field`, the text of one action, such as 0F3. Appends the action to
/// the last element of `rows`, which stores the actions of the current line.
/// Does not append an action that is a send or a receive. `line` and `column`
/// give the place of `field` in the file. If `field` is not an action, returns
/// false and sets `error`.
bool ScheduleText::readAction(std::string_view field, size_t line,
                              size_t column) {
  const std::optional<Action> action = parseAction(field);
  if (!action)
    error = printLocation(line, column) + "'" + shorten(field) +
            "' is not an action (expected for example 0F3, 0B3, 0I3 or 0W3)";
  else if (!isMessage(action->kind))
    rows.back().push_back({*action, line, column});
  return action.has_value();
}

/// Parses `field`, one action such as 0F1, or actions that overlap, such as
/// (0F1;3B0)OVERLAP_F_B. Appends the actions, except sends and receives, to the
/// last element of `rows`. Returns false and sets `error` if `field` is
/// invalid. `line` and `column` give its place in the file.
bool ScheduleText::readField(std::string_view field, size_t line,
                             size_t column) {
  constexpr std::string_view fused = ")OVERLAP_F_B";
  if (!field.starts_with('(') || !field.ends_with(fused))
    return readAction(field, line, column);
  const char *begin = field.data();
  std::string_view rest = field.substr(1, field.size() - 1 - fused.size());
  while (!rest.empty()) {
    const std::string_view part = trim(takeUntil(rest, ';'));
    if (!readAction(part, line, column + (part.data() - begin)))
      return false;
  }
  return true;
}

bool ScheduleText::readLine(std::string_view text, size_t line) {
  const char *begin = text.data();
  while (!text.empty()) {
    const std::string_view field = trim(takeUntil(text, ','));
    if (!field.empty() && !readField(field, line, field.data() - begin + 1))
      return false;
  }
  return true;
}

bool ScheduleText::read(std::string_view text) {
  for (size_t line = 1; !text.empty(); ++line) {
    const std::string_view rest = takeUntil(text, '\n');
    if (trim(rest).empty())
      continue;
    rows.emplace_back();
    if (!readLine(rest, line))
      return false;
  }
  return true;
}

/// Converts rows of actions to an action table. Each row becomes the actions of
/// one pipeline rank. The number of stages is the largest stage number in the
/// rows plus 1. The number of microbatches is the largest microbatch number in
/// the rows plus 1. A stage runs on one pipeline rank: the first one that has
/// an action of the stage.
ActionTable tableOf(const std::vector<ParsedRow> &rows) {
  ActionTable table;
  for (const ParsedRow &row : rows) {
    table.positions.emplace_back();
    for (const auto &[action, line, column] : row) {
      table.positions.back().push_back(action);
      table.numStages = std::max(table.numStages, action.stage + 1);
      table.numMicrobatches =
          std::max(table.numMicrobatches, action.microbatch + 1);
    }
  }
  table.positionOfStage.assign(table.numStages, -1);
  for (int position = 0; position < table.numPositions(); ++position)
    for (const Action &action : table.positions[position])
      if (table.positionOfStage[action.stage] < 0)
        table.positionOfStage[action.stage] = position;
  return table;
}

/// Checks that the table has actions of each stage from 0 to the largest stage
/// number in the table. For example, it is an error if the table has actions of
/// the stages 0 and 2, but no action of stage 1. Returns an error text, or an
/// empty string if there is no error.
std::string missingStage(const ActionTable &table) {
  for (int stage = 0; stage < table.numStages; ++stage)
    if (table.positionOfStage[stage] < 0)
      return "the schedule has no action of stage " + std::to_string(stage) +
             ", but one of stage " + std::to_string(table.numStages - 1);
  return {};
}

/// Largest accepted product of stages and microbatches, so that a mistyped
/// number does not allocate a huge table.
constexpr int64_t mostForwards = 1 << 22;

/// Checks the actions that have been read from a schedule file. Each line of
/// the file has the actions of one pipeline rank, and is one row of actions.
/// `shape` gives the required number of pipeline ranks, of stages per rank, and
/// of microbatches. For the stages and the microbatches, 0 means any number.
class ShapeCheck {
public:
  ShapeCheck(const ScheduleText &text, const ScheduleShape &shape)
      : rows(text.rows), shape(shape), table(tableOf(text.rows)) {}

  /// Returns the action table of the schedule file, or an error about the first
  /// violation. If a stage has an I (input gradient), each B (backward) of the
  /// stage becomes I and W (weight gradient).
  StatusOr<ActionTable> run();

private:
  std::string fault();
  std::string checkAction(int position, const ParsedAction &placed) const;
  std::string checkStagesOfLines() const;
  bool hasGradients() const;

  const std::vector<ParsedRow> &rows;
  const ScheduleShape &shape;
  ActionTable table;
};

/// Checks `placed`, an action in the line of the pipeline rank `position`. The
/// stage and the microbatch of the action must exist. The line must be the
/// first one with actions of this stage. A schedule for inference may have only
/// F (forward). Returns an error text, or an empty string if there is no error.
std::string ShapeCheck::checkAction(int position,
                                    const ParsedAction &placed) const {
  const Action &action = placed.action;
  const std::string what =
      printLocation(placed.line, placed.column) + print(action);
  const int numStages = shape.virtualStages * shape.numPositions;
  const int numMicrobatches = shape.numMicrobatches;
  if (numStages && action.stage >= numStages)
    return what + " is of stage " + std::to_string(action.stage) +
           ", but there are " + std::to_string(numStages) + " (0 to " +
           std::to_string(numStages - 1) + ")";
  if (numMicrobatches && action.microbatch >= numMicrobatches)
    return what + " is of microbatch " + std::to_string(action.microbatch) +
           ", but there are " + std::to_string(numMicrobatches) + " (0 to " +
           std::to_string(numMicrobatches - 1) + ")";
  const int owner = table.positionOfStage[action.stage];
  if (owner != position)
    return what + " is of stage " + std::to_string(action.stage) +
           ", which line " + std::to_string(rows[owner].front().line) + " runs";
  if (!shape.trains && action.kind != ActionKind::Forward)
    return what + " is part of training; expected F alone";
  return {};
}

/// Checks that all lines of the schedule file have actions of the same number
/// of stages. Each line lists the actions of one pipeline rank. For example, it
/// is an error if one line has actions of the stages 0 and 2, and another line
/// has actions of stage 1 only. Returns an error text, or an empty string if
/// there is no error.
std::string ShapeCheck::checkStagesOfLines() const {
  if (table.numStages % shape.numPositions)
    return "the schedule has " + counted(table.numStages, "stage") +
           ", which " + counted(shape.numPositions, "rank") +
           " cannot share equally";
  const int expected = table.numStages / shape.numPositions;
  for (int position = 0; position < shape.numPositions; ++position) {
    const int found = static_cast<int>(table.stagesOf(position).size());
    if (found != expected)
      return "line " + std::to_string(rows[position].front().line) + " runs " +
             counted(found, "stage") + ", expected " +
             std::to_string(expected) + " on every line";
  }
  return {};
}

/// Returns whether the file has any action other than F (forward).
bool ShapeCheck::hasGradients() const {
  for (const ParsedRow &row : rows)
    for (const ParsedAction &placed : row)
      if (placed.action.kind != ActionKind::Forward)
        return true;
  return false;
}

/// Returns the first error of the schedule file, or an empty string. Before it
/// calls checkSchedule(), sets the numbers of stages and microbatches in
/// `table` to the numbers that `shape` requires, if there are any.
/// checkSchedule() then reports an action that the file lacks.
std::string ShapeCheck::fault() {
  if (table.numPositions() != shape.numPositions)
    return "the schedule has " + counted(table.numPositions(), "line") +
           " with actions, expected one for each of " +
           counted(shape.numPositions, "rank");
  for (int position = 0; position < table.numPositions(); ++position)
    for (const ParsedAction &placed : rows[position])
      if (std::string error = checkAction(position, placed); !error.empty())
        return error;
  if (std::string error = missingStage(table); !error.empty())
    return error;
  if (shape.virtualStages)
    table.numStages = shape.virtualStages * shape.numPositions;
  if (shape.numMicrobatches)
    table.numMicrobatches = shape.numMicrobatches;
  if (int64_t(table.numStages) * table.numMicrobatches > mostForwards)
    return "the schedule has " + counted(table.numStages, "stage") + " and " +
           counted(table.numMicrobatches, "microbatch") +
           ", which is too large a table";
  table.positionOfStage.resize(table.numStages, -1);
  if (std::string error = checkStagesOfLines(); !error.empty())
    return error;
  if (shape.trains && !hasGradients())
    return "the schedule has F alone, expected B, or I and W, for training";
  const std::vector<ScheduleClaim> claims = checkSchedule(table);
  return claims.empty() ? "" : claims.front().text;
}

/// Replaces an action B (backward) by two actions, I (input gradient) and W
/// (weight gradient). If the table has at least one I of a stage, the function
/// replaces each B of this stage. If the table has no I of a stage, the
/// function does not change the actions of this stage. For example, stage 0 has
/// I and W of microbatch 0, and B of microbatch 1. The function replaces this B
/// by I and W of microbatch 1.
void separateBackward(ActionTable &table) {
  std::vector<bool> splits(table.numStages);
  for (int stage = 0; stage < table.numStages; ++stage)
    splits[stage] = splitsBackward(table, stage);
  for (std::vector<Action> &row : table.positions) {
    std::vector<Action> separated;
    for (Action action : row) {
      const bool isCut =
          action.kind == ActionKind::Backward && splits[action.stage];
      if (isCut)
        action.kind = ActionKind::InputGradient;
      separated.push_back(action);
      action.kind = ActionKind::WeightGradient;
      if (isCut)
        separated.push_back(action);
    }
    row = std::move(separated);
  }
}

StatusOr<ActionTable> ShapeCheck::run() {
  if (std::string error = fault(); !error.empty())
    return Status::error(CannotMeet, error);
  separateBackward(table);
  return std::move(table);
}

/// Removes all actions from `rows` except the forward actions (F) and the
/// backward actions (B, I and W). pcc does not take the other actions from the
/// schedule file, because pcc derives their work from the model. An example is
/// an optimizer update. Each element of `rows` lists the actions of one line of
/// the file. If no action of a line remains, the function also removes the
/// element of this line.
void dropDerived(std::vector<ParsedRow> &rows) {
  for (ParsedRow &row : rows)
    std::erase_if(row, [](const ParsedAction &placed) {
      return !isCompute(placed.action.kind);
    });
  std::erase_if(rows, [](const ParsedRow &row) { return row.empty(); });
}

} // namespace

StatusOr<ActionTable> readSchedule(std::string_view text,
                                   const ScheduleShape &shape) {
  ScheduleText file;
  if (!file.read(text))
    return Status::error(CannotMeet, file.error);
  dropDerived(file.rows);
  return ShapeCheck(file, shape).run();
}

static bool has(const ActionTable &table, int stage, ActionKind kind) {
  for (const std::vector<Action> &row : table.positions)
    for (const Action &action : row)
      if (action.stage == stage && action.kind == kind)
        return true;
  return false;
}

bool splitsBackward(const ActionTable &table, int stage) {
  return has(table, stage, ActionKind::InputGradient);
}

bool hasBackward(const ActionTable &table, int stage) {
  return splitsBackward(table, stage) ||
         has(table, stage, ActionKind::Backward);
}

} // namespace pcc::plan
