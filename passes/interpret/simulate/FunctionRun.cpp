//===- FunctionRun.cpp - execution of one function on all ranks -----------===//

#include "passes/interpret/simulate/FunctionRun.h"
#include "dialects/graph/reference/Fold.h"
#include "passes/interpret/simulate/Collectives.h"
#include "passes/interpret/simulate/ShardIndices.h"
#include "llvm/ADT/bit.h"

using namespace mlir;
using namespace pcc;
using namespace pcc::interpret;
using graph::HostTensor;

/// Returns whether two tensors have equal shapes and bitwise equal elements.
/// NaN therefore equals NaN of the same bits.
static bool sameBits(const HostTensor &a, const HostTensor &b) {
  auto same = [](double x, double y) {
    return llvm::bit_cast<uint64_t>(x) == llvm::bit_cast<uint64_t>(y);
  };
  return a.shape == b.shape && a.kind == b.kind &&
         llvm::equal(a.floats, b.floats, same) && a.ints == b.ints;
}

RankTensors interpret::shareEqual(std::vector<HostTensor> tensors) {
  RankTensors shared;
  for (HostTensor &tensor : tensors) {
    auto same = llvm::find_if(shared, [&](const TensorPointer &other) {
      return sameBits(*other, tensor);
    });
    shared.push_back(same != shared.end() ? *same
                                          : std::make_shared<const HostTensor>(
                                                std::move(tensor)));
  }
  return shared;
}

FunctionRun::FunctionRun(func::FuncOp function, SimulatedRanks ranks,
                         WeightSource &weights, graph::Numerics numerics,
                         BoundaryHooks hooks, OnResult onResult)
    : function(function), ranks(std::move(ranks)), weights(weights),
      numerics(numerics), hooks(std::move(hooks)),
      onResult(std::move(onResult)) {}

/// Returns, for each op of `function`, the operands whose last use is that op.
/// They can be freed after the op.
static DenseMap<Operation *, SmallVector<Value>>
lastUses(func::FuncOp function) {
  DenseMap<Value, Operation *> last;
  for (Operation &op : function.front())
    for (Value operand : op.getOperands())
      last[operand] = &op;
  DenseMap<Operation *, SmallVector<Value>> ending;
  for (auto [value, op] : last)
    ending[op].push_back(value);
  return ending;
}

/// Returns `error` with the names of `op` and of its ONNX node added to the
/// message, unless the error is about a file.
static Status errorAt(Operation &op, const Status &error) {
  if (error.code() == CannotRead || error.code() == InputOutput)
    return error;
  StringRef node = graph::nodeName(op.getLoc());
  return Status::error(
      error.code(),
      op.getName().getStringRef().str() + " " + error.message() +
          (node.empty() ? "" : " (at node '" + node.str() + "')"));
}

StatusOr<std::vector<RankTensors>>
FunctionRun::run(std::vector<RankTensors> arguments) {
  auto ending = lastUses(function);
  for (auto [argument, tensors] :
       llvm::zip_equal(function.getArguments(), arguments))
    values[argument] = std::move(tensors);
  for (Operation &op : function.front().without_terminator()) {
    Results results = step(&op);
    if (!results)
      return errorAt(op, results.status());
    for (auto [result, tensors] : llvm::zip_equal(op.getResults(), *results)) {
      if (onResult)
        onResult(result, tensors);
      if (!result.use_empty())
        values[result] = std::move(tensors);
    }
    for (Value value : ending[&op])
      values.erase(value);
  }
  std::vector<RankTensors> returned;
  for (Value value : function.front().getTerminator()->getOperands())
    returned.push_back(values[value]);
  return returned;
}

const llvm::StringMap<FunctionRun::Handler> &FunctionRun::handlers() {
  static const llvm::StringMap<Handler> table{
      {graph::GetParameterOp::getOperationName(), &FunctionRun::readWeight},
      {graph::SetParameterOp::getOperationName(), &FunctionRun::writeWeight},
      {graph::CheckIndicesOp::getOperationName(), &FunctionRun::leaveOut},
      {dist::CollectiveOp::getOperationName(), &FunctionRun::runCollective},
      {dist::GlobalIndexOp::getOperationName(), &FunctionRun::globalIndex},
      {dist::PinOp::getOperationName(), &FunctionRun::passThrough},
      {dist::ReshardOp::getOperationName(), &FunctionRun::passThrough},
      {pipe::TransferOp::getOperationName(), &FunctionRun::passThrough},
      {pipe::SendOp::getOperationName(), &FunctionRun::send},
      {pipe::ReceiveOp::getOperationName(), &FunctionRun::receive}};
  return table;
}

FunctionRun::Results FunctionRun::step(Operation *op) {
  Handler special = handlers().lookup(op->getName().getStringRef());
  return special ? (this->*special)(op) : evaluateOp(op);
}

bool FunctionRun::folds(Operation *op) {
  return graph::isFoldable(op) &&
         llvm::all_of(op->getOperands(),
                      [&](Value operand) { return values[operand].isFolded; });
}

/// Evaluates `op` on all ranks. Each rank has pointers to its tensors, and
/// ranks with equal tensors may have pointers to one tensor object. If two
/// ranks have the same pointers for all operands of `op`, the results on the
/// two ranks are equal. The function then evaluates `op` only on the first of
/// the two ranks, and the second rank gets pointers to the same results. For
/// example, an op on a replicated weight is evaluated once for all ranks. If
/// the compiler can fold `op` to a constant, rounds the results to their
/// element types, because the compiler does so.
FunctionRun::Results FunctionRun::evaluateOp(Operation *op) {
  const bool isFolded = folds(op);
  const graph::Numerics precision =
      isFolded ? graph::Numerics::Model : numerics;
  SmallVector<RankTensors> results(op->getNumResults());
  std::vector<SmallVector<const HostTensor *>> known;
  for (int64_t rank = 0; rank < ranks.size(); ++rank) {
    SmallVector<const HostTensor *> operands;
    for (Value operand : op->getOperands())
      operands.push_back(values[operand][rank].get());
    auto same = llvm::find(known, operands);
    int64_t first = same - known.begin();
    known.push_back(operands);
    if (first < rank) {
      for (RankTensors &result : results)
        result.push_back(result[first]);
      continue;
    }
    std::vector<HostTensor> changed;
    if (rounding)
      changed = rounding->applyToTerms(op, operands);
    SmallVector<HostTensor> own;
    PCC_RETURN_IF_ERROR(graph::evaluate(op, operands, own, precision));
    if (rounding)
      for (auto [result, tensor] : llvm::zip_equal(op->getResults(), own))
        rounding->apply(op, result.getType(), tensor);
    for (auto [result, tensor] : llvm::zip_equal(results, own))
      result.push_back(std::make_shared<const HostTensor>(std::move(tensor)));
  }
  for (RankTensors &result : results)
    result.isFolded = isFolded || isa<graph::ConstantOp>(op);
  return results;
}

/// Returns the shards of the parameter on all ranks. If the ranks cannot divide
/// a dim evenly, fills the missing elements of the last shards with 0. The
/// runtime does the same when it loads a weight.
FunctionRun::Results FunctionRun::readWeight(Operation *op) {
  if (hooks.read)
    if (RankTensors written = hooks.read(cast<graph::GetParameterOp>(op));
        !written.empty()) {
      written.isFolded = false;
      return Results({std::move(written)});
    }
  HostTensor whole;
  PCC_RETURN_IF_ERROR(
      weights.read(cast<graph::GetParameterOp>(op).getParameter(), whole));
  Type elementType = graph::tensorType(op->getResult(0)).getElementType();
  if (numerics == graph::Numerics::Model)
    graph::roundTo(elementType, whole);
  dist::ShardingAttr sharding = dist::shardingOf(op->getResult(0));
  if (ranks.size() == 1 || !sharding ||
      dist::isReplicated(sharding.getSharding()))
    return Results({RankTensors(
        ranks.size(), std::make_shared<const HostTensor>(std::move(whole)))});
  std::vector<HostTensor> shards;
  for (int64_t rank = 0; rank < ranks.size(); ++rank)
    shards.push_back(takeShard(whole,
                               localIndices(sharding.getSharding(), whole.shape,
                                            ranks.mesh, ranks.at(rank)),
                               Padding::Zero));
  return Results({shareEqual(std::move(shards))});
}

FunctionRun::Results FunctionRun::writeWeight(Operation *op) {
  if (hooks.write)
    hooks.write(cast<graph::SetParameterOp>(op), values[op->getOperand(0)]);
  return SmallVector<RankTensors>();
}

FunctionRun::Results FunctionRun::runCollective(Operation *op) {
  auto collective = cast<dist::CollectiveOp>(op);
  auto onRank = [&](Value value, int64_t rank) {
    return values[value][rank].get();
  };
  SmallVector<const HostTensor *> inputs;
  SmallVector<RowMasks> masks;
  for (int64_t rank = 0; rank < ranks.size(); ++rank) {
    inputs.push_back(onRank(collective.getInput(), rank));
    if (!collective.getRows().empty())
      masks.push_back({onRank(collective.getRows()[0], rank),
                       onRank(collective.getRows()[1], rank)});
  }
  PCC_ASSIGN_OR_RETURN(std::vector<HostTensor> results,
                       evaluateCollective(collective, ranks, inputs, masks));
  if (numerics == graph::Numerics::Model)
    for (HostTensor &tensor : results)
      graph::roundTo(graph::tensorType(op->getResult(0)).getElementType(),
                     tensor);
  RankTensors shared = shareEqual(std::move(results));
  shared.isFolded = values[collective.getInput()].isFolded;
  return Results({std::move(shared)});
}

FunctionRun::Results FunctionRun::globalIndex(Operation *op) {
  auto index = cast<dist::GlobalIndexOp>(op);
  int64_t size = index.getSize();
  std::vector<HostTensor> tensors;
  for (int64_t rank = 0; rank < ranks.size(); ++rank) {
    std::vector<int64_t> indices =
        localIndices(index.getSharding().getSharding().dims[0], size,
                     ranks.mesh, ranks.at(rank));
    for (int64_t &element : indices)
      element = element < 0 ? size : element;
    int64_t length = static_cast<int64_t>(indices.size());
    tensors.push_back(HostTensor::ofInts({length}, std::move(indices)));
  }
  return Results({shareEqual(std::move(tensors))});
}

FunctionRun::Results FunctionRun::send(Operation *op) {
  hooks.send(cast<pipe::SendOp>(op), values[op->getOperand(0)]);
  return SmallVector<RankTensors>();
}

FunctionRun::Results FunctionRun::receive(Operation *op) {
  RankTensors tensors = hooks.receive(cast<pipe::ReceiveOp>(op));
  if (!tensors.empty())
    return Results({std::move(tensors)});
  return Status::error(Defect, "waits for a value that was not sent");
}

/// Does nothing for a graph.check_indices. In a compiled executable, this op
/// returns an error if an index, such as a token id, is out of range. The
/// simulation needs no such op. Before the partitioned model is executed on
/// simulated ranks, the unpartitioned model is executed with the same inputs.
/// If an index is out of range, an op of the unpartitioned model that reads the
/// index returns an error.
FunctionRun::Results FunctionRun::leaveOut(Operation *) {
  return SmallVector<RankTensors>();
}

FunctionRun::Results FunctionRun::passThrough(Operation *op) {
  if (ranks.size() == 1)
    return Results({values[op->getOperand(0)]});
  return Status::error(Defect, "is not an op of local shapes");
}
