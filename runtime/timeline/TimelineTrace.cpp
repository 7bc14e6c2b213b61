//===- TimelineTrace.cpp - export of a timeline as Chrome trace events ----===//

#include "runtime/timeline/TimelineTrace.h"

#include <cmath>
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

/// Builds the list of trace events.
class TraceWriter {
public:
  std::string write(const Timeline &timeline);

private:
  /// Appends the beginning of a trace event, a JSON object, to the member
  /// `text`, and returns `text`. The caller must append the other fields and
  /// the closing brace. `phase` is 'X' (start and duration), 'C' (value of a
  /// counter) or 'M' (name of a process or thread). `row` is a row of the
  /// timeline, and becomes the process id. `thread` is 1 for communication, and
  /// 0 for all other events. For example, if `text` is empty, begin('X', 5, 1)
  /// appends `{"ph":"X","pid":5,"tid":1`.
  std::string &begin(char phase, size_t row, int thread);
  /// Adds an event that gives a name to a process or to a thread of the trace.
  /// Viewers display this name. In the trace, a process represents a row of the
  /// timeline. The process has two threads: thread 0 represents the actions of
  /// the row, and thread 1 represents the messages of the row. The function has
  /// these parameters:
  ///
  /// - `what` is "process_name" to name the process, or "thread_name" to name
  ///   the thread.
  /// - `row` is the number of the row, which is also the id of the process.
  /// - `thread` is the id of the thread. If `what` is "process_name", `thread`
  ///   is 0.
  /// - `name` is the name to display, such as "rank 5".
  void name(std::string_view what, size_t row, int thread,
            const std::string &name);
  /// Adds one trace event for each entry of `actions`. The event has the start
  /// and the duration of the action. Chrome's trace event format calls this
  /// kind of event a complete event ("ph": "X"). `row` becomes the process id
  /// of the event, and `thread` becomes its thread id.
  void addActions(const std::vector<TimedAction> &actions, size_t row,
                  int thread);

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

void TraceWriter::name(std::string_view what, size_t row, int thread,
                       const std::string &name) {
  begin('M', row, thread) += ",\"name\":\"" + std::string(what) +
                             "\",\"args\":{\"name\":" + quoted(name) + "}}";
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
  }
}

std::string TraceWriter::write(const Timeline &timeline) {
  for (size_t row = 0; row < timeline.positions.size(); ++row) {
    name("process_name", row, 0, rowName(timeline, row));
    name("thread_name", row, 0, "actions");
    addActions(timeline.positions[row], row, 0);
    if (row < timeline.messages.size()) {
      name("thread_name", row, 1, "messages");
      addActions(timeline.messages[row], row, 1);
    }
    if (row < timeline.memory.size())
      for (const MemoryPoint &point : timeline.memory[row])
        begin('C', row, 0) +=
            ",\"ts\":" + microseconds(nanoseconds(point.seconds)) +
            ",\"name\":\"memory\",\"args\":{\"bytes\":" +
            std::to_string(point.bytes) + "}}";
  }
  return "{\"displayTimeUnit\":\"ms\",\"traceEvents\":[\n" + text + "\n]}\n";
}

} // namespace

std::string writeTrace(const Timeline &timeline) {
  return TraceWriter().write(timeline);
}

} // namespace pcc::runtime
