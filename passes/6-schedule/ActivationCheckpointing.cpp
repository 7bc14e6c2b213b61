//===- ActivationCheckpointing.cpp - activation checkpointing of a stage --===//

#include "passes/6-schedule/ActivationCheckpointing.h"
#include "dialects/dist/DistDialect.h"
#include "dialects/graph/TensorBytes.h"
#include "mlir/IR/Builders.h"
#include "passes/6-schedule/StageParts.h"

#include <cassert>

using namespace mlir;
using namespace pcc;
using namespace pcc::schedule;

/// Returns the size of `value` on one rank in bytes.
static int64_t bytesOf(Value value) {
  return static_cast<int64_t>(graph::numBytes(graph::tensorType(value)));
}

/// Returns whether `op` belongs to the forward pass and is no weight or
/// constant.
static bool isOfForward(Operation *op) {
  return partOf(op) == forwardPart && !isSourceOp(op);
}

/// Returns whether `op` is a collective in which ranks exchange data. Two kinds
/// of collectives exchange no data, so the function returns false for them:
///
///   slice   Each rank keeps a part of its shard.
///   mask    One rank keeps its value. All other ranks get the neutral element
///           of a reduction, such as 0 for a sum.
static bool communicates(Operation *op) {
  auto collective = dyn_cast<dist::CollectiveOp>(op);
  return collective && dist::communicates(collective.getKind());
}

/// Returns whether `op` only moves elements or converts their type.
static bool isCopy(Operation *op) {
  auto collective = dyn_cast<dist::CollectiveOp>(op);
  return op->hasTrait<graph::IsLayout>() || isa<graph::CastOp>(op) ||
         (collective && collective.getKind() == dist::CollectiveKind::Slice);
}

/// Returns the floating-point operations of `op`; 0 for an op without a cost
/// interface, such as an element-wise op.
static double flopsOf(Operation *op) {
  auto cost = dyn_cast<graph::CostOpInterface>(op);
  return cost ? cost.getFlops() : 0;
}

/// Follows reshapes backwards from `value`. Returns the value before the
/// reshapes, which shares its buffer with `value`.
static Value behindReshapes(Value value) {
  while (auto reshape = value.getDefiningOp<graph::ReshapeOp>())
    value = reshape->getOperand(0);
  return value;
}

//===----------------------------------------------------------------------===//
// From a function
//===----------------------------------------------------------------------===//

ActivationCheckpointing::ActivationCheckpointing(func::FuncOp stage,
                                                 int inFlight,
                                                 bool holdsWeights,
                                                 const plan::Cluster &cluster)
    : body(stage.front()), holdsWeights(holdsWeights), cluster(cluster) {
  graph.inFlight = inFlight;
  for (BlockArgument argument : stage.getArguments())
    if (pipe::heldOf(argument))
      weights.insert(argument);
  for (Operation &op : body.without_terminator())
    if (isSourceOp(&op)) {
      weights.insert(op.result_begin(), op.result_end());
    } else if (isOfForward(&op)) {
      addForward(&op);
    } else if (runsInBackward(&op)) {
      backward.push_back(&op);
      addReads(&op);
    }
  findBackwardBytes();
}

// ForwardOp::isRepeatable tells whether the backward pass may run a forward op
// a second time. Only a pure op may run a second time. A receive is pure, but
// the other stage sends each message only once. A receive must therefore not
// run a second time.
void ActivationCheckpointing::addForward(Operation *op) {
  order.insert({op, static_cast<int>(order.size())});
  if (isPure(op) && llvm::all_of(op->getOperands(), [&](Value operand) {
        return dependsOnWeightsOnly(operand);
      }))
    weights.insert(op->result_begin(), op->result_end());
  if (isa<graph::ReshapeOp>(op))
    return;
  plan::ForwardOp forward;
  for (Value operand : op->getOperands())
    if (const int number = numberOf(operand); number >= 0)
      forward.operands.push_back(number);
  for (Value result : op->getResults()) {
    numbers[result] = static_cast<int>(graph.values.size());
    forward.results.push_back(numbers[result]);
    graph.values.push_back({.bytes = bytesOf(result)});
  }
  forward.flops = priceOf(op);
  forward.isRepeatable = isPure(op) && !isa<pipe::ReceiveOp>(op);
  forward.isCheap = isCheap(op);
  graph.ops.push_back(std::move(forward));
}

void ActivationCheckpointing::addReads(Operation *op) {
  const int now = static_cast<int>(backward.size()) - 1;
  for (Value operand : op->getOperands()) {
    const int number = numberOf(operand);
    if (number < 0)
      continue;
    plan::ForwardValue &value = graph.values[number];
    if (value.firstRead < 0)
      value.firstRead = now;
    value.lastRead = now;
  }
}

// A reshape needs no memory: its result shares the memory of its operand. A
// read of the result therefore also counts as a read of the operand.
void ActivationCheckpointing::findBackwardBytes() {
  DenseMap<Value, size_t> last;
  for (auto [now, op] : llvm::enumerate(backward))
    for (Value value : llvm::concat<Value>(op->getOperands(), op->getResults()))
      last[behindReshapes(value)] = now;
  std::vector<int64_t> changes(backward.size() + 1);
  for (auto [now, op] : llvm::enumerate(backward)) {
    if (isa<graph::ReshapeOp>(op))
      continue;
    for (Value result : op->getResults()) {
      changes[now] += bytesOf(result);
      changes[last.lookup(result) + 1] -= bytesOf(result);
    }
  }
  int64_t bytes = 0;
  for (size_t now = 0; now < backward.size(); ++now)
    graph.backwardBytes.push_back(bytes += changes[now]);
}

int ActivationCheckpointing::numberOf(Value value) const {
  auto number = numbers.find(behindReshapes(value));
  return number == numbers.end() ? -1 : number->second;
}

bool ActivationCheckpointing::dependsOnWeightsOnly(Value value) const {
  return weights.contains(value);
}

// An op is cheap in three cases (selective recomputation; Korthikanti 2022):
//
// - It is a collective with the price 0, such as an all-gather of a weight.
// - It neither communicates nor sums products, such as softmax or gelu.
// - It sums products, reads no weights, and its result has more bytes than its
//   operands together, such as the product of queries and keys.
bool ActivationCheckpointing::isCheap(Operation *op) const {
  if (communicates(op))
    return priceOf(op) == 0;
  if (!op->hasTrait<graph::SumsProducts>())
    return true;
  int64_t read = 0;
  for (Value operand : op->getOperands()) {
    if (dependsOnWeightsOnly(operand))
      return false;
    read += bytesOf(operand);
  }
  return bytesOf(op->getResult(0)) > read;
}

// The price is in flops. Communication costs the flops that a device could
// compute meanwhile. The all-gather of a weight that must not stay in memory
// (FSDP) costs 0: the backward pass must repeat it anyway.
double ActivationCheckpointing::priceOf(Operation *op) const {
  const bool mustGo = !holdsWeights && dependsOnWeightsOnly(op->getResult(0));
  if (isCopy(op) || (mustGo && communicates(op)))
    return 0;
  if (communicates(op))
    return static_cast<double>(
               cast<dist::CollectiveOp>(op).getReceivedBytes()) /
           cluster.links.front().bytesPerSecond * cluster.peakOf("f32");
  return isa<graph::CostOpInterface>(op) ? flopsOf(op)
                                         : graph::elementWiseFlops(op);
}

//===----------------------------------------------------------------------===//
// Clones
//===----------------------------------------------------------------------===//

// A forward op that never had a reader, such as a send, must stay. Remove these
// ops from `order`, because eraseUnread() erases each op of this list that has
// no reader.
double ActivationCheckpointing::apply(const plan::Recomputation &chosen) {
  assert(chosen.isKept.size() == graph.values.size() && "one entry per value");
  isKept = chosen.isKept;
  order.remove_if([](const auto &entry) { return entry.first->use_empty(); });
  for (Operation *reader : backward) {
    OpBuilder builder(reader);
    for (OpOperand &operand : reader->getOpOperands())
      operand.set(again(operand.get(), builder));
  }
  eraseUnread();
  return addedFlops;
}

bool ActivationCheckpointing::isAlwaysAvailable(Value value) const {
  Operation *maker = value.getDefiningOp();
  if (!maker || !order.contains(maker))
    return true;
  auto number = numbers.find(value);
  return number != numbers.end() && isKept[number->second];
}

Value ActivationCheckpointing::again(Value value, OpBuilder &builder) {
  if (isAlwaysAvailable(value))
    return value;
  for (Operation *op : opsToClone(value)) {
    setPart(builder.clone(*op, made), backwardPart);
    addedFlops += flopsOf(op);
  }
  return made.lookup(value);
}

// The search follows operands, starting at `value`. It stops at values that the
// backward pass can read, and at results of ops that have a clone already.
SmallVector<Operation *>
ActivationCheckpointing::opsToClone(Value value) const {
  llvm::SmallSetVector<Operation *, 8> ops;
  SmallVector<Value> missing{value};
  while (!missing.empty()) {
    Value next = missing.pop_back_val();
    if (isAlwaysAvailable(next) || made.contains(next))
      continue;
    if (ops.insert(next.getDefiningOp()))
      llvm::append_range(missing, next.getDefiningOp()->getOperands());
  }
  SmallVector<Operation *> sorted = ops.takeVector();
  llvm::sort(sorted, [&](Operation *left, Operation *right) {
    return order.lookup(left) < order.lookup(right);
  });
  return sorted;
}

// The reverse order visits all readers of an op before the op. An op whose
// readers were erased in this loop is therefore erased too.
void ActivationCheckpointing::eraseUnread() {
  const auto ops = order.takeVector();
  for (auto [op, number] : llvm::reverse(ops))
    if (op->use_empty() && isPure(op)) {
      addedFlops -= flopsOf(op);
      op->erase();
    }
}
