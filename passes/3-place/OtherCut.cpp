//===- OtherCut.cpp - other cuts into stages, to compare with -------------===//

#include "passes/3-place/OtherCut.h"
#include "dialects/pipe/PipeDialect.h"
#include "passes/3-place/EvenCut.h"
#include "passes/3-place/ForwardChain.h"
#include "llvm/ADT/StringMap.h"

#include <algorithm>
#include <array>
#include <tuple>

using namespace mlir;
using namespace pcc;
using namespace pcc::place;

/// Returns the chain that `cut-stages` cuts into `numStages` stages, at the
/// names `stageAt` of --stage-at, which may be null.
static ForwardChain chainToCut(func::FuncOp model, int numStages,
                               ArrayAttr stageAt) {
  ForwardChain chain(model, ForwardChain::Links::WithWork);
  if (chain.hasLinksAround(stageAt) &&
      chain.links().size() >= static_cast<size_t>(numStages))
    return chain;
  return {model, ForwardChain::Links::OfInputs};
}

namespace {
/// Finds other cuts of one model, whose stages begin at the links
/// `planned.begin` of a chain.
class CutFinder {
public:
  /// `stageAt` has the names of --stage-at; it may be null.
  CutFinder(func::FuncOp model, int numStages, ArrayAttr stageAt)
      : model(model), chain(chainToCut(model, numStages, stageAt)),
        request(chain.request(numStages)),
        seconds(sumsOf(&plan::WorkItem::seconds)),
        flops(sumsOf(&plan::WorkItem::flops)) {
    plan::StageCutRequest pinned = request;
    if (stageAt)
      for (StringAttr name : stageAt.getAsRange<StringAttr>())
        pinned.pinned.push_back(chain.findCut(name).value_or(0));
    llvm::sort(pinned.pinned);
    isOfUser = !pinned.pinned.empty();
    planned = cutEvenly(model, pinned);
  }

  /// Returns all other cuts; none if the model cannot be cut as asked.
  OtherCuts run() const {
    OtherCuts others;
    if (!planned.error.empty())
      return others;
    others.whole = wholeCut();
    for (size_t stage = 1; stage < planned.begin.size(); ++stage)
      others.places.push_back(otherPlaceOf(stage));
    return others;
  }

private:
  /// Returns a list whose element i is the sum of `number`, a member of an
  /// item, over the first i links.
  std::vector<double> sumsOf(double plan::WorkItem::*number) const {
    std::vector<double> sums{0};
    for (const plan::WorkItem &item : request.items)
      sums.push_back(sums.back() + item.*number);
    return sums;
  }

  /// Returns the names of OtherCuts::whole.
  std::vector<std::string> wholeCut() const {
    constexpr double looseTolerance = 0.3;
    plan::StageCutRequest loose = request;
    loose.tolerance = looseTolerance;
    const plan::StageCut other =
        isOfUser ? cutEvenly(model, request) : plan::cutStages(loose);
    std::vector<std::string> names;
    if (other.begin != planned.begin)
      names = namesOf(other.begin);
    return names.empty() && namesOf(planned.begin).empty() ? namesOf(namedCut())
                                                           : names;
  }

  /// Returns the names of the node of `op` and of its result; they may be
  /// empty.
  static std::array<StringRef, 2> callsOf(Operation *op) {
    auto own = op->getAttrOfType<StringAttr>(graph::nameName);
    return {graph::nodeName(op->getLoc()), own ? own.getValue() : StringRef()};
  }

  /// Returns a name for the option --stage-at. With this name, a stage begins
  /// at the op `chain.links()[link]`. Returns an empty string if no name has
  /// this effect.
  std::string nameOf(size_t link) const {
    for (StringRef name : callsOf(chain.links()[link]))
      if (!name.empty() && chain.findCut(name) == link)
        return name.str();
    return "";
  }

  /// Returns the first link, and all others for which nameOf() finds a name.
  std::vector<size_t> namedLinks() const {
    // The links at which a stage begins for each name.
    llvm::StringMap<size_t> first;
    std::vector<size_t> named{0};
    size_t next = 0;
    for (Operation &op :
         chain.links().front()->getBlock()->without_terminator()) {
      const bool isLink =
          next < chain.links().size() && &op == chain.links()[next];
      bool isNamed = false;
      for (StringRef name : callsOf(&op))
        if (!name.empty() && !isa<graph::ConstantOp>(op))
          isNamed |= first.try_emplace(name, next).first->second == next;
      if (isLink && isNamed && next > 0)
        named.push_back(next);
      next += isLink;
    }
    return named;
  }

  /// Returns the links at which stages of about equal time begin, all with
  /// names: links without a name are one item with the link before them. Empty
  /// if there are too few names.
  std::vector<size_t> namedCut() const {
    const std::vector<size_t> named = namedLinks();
    plan::StageCutRequest grouped = request;
    grouped.items.clear();
    grouped.crossingBytes.clear();
    for (auto [i, begin] : llvm::enumerate(named)) {
      const size_t end =
          i + 1 < named.size() ? named[i + 1] : request.items.size();
      plan::WorkItem &item = grouped.items.emplace_back();
      item.seconds = seconds[end] - seconds[begin];
      item.flops = flops[end] - flops[begin];
      for (size_t link = begin; link < end; ++link)
        item.weightBytes += request.items[link].weightBytes;
      if (i > 0)
        grouped.crossingBytes.push_back(request.crossingBytes[begin - 1]);
    }
    std::vector<size_t> begin = cutEvenly(model, grouped).begin;
    for (size_t &item : begin)
      item = named[item];
    return begin;
  }

  /// Returns the names of all stages but the first, which begin at the links
  /// `begin`. Returns an empty list if a link has no name.
  std::vector<std::string> namesOf(ArrayRef<size_t> begin) const {
    std::vector<std::string> names;
    for (size_t link : begin.drop_front(begin.empty() ? 0 : 1)) {
      names.push_back(nameOf(link));
      if (names.back().empty())
        return {};
    }
    return names;
  }

  /// Returns the first link behind the stage `stage`.
  size_t endOf(size_t stage) const {
    return stage + 1 < planned.begin.size() ? planned.begin[stage + 1]
                                            : request.items.size();
  }

  using Rating = std::tuple<bool, bool, double, double>;

  /// Rates a begin of the stage `stage` at `link`; the least is best. It is
  /// better to change something, then to send no more bytes, then to let the
  /// slower one of both stages take less time.
  Rating rate(size_t stage, size_t link) const {
    const size_t own = planned.begin[stage];
    const auto [low, high] = std::minmax(own, link);
    const double bytes = request.crossingBytes[link - 1];
    const double ownBytes = request.crossingBytes[own - 1];
    const bool changesNothing = bytes == ownBytes && flops[low] == flops[high];
    const double slower =
        std::max(seconds[link] - seconds[planned.begin[stage - 1]],
                 seconds[endOf(stage)] - seconds[link]);
    return {changesNothing, bytes > ownBytes, slower, bytes};
  }

  /// Returns all other links at which the stage `stage` can begin, the best
  /// first.
  std::vector<size_t> otherLinksOf(size_t stage) const {
    std::vector<std::pair<Rating, size_t>> rated;
    for (size_t link = planned.begin[stage - 1] + 1; link < endOf(stage);
         ++link)
      if (link != planned.begin[stage])
        rated.push_back({rate(stage, link), link});
    llvm::sort(rated);
    std::vector<size_t> links;
    for (const auto &[rating, link] : rated)
      links.push_back(link);
    return links;
  }

  OtherPlace otherPlaceOf(size_t stage) const {
    const std::vector<size_t> links = otherLinksOf(stage);
    if (links.empty())
      return {.reason = "no other place, as both stages have one op to cut at"};
    std::vector<size_t> begin = planned.begin;
    for (size_t link : links)
      if (!nameOf(link).empty()) {
        begin[stage] = link;
        if (auto names = namesOf(begin); !names.empty())
          return {.names = std::move(names)};
        return {.reason = "--stage-at cannot move it: a stage begins at an op "
                          "without a name of its own"};
      }
    return {.reason = "--stage-at cannot move it: no other op of both stages "
                      "has a name of its own"};
  }

  func::FuncOp model;
  ForwardChain chain;
  plan::StageCutRequest request;
  /// Sums of times and of operations of the first links.
  std::vector<double> seconds, flops;
  /// Whether the user gives --stage-at.
  bool isOfUser = false;
  /// Cut of the pass `cut-stages`.
  plan::StageCut planned;
};
} // namespace

OtherCuts place::findOtherCuts(ModuleOp module) {
  auto model = module.lookupSymbol<func::FuncOp>("main");
  const auto numStages =
      static_cast<int>(pipe::countOf(module, pipe::stagesName));
  if (!model || numStages < 2)
    return {};
  if (module->hasAttr(pipe::stageOfNodesName))
    return {.places = std::vector<OtherPlace>(
                numStages - 1,
                {.reason = "the annotations of the model put it here"})};
  return CutFinder(model, numStages,
                   module->getAttrOfType<ArrayAttr>(pipe::stageAtName))
      .run();
}
