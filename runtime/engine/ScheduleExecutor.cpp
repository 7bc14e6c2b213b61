//===- ScheduleExecutor.cpp - executes a pipeline schedule's actions ------===//

#include "runtime/engine/ScheduleExecutor.h"
#include "runtime/base/StopWatch.h"
#include "runtime/comm/QueuedWorld.h"
#include "runtime/engine/collective/QueueWait.h"

#include <algorithm>
#include <cassert>
#include <cstring>
#include <span>

namespace pcc::runtime {

/// Collectives are prepared by loadCollective(). All other instructions are
/// prepared by the device, which implements their operations.
Status ScheduleExecutor::loadList(
    const LoadContext &context, const Groups &groups, Device &device,
    const std::vector<std::unique_ptr<program::InstructionT>> &instructions,
    std::vector<BoundInstruction> &steps) {
  StartedByGroup startedHere;
  for (const auto &instruction : instructions) {
    BoundInstruction &step = steps.emplace_back();
    PCC_RETURN_IF_ERROR(
        instruction->body.AsCollective()
            ? loadCollective(context, groups, *instruction, startedHere, step)
            : device.prepare(context, *instruction, step.operation));
  }
  return Status::success();
}

/// The field `part` of a collective instruction has one of three values:
///
/// - Whole: the instruction becomes one operation.
/// - Start: creates an asynchronous collective and appends it to the queue of
///   its group.
/// - Finish: removes the oldest collective from the queue of its group. The
///   compiler emits the Finishes of a group in the order of the Starts, so the
///   oldest collective is the one to finish.
Status ScheduleExecutor::loadCollective(
    const LoadContext &context, const Groups &groups,
    const program::InstructionT &instruction, StartedByGroup &startedHere,
    BoundInstruction &step) {
  const program::CollectiveT &collective = *instruction.body.AsCollective();
  step.communicates = collective.group >= 0;
  step.part = collective.part;
  step.only = collective.only;
  Group *group = step.communicates ? groups.find(collective.group) : nullptr;
  if (collective.part == program::CollectivePart::Whole)
    return prepareCollective(context, instruction, group, step.operation);
  auto &startedOver = startedHere[collective.group];
  if (collective.part == program::CollectivePart::Finish) {
    step.split = startedOver.front();
    startedOver.pop_front();
    return Status::success();
  }
  std::unique_ptr<SplitCollective> split;
  Status status = prepareSplitCollective(context, instruction, group, split);
  step.split = std::move(split);
  startedOver.push_back(step.split);
  // Reserve space for all collectives that may be in flight at once, so that a
  // step allocates nothing.
  size_t mostStarted = 0;
  for (const auto &[group, splits] : startedHere)
    mostStarted += splits.size();
  started.reserve(std::max(started.capacity(), mostStarted));
  return status;
}

Status ScheduleExecutor::run(BoundInstruction &step, const RunContext &run) {
  switch (step.part) {
  case program::CollectivePart::Whole:
    break;
  case program::CollectivePart::Start:
    started.push_back(step.split.get());
    return step.split->start(run);
  case program::CollectivePart::Finish:
    std::erase(started, step.split.get());
    return step.split->finish(run);
  }
  return step.operation->run(run);
}

Status ScheduleExecutor::load(const LoadContext &context, const Groups &groups,
                              Device &used) {
  device = &used;
  for (const auto &function : context.program.functions)
    PCC_RETURN_IF_ERROR(loadList(context, groups, used, function->instructions,
                                 functions.emplace_back()));
  return Status::success();
}

/// Looks up the addresses of the accumulators (such as summed gradients). Then
/// creates one BoundAction for each entry of the action table, in order.
void ScheduleExecutor::bindMessages(const LoadContext &context,
                                    const Groups &groups, World &ranks) {
  assert(device && "load() has not been called");
  pipeline = &groups.pipeline();
  world = &ranks;
  for (int32_t buffer : context.program.accumulators)
    accumulators.push_back(
        {context.buffers.at(buffer, 0),
         size_t(context.program.buffers[size_t(buffer)]->bytes)});
  for (const auto &action : context.program.actions) {
    BoundAction &act = acts.emplace_back();
    act.id.action = nameOf(*action);
    act.microbatch = action->microbatch;
    act.function = action->function;
    bind(context, *action, act);
  }
  // If a wait for messages is followed by an action that executes a function,
  // the wait gets the name of that action. For example, the wait before 0F3 is
  // named "0F3". An error about a late message then names the action that needs
  // the message.
  for (size_t i = 0; i + 1 < acts.size(); ++i)
    if (!acts[i].waits.empty() && acts[i + 1].function >= 0)
      acts[i].id.action = acts[i + 1].id.action;
}

Status ScheduleExecutor::warmUp(const Coordinates &at) {
  const std::string load = "load";
  for (std::vector<BoundInstruction> &steps : functions)
    for (BoundInstruction &step : steps)
      if (step.operation)
        PCC_RETURN_IF_ERROR(step.operation->warmUp({at, 0, load}));
  return waitForQueue(*device, *world);
}

/// The action that posts (begins) a message and the action that waits for it
/// share one MessageEnd. The first action stores the handle of the transfer
/// there, and the second one waits for it.
size_t ScheduleExecutor::endOf(const LoadContext &context,
                               const program::Message &message, bool isSend) {
  const program::ProgramT &program = context.program;
  auto [it, isNew] = endNumbers.try_emplace(
      {isSend, message.transfer(), message.microbatch()}, ends.size());
  if (!isNew)
    return it->second;
  const program::TransferT &transfer =
      *program.transfers[size_t(message.transfer())];
  const int32_t buffer = isSend ? transfer.from_buffer : transfer.to_buffer;
  const int32_t stage = isSend ? transfer.to_stage : transfer.from_stage;
  ends.push_back({{program.stage_positions[size_t(stage)],
                   context.buffers.at(buffer, message.microbatch()),
                   size_t(program.buffers[size_t(buffer)]->bytes)},
                  isSend});
  return it->second;
}

/// Finds the messages of an action. Adds them to `act.posts` if the action is a
/// Post (it begins messages), otherwise to `act.waits`. Sets `act.id.value` to
/// the name of the first message's tensor.
void ScheduleExecutor::bind(const LoadContext &context,
                            const program::ActionT &action, BoundAction &act) {
  const bool posts = action.kind == program::ActionKind::Post;
  const auto add = [&](const std::vector<program::Message> &messages,
                       bool isSend) {
    for (const program::Message &message : messages) {
      if (act.id.value.empty())
        act.id.value =
            context.program.transfers[size_t(message.transfer())]->value;
      (posts ? act.posts : act.waits)
          .push_back(endOf(context, message, isSend));
    }
  };
  add(action.receives, /*isSend=*/false);
  add(action.sends, /*isSend=*/true);
}

Status ScheduleExecutor::post(const BoundAction &act) {
  for (size_t number : act.posts) {
    MessageEnd &end = ends[number];
    const std::span<const PeerBuffer> piece(&end.piece, 1), none;
    PCC_RETURN_IF_ERROR(pipeline->post(end.isSend ? piece : none,
                                       end.isSend ? none : piece, act.id,
                                       end.ticket));
  }
  numTravelling += act.posts.size();
  return Status::success();
}

Status ScheduleExecutor::wait(const BoundAction &act) {
  awaited.clear();
  for (size_t number : act.waits)
    awaited.push_back(ends[number].ticket);
  numTravelling -= act.waits.size();
  return pipeline->wait(awaited, act.id);
}

/// Some communicators transfer data only while one of their functions is
/// called. The loop therefore calls advance() before each instruction, for all
/// messages in flight. Time in collectives is added to `spent.wait`, all other
/// time to `spent.compute`.
Status ScheduleExecutor::runList(std::vector<BoundInstruction> &steps,
                                 const RunContext &run, TimeSpent &spent,
                                 size_t action, StepLog &log) {
  const StopWatch watch;
  double communicated = 0;
  Status status = Status::success();
  for (BoundInstruction &step : steps) {
    if (numTravelling > 0)
      pipeline->advance();
    for (SplitCollective *travelling : started)
      travelling->advance();
    if (step.only >= 0 && step.only != run.microbatch)
      continue;
    if (step.communicates) {
      const StopWatch waiting;
      const double start = log.now();
      status = this->run(step, run);
      communicated += waiting.seconds();
      log.addCommunication(action, int32_t(&step - steps.data()), start);
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

/// For each action: begins its messages, waits for the messages that it needs,
/// then executes its function. Only the time of the wait is added to
/// `spent.idle`.
Status ScheduleExecutor::runActions(const Mesh &mesh, Coordinates at,
                                    TimeSpent &spent, StepLog &log) {
  log.beginStep();
  for (const auto &[data, bytes] : accumulators)
    PCC_RETURN_IF_ERROR(device->clear(data, bytes));
  int64_t &microbatch = microbatchOf(at);
  for (BoundAction &act : acts) {
    microbatch = act.microbatch;
    const auto index = size_t(&act - acts.data());
    if (!act.posts.empty())
      PCC_RETURN_IF_ERROR(post(act));
    if (!act.waits.empty()) {
      const StopWatch idle;
      const double start = log.now();
      PCC_RETURN_IF_ERROR(wait(act));
      spent.idle += idle.seconds();
      log.addCommunication(index, StepLog::messages, start);
    }
    if (act.function < 0)
      continue;
    log.beginAction(index);
    const auto entry = world->recorder().beginAction(act.id.action);
    PCC_RETURN_IF_ERROR(runList(functions[size_t(act.function)],
                                {at, act.microbatch, act.id.action}, spent,
                                index, log));
    log.endAction(index);
    world->recorder().end(entry);
  }
  return Status::success();
}

/// Some operations run on the host even on a device with a queue, so a recorded
/// CUDA graph does not contain them. They are executed here, before the graph
/// is executed.
Status ScheduleExecutor::runOnHost(const Mesh &mesh, Coordinates at) {
  int64_t &microbatch = microbatchOf(at);
  for (const BoundAction &act : acts) {
    if (act.function < 0)
      continue;
    microbatch = act.microbatch;
    for (const BoundInstruction &step : functions[size_t(act.function)])
      if (step.operation && step.operation->runsOnHost())
        PCC_RETURN_IF_ERROR(
            step.operation->run({at, act.microbatch, act.id.action}));
  }
  return Status::success();
}

/// Returns the first error of an operation that ends after the step.
Status ScheduleExecutor::finishOnHost(const Mesh &mesh, Coordinates at) {
  int64_t &microbatch = microbatchOf(at);
  for (const BoundAction &act : acts) {
    if (act.function < 0)
      continue;
    microbatch = act.microbatch;
    for (const BoundInstruction &step : functions[size_t(act.function)])
      if (step.operation)
        PCC_RETURN_IF_ERROR(
            step.operation->afterStep({at, act.microbatch, act.id.action}));
  }
  return Status::success();
}

/// Calls the actions once while the device captures their work as a CUDA graph
/// instead of executing it. A failed capture is an internal error (Defect), for
/// which --no-graph is the workaround.
Status ScheduleExecutor::record(const Mesh &mesh, const Coordinates &at,
                                TimeSpent &spent, StepLog &log) {
  QueuedDevice *const queue = device->queued();
  Status status = queue->beginRecording();
  if (status.ok()) {
    if (QueuedWorld *const calls = world->queued())
      calls->beginRecording();
    status = runActions(mesh, at, spent, log);
  }
  if (status.ok())
    status = queue->endRecording();
  isRecorded = status.ok();
  return status.code() == Defect
             ? status.addNote("with --no-graph no step is recorded")
             : status;
}

/// Step 1 executes the actions one by one, because libraries allocate memory
/// and load code at their first call. Step 2 records the actions as a CUDA
/// graph and executes the graph. All later steps execute the graph.
Status ScheduleExecutor::begin(const Mesh &mesh, const Coordinates &at,
                               TimeSpent &spent, StepLog &log) {
  if (!device->queued() || !mayRecord || numSteps++ == 0)
    return runActions(mesh, at, spent, log);
  PCC_RETURN_IF_ERROR(isRecorded ? runOnHost(mesh, at)
                                 : record(mesh, at, spent, log));
  if (QueuedWorld *const calls = world->queued())
    calls->beginReplay();
  return device->queued()->replay();
}

Status ScheduleExecutor::runStep(const Mesh &mesh, const Coordinates &at,
                                 TimeSpent &spent, StepLog &log,
                                 const std::function<Status()> &meanwhile) {
  assert(world && "bindMessages() has not been called");
  PCC_RETURN_IF_ERROR(begin(mesh, at, spent, log));
  if (meanwhile)
    PCC_RETURN_IF_ERROR(meanwhile());
  const StopWatch computing;
  Status status = waitForQueue(*device, *world);
  if (status.ok() && device->queued())
    status = finishOnHost(mesh, at);
  spent.compute += computing.seconds();
  return status;
}

} // namespace pcc::runtime
