//===- ScheduleFixtures.cpp - transfers, updates and charts for tests -----===//

#include "test/passes/plan/schedule/ScheduleFixtures.h"

#include <algorithm>
#include <cmath>
#include <sstream>

namespace pcc::plan {

std::vector<Transfer> chainTransfers(int numStages, bool trains) {
  std::vector<Transfer> transfers;
  for (int stage = 0; stage + 1 < numStages; ++stage) {
    transfers.push_back({stage, stage + 1, TransferKind::Forward});
    if (trains)
      transfers.push_back({stage + 1, stage, TransferKind::Backward});
  }
  return transfers;
}

/// Appends a post of one message and a wait for it. `side` is the member of the
/// steps that holds the message: sends or receives.
static void appendBlocking(PositionProgram &program, const Message &message,
                           std::vector<Message> ProgramStep::*side) {
  for (ProgramStep::Kind kind : {ProgramStep::Post, ProgramStep::Wait}) {
    ProgramStep step{kind};
    (step.*side).push_back(message);
    program.push_back(std::move(step));
  }
}

PipelineProgram withBlockingCalls(const PipelineProgram &program) {
  PipelineProgram single{{}, program.positionOfStage, program.transfers};
  for (const PositionProgram &steps : program.positions) {
    PositionProgram &out = single.positions.emplace_back();
    for (const ProgramStep &step : steps) {
      if (step.kind == ProgramStep::Compute)
        out.push_back(step);
      if (step.kind != ProgramStep::Post)
        continue;
      for (const Message &message : step.sends)
        appendBlocking(out, message, &ProgramStep::sends);
      for (const Message &message : step.receives)
        appendBlocking(out, message, &ProgramStep::receives);
    }
  }
  return single;
}

std::string print(const PipelineProgram &program, int position) {
  std::string line;
  for (const ProgramStep &step : program.positions[position]) {
    line += line.empty() ? "" : " ";
    if (step.kind == ProgramStep::Compute) {
      line += print(step.action);
      continue;
    }
    const std::string mark = step.kind == ProgramStep::Post ? " +" : " ?";
    std::string messages;
    for (const Message &message : step.sends)
      messages += mark + "s" + nameOf(program, message) + ">" +
                  std::to_string(message.peer);
    for (const Message &message : step.receives)
      messages += mark + "r" + nameOf(program, message) + "<" +
                  std::to_string(message.peer);
    line += "{" + messages.substr(1) + "}";
  }
  return line;
}

ActionTable parseTable(std::string_view csv) {
  ActionTable table;
  std::istringstream lines{std::string(csv)};
  for (std::string line; std::getline(lines, line);) {
    std::vector<Action> &row = table.positions.emplace_back();
    std::istringstream fields(line);
    for (std::string field; std::getline(fields, field, ',');)
      row.push_back(parseAction(field).value());
  }
  for (int position = 0; position < table.numPositions(); ++position)
    for (const Action &action : table.positions[position]) {
      table.numStages = std::max(table.numStages, action.stage + 1);
      table.numMicrobatches =
          std::max(table.numMicrobatches, action.microbatch + 1);
      table.positionOfStage.resize(table.numStages, -1);
      int &owner = table.positionOfStage[action.stage];
      owner = owner < 0 ? position : owner;
    }
  return table;
}

std::string drawTimeline(const Timeline &timeline, int width) {
  std::string chart;
  const double scale = timeline.makespan > 0 ? width / timeline.makespan : 0;
  for (const std::vector<TimedAction> &row : timeline.positions) {
    std::string line(width, '.');
    for (const TimedAction &timed : row) {
      const std::string name = print(timed.action);
      const char letter = name[name.find_first_not_of("0123456789")];
      const auto first = static_cast<int>(std::floor(timed.start * scale));
      const auto end = static_cast<int>(std::floor(timed.end * scale));
      for (int column = first; column < std::min(end, width); ++column)
        line[column] = letter;
    }
    chart += line + '\n';
  }
  return chart;
}

std::vector<StageUpdate> wholeUpdates(int numStages) {
  std::vector<StageUpdate> updates;
  for (int stage = 0; stage < numStages; ++stage)
    updates.push_back({stage, 0});
  return updates;
}

} // namespace pcc::plan
