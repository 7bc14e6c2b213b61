//===- ExplanationText.cpp - explanation as text for the terminal ---------===//

#include "passes/explain/Explanation.h"
#include "passes/explain/RepeatedCollectives.h"
#include "runtime/base/QuantityText.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace pcc;
using namespace pcc::explain;
using llvm::formatv;
using runtime::bytesText;
using runtime::countText;
using runtime::secondsText;

/// Largest number of entries that a list in the text shows, before a text such
/// as "and 2 more". A path from a value to the op that decided its sharding may
/// have twice as many.
static constexpr size_t mostListed = 5;

/// Formats a shape, such as "[8, 16]".
static std::string listText(const std::vector<int64_t> &shape) {
  std::string text;
  for (int64_t size : shape)
    text += (text.empty() ? "" : ", ") + std::to_string(size);
  return "[" + text + "]";
}

/// Returns whether `place` is an input, output or weight of the model, or a
/// sharding that the user asked for ("pin"). In these cases, `place.node` is
/// the name of a value. Otherwise, `place` is an op, and `place.node` is the
/// name of an ONNX node.
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
/// compute the same op. "costs more elsewhere" means that `loser` costs less at
/// this op, but makes other ops more expensive.
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

/// Formats `choice`, one way to compute an op, with the bytes that one rank
/// receives and the predicted time:
///
///     chosen          32.0 KiB    6.6 us  split nothing: all_reduce 32.0 KiB
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

/// Formats one reason for a collective. If the sharding search decided, the
/// text has the chosen way to compute an op and the best `numOthers` rejected
/// ways. Otherwise, it has the sharding that the user has requested.
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

/// Formats the ONNX nodes of all collectives in `group` except the first:
/// "likewise   'h.1.fc', 'h.2.fc'". Names at most `mostListed` nodes, and then
/// states how many are left. Returns an empty string for a single collective.
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

/// Formats the text about `group`, equal collectives such as the all-reduces of
/// all layers. Names the producer, the readers and the reasons of the first
/// collective, and the ONNX nodes of the other collectives.
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

/// Formats one row of the table of totals: the communication of one kind over
/// one set of mesh axes.
static std::string totalText(const CommunicationTotal &total) {
  return formatv("  {0,-8} {1,-15} {2,10} {3,12} {4,12}\n", total.axes,
                 total.kind, countText(total.calls, "call"),
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

/// Formats one mesh axis in the explanation of a value: how the axis divides
/// the value, such as "dim 1 is split", the path from the value to the op that
/// decided this, the reason, and the decisions of the sharding search.
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

/// Formats one line about a reader of a value. If the reader needs the value in
/// another sharding, the line ends with the communications. Example:
///
///     read by matmul at 'fc1' as [-, -], stage 1: all_gather 16.0 KiB
static std::string useText(const ValueUse &use, bool hasStages) {
  std::string text =
      "  read by " + placeText(use.place) + " as " + use.sharding;
  if (hasStages)
    text += ", stage " + std::to_string(use.stage);
  return text + (use.reshard.empty() ? "" : ": " + stepsText(use.reshard)) +
         "\n";
}

/// Returns the part of a training step that computes a value, as text behind
/// its producer. Empty for the forward pass.
static std::string partText(graph::StepPart part) {
  switch (part) {
  case graph::StepPart::Forward:
    return "";
  case graph::StepPart::Backward:
    return " in the backward pass";
  case graph::StepPart::Update:
    return " in the update of the weights";
  }
  return "";
}

/// Formats the section about one value that the user has named on the command
/// line.
static std::string valueText(const ValueExplanation &story, bool hasStages,
                             const plan::Cluster &cluster) {
  std::string text = "'" + story.name + "' " + story.dtype +
                     listText(story.shape) + ", " +
                     (namesItself(story.maker) ? "" : "made by ") +
                     placeText(story.maker) + partText(story.part);
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

/// Returns the seconds that all calls of `group` take in one microbatch.
static double secondsOf(const RepeatedCollective &group) {
  return static_cast<double>(group.count) * group.all.front()->seconds;
}

/// Formats all collectives of one microbatch. Equal collectives form one group,
/// and the group that takes the most time comes first. Each group shows the
/// decision of the sharding search that caused it, with the rejected
/// alternatives.
static std::string collectivesText(const Explanation &explanation,
                                   const plan::Cluster &cluster) {
  std::vector<RepeatedCollective> groups =
      findRepeatedCollectives(explanation.collectives);
  std::vector<std::pair<double, size_t>> order;
  for (const auto &[i, group] : llvm::enumerate(groups))
    order.push_back({-secondsOf(group), i});
  llvm::sort(order);
  const size_t positions = explanation.receivedBytesOfPosition.size();
  std::string text;
  for (const auto &[seconds, i] : order)
    text += "\n" + repeatedText(groups[i], positions, cluster);
  return text.empty() ? ""
                      : "\ncollectives of one microbatch, dearest first; "
                        "seconds by the cluster model\n" +
                            text;
}

std::string explain::toText(const Explanation &explanation,
                            const plan::Cluster &cluster,
                            const Detail &detail) {
  const size_t positions = explanation.receivedBytesOfPosition.size();
  std::string text;
  if (!explanation.values.empty()) {
    for (const ValueExplanation &story : explanation.values)
      text +=
          (text.empty() ? "" : "\n") + valueText(story, positions > 1, cluster);
    return text;
  }
  if (!detail.isVerbose)
    return toTree(explanation, detail) +
           "-v shows all, with the choices that lost; --top N shows N entries; "
           "a name explains a value\n";
  return toTree(explanation, detail) + totalsText(explanation) +
         collectivesText(explanation, cluster);
}
