//===- Provenance.cpp - endpoints and causes of reshards, for pcc explain -===//

#include "passes/4-shard/search/Provenance.h"
#include "dialects/graph/GraphDialect.h"
#include "dialects/pipe/PipeDialect.h"

using namespace mlir;
using namespace pcc;

/// Returns the text of a StringAttr. Returns an empty string for null and for
/// other attributes.
static std::string textOf(Attribute attribute) {
  auto text = dyn_cast_or_null<StringAttr>(attribute);
  return text ? text.str() : "";
}

/// Describes `op`, the producer or reader of a value, for `pcc explain`. An op
/// that reads a parameter is called "weight" and has the parameter's name.
static dist::Endpoint endpointOf(Operation *op) {
  auto get = dyn_cast<graph::GetParameterOp>(op);
  StringRef node = graph::nodeName(op->getLoc());
  return {get ? "weight" : op->getName().stripDialect().str(),
          get ? get.getParameter().str() : node.str(),
          graph::sourceLine(op->getLoc()),
          textOf(op->getAttr(dist::pinnedName)),
          dist::decisionsOf(op->getLoc())};
}

dist::Endpoint pcc::shard::endpointOf(Value value) {
  Operation *op = value.getDefiningOp();
  while (isa_and_present<dist::ReshardOp, dist::PinOp, pipe::TransferOp>(op)) {
    value = op->getOperand(0);
    op = value.getDefiningOp();
  }
  if (op)
    return ::endpointOf(op);
  auto argument = cast<BlockArgument>(value);
  auto function = cast<func::FuncOp>(argument.getOwner()->getParentOp());
  auto attribute = [&](StringRef name) {
    return textOf(function.getArgAttr(argument.getArgNumber(), name));
  };
  return {"input",
          attribute(graph::nameName),
          graph::sourceLine(value.getLoc()),
          attribute(dist::pinnedName),
          {}};
}

dist::Endpoint pcc::shard::endpointOf(OpOperand &use) {
  Operation *op = use.getOwner();
  if (isa<func::ReturnOp>(op)) {
    auto function = cast<func::FuncOp>(op->getParentOp());
    auto attribute = [&](StringRef name) {
      return textOf(function.getResultAttr(use.getOperandNumber(), name));
    };
    return {"output",
            attribute(graph::nameName),
            "",
            attribute(dist::pinnedName),
            {}};
  }
  dist::Endpoint place = ::endpointOf(op);
  if (auto pin = dyn_cast<dist::PinOp>(op))
    place.node = pin.getValue().str();
  return place;
}

dist::Endpoint pcc::shard::pinEndpoint(Operation *op, const Seed &seed) {
  return {"pin",
          textOf(op->getAttr(graph::nameName)),
          graph::sourceLine(op->getLoc()),
          seed.source(),
          {}};
}

Location pcc::shard::reshardLocation(Value value,
                                     ArrayRef<dist::Endpoint> uses) {
  return dist::withCause(value.getLoc(),
                         {endpointOf(value), {uses.begin(), uses.end()}});
}

dist::PricedStep pcc::shard::pricedStep(const plan::ReshardStep &step,
                                        const dist::Mesh &mesh, bool isShared) {
  dist::PricedStep pricedStep;
  pricedStep.kind = dist::toString(step.kind);
  for (const dist::SubAxis &axis : step.axes)
    if (pricedStep.axes.empty() || pricedStep.axes.back() != axis.axis)
      pricedStep.axes.push_back(axis.axis);
  // Take the size and the stride from the first group of ranks, because they
  // are equal in all groups of the collective.
  const auto group = dist::groupsOf(mesh.spatial(), step.axes).front();
  pricedStep.ranks = static_cast<int64_t>(group.size());
  pricedStep.stride = group.size() < 2 ? 1 : group[1] - group[0];
  pricedStep.receivedBytes = step.receivedBytes;
  pricedStep.isShared = isShared;
  return pricedStep;
}
