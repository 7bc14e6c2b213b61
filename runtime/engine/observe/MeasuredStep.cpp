//===- MeasuredStep.cpp - timeline of a step as all ranks ran it ----------===//

#include "runtime/engine/observe/MeasuredStep.h"
#include "runtime/engine/observe/InstructionText.h"
#include "runtime/program/StepMemory.h"

#include <algorithm>
#include <fstream>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <tuple>

namespace pcc::runtime {

using Json = nlohmann::json;

/// Kind of an event that is the run of a kernel. The kind of any other event is
/// a value of the enum ActionKind, which is never negative.
static constexpr int kernelKind = -1;

/// Converts a value of the enum program::ActionKind to a value of the enum
/// runtime::ActionKind. Programs use the first enum, and timelines use the
/// second enum. Two values of the first enum become Communication: Post, which
/// begins to send and receive messages, and Wait, which waits until messages
/// are sent or received. Any other value becomes the value with the same name.
static ActionKind kindOf(program::ActionKind kind) {
  switch (kind) {
  case program::ActionKind::Forward:
    return ActionKind::Forward;
  case program::ActionKind::Backward:
    return ActionKind::Backward;
  case program::ActionKind::InputGradient:
    return ActionKind::InputGradient;
  case program::ActionKind::WeightGradient:
    return ActionKind::WeightGradient;
  case program::ActionKind::Update:
    return ActionKind::Update;
  case program::ActionKind::Unshard:
    return ActionKind::Unshard;
  case program::ActionKind::Post:
  case program::ActionKind::Wait:
    break;
  }
  return ActionKind::Communication;
}

/// Returns a name of this host: the boot id of the Linux kernel. Linux
/// generates a random boot id each time a machine starts. All ranks on one
/// machine return the boot id of this machine, even if the ranks run in
/// different containers. Ranks on different machines return different boot ids.
static std::string hostName() {
  std::string name;
  std::getline(std::ifstream("/proc/sys/kernel/random/boot_id"), name);
  return name;
}

namespace {
/// Converts the log of one rank to JSON. The log has the times of the
/// computations and communications of one step. A timeline shows each rank as
/// one row. The JSON object has all data of this row.
class LoggedRow {
public:
  LoggedRow(const program::ProgramT &program, const StepLog &log)
      : program(program), log(log) {}

  /// Returns all data of this rank for the timeline, as a JSON object:
  ///
  /// - "host": name of the rank's host
  /// - "clock": the argument `clock`
  /// - "events": computations and communication, with start and end times
  /// - "sends": when the rank began to send each message to another pipeline
  ///   stage
  /// - "receives": when the rank had received each message
  /// - "positions": number of pipeline positions
  /// - "memory": bytes of weights, state and arena
  /// - "actions": the bytes of the arena that each action uses (ActionBytes)
  ///
  /// `clock` is the time, in seconds, that this rank has read from its clock
  /// right after a barrier of all ranks. Rank 0 compares these times to find
  /// the offsets between the clocks of different hosts.
  Json write(double clock) {
    Json events = Json::array(), actions = Json::array(), sends = Json::array(),
         receives = Json::array();
    numberUpdates();
    for (const StepLog::Event &event : log.eventsOfLastStep()) {
      if (event.instruction == StepLog::messages)
        addMessages(actionOf(event).receives, event.end, receives);
      if (event.instruction == StepLog::posts)
        addMessages(actionOf(event).sends, event.start, sends);
      else
        events.push_back(write(event));
    }
    const RowMemory memory = memoryOf(program);
    for (const ActionBytes &bytes : memory.actions)
      actions.push_back({bytes.during, bytes.after, bytes.gradientsDuring,
                         bytes.gradientsAfter});
    return {{"host", hostName()},
            {"clock", clock},
            {"events", std::move(events)},
            {"positions", program.axes.front()->size},
            {"sends", std::move(sends)},
            {"receives", std::move(receives)},
            {"memory", {memory.weights, memory.state, memory.arena}},
            {"actions", std::move(actions)}};
  }

private:
  /// Numbers the weight updates of each pipeline stage. A stage may update its
  /// weights in several actions, which get the numbers 0, 1, and so on. Stores
  /// the numbers in `partOfUpdate`. In a timeline, the name of an update ends
  /// with its number: "1U0" is the first update of stage 1, and "1U1" is the
  /// second update of stage 1.
  void numberUpdates() {
    std::map<int32_t, int32_t> next;
    partOfUpdate.assign(program.actions.size(), 0);
    for (size_t i = 0; i < program.actions.size(); ++i)
      if (program.actions[i]->kind == program::ActionKind::Update)
        partOfUpdate[i] = next[program.actions[i]->stage]++;
  }

  /// Returns the last number in the name that a timeline shows for the action
  /// `program.actions[index]`. For example, this number is 3 for "0F3", the
  /// forward pass of stage 0 for microbatch 3. The number depends on the kind
  /// of the action:
  ///
  /// - Weight update: a stage may have several update actions, which are
  ///   numbered from 0. Returns the number of this one.
  /// - Unshard (all-gather of weights): the action serves all microbatches.
  ///   Returns -1, which means that the name has no last number.
  /// - Any other kind: returns the number of the action's microbatch.
  int32_t microbatchOf(int32_t index) const {
    const program::ActionT &action = *program.actions[size_t(index)];
    switch (action.kind) {
    case program::ActionKind::Update:
      return partOfUpdate[size_t(index)];
    case program::ActionKind::Unshard:
      return -1;
    default:
      return action.microbatch;
    }
  }

  /// Converts an event to a JSON array of seven elements:
  ///
  /// 0. ActionKind; Communication for a collective or a wait for messages; -1
  ///    for a kernel
  /// 1. number of the pipeline stage
  /// 2. number of the microbatch; for a weight update, number of the update; -1
  ///    for an Unshard, such as an all-gather of weights
  /// 3. and 4. start and end in seconds by the steady clock of this rank
  /// 5. name of the communication or the kernel; empty for an action
  /// 6. CPU time in seconds of a computation; otherwise -1
  Json write(const StepLog::Event &event) const {
    const program::ActionT &action = actionOf(event);
    const bool isAction = event.instruction == StepLog::wholeAction;
    return {isAction                  ? int(kindOf(action.kind))
            : isKernel(event, action) ? kernelKind
                                      : int(ActionKind::Communication),
            action.stage,
            microbatchOf(event.action),
            event.start,
            event.end,
            isAction ? "" : nameOf(event, action),
            event.coreSeconds};
  }

  const program::ActionT &actionOf(const StepLog::Event &event) const {
    return *program.actions[size_t(event.action)];
  }

  /// Appends `list` to `messages`, each message as a JSON array: name of the
  /// sent value, sending and receiving stage, microbatch, and `time`. The first
  /// four elements identify a message, together with the rank.
  void addMessages(const std::vector<program::Message> &list, double time,
                   Json &messages) const {
    for (const program::Message &message : list) {
      const program::TransferT &transfer =
          *program.transfers[size_t(message.transfer())];
      messages.push_back({transfer.value, transfer.from_stage,
                          transfer.to_stage, message.microbatch(), time});
    }
  }

  /// Returns the instruction whose execution `event` records. `action` is the
  /// schedule action that contains the instruction.
  const program::InstructionT &
  instructionOf(const StepLog::Event &event,
                const program::ActionT &action) const {
    return *program.functions[size_t(action.function)]
                ->instructions[size_t(event.instruction)];
  }

  bool isKernel(const StepLog::Event &event,
                const program::ActionT &action) const {
    if (event.instruction < 0)
      return false;
    const program::CollectiveT *collective =
        instructionOf(event, action).body.AsCollective();
    return !collective || collective->group < 0;
  }

  /// Returns the name of a kernel, such as "Matmul fc1", or of a communication.
  /// Examples for communications of the tensor h:
  ///
  ///   "0F3 AllReduce h"   a collective within action 0F3 (stage 0, forward,
  ///                       microbatch 3)
  ///   "1X2 h"             the wait (X) of stage 1 for messages of microbatch 2
  std::string nameOf(const StepLog::Event &event,
                     const program::ActionT &action) const {
    const std::string name = runtime::nameOf(action);
    if (event.instruction != StepLog::messages) {
      const program::InstructionT &instruction = instructionOf(event, action);
      if (isKernel(event, action))
        return opsOf(instruction) +
               (instruction.node.empty() ? "" : " " + instruction.node);
      const program::CollectiveT &collective = *instruction.body.AsCollective();
      static constexpr const char *parts[] = {" ", " start of ", " finish of "};
      return name + " " + program::EnumNameCollectiveKind(collective.kind) +
             parts[size_t(collective.part)] + collective.value;
    }
    const auto &sent = action.sends.empty() ? action.receives : action.sends;
    return sent.empty()
               ? name
               : name + " " +
                     program.transfers[size_t(sent[0].transfer())]->value;
  }

  const program::ProgramT &program;
  const StepLog &log;
  /// One entry per action of the program. An action is, for example, the
  /// forward pass of one microbatch. A stage may update its weights in several
  /// actions, which are numbered from 0. The entry of such an action is this
  /// number. The entry of any other action is 0. For example, if a stage has
  /// the actions forward, backward, update, update, the entries are 0, 0, 0, 1.
  std::vector<int32_t> partOfUpdate;
};

/// Joins the logs of all ranks into one timeline. Each log is a JSON object
/// that LoggedRow::write() has made on one rank. A row of the timeline shows
/// one rank. Row 0 shows rank 0, row 1 shows rank 1, and so on. The earliest
/// event of all ranks starts at time 0 of the timeline.
class RowJoiner {
public:
  explicit RowJoiner(const std::vector<Json> &rows) : rows(rows) {}

  Timeline join() {
    for (const Json &row : rows)
      for (const Json &event : row.at("events"))
        begin = std::min(begin, secondsOf(row, event.at(3)));
    for (const Json &row : rows)
      addRow(row);
    addMessages();
    measureIdle(timeline);
    addMemory(timeline, memory);
    return std::move(timeline);
  }

private:
  /// Converts the time of an event to the clock of rank 0. `row` is the log of
  /// the rank that ran the event. `time` is the time of the event in seconds,
  /// by the clock of that rank. There are two cases:
  ///
  /// - The rank runs on the host of rank 0. All ranks of a host have the same
  ///   clock, so the result is `time`.
  /// - The rank runs on another host. The function subtracts the offset between
  ///   the two clocks. Each rank has read its clock after the same barrier. For
  ///   example, rank 0 read 100 s and this rank read 130 s. The offset is 30 s,
  ///   so the time 131 s becomes 101 s.
  double secondsOf(const Json &row, const Json &time) const {
    const bool isOwnClock = row.at("host") == rows[0].at("host");
    return time.get<double>() - (isOwnClock
                                     ? 0.
                                     : row.at("clock").get<double>() -
                                           rows[0].at("clock").get<double>());
  }

  /// Adds one rank to the timeline. `row` is the log of this rank, as the JSON
  /// object that LoggedRow::write() returns. The log has events and sizes:
  ///
  /// - An event can be a computation, such as a forward pass. The function
  ///   appends the computations of this rank to `timeline.positions`, as a new
  ///   list.
  /// - Another event is a kernel. The function appends the kernels of this rank
  ///   to `timeline.kernels`, as a new list.
  /// - Any other event is a communication: a collective, or a wait for
  ///   messages. The function appends the communications of this rank to
  ///   `timeline.messages`, as a new list.
  /// - The sizes are the memory of the rank. The function appends them to the
  ///   member `memory`.
  void addRow(const Json &row) {
    timeline.positions.emplace_back();
    timeline.messages.emplace_back();
    timeline.kernels.emplace_back();
    for (const Json &event : row.at("events")) {
      TimedAction timed;
      const int kind = event.at(0).get<int>();
      timed.action = {kind == kernelKind ? ActionKind::Communication
                                         : ActionKind(kind),
                      event.at(1).get<int>(), event.at(2).get<int>()};
      timed.start = secondsOf(row, event.at(3)) - begin;
      timed.end = secondsOf(row, event.at(4)) - begin;
      timed.name = event.at(5).get<std::string>();
      timed.coreSeconds = event.at(6).get<double>();
      rowsOf(kind).back().push_back(std::move(timed));
    }
    const Json &sizes = row.at("memory");
    RowMemory &own = memory.emplace_back(RowMemory{sizes.at(0).get<int64_t>(),
                                                   sizes.at(1).get<int64_t>(),
                                                   sizes.at(2).get<int64_t>()});
    for (const Json &bytes : row.at("actions"))
      own.actions.push_back(
          {bytes.at(0).get<int64_t>(), bytes.at(1).get<int64_t>(),
           bytes.at(2).get<int64_t>(), bytes.at(3).get<int64_t>()});
  }

  /// What identifies a message: name of the sent value, sending and receiving
  /// stage, microbatch, and the place of both ranks within their stages. A rank
  /// exchanges messages with the ranks that have its place in other stages.
  using MessageKey = std::tuple<std::string, int, int, int, size_t>;

  MessageKey keyOf(const Json &message, size_t rank) const {
    const size_t perPosition =
        rows.size() / rows[rank].at("positions").get<size_t>();
    return {message.at(0).get<std::string>(), message.at(1).get<int>(),
            message.at(2).get<int>(), message.at(3).get<int>(),
            rank % perPosition};
  }

  /// Adds each message between pipeline stages to the rows of its two ranks. It
  /// lasts from the moment at which the sender began to send until the receiver
  /// had received it.
  void addMessages() {
    std::map<MessageKey, std::pair<size_t, double>> sent;
    for (size_t rank = 0; rank < rows.size(); ++rank)
      for (const Json &message : rows[rank].at("sends"))
        sent[keyOf(message, rank)] = {
            rank, secondsOf(rows[rank], message.at(4)) - begin};
    int64_t number = 0;
    for (size_t rank = 0; rank < rows.size(); ++rank)
      for (const Json &message : rows[rank].at("receives"))
        if (auto send = sent.find(keyOf(message, rank)); send != sent.end()) {
          const auto &[sender, start] = send->second;
          addMessage(message, sender, rank, start,
                     secondsOf(rows[rank], message.at(4)) - begin, number++);
        }
    for (std::vector<TimedAction> &row : timeline.messages)
      std::stable_sort(row.begin(), row.end(),
                       [](const TimedAction &a, const TimedAction &b) {
                         return a.start < b.start;
                       });
  }

  /// Adds message number `number` from rank `sender` to rank `receiver`. Clocks
  /// of different hosts differ a little, so its end may seem to precede
  /// `start`; its duration is then 0.
  void addMessage(const Json &message, size_t sender, size_t receiver,
                  double start, double end, int64_t number) {
    const int from = message.at(1).get<int>(), to = message.at(2).get<int>();
    const bool isForward = from < to;
    TimedAction timed;
    timed.start = start;
    timed.end = std::max(start, end);
    timed.message = number;
    timed.action = {isForward ? ActionKind::SendForward
                              : ActionKind::SendBackward,
                    from, message.at(3).get<int>()};
    timeline.messages[sender].push_back(timed);
    timed.action = {isForward ? ActionKind::ReceiveForward
                              : ActionKind::ReceiveBackward,
                    to, message.at(3).get<int>()};
    timeline.messages[receiver].push_back(timed);
  }

  /// Returns the rows of the timeline that have the events of `kind`, an
  /// ActionKind or kernelKind.
  std::vector<std::vector<TimedAction>> &rowsOf(int kind) {
    return kind == kernelKind                       ? timeline.kernels
           : kind == int(ActionKind::Communication) ? timeline.messages
                                                    : timeline.positions;
  }

  const std::vector<Json> &rows;
  /// Memory of each rank.
  std::vector<RowMemory> memory;
  /// Earliest start of any event, by the clock of rank 0.
  double begin = std::numeric_limits<double>::infinity();
  Timeline timeline;
};
} // namespace

/// Sends the byte array `mine` of each rank to rank 0. On rank 0, sets `all` to
/// the list of these arrays: `all[r]` is the array of rank r. The arrays may
/// differ in length. On any other rank, `all` does not change. All ranks must
/// call this function.
static Status gather(World &world, const std::vector<uint8_t> &mine,
                     std::vector<std::vector<uint8_t>> &all) {
  const ActionId action{"write", "timeline"};
  const int64_t size = int64_t(mine.size());
  std::vector<int64_t> sizes(size_t(world.size()));
  PCC_RETURN_IF_ERROR(
      world.all().allGather(&size, sizes.data(), sizeof size, action));
  std::vector<PeerBuffer> sends, receives;
  if (world.rank() != 0) {
    sends.push_back({0, const_cast<uint8_t *>(mine.data()), mine.size()});
    return world.all().exchange(sends, receives, action);
  }
  all.resize(sizes.size());
  all[0] = mine;
  for (size_t rank = 1; rank < all.size(); ++rank) {
    all[rank].resize(size_t(sizes[rank]));
    receives.push_back({int(rank), all[rank].data(), all[rank].size()});
  }
  return receives.empty() ? Status::success()
                          : world.all().exchange(sends, receives, action);
}

/// Every rank reads its clock directly after a barrier, so all ranks read their
/// clocks at nearly the same moment. The difference between two of these times
/// is the offset between two clocks. Rank 0 uses the offsets to join the logs
/// of all ranks.
Status gatherMeasuredStep(const program::ProgramT &program, const StepLog &log,
                          World &world, std::optional<Timeline> &timeline) {
  PCC_RETURN_IF_ERROR(world.all().barrier({"write", "timeline"}));
  const double clock = StepLog::clock();
  std::vector<std::vector<uint8_t>> packed;
  if (Status status = gather(
          world, Json::to_cbor(LoggedRow(program, log).write(clock)), packed);
      status.failed() || world.rank() != 0)
    return status;
  std::vector<Json> rows;
  for (const auto &row : packed)
    rows.push_back(Json::from_cbor(row));
  timeline = RowJoiner(rows).join();
  return Status::success();
}

} // namespace pcc::runtime
