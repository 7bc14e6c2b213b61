//===- Verify.cpp - all ranks against the unpartitioned model -------------===//

#include "passes/interpret/Verify.h"
#include "passes/interpret/Collectives.h"
#include "passes/interpret/Comparison.h"
#include "passes/interpret/Inputs.h"
#include "passes/interpret/PipelineRun.h"
#include "passes/interpret/VerifyReport.h"

using namespace mlir;
using namespace pcc;
using namespace pcc::interpret;
using graph::HostTensor;
using graph::Numerics;

/// What is still equal. In f64 only the order of additions differs; in narrower
/// types every op rounds.
static double toleranceOf(Type elementType, Numerics numerics) {
  if (numerics == Numerics::Exact || elementType.isF64())
    return 1e-12;
  if (elementType.isF16() || elementType.isBF16())
    return elementType.isF16() ? 1e-2 : 5e-2;
  return 1e-4;
}

namespace {
/// One verification from inputs to verdict.
class Verification {
public:
  Verification(ModuleOp whole, ModuleOp parts, const VerifyRequest &request)
      : whole(whole), parts(parts), request(request),
        numerics(request.modelTypes ? Numerics::Model : Numerics::Exact) {}

  Verdict run() {
    auto model = whole.lookupSymbol<func::FuncOp>("main");
    if (!model)
      return {5, "the model has no function @main", {}};
    std::string error;
    auto inputs = makeInputs(model, request.inputs, error);
    if (failed(inputs))
      return {10, error, {}};
    if (failed(expect(model, *inputs, error)))
      return {request.inputs.empty() ? 1 : 10, error, {}};
    PipelineRun pipeline(parts, numerics);
    auto onOutput = [this](const StageOutput &output) { check(output); };
    if (failed(pipeline.run(*inputs, onOutput, error)))
      return {1, "the partitioned model cannot be run: " + error, {}};
    return conclude();
  }

private:
  /// Runs the unpartitioned model.
  LogicalResult expect(func::FuncOp model,
                       const llvm::StringMap<HostTensor> &inputs,
                       std::string &error) {
    std::vector<RankTensors> arguments;
    for (unsigned i = 0; i < model.getNumArguments(); ++i) {
      auto name = model.getArgAttrOfType<StringAttr>(i, "graph.name");
      arguments.push_back({std::make_shared<const HostTensor>(
          inputs.find(name.getValue())->second)});
    }
    WeightSource weights(whole);
    auto results = FunctionRun(model, Ranks(), weights, numerics)
                       .run(std::move(arguments), error);
    if (failed(results))
      return failure();
    Operation *terminator = model.front().getTerminator();
    for (auto [i, result] : llvm::enumerate(*results)) {
      auto name = model.getResultAttrOfType<StringAttr>(i, "graph.name");
      Value value = terminator->getOperand(i);
      VerifiedValue verified{
          name.str(), graph::nodeName(value.getLoc()).str(),
          Comparison(*result.front(),
                     toleranceOf(graph::tensorType(value).getElementType(),
                                 numerics))};
      outputs.try_emplace(name.getValue(), values.size());
      values.push_back(std::move(verified));
    }
    return success();
  }

  /// Adds what all ranks hold of one output for one microbatch.
  void check(const StageOutput &output) {
    func::FuncOp stage = output.stage;
    auto name =
        stage.getResultAttrOfType<StringAttr>(output.result, "graph.name");
    auto place = outputs.find(name.getValue());
    if (place == outputs.end())
      return;
    VerifiedValue &value = values[place->second];
    Value returned = stage.front().getTerminator()->getOperand(output.result);
    dist::Sharding sharding =
        dist::Sharding::whole(value.comparison.whole().rank());
    if (auto given = dist::shardingOf(returned))
      sharding = given.getSharding();
    value.seen = true;
    for (int64_t rank = 0; rank < output.ranks.size(); ++rank)
      value.comparison.add(
          *output.tensors[rank],
          localIndices(sharding, value.comparison.whole().shape,
                       output.ranks.mesh, output.ranks.at(rank)),
          output.firstRank + rank);
  }

  Verdict conclude() {
    for (const VerifiedValue &value : values)
      if (!value.seen)
        return {1, "no stage makes output '" + value.name + "'", {}};
    std::string error = writeReport(request.report, values, numerics);
    if (!error.empty())
      return {7, error, {}};
    for (const VerifiedValue &value : values)
      if (!value.comparison.isEqual())
        return {15, describe(value), {}};
    return {};
  }

  ModuleOp whole, parts;
  const VerifyRequest &request;
  Numerics numerics;
  std::vector<VerifiedValue> values;
  llvm::StringMap<size_t> outputs;
};
} // namespace

Verdict interpret::compare(ModuleOp whole, ModuleOp parts,
                           const VerifyRequest &request) {
  return Verification(whole, parts, request).run();
}
