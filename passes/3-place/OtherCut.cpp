//===- OtherCut.cpp - another cut into stages, to compare with ------------===//

#include "passes/3-place/OtherCut.h"
#include "dialects/pipe/PipeDialect.h"
#include "passes/3-place/ForwardChain.h"

using namespace mlir;
using namespace pcc;
using namespace pcc::place;

/// Returns a name for the option --stage-at. With this name, a stage begins at
/// the op `chain.links()[link]`. Returns an empty string if no name has this
/// effect.
static std::string nameOfCut(const ForwardChain &chain, size_t link) {
  Operation *op = chain.links()[link];
  auto own = op->getAttrOfType<StringAttr>(graph::nameName);
  for (StringRef name :
       {graph::nodeName(op->getLoc()), own ? own.getValue() : StringRef()})
    if (!name.empty() && chain.findCut(name) == link)
      return name.str();
  return "";
}

std::vector<std::string> place::findOtherCut(ModuleOp module) {
  constexpr double looseTolerance = 0.3;
  auto model = module.lookupSymbol<func::FuncOp>("main");
  const auto numStages =
      static_cast<int>(pipe::countOf(module, pipe::stagesName));
  if (!model || numStages < 2 || module->hasAttr(pipe::stageOfNodesName))
    return {};
  const ForwardChain chain(model, ForwardChain::Links::WithWork);
  plan::StageCutRequest request = chain.request(numStages);
  const plan::StageCut planned = plan::cutStages(request);
  auto cuts = module->getAttrOfType<ArrayAttr>(pipe::stageAtName);
  plan::StageCut other = planned;
  if (!cuts || cuts.empty()) {
    request.tolerance = looseTolerance;
    other = plan::cutStages(request);
    if (other.begin == planned.begin)
      return {};
  }
  std::vector<std::string> names;
  for (size_t stage = 1; stage < other.begin.size(); ++stage) {
    names.push_back(nameOfCut(chain, other.begin[stage]));
    if (names.back().empty())
      return {};
  }
  return names;
}
