//===- TimelineSvg.cpp - drawing of a timeline as SVG ---------------------===//

#include "runtime/timeline/TimelineSvg.h"

#include "runtime/timeline/SvgWriter.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

namespace pcc::runtime {
namespace {

/// Sizes in pixels.
constexpr double leastLeft = 64, right = 150, top = 44, barHeight = 20,
                 messageHeight = 6, memoryHeight = 30, rowGap = 8,
                 footHeight = 56, legendHeight = 18, baseline = 6,
                 digitWidth = 6.2, leastBoxWidth = 15, leastTickWidth = 80,
                 leastPlotWidth = 720, mostPlotWidth = 6000;

/// Fill color, text color and legend text of a kind of box.
struct BoxStyle {
  std::string_view colour, ink, meaning;
};

/// Styles of the boxes in the drawing of a timeline. A box shows one action,
/// such as a forward pass, or one message. The function boxStyleOf() chooses
/// the style for a kind of action. The legend below the drawing lists the
/// styles that occur in the drawing, in the order of this array. The colors
/// differ in hue and in lightness, so that color-blind readers can distinguish
/// the colors too.
constexpr std::array<BoxStyle, 6> boxStyles{{
    {"#3b6fb6", "#fff", "F forward"},
    {"#7fb069", "#000", "B backward"},
    {"#9ecfc4", "#000", "I input gradient"},
    {"#e8c547", "#000", "W weight gradient"},
    {"#8e5ea2", "#fff", "optimizer step"},
    {"#d1495b", "#fff", "communication"},
}};
constexpr std::string_view axisColour = "#555", idleColour = "#ececec";

/// Kind of memory in the drawing of a row's memory, such as weights. The
/// drawing stacks the kinds: each one is drawn on top of the kinds before it.
struct MemoryLayer {
  std::string_view colour, meaning;
  int64_t (*bytes)(const MemoryCurve &, const MemoryPoint &);
};

constexpr std::array<MemoryLayer, 4> memoryLayers{{
    {"#76b7b2", "weights",
     [](const MemoryCurve &curve, const MemoryPoint &) {
       return curve.weights;
     }},
    {"#b07aa1", "optimizer state",
     [](const MemoryCurve &curve, const MemoryPoint &) { return curve.state; }},
    {"#f2cf8d", "gradients",
     [](const MemoryCurve &, const MemoryPoint &point) {
       return point.gradients;
     }},
    {"#f28e2b", "activations",
     [](const MemoryCurve &, const MemoryPoint &point) {
       return point.activations;
     }},
}};
/// Color and legend text of the part of the arena that is not in use.
constexpr std::string_view freeColour = "#dcdcdc", freeMeaning = "free arena";

/// Returns the index in `boxStyles` of the style for a kind of action:
///
/// - 0: forward pass
/// - 1: backward pass in a single action
/// - 2: gradients of the stage's inputs
/// - 3: gradients of the stage's weights
/// - 4: optimizer update, or other work of a stage, such as the all-gather of a
///   weight for all microbatches (Unshard)
/// - 5: messages between stages, collectives, and waits for messages
size_t boxStyleOf(ActionKind kind) {
  if (kind >= ActionKind::SendForward)
    return boxStyles.size() - 1;
  return std::min(static_cast<size_t>(kind), boxStyles.size() - 2);
}

/// Prints a quantity as a number and a unit. The result has about three
/// significant digits. `units` contains four names of units, smallest unit
/// first. Each unit is `step` times the unit before it. `number` is the
/// quantity in the smallest unit. For example, the units are ns, µs, ms and s,
/// `step` is 1000, and `number` is 1530. The result is then "1.53 µs".
std::string printScaled(double number,
                        const std::array<std::string_view, 4> &units,
                        double step) {
  size_t unit = 0;
  while (unit + 1 < units.size() && number >= step)
    number /= step, ++unit;
  const int decimals = number < 10 ? 2 : number < 100 ? 1 : 0;
  return printFixed(number, decimals) + " " + std::string(units[unit]);
}

std::string printSeconds(double seconds) {
  return printScaled(seconds * 1e9, {"ns", "µs", "ms", "s"}, 1000);
}

std::string printBytes(int64_t bytes) {
  return printScaled(static_cast<double>(bytes), {"B", "KiB", "MiB", "GiB"},
                     1024);
}

std::string printShare(double part, double whole) {
  return printFixed(whole > 0 ? 100 * part / whole : 0, 1) + " % idle";
}

/// Returns the width, in pixels, of the area that shows the whole step. The
/// width is chosen so that the box of a forward action of average duration is
/// `leastBoxWidth` pixels wide, which is enough for a microbatch number. The
/// result is at least `leastPlotWidth` and at most `mostPlotWidth`.
double plotWidthOf(const Timeline &timeline) {
  double work = 0, count = 0;
  for (const std::vector<TimedAction> &row : timeline.positions)
    for (const TimedAction &timed : row)
      if (timed.action.kind == ActionKind::Forward)
        work += timed.end - timed.start, ++count;
  return work > 0 ? std::clamp(leastBoxWidth * timeline.makespan * count / work,
                               leastPlotWidth, mostPlotWidth)
                  : leastPlotWidth;
}

/// Returns the width, in pixels, of the column that has the names of the rows.
double leftOf(const Timeline &timeline) {
  size_t longest = 0;
  for (size_t row = 0; row < timeline.positions.size(); ++row)
    longest = std::max(longest, rowName(timeline, row).size());
  return std::max(leastLeft, 16 + digitWidth * static_cast<double>(longest));
}

/// Returns the height of a row in pixels. It is the sum of the heights of the
/// actions, the messages, the memory curve and the gap below the row. Messages
/// and memory need no space if the timeline has none.
double rowHeightOf(const Timeline &timeline) {
  return barHeight + (timeline.messages.empty() ? 0 : messageHeight) +
         (timeline.memory.empty() ? 0 : memoryHeight) + rowGap;
}

/// Draws one timeline from top to bottom: head, rows, time axis, legend.
class TimelineDrawing {
public:
  explicit TimelineDrawing(const Timeline &timeline)
      : timeline(timeline), left(leftOf(timeline)),
        plotWidth(plotWidthOf(timeline)),
        scale(timeline.makespan > 0 ? plotWidth / timeline.makespan : 0),
        rowHeight(rowHeightOf(timeline)),
        foot(top + rowHeight * static_cast<double>(timeline.positions.size())),
        svg(left + plotWidth + right,
            foot + footHeight + (timeline.memory.empty() ? 0 : legendHeight)) {}

  std::string draw(std::string_view title);

private:
  /// Returns the x coordinate, in pixels, of a time in seconds.
  double x(double seconds) const { return left + seconds * scale; }
  /// Writes the line at the top of the drawing. The line contains `title`, the
  /// duration of the step, and the idle time of all rows in percent. For
  /// example, if a step of 10 seconds has two rows, and one row is idle for 5
  /// seconds, the idle time is 5 of 20 seconds, or 25 %.
  void addHead(std::string_view title);
  /// Draws one row.
  void addRow(size_t row);
  /// Draws the actions of row number `row`. First draws a gray bar for the
  /// whole step, then a box on it for each action. The bar stays visible where
  /// the row is idle. If the row runs several stages, the boxes of later stages
  /// are paler. `y` is the y coordinate of the upper edge of the bar.
  void addBar(size_t row, double y);
  /// Draws a colored rectangle for an entry of the timeline. `timed` is the
  /// entry: an action, such as the forward pass of a microbatch, or a message.
  /// The rectangle extends horizontally from the start of the entry to its end.
  /// `y` is the y coordinate of the upper edge, and `height` is the height in
  /// pixels. `opacity` is between 0 and 1. A smaller value gives a paler
  /// rectangle. A viewer shows the name and the times of the entry when the
  /// pointer is over the rectangle.
  void addAction(const TimedAction &timed, double y, double height,
                 double opacity);
  /// Writes the index of the microbatch into an action's box, if there is
  /// space.
  void addNumber(const TimedAction &timed, double y);
  /// Draws the memory of row number `row` over time, as a stack of
  /// memoryLayers. To the right of the stack, writes the total number of
  /// allocated bytes. `y` is the y coordinate of the upper edge of the space
  /// for the stack. In all rows, the same height stands for the same number of
  /// bytes.
  void addMemory(size_t row, double y);
  /// Returns the outline of the sum of the first `count` memory layers over
  /// time, as points of an SVG polygon. For example, if `count` is 2, the
  /// height of the polygon is the sum of weights and optimizer state. A byte
  /// has a height of `unit` pixels above the y coordinate `bottom`.
  std::string outlineOf(const MemoryCurve &curve, size_t count, double unit,
                        double bottom) const;
  /// Draws ticks of the time axis and their times. The distance of two ticks is
  /// 2, 5 or 10 times a power of ten.
  void addAxis();
  /// Draws the legend: a colored square and a text for each box style that
  /// occurs in the drawing, and for idle time. If the timeline has memory, a
  /// second line explains each kind of memory.
  void addLegend();
  /// Writes `text` to the right of the area that shows the actions. `bottom` is
  /// the y coordinate of the lower edge of the line of text.
  void addBeside(double bottom, const std::string &text) {
    svg.addText(left + plotWidth + 6, bottom - baseline, text);
  }

  const Timeline &timeline;
  /// Measures of the drawing. A drawing has one row for each row of the
  /// timeline. Each row has a name on the left, and an area that shows the
  /// step on the right.
  ///
  /// - `left`: width in pixels of the column with the names.
  /// - `plotWidth`: width in pixels of the area that shows the step.
  /// - `scale`: number of pixels per second of the step.
  /// - `rowHeight`: height in pixels of one row.
  /// - `foot`: y coordinate, in pixels, of the lower edge of the last row.
  const double left, plotWidth, scale, rowHeight, foot;
  std::set<size_t> stylesUsed;
  SvgWriter svg;
};

void TimelineDrawing::addHead(std::string_view title) {
  svg.addText(left, 26,
              std::string(title) + (title.empty() ? "" : ": ") +
                  printSeconds(timeline.makespan) + ", " +
                  printShare(idleShare(timeline), 1),
              " font-size=\"15\"");
}

void TimelineDrawing::addAction(const TimedAction &timed, double y,
                                double height, double opacity) {
  const size_t style = boxStyleOf(timed.action.kind);
  stylesUsed.insert(style);
  svg.addBox({x(timed.start), y, (timed.end - timed.start) * scale, height},
             boxStyles[style].colour, opacity,
             nameOf(timed) + ", " + printSeconds(timed.start) + " to " +
                 printSeconds(timed.end));
}

void TimelineDrawing::addNumber(const TimedAction &timed, double y) {
  const std::string digits = std::to_string(timed.action.microbatch);
  const double width = (timed.end - timed.start) * scale;
  if (timed.action.microbatch < 0 ||
      width < digitWidth * static_cast<double>(digits.size()) + 1)
    return;
  svg.addText(x(timed.start) + width / 2, y + barHeight - baseline, digits,
              " text-anchor=\"middle\" pointer-events=\"none\" fill=\"" +
                  std::string(boxStyles[boxStyleOf(timed.action.kind)].ink) +
                  "\"");
}

void TimelineDrawing::addBar(size_t row, double y) {
  svg.addRectangle({left, y, plotWidth, barHeight}, idleColour);
  std::set<int> stages;
  for (const TimedAction &timed : timeline.positions[row])
    stages.insert(timed.action.stage);
  for (const TimedAction &timed : timeline.positions[row]) {
    const auto chunk =
        std::distance(stages.begin(), stages.find(timed.action.stage));
    addAction(timed, y, barHeight,
              1 - 0.5 * static_cast<double>(chunk) /
                      static_cast<double>(stages.size()));
    addNumber(timed, y);
  }
  if (row < timeline.idle.size())
    addBeside(y + barHeight, printShare(timeline.idle[row], timeline.makespan));
}

void TimelineDrawing::addRow(size_t row) {
  double y = top + rowHeight * static_cast<double>(row);
  svg.beginGroup("row");
  svg.addText(8, y + barHeight - baseline, rowName(timeline, row));
  addBar(row, y);
  y += barHeight;
  if (row < timeline.messages.size())
    for (const TimedAction &timed : timeline.messages[row])
      addAction(timed, y + 1, messageHeight - 2, 1);
  if (!timeline.messages.empty())
    y += messageHeight;
  if (row < timeline.memory.size())
    addMemory(row, y);
  svg.endGroup();
}

void TimelineDrawing::addMemory(size_t row, double y) {
  int64_t most = 1;
  for (const MemoryCurve &curve : timeline.memory)
    most = std::max(most, curve.total());
  const MemoryCurve &curve = timeline.memory[row];
  const double unit = (memoryHeight - 2) / static_cast<double>(most),
               bottom = y + memoryHeight,
               whole = static_cast<double>(curve.total()) * unit;
  svg.addRectangle({left, bottom - whole, plotWidth, whole}, freeColour);
  // Each polygon covers all layers from 0 to `count` - 1, and hides the parts
  // of earlier polygons below its outline. Therefore draw the polygon of all
  // layers first.
  for (size_t count = memoryLayers.size(); count > 0; --count)
    svg.addPolygon(outlineOf(curve, count, unit, bottom),
                   memoryLayers[count - 1].colour, 1);
  addBeside(bottom, printBytes(curve.total()));
}

std::string TimelineDrawing::outlineOf(const MemoryCurve &curve, size_t count,
                                       double unit, double bottom) const {
  std::string points;
  auto add = [&](double seconds, double height) {
    points +=
        printFixed(x(seconds), 2) + "," + printFixed(bottom - height, 2) + " ";
  };
  auto heightAt = [&](const MemoryPoint &point) {
    int64_t bytes = 0;
    for (size_t i = 0; i < count; ++i)
      bytes += memoryLayers[i].bytes(curve, point);
    return static_cast<double>(bytes) * unit;
  };
  double height = heightAt(MemoryPoint());
  add(0, 0);
  add(0, height);
  for (const MemoryPoint &point : curve.points) {
    add(point.seconds, height);
    height = heightAt(point);
    add(point.seconds, height);
  }
  add(timeline.makespan, height);
  add(timeline.makespan, 0);
  return points;
}

void TimelineDrawing::addAxis() {
  if (timeline.makespan <= 0)
    return;
  const double rough = leastTickWidth / scale;
  const double power = std::pow(10, std::floor(std::log10(rough)));
  const double step = power * (rough > 5 * power   ? 10
                               : rough > 2 * power ? 5
                                                   : 2);
  for (int tick = 0; tick * step <= timeline.makespan; ++tick) {
    svg.addRectangle({x(tick * step), foot, 1, 4}, axisColour);
    svg.addText(x(tick * step), foot + 16,
                tick ? printSeconds(tick * step) : "0",
                " text-anchor=\"middle\"");
  }
}

void TimelineDrawing::addLegend() {
  double at = left, y = foot + 30;
  auto add = [&](std::string_view colour, std::string_view meaning) {
    svg.addRectangle({at, y, 12, 12}, colour);
    svg.addText(at + 16, y + 10, meaning);
    at += 34 + digitWidth * static_cast<double>(meaning.size());
  };
  for (size_t style : stylesUsed)
    add(boxStyles[style].colour, boxStyles[style].meaning);
  add(idleColour, "idle");
  if (timeline.memory.empty())
    return;
  at = left;
  y += legendHeight;
  for (const MemoryLayer &layer : memoryLayers)
    add(layer.colour, layer.meaning);
  add(freeColour, freeMeaning);
}

std::string TimelineDrawing::draw(std::string_view title) {
  addHead(title);
  for (size_t row = 0; row < timeline.positions.size(); ++row)
    addRow(row);
  addAxis();
  addLegend();
  return svg.finish();
}

} // namespace

std::string drawSvg(const Timeline &timeline, std::string_view title) {
  return TimelineDrawing(timeline).draw(title);
}

} // namespace pcc::runtime
