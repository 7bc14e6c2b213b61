//===- TimelineTrace.cpp - export of a timeline as Chrome trace events ----===//

#include "runtime/timeline/TimelineTrace.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <nlohmann/json.hpp>

namespace pcc::runtime {
namespace {

int64_t nanoseconds(double seconds) { return std::llround(seconds * 1e9); }

/// Converts nanoseconds to microseconds, as text with three decimals: "1.530"
/// for 1530. Trace events have their times in microseconds. The conversion is
/// exact: if one event ends when the next one starts, the printed times do not
/// overlap.
std::string microseconds(int64_t nanoseconds) {
  const std::string digits = std::to_string(nanoseconds % 1000);
  return std::to_string(nanoseconds / 1000) + "." +
         std::string(3 - digits.size(), '0') + digits;
}

/// Returns `text` as a quoted JSON string. Bytes that are not UTF-8 are
/// replaced.
std::string quoted(const std::string &text) {
  return nlohmann::json(text).dump(-1, ' ', false,
                                   nlohmann::json::error_handler_t::replace);
}

/// Returns the category of an action in the trace file. Viewers give events of
/// the same category the same color. Each of these five kinds of actions has
/// its own category: forward pass, backward pass, gradients of inputs,
/// gradients of weights, and optimizer update. Actions of all other kinds, such
/// as the all-gather of a weight, have the category "communication".
std::string_view categoryOf(ActionKind kind) {
  switch (kind) {
  case ActionKind::Forward:
    return "forward";
  case ActionKind::Backward:
    return "backward";
  case ActionKind::InputGradient:
    return "input gradient";
  case ActionKind::WeightGradient:
    return "weight gradient";
  case ActionKind::Update:
    return "update";
  default:
    return "communication";
  }
}

/// Kind of the track (thread of the trace) that shows an entry of
/// Timeline::messages. Entries that overlap in time need different tracks. A
/// row of the timeline can therefore have several tracks of one kind.
enum class Track { Sends, Receives, Waits };

std::string_view nameOf(Track track) {
  switch (track) {
  case Track::Sends:
    return "sends";
  case Track::Receives:
    return "receives";
  default:
    return "collectives and waits";
  }
}

Track trackOf(ActionKind kind) {
  switch (kind) {
  case ActionKind::SendForward:
  case ActionKind::SendBackward:
    return Track::Sends;
  case ActionKind::ReceiveForward:
  case ActionKind::ReceiveBackward:
    return Track::Receives;
  default:
    return Track::Waits;
  }
}

/// Divides entries, which are ordered by their start times, into lists whose
/// entries do not overlap. Chrome's trace event format allows two events of one
/// track to overlap only if one of them contains the other.
std::vector<std::vector<TimedAction>>
withoutOverlaps(const std::vector<TimedAction> &entries) {
  std::vector<std::vector<TimedAction>> lists;
  for (const TimedAction &timed : entries) {
    auto list =
        std::find_if(lists.begin(), lists.end(), [&](const auto &other) {
          return other.back().end <= timed.start;
        });
    if (list == lists.end())
      list = lists.insert(list, std::vector<TimedAction>());
    list->push_back(timed);
  }
  return lists;
}

/// Builds the list of trace events. A row of the timeline is a process. Its
/// thread 0 has the actions, the other threads have the messages.
class TraceWriter {
public:
  std::string write(const Timeline &timeline);

private:
  /// Appends the beginning of a trace event, a JSON object, to the member
  /// `text`, and returns `text`. The caller must append the other fields and
  /// the closing brace. `phase` is 'X' (start and duration), 'C' (values of a
  /// counter), 's' or 'f' (ends of an arrow) or 'M' (description of a process
  /// or thread). `row` is the process id, and `thread` is the thread id.
  std::string &begin(char phase, size_t row, int thread);
  /// Adds an event that describes a process or a thread of the trace. `what` is
  /// the name of the event, such as "thread_name", and `arguments` is the text
  /// of its JSON arguments.
  void describe(std::string_view what, size_t row, int thread,
                const std::string &arguments);
  /// Adds one trace event for each entry of `actions`: its start and its
  /// duration. If the entry is the send or the receive of a message, also adds
  /// one end of the arrow that viewers draw from the send to the receive.
  void addActions(const std::vector<TimedAction> &actions, size_t row,
                  int thread);
  /// Adds the kernels of one row of the timeline. They go to thread 0 of the
  /// row's process, like the actions of the row. A viewer draws each kernel
  /// below the action whose time contains the kernel.
  void addKernels(const std::vector<TimedAction> &kernels, size_t row);
  /// Adds the messages of one row of the timeline. Messages of one kind that
  /// overlap in time go to different threads of the trace.
  void addMessages(const std::vector<TimedAction> &messages, size_t row);
  /// Adds the memory of one row of the timeline as a counter with five values:
  /// weights, optimizer state, gradients, activations, and the part of the
  /// arena that is not in use. Viewers draw the values on top of each other;
  /// their sum is the memory that the rank allocates.
  void addMemory(const MemoryCurve &curve, size_t row);

  std::string text;
};

std::string &TraceWriter::begin(char phase, size_t row, int thread) {
  text += text.empty() ? "" : ",\n";
  text += "{\"ph\":\"";
  text += phase;
  text += "\",\"pid\":" + std::to_string(row) +
          ",\"tid\":" + std::to_string(thread);
  return text;
}

void TraceWriter::describe(std::string_view what, size_t row, int thread,
                           const std::string &arguments) {
  begin('M', row, thread) +=
      ",\"name\":\"" + std::string(what) + "\",\"args\":{" + arguments + "}}";
}

void TraceWriter::addActions(const std::vector<TimedAction> &actions,
                             size_t row, int thread) {
  for (const TimedAction &timed : actions) {
    const int64_t start = nanoseconds(timed.start);
    begin('X', row, thread) +=
        ",\"ts\":" + microseconds(start) +
        ",\"dur\":" + microseconds(nanoseconds(timed.end) - start) +
        (timed.coreSeconds < 0
             ? ""
             : ",\"tdur\":" + microseconds(nanoseconds(timed.coreSeconds))) +
        ",\"name\":" + quoted(nameOf(timed)) + ",\"cat\":\"" +
        std::string(categoryOf(timed.action.kind)) +
        "\",\"args\":{\"stage\":" + std::to_string(timed.action.stage);
    if (isCompute(timed.action.kind))
      text += ",\"microbatch\":" + std::to_string(timed.action.microbatch);
    text += "}}";
    if (timed.message < 0)
      continue;
    const bool isSend = trackOf(timed.action.kind) == Track::Sends;
    begin(isSend ? 's' : 'f', row, thread) +=
        ",\"ts\":" + microseconds(start) +
        ",\"id\":" + std::to_string(timed.message) +
        (isSend ? "" : ",\"bp\":\"e\"") +
        ",\"name\":\"message\",\"cat\":\"message\"}";
  }
}

void TraceWriter::addKernels(const std::vector<TimedAction> &kernels,
                             size_t row) {
  for (const TimedAction &timed : kernels) {
    const int64_t start = nanoseconds(timed.start);
    begin('X', row, 0) += ",\"ts\":" + microseconds(start) + ",\"dur\":" +
                          microseconds(nanoseconds(timed.end) - start) +
                          ",\"name\":" + quoted(timed.name) +
                          ",\"cat\":\"kernel\",\"args\":{\"stage\":" +
                          std::to_string(timed.action.stage) + "}}";
  }
}

void TraceWriter::addMessages(const std::vector<TimedAction> &messages,
                              size_t row) {
  int thread = 0;
  for (Track track : {Track::Sends, Track::Receives, Track::Waits}) {
    std::vector<TimedAction> own;
    std::copy_if(messages.begin(), messages.end(), std::back_inserter(own),
                 [&](const TimedAction &timed) {
                   return trackOf(timed.action.kind) == track;
                 });
    for (const std::vector<TimedAction> &list : withoutOverlaps(own)) {
      describe("thread_name", row, ++thread,
               "\"name\":\"" + std::string(nameOf(track)) + "\"");
      describe("thread_sort_index", row, thread,
               "\"sort_index\":" + std::to_string(thread));
      addActions(list, row, thread);
    }
  }
}

void TraceWriter::addMemory(const MemoryCurve &curve, size_t row) {
  std::vector<MemoryPoint> points = curve.points;
  if (points.empty() || points.front().seconds > 0)
    points.insert(points.begin(), MemoryPoint());
  for (const MemoryPoint &point : points)
    begin('C', row, 0) +=
        ",\"ts\":" + microseconds(nanoseconds(point.seconds)) +
        ",\"name\":\"memory in bytes\",\"args\":{\"weights\":" +
        std::to_string(curve.weights) +
        ",\"optimizer state\":" + std::to_string(curve.state) +
        ",\"gradients\":" + std::to_string(point.gradients) +
        ",\"activations\":" + std::to_string(point.activations) +
        ",\"free arena\":" +
        std::to_string(curve.arena - point.gradients - point.activations) +
        "}}";
}

std::string TraceWriter::write(const Timeline &timeline) {
  for (size_t row = 0; row < timeline.positions.size(); ++row) {
    describe("process_name", row, 0,
             "\"name\":" + quoted(rowName(timeline, row)));
    describe("process_sort_index", row, 0,
             "\"sort_index\":" + std::to_string(row));
    describe("thread_name", row, 0, "\"name\":\"actions\"");
    addActions(timeline.positions[row], row, 0);
    if (row < timeline.kernels.size())
      addKernels(timeline.kernels[row], row);
    if (row < timeline.messages.size())
      addMessages(timeline.messages[row], row);
    if (row < timeline.memory.size())
      addMemory(timeline.memory[row], row);
  }
  return "{\"displayTimeUnit\":\"ms\",\"traceEvents\":[\n" + text + "\n]}\n";
}

} // namespace

std::string writeTrace(const Timeline &timeline) {
  return TraceWriter().write(timeline);
}

} // namespace pcc::runtime
