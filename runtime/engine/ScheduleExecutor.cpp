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

/// Converts each instruction of one function to an executable object, and
/// appends the object to `steps`. loadCollective() converts collective
/// instructions. Device::prepare() converts all other instructions.
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

/// Converts the collective `instruction` to `step`. An asynchronous collective
/// has two instructions, Start and Finish, that share one SplitCollective
/// object. For a Start, appends a new object to the group's queue in
/// `startedHere`. For a Finish, takes the oldest object from this queue. This
/// object is the right one, because the compiler emits the Finishes of a group
/// in the order of the Starts.
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
  // During a step, the list `started` contains the asynchronous collectives
  // that are in progress. A collective is in progress from its Start
  // instruction to its Finish instruction. This function is called before the
  // first step. It reserves memory for the list, so that the list allocates no
  // memory during a step.
  //
  // At this point, `instruction` is a Start. The loop below counts the
  // collectives that are in progress after `instruction`, and stores the number
  // in `mostStarted`. For example, a program function has the instructions
  // Start A, Start B, Finish A and Start C, in this order. If `instruction` is
  // Start C, the collectives B and C are in progress, and the number is 2.
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

/// Fills two lists that runStep() uses:
///
/// - `accumulators` gets the address and the size of each buffer that is set to
///   zero at the beginning of each step. An example is the sum of a weight's
///   gradients over all microbatches.
/// - `acts` gets one entry for each action of the schedule. An example of an
///   action is the forward pass of one microbatch. The entry lists the messages
///   that the action begins, and the messages for which the action waits.
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
  // Error messages contain the name of an action. For example, action "1X3"
  // waits for messages of microbatch 3 on stage 1. The next action, "1F3", is
  // the forward pass of microbatch 3 on stage 1. Rename the action that waits
  // from "1X3" to "1F3". If a message is late, the error message then names the
  // computation that needs the message.
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

/// Returns the index, in the list `ends`, of this rank's end of `message`. The
/// end is a send if `isSend` is true, otherwise a receive. If the list lacks
/// the end, the function appends the end to the list.
///
/// Two actions of the schedule use each end: one action begins the message, and
/// a later action waits for the message. The function returns the same index
/// for both actions, so that both use the same MessageEnd object. The first
/// action stores the handle of the message in this object, and the second
/// action reads the handle.
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

/// Copies the messages of `action` to `act`. `action` is an action of the
/// program's pipeline schedule, and `act` is the object that runStep() executes
/// for this action. In `act`, a message is an index into `ends`, the list of
/// this rank's sends and receives:
///
/// - If the action begins to send and receive its messages (kind Post), the
///   function appends the indices to `act.posts`.
/// - If the action waits for its messages, the function appends the indices to
///   `act.waits`.
///
/// Also sets `act.id.value` to the name of the tensor in the first message.
/// Error messages show this name.
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

/// Executes the instructions `steps` of one function in order, up to the first
/// error. Skips an instruction whose member `only` is neither -1 nor
/// `run.microbatch`. Adds the time in collectives to `spent.wait`, and all
/// other time to `spent.compute`. Logs each instruction in `log` with the index
/// `action` of the current action, and calls the observer.
///
/// Before each instruction, advance() moves data of messages and collectives in
/// flight without blocking. Between threads or MPI processes, data moves only
/// while the rank executes a function of the communicator.
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
    const size_t index = size_t(&step - steps.data());
    const double start = log.now();
    if (step.communicates) {
      const StopWatch waiting;
      status = this->run(step, run);
      communicated += waiting.seconds();
      log.addCommunication(action, int32_t(index), start);
    } else {
      status = step.operation->run(run);
      // A device with a queue, such as a GPU, has only started the work, so its
      // end time is unknown. Therefore log the work only on other devices.
      if (!device->queued())
        log.addKernel(action, int32_t(index), start);
    }
    if (observer && status.ok())
      status = observer(action, index);
    if (status.failed())
      break;
  }
  spent.wait += communicated;
  spent.compute += watch.seconds() - communicated;
  return status;
}

/// Sets every accumulator to zero. An accumulator is a buffer that sums values
/// over microbatches, such as the gradients of a weight. Then executes the
/// actions of one step in the order of the schedule. For each action:
///
/// 1. Begins the sends and receives in the action's list `posts`. Does not wait
///    for them.
/// 2. Blocks until the sends and receives in the action's list `waits` are
///    complete. Adds the time of this wait to `spent.idle`.
/// 3. Executes the action's function, if the action has one.
Status ScheduleExecutor::runActions(const Mesh &mesh, Coordinates at,
                                    TimeSpent &spent, StepLog &log) {
  log.beginStep();
  for (const auto &[data, bytes] : accumulators)
    PCC_RETURN_IF_ERROR(device->clear(data, bytes));
  int64_t &microbatch = microbatchOf(at);
  for (BoundAction &act : acts) {
    microbatch = act.microbatch;
    const auto index = size_t(&act - acts.data());
    if (!act.posts.empty()) {
      const double start = log.now();
      PCC_RETURN_IF_ERROR(post(act));
      log.addCommunication(index, StepLog::posts, start);
    }
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

/// A recorded CUDA graph does not contain operations that run on the host.
/// Executes these operations before the graph.
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

/// Completes a step on the host, after the device has completed the step. For
/// this purpose, calls Operation::afterStep() once for each execution of an
/// operation in the step. For example, if a GPU has computed indices during the
/// step, afterStep() checks that these indices are in bounds. Returns the first
/// error.
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

/// Enqueues all actions of a step once. Instead of executing them, the device
/// captures them as a CUDA graph. If this fails, the error's note recommends
/// --no-graph.
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

/// Step 1 is not recorded, because libraries allocate memory at their first
/// call. Step 2 is recorded as a CUDA graph. Step 2 and all later steps execute
/// the graph.
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
