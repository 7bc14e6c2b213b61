//===- ModelBlocks.cpp - repeated parts of a model, such as its layers ----===//

#include "passes/explain/ModelBlocks.h"
#include "dialects/graph/GraphDialect.h"
#include "dialects/pipe/PipeDialect.h"

using namespace mlir;
using namespace pcc;
using namespace pcc::explain;

/// Returns the part of `name` that names a block: all up to its first component
/// that is a number, such as "model.h.3" of "model.h.3.ln.weight". Components
/// are separated by dots or slashes. Returns an empty text if there is none.
static StringRef blockPart(StringRef name) {
  size_t begin = 0;
  for (size_t end = name.find_first_of("./"); begin < name.size();
       begin = end + 1, end = name.find_first_of("./", begin)) {
    const StringRef component = name.slice(begin, end);
    const bool isNumber =
        !component.empty() &&
        component.find_first_not_of("0123456789") == StringRef::npos;
    if (isNumber && begin > 1)
      return name.take_front(end);
    if (end == StringRef::npos)
      break;
  }
  return "";
}

/// Returns the parameter whose elements `value` has; null if there is none.
/// Looks through collectives, through ops that only rearrange elements, such as
/// a transpose, and through arguments that hold a result of another function of
/// the stage.
static graph::GetParameterOp weightOf(Value value) {
  while (value) {
    if (auto argument = dyn_cast<BlockArgument>(value)) {
      value = pipe::isAccumulator(argument) ? Value() : pipe::heldBy(argument);
      continue;
    }
    Operation *op = value.getDefiningOp();
    if (auto weight = dyn_cast<graph::GetParameterOp>(op))
      return weight;
    value = isa<dist::CollectiveOp>(op) || op->hasTrait<graph::KeepsElements>()
                ? op->getOperand(0)
                : Value();
  }
  return {};
}

ModelBlocks::ModelBlocks(const emit::ModelFacts &facts) {
  readsNodes =
      llvm::none_of(ModuleOp(facts.module).getOps<graph::ParameterOp>(),
                    [](graph::ParameterOp weight) {
                      return !blockPart(weight.getSymName()).empty();
                    });
  for (int stage = 0; stage < facts.numStages(); ++stage)
    for (func::FuncOp function : facts.functions[stage])
      if (pipe::actionOf(function) == "F")
        addStage(function, stage + 1 == facts.numStages());
}

int ModelBlocks::numberOf(StringRef text) {
  const StringRef part = blockPart(text);
  if (part.empty())
    return -1;
  auto [found, isNew] =
      numbers.insert({part, static_cast<int>(blockNames.size())});
  if (isNew) {
    blockNames.push_back(part.str());
    numOps.push_back(0);
  }
  return found->second;
}

int ModelBlocks::latestBlock(Operation &op) {
  int latest = readsNodes ? numberOf(graph::nodeName(op.getLoc())) : -1;
  for (Value operand : op.getOperands()) {
    if (auto weight = weightOf(operand); weight && !readsNodes)
      latest = std::max(latest, numberOf(weight.getParameter()));
    if (Operation *producer = operand.getDefiningOp())
      latest = std::max(latest, numberOfOp.lookup_or(producer, -1));
  }
  return latest;
}

bool ModelBlocks::namesBlock(Operation &op) const {
  if (readsNodes)
    return !blockPart(graph::nodeName(op.getLoc())).empty();
  return llvm::any_of(op.getOperands(), [](Value operand) {
    auto weight = weightOf(operand);
    return weight && !blockPart(weight.getParameter()).empty();
  });
}

bool ModelBlocks::isComplete(int block) const {
  return block < 1 || numOps[block] >= numOps[block - 1];
}

/// Assigns each op of `forward`, the forward function of one stage, to a block.
/// In the last stage (`isLast`), ops after the last block, such as an output
/// projection, belong to no block. The first of these ops reads a weight that
/// belongs to no block, under two conditions:
///
/// - The block before this op has at least as many ops as the preceding block.
/// - Neither this op nor an op that depends on it reads a weight of a block.
void ModelBlocks::addStage(func::FuncOp forward, bool isLast) {
  llvm::DenseSet<Operation *> feedsBlock, isRest;
  Block &body = forward.front();
  for (Operation &op : llvm::reverse(body))
    if (namesBlock(op) || llvm::any_of(op.getUsers(), [&](Operation *user) {
          return feedsBlock.contains(user);
        }))
      feedsBlock.insert(&op);
  for (Operation &op : body) {
    if (auto weight = dyn_cast<graph::GetParameterOp>(op)) {
      addOp(op, readsNodes ? -1 : numberOf(weight.getParameter()));
      continue;
    }
    const int block = isa<pipe::ReceiveOp>(op) ? reached : latestBlock(op);
    const bool beginsRest = llvm::any_of(op.getOperands(), [&](Value operand) {
      auto weight = weightOf(operand);
      return isRest.contains(operand.getDefiningOp()) ||
             (weight && blockPart(weight.getParameter()).empty() &&
              isComplete(block));
    });
    if (isLast && beginsRest && !feedsBlock.contains(&op))
      isRest.insert(&op);
    addOp(op, isRest.contains(&op) ? -1 : block);
    reached = std::max(reached, block);
    numberOfNode.insert({graph::nodeName(op.getLoc()), numberOfOp[&op]});
  }
}

void ModelBlocks::addOp(Operation &op, int block) {
  numberOfOp[&op] = block;
  if (block >= 0)
    ++numOps[block];
}

StringRef ModelBlocks::blockOf(StringRef node) const {
  const int number = node.empty()               ? -1
                     : numberOfNode.count(node) ? numberOfNode.lookup(node)
                                                : -1;
  return number < 0 ? StringRef() : StringRef(blockNames[number]);
}

int ModelBlocks::numberOf(Operation *op) const {
  return numberOfOp.lookup_or(op, -1);
}
