//===- ExplanationText.cpp - explanation as text for the terminal ---------===//

#include "passes/explain/Explanation.h"
#include "passes/explain/RepeatedCollectives.h"
#include "runtime/program/InspectText.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace pcc;
using namespace pcc::explain;
using llvm::formatv;
using runtime::bytesText;

/// Largest number of entries that a list in the text shows, such as the list of
/// the ops that read a value. Example: 7 ops read the value. The text names 5
/// of them and ends with "and 2 more".
///
/// There is one exception. wayText() formats a path through the program from
/// one value to another. If the path has at most 2 * 5 = 10 steps, the text
/// shows all steps. Otherwise, the text shows 9 steps and the number of the
/// other steps.
static constexpr size_t mostListed = 5;

/// Formats a duration in a suitable unit, such as "12.5 us".
static std::string secondsText(double seconds) {
  return seconds < 1e-3 ? formatv("{0:F1} us", seconds * 1e6).str()
         : seconds < 1  ? formatv("{0:F1} ms", seconds * 1e3).str()
                        : formatv("{0:F2} s", seconds).str();
}

/// Formats a shape, such as "[8, 16]".
static std::string listText(const std::vector<int64_t> &shape) {
  std::string text;
  for (int64_t size : shape)
    text += (text.empty() ? "" : ", ") + std::to_string(size);
  return "[" + text + "]";
}

/// Formats a count with its noun in singular or plural, such as "1 call" or "2
/// calls".
static std::string counted(int64_t count, const std::string &thing) {
  const char *plural = llvm::StringRef(thing).ends_with("ch") ? "es" : "s";
  return std::to_string(count) + " " + thing + (count == 1 ? "" : plural);
}

/// Returns whether `place` is an input, output, weight or pin (requested
/// sharding) of the model. In these cases, `place.node` is the name of a value.
/// Otherwise, `place` is an op, and `place.node` is the name of an ONNX node.
static bool namesItself(const dist::Endpoint &place) {
  return place.op == "input" || place.op == "output" || place.op == "weight" ||
         place.op == "pin";
}

/// Formats a producer or consumer, such as "matmul at 'node_addmm_1'
/// (pytorch_utils.py:119)".
static std::string placeText(const dist::Endpoint &place) {
  std::string text = place.op;
  if (!place.node.empty())
    text += (namesItself(place) ? " '" : " at '") + place.node + "'";
  if (!place.source.empty())
    text += " (" + place.source + ")";
  return text + (place.pin.empty() ? "" : ", pinned by " + place.pin);
}

/// Formats a list of communications between ranks. A communication is a
/// collective, or a set of sends. The text contains the kind of each
/// communication, and the number of bytes that one rank receives. Example:
/// "all_gather 48.0 KiB, all_reduce 32.0 KiB". If a communication also serves
/// another operand, the words "that others need too" follow.
static std::string stepsText(const std::vector<dist::PricedStep> &steps) {
  std::string text;
  for (const dist::PricedStep &step : steps)
    text += (text.empty() ? "" : ", ") + step.kind + " " +
            bytesText(static_cast<double>(step.receivedBytes)) +
            (step.isShared ? " that others need too" : "");
  return text;
}

//===----------------------------------------------------------------------===//
// Choices
//===----------------------------------------------------------------------===//

/// Returns why the sharding search chose `chosen` and not `loser`, two ways to
/// compute the same op:
///  - "not allowed": a rule of the search forbids `loser`.
///  - "costs more X": X is the first of time, received bytes and calls that
///    differs, and `loser` has more of it.
///  - "costs more elsewhere": this first difference favors `loser`, but `loser`
///    makes other ops more expensive.
///  - "costs more memory": all three are equal, but a rank stores more bytes.
///  - "tie": the costs above do not explain the choice.
static std::string verdictOn(const dist::Choice &loser,
                             const dist::Choice &chosen) {
  const auto compare = [](int64_t own, int64_t other, const char *what) {
    return own > other ? std::string("costs more ") + what
                       : "costs more elsewhere";
  };
  if (!loser.refused.empty())
    return "not allowed";
  if (loser.picoseconds != chosen.picoseconds)
    return compare(loser.picoseconds, chosen.picoseconds, "time");
  if (loser.receivedBytes() != chosen.receivedBytes())
    return compare(loser.receivedBytes(), chosen.receivedBytes(), "bytes");
  if (loser.calls() != chosen.calls())
    return compare(loser.calls(), chosen.calls(), "calls");
  return loser.memoryBytes > chosen.memoryBytes ? "costs more memory" : "tie";
}

/// Formats `choice`, one way to compute an op, as a line. Example:
///
///     chosen          32.0 KiB    6.6 us  split nothing: all_reduce 32.0 KiB
///
/// The line contains `verdict` ("chosen" or why the way was rejected), the
/// bytes that one rank receives, the predicted duration, the description of the
/// way, its communications, and the reason why it is not allowed, if any.
/// `cluster` predicts durations that the compiler has not recorded.
static std::string choiceText(const std::string &verdict,
                              const dist::Choice &choice,
                              const plan::Cluster &cluster) {
  std::string text =
      formatv("      {0,-20} {1,10} {2,9}  {3}", verdict,
              bytesText(static_cast<double>(choice.receivedBytes())),
              secondsText(secondsOf(choice, cluster)), choice.what)
          .str();
  if (!choice.steps.empty())
    text += ": " + stepsText(choice.steps);
  return text + (choice.refused.empty() ? "" : "; " + choice.refused) + "\n";
}

/// Formats the decision of the sharding search about one op: one line for the
/// chosen way to compute the op, then one line for each of the best `numOthers`
/// alternatives.
static std::string decisionText(const dist::Decision &decision,
                                size_t numOthers,
                                const plan::Cluster &cluster) {
  std::string text = choiceText("chosen", decision.chosen, cluster);
  for (const dist::Choice &other : decision.others)
    if (numOthers > 0) {
      --numOthers;
      text += choiceText(verdictOn(other, decision.chosen), other, cluster);
    }
  return text;
}

/// Formats one reason for the sharding of a value that a collective moves. `at`
/// contains the op that produces the value, or an op that reads it. There are
/// two kinds of reasons:
///
///  - The compiler searched for the best way to compute this op. The text then
///    has a heading, one line for the chosen way, and one line for each of the
///    best `numOthers` rejected ways.
///  - The user has requested the sharding. The text is then one line that
///    contains the request, such as "requested  --shard 'y=[-,tp]'".
///
/// The bandwidths in `cluster` determine the durations that the compiler has
/// not recorded.
static std::string decidedText(const EndpointDecision &at, size_t numOthers,
                               const plan::Cluster &cluster) {
  if (!at.decision)
    return "    requested  " + at.place->pin + "\n";
  return "    choices on " + at.decision->axis + " for this " +
         at.decision->op + " (everything else unchanged):\n" +
         decisionText(*at.decision, numOthers, cluster);
}

//===----------------------------------------------------------------------===//
// Collectives
//===----------------------------------------------------------------------===//

/// Formats the consumers of a collective, one per line.
static std::string usesText(const std::vector<dist::Endpoint> &uses) {
  std::string text;
  for (size_t i = 0; i < uses.size() && i < mostListed; ++i)
    text += (i == 0 ? "    needed by  " : "               ") +
            placeText(uses[i]) + "\n";
  if (uses.size() > mostListed)
    text += "               and " + std::to_string(uses.size() - mostListed) +
            " more\n";
  return text;
}

/// Formats one line with names of ONNX nodes. The collectives of `group` have
/// equal properties, such as kind and mesh axes. Each collective belongs to an
/// ONNX node. Example: the ONNX nodes 'h.0.fc', 'h.1.fc' and 'h.2.fc' each need
/// an all-reduce. The three all-reduces form a group. The line leaves out the
/// node of the first collective: "likewise   'h.1.fc', 'h.2.fc'". The line
/// contains at most five names. If there are more, the line ends with the
/// number of the other names, such as "and 3 more". Returns an empty string if
/// `group` has only one collective.
static std::string likewiseText(const RepeatedCollective &group) {
  std::string text;
  for (size_t i = 1; i < group.all.size() && i <= mostListed; ++i)
    text += (i == 1 ? "    likewise   " : ", ") +
            ("'" + group.all[i]->facts.node + "'");
  if (group.all.size() > mostListed + 1)
    text +=
        " and " + std::to_string(group.all.size() - mostListed - 1) + " more";
  return text.empty() ? "" : text + "\n";
}

/// Formats the two heading lines of a group of equal collectives. Example:
///
///     4 x all_reduce (sum) over tp, 32.0 KiB and 6.6 us each
///         f32[8, 32, 64] from [dp, -, -] partial sum(tp) to [dp, -, -]
///
/// The group of this example contains 4 collectives. In each of them, a rank
/// receives 32.0 KiB, and the predicted duration is 6.6 us. The second line
/// contains the element type and the global shape of the tensor, and the
/// shardings of the tensor before and after the collective. `numStages` is the
/// length of the pipeline. If it is greater than 1, the first line also
/// contains the numbers of the pipeline stages that execute the collectives.
static std::string headText(const RepeatedCollective &group, size_t numStages) {
  const ExplainedCollective &first = *group.all.front();
  const auto &facts = first.facts;
  std::string text = std::to_string(group.count) + " x " + facts.kind;
  if (!facts.reduction.empty())
    text += " (" + facts.reduction + ")";
  text += " over " + llvm::join(facts.axes, "+") + ", " +
          (facts.isMost ? "at most " : "") +
          bytesText(static_cast<double>(facts.receivedBytes)) + " and " +
          secondsText(first.seconds) + (group.count > 1 ? " each" : "");
  if (numStages > 1)
    text += ", stage " + llvm::join(group.stages, "+");
  if (facts.isShared)
    text += ", once per step";
  return text + "\n    " + facts.dtype + listText(first.shape) + " from " +
         first.from + " to " + first.to + "\n";
}

/// Formats the text about `group`, collectives with equal properties and equal
/// reasons, such as the all-reduces of all layers. The parts are:
///  1. two heading lines: kind, mesh axes, bytes, duration and shardings
///  2. the producer and the readers of the tensor of the first collective
///  3. the names of the ONNX nodes that need the other collectives
///  4. the reasons for the first collective, such as the way in which the
///     compiler computes a reader
///
/// If the module records no cause, the ONNX node replaces parts 2 and 4.
static std::string repeatedText(const RepeatedCollective &group,
                                size_t numStages,
                                const plan::Cluster &cluster) {
  const ExplainedCollective &first = *group.all.front();
  std::string text = headText(group, numStages);
  if (!first.cause)
    return text + "    the dump does not tell why; at '" + first.facts.node +
           "'\n" + likewiseText(group);
  text += "    made by    " + placeText(first.cause->by) + "\n" +
          usesText(first.cause->uses) + likewiseText(group);
  size_t numOthers = mostListed;
  for (const EndpointDecision &at : first.decisions()) {
    text += decidedText(at, numOthers, cluster);
    numOthers = 2;
  }
  return text;
}

//===----------------------------------------------------------------------===//
// Complete text
//===----------------------------------------------------------------------===//

/// Formats the mesh axes, such as "pp=2, tp=4"; "one rank" if there are none.
static std::string meshText(const Explanation &explanation) {
  std::string text;
  for (const auto &[name, size] : explanation.mesh)
    text += (text.empty() ? "" : ", ") + name + "=" + std::to_string(size);
  return text.empty() ? "one rank" : text;
}

/// Formats one row of the table of totals: the communication of one kind over
/// one set of mesh axes.
static std::string totalText(const CommunicationTotal &total) {
  return formatv("  {0,-8} {1,-15} {2,10} {3,12} {4,12}\n", total.axes,
                 total.kind, counted(total.calls, "call"),
                 bytesText(static_cast<double>(total.receivedBytes)),
                 secondsText(total.seconds))
      .str();
}

/// Formats tables of the communication of one rank in one step. There is one
/// table per pipeline position. A pipeline position is a group of ranks that
/// run the same pipeline stages. A row of a table describes one kind of
/// communication over one set of mesh axes, such as all_reduce over tp. The row
/// contains the number of calls, the bytes that the rank receives, and the
/// predicted seconds. The last row contains the totals over all communication.
static std::string totalsText(const Explanation &explanation) {
  const size_t positions = explanation.receivedBytesOfPosition.size();
  std::string text;
  for (size_t position = 0; position < positions; ++position) {
    CommunicationTotal all{0, "all", ""};
    text += "\nreceived per step by " +
            (positions > 1
                 ? "each rank of pipeline position " + std::to_string(position)
                 : "each rank") +
            "\n";
    for (const CommunicationTotal &total : explanation.totals)
      if (total.position == static_cast<int>(position)) {
        text += totalText(total);
        all.calls += total.calls;
        all.seconds += total.seconds;
      }
    all.receivedBytes = explanation.receivedBytesOfPosition[position];
    text += totalText(all);
  }
  return text;
}

/// Formats the lints (warnings about suspicious shardings), one per line.
static std::string lintsText(const std::vector<FoundLint> &lints) {
  std::string text;
  for (const FoundLint &lint : lints)
    text += formatv("{0} {1}: {2}{3}\n", dist::codeOf(lint.lint),
                    dist::nameOf(lint.lint), lint.message,
                    lint.node.empty() ? "" : ", first at '" + lint.node + "'")
                .str();
  return text.empty() ? "\nno lints\n" : "\nlints\n" + text;
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

/// Formats the path through the program from a value to the op or value that
/// determined the sharding of this value. `steps` is the path. Each step is a
/// text that names an op or a value. Example: the steps "add 'y'" and "matmul
/// 'fc1'" become the text "add 'y' <- matmul 'fc1'". If the path has more than
/// 2 * `mostListed` = 10 steps, the text contains only the first 5 and the last
/// 4 steps, and the number of left-out steps between them.
static std::string wayText(const std::vector<std::string> &steps) {
  std::string text;
  for (size_t i = 0; i < steps.size(); ++i) {
    if (steps.size() > 2 * mostListed && i == mostListed) {
      const size_t left = steps.size() - 2 * mostListed + 1;
      text += " <- … " + std::to_string(left) + " more …";
      i += left - 1;
      continue;
    }
    text += (i ? " <- " : "") + steps[i];
  }
  return text;
}

/// Formats the effect of one mesh axis on a value, and the reason. Example:
///
///     over tp: dim 0 is split
///         by weight 'w2' <- matmul 'fc1'
///         decided there (everything else unchanged)
///         chosen   1.0 KiB   0.2 us  split dim 0 of 'w2': all_reduce 1.0 KiB
///
/// The lines are the effect, the path from the value to its cause, the reason,
/// and the decisions of the sharding search that led to the effect.
static std::string originText(const Origin &origin,
                              const plan::Cluster &cluster) {
  std::string text = "  over " + origin.axis + ": " + origin.what + "\n";
  if (!origin.steps.empty())
    text += "      by " + wayText(origin.steps) + "\n";
  text += "      " + origin.reason + "\n";
  for (const dist::Decision &decision : origin.decisions)
    text += decisionText(decision, mostListed, cluster);
  return text;
}

/// Formats one line about a reader of a value. A reader is an op, an output of
/// the model, or a sharding that the user requests. Example:
///
///     read by matmul at 'fc1' as [-, -], stage 1: all_gather 16.0 KiB
///
/// In this example, the reader is a matmul. It was imported from the ONNX node
/// fc1. It reads the value in the sharding [-, -], which means that no dim is
/// split. An all-gather produces this sharding, and one rank receives 16.0 KiB
/// in the all-gather. The reader belongs to the pipeline stage 1. The line
/// contains the stage only if `hasStages` is true.
static std::string useText(const ValueUse &use, bool hasStages) {
  std::string text =
      "  read by " + placeText(use.place) + " as " + use.sharding;
  if (hasStages)
    text += ", stage " + std::to_string(use.stage);
  return text + (use.reshard.empty() ? "" : ": " + stepsText(use.reshard)) +
         "\n";
}

/// Formats the section about one value that the user has named on the command
/// line.
static std::string valueText(const ValueExplanation &story, bool hasStages,
                             const plan::Cluster &cluster) {
  std::string text =
      "'" + story.name + "' " + story.dtype + listText(story.shape) + ", " +
      (namesItself(story.maker) ? "" : "made by ") + placeText(story.maker);
  if (hasStages)
    text += ", stage " + std::to_string(story.stage);
  text += "\n  sharding " + story.sharding + "; each rank holds " +
          listText(story.localShape) + ", " +
          bytesText(static_cast<double>(story.localBytes)) + "\n";
  for (const Origin &origin : story.origins)
    text += originText(origin, cluster);
  for (const ValueUse &use : story.uses)
    text += useText(use, hasStages);
  return text;
}

std::string explain::toText(const Explanation &explanation,
                            const plan::Cluster &cluster) {
  const size_t positions = explanation.receivedBytesOfPosition.size();
  std::string text;
  if (!explanation.values.empty()) {
    for (const ValueExplanation &story : explanation.values)
      text +=
          (text.empty() ? "" : "\n") + valueText(story, positions > 1, cluster);
    return text;
  }
  text = counted(explanation.world, "rank") + " (" + meshText(explanation) +
         "), target " + explanation.target + ", " +
         counted(explanation.microbatches, "microbatch") + "\n" +
         totalsText(explanation);
  if (!explanation.collectives.empty())
    text += "\ncollectives of one microbatch, in program order; seconds by the "
            "cluster model\n";
  for (const RepeatedCollective &group :
       findRepeatedCollectives(explanation.collectives))
    text += "\n" + repeatedText(group, positions, cluster);
  return text + lintsText(explanation.lints);
}
