//===- Schedule.cpp - executes the action table ---------------------------===//

#include "runtime/engine/Schedule.h"
#include "runtime/engine/Collective.h"
#include "runtime/engine/StopWatch.h"

#include <cstring>

namespace pcc::runtime {

Status Schedule::loadList(
    const LoadContext &context, const Groups &groups, Device &device,
    const std::vector<std::unique_ptr<program::InstructionT>> &instructions,
    std::vector<Step> &steps) {
  for (const auto &instruction : instructions) {
    Step &step = steps.emplace_back();
    const program::CollectiveT *collective = instruction->body.AsCollective();
    step.communicates = collective && collective->group >= 0;
    Group *group = step.communicates ? groups.find(collective->group) : nullptr;
    Status status =
        collective
            ? prepareCollective(context, *instruction, group, step.operation)
            : device.prepare(context, *instruction, step.operation);
    if (status.failed())
      return status;
  }
  return Status::success();
}

Status Schedule::load(const LoadContext &context, const Groups &groups,
                      Device &device) {
  for (const auto &function : context.program.functions)
    if (Status status =
            loadList(context, groups, device, function->instructions,
                     functions.emplace_back());
        status.failed())
      return status;
  return Status::success();
}

void Schedule::bindMessages(const LoadContext &context, const Groups &groups) {
  pipeline = &groups.pipeline();
  for (int32_t buffer : context.program.accumulators)
    accumulators.push_back(
        {context.buffers.at(buffer, 0),
         size_t(context.program.buffers[size_t(buffer)]->bytes)});
  for (const auto &action : context.program.actions) {
    Act &act = acts.emplace_back();
    act.name = nameOf(*action);
    act.microbatch = action->microbatch;
    act.function = action->function;
    bind(context, *action, act);
  }
}

/// Both sides list the messages between them in the same order.
void Schedule::bind(const LoadContext &context, const program::ActionT &action,
                    Act &act) {
  const program::ProgramT &program = context.program;
  const auto add = [&](const program::Message &message, bool isSend) {
    const program::TransferT &transfer =
        *program.transfers[size_t(message.transfer())];
    const int32_t buffer = isSend ? transfer.from_buffer : transfer.to_buffer;
    const int32_t stage = isSend ? transfer.to_stage : transfer.from_stage;
    const int peer = program.stage_positions[size_t(stage)];
    const auto bytes = size_t(program.buffers[size_t(buffer)]->bytes);
    void *data = context.buffers.at(buffer, message.microbatch());
    if (peer == program.position) {
      if (isSend && transfer.to_buffer >= 0)
        act.moves.push_back(
            {data, context.buffers.at(transfer.to_buffer, message.microbatch()),
             bytes});
      return;
    }
    if (bytes == 0)
      return;
    if (act.sends.empty() && act.receives.empty())
      act.exchange = {act.name, transfer.value};
    (isSend ? act.sends : act.receives).push_back({peer, data, bytes});
  };
  for (const program::Message &message : action.sends)
    add(message, /*isSend=*/true);
  for (const program::Message &message : action.receives)
    add(message, /*isSend=*/false);
}

Status Schedule::runList(std::vector<Step> &steps, const RunContext &run,
                         TimeSpent &spent) {
  const StopWatch watch;
  double communicated = 0;
  Status status = Status::success();
  for (Step &step : steps) {
    if (step.communicates) {
      const StopWatch waiting;
      status = step.operation->run(run);
      communicated += waiting.seconds();
    } else {
      status = step.operation->run(run);
    }
    if (status.failed())
      break;
  }
  spent.wait += communicated;
  spent.compute += watch.seconds() - communicated;
  return status;
}

Status Schedule::runStep(const Mesh &mesh, Coordinates at, TimeSpent &spent) {
  for (const auto &[data, bytes] : accumulators)
    std::memset(data, 0, bytes);
  int64_t &microbatch = at[size_t(mesh.microbatchAxis())];
  for (Act &act : acts) {
    microbatch = act.microbatch;
    const StopWatch idle;
    for (const LocalMove &move : act.moves)
      std::memcpy(move.to, move.from, move.bytes);
    if (!act.sends.empty() || !act.receives.empty()) {
      if (Status status =
              pipeline->exchange(act.sends, act.receives, act.exchange);
          status.failed())
        return status;
      spent.idle += idle.seconds();
    }
    if (act.function < 0)
      continue;
    if (Status status = runList(functions[size_t(act.function)],
                                {at, act.microbatch, act.name}, spent);
        status.failed())
      return status;
  }
  return Status::success();
}

} // namespace pcc::runtime
