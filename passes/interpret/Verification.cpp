//===- Verification.cpp - check of a partitioned model against whole ------===//

#include "passes/interpret/Verification.h"
#include "dialects/graph/GraphDialect.h"
#include "passes/interpret/VerifyAccuracy.h"
#include "passes/interpret/VerifyTraining.h"
#include "passes/interpret/compare/FirstDifference.h"
#include "passes/interpret/elements/NpyFiles.h"
#include "passes/interpret/simulate/UnpartitionedRun.h"
#include "runtime/tensor/OutputNames.h"

using namespace mlir;
using namespace pcc;
using namespace pcc::interpret;
using graph::HostTensor;
using graph::Numerics;

/// Number of training steps that a verification executes.
static constexpr int numSteps = 3;

Verification::Verification(ModuleOp whole, Numerics numerics)
    : whole(whole), model(whole.lookupSymbol<func::FuncOp>("main")) {
  found.numerics = numerics;
}

OperandRange Verification::results() {
  return model.front().getTerminator()->getOperands();
}

Status Verification::expectOutputs() {
  auto tensors = runUnpartitioned(whole, inputs, found.numerics, {});
  if (!tensors)
    return cannotRun("the unpartitioned model", tensors.status());
  for (auto [i, value, tensor] : llvm::enumerate(results(), *tensors)) {
    auto name = model.getResultAttrOfType<StringAttr>(i, graph::nameName);
    found.outputs.push_back(
        {name.str(), graph::nodeName(value.getLoc()).str(),
         Comparison(*tensor, toleranceOf(value, found.numerics))});
  }
  shards.resize(found.outputs.size());
  return Status::success();
}

void Verification::check(StringRef name, const StageValue &stageValue) {
  auto output = llvm::find_if(found.outputs, [&](const VerifiedValue &value) {
    return value.name == name;
  });
  if (output == found.outputs.end())
    return;
  auto &held = shards[output - found.outputs.begin()];
  for (RankShard &shard : stageValue.shards(output->comparison.whole().shape)) {
    output->comparison.add(*shard.tensor, shard.indices, shard.rank);
    shard.tensor.reset();
    held.push_back(std::move(shard));
  }
}

Status Verification::simulate(ModuleOp parts, ArrayRef<std::string> files) {
  if (!model)
    return Status::error(UnboundDim, "the model has no function @main");
  PCC_RETURN_IF_ERROR(makeInputs(model, files, inputs));
  PCC_RETURN_IF_ERROR(
      isTraining(whole) ? verifyTraining(whole, parts, inputs, numSteps, found)
                        : compareRanks(parts));
  return found.simulatedDifference() ? Status::success()
                                     : compareAccuracy(parts);
}

Status Verification::compareAccuracy(ModuleOp parts) {
  if (!hasNarrowFloats(whole))
    return Status::success();
  auto values =
      verifyAccuracy(whole, parts, inputs, isTraining(whole) ? numSteps : 1);
  if (!values)
    return cannotRun("the model in its own types", values.status());
  found.ownTypes = std::move(*values);
  return Status::success();
}

Status Verification::compareRanks(ModuleOp parts) {
  PCC_RETURN_IF_ERROR(expectOutputs());
  PipelineListener listener;
  listener.onOutput = [this](StringRef name, const StageValue &value) {
    check(name, value);
  };
  if (Status status = PipelineRun(parts, found.numerics).run(inputs, listener);
      status.failed())
    return cannotRun("the partitioned model", status);
  for (auto [output, held] : llvm::zip_equal(found.outputs, shards))
    if (held.empty())
      return Status::error(Defect,
                           "no stage computes output '" + output.name + "'");
  if (found.simulatedDifference())
    found.first = findFirstDifference(whole, parts, inputs, found.numerics);
  return Status::success();
}

Status
Verification::writeInputs(const std::string &folder,
                          std::map<std::string, std::string> &files) const {
  func::FuncOp function = model;
  for (BlockArgument argument : function.getArguments()) {
    StringRef name = inputName(function, argument.getArgNumber());
    std::string path =
        folder + "/input-" + std::to_string(argument.getArgNumber()) + ".npy";
    PCC_RETURN_IF_ERROR(
        writeNpy(path, graph::tensorType(argument), inputs.find(name)->second));
    files[name.str()] = path;
  }
  return Status::success();
}

/// Splits each output file into the shards of the ranks. The comparison can
/// then name the rank of an element that differs.
Status Verification::compareOutputs(const std::string &folder) {
  std::vector<std::string> names;
  for (const VerifiedValue &output : found.outputs)
    names.push_back(output.name);
  names = runtime::outputFileNames(names);
  for (auto [i, value] : llvm::enumerate(results())) {
    HostTensor got;
    if (Status status =
            readNpy(folder + "/" + names[i], graph::tensorType(value), got);
        status.failed())
      return Status::error(Defect, "output '" + found.outputs[i].name +
                                       "': " + status.message());
    VerifiedValue output = found.outputs[i];
    // Executables compute in the model's element types, even if the simulation
    // computed in f64. Use the tolerance for the model's types.
    output.comparison = Comparison(output.comparison.whole(),
                                   toleranceOf(value, Numerics::Model));
    for (const RankShard &shard : shards[i])
      output.comparison.add(takeShard(got, shard.indices, Padding::Zero),
                            shard.indices, shard.rank);
    found.executed.push_back(std::move(output));
  }
  return Status::success();
}

/// Reports at most one difference. Checks the outputs of the executables first,
/// then the outputs of the simulated ranks, then the accuracy of the ranks.
Status Verification::verdict() const {
  if (const VerifiedValue *output = found.executedDifference())
    return Status::error(ValuesDiffer, "output '" + output->name +
                                           "' of the executables " +
                                           describe(output->comparison));
  const VerifiedValue *output = found.simulatedDifference();
  const AccurateValue *loss = output ? nullptr : found.accuracyLoss();
  if (loss)
    return Status::error(ValuesDiffer,
                         "output '" + loss->ranks.name +
                             "' loses far more accuracy on the ranks than on "
                             "one rank in the model's own types: it " +
                             describe(*loss));
  if (!output)
    return Status::success();
  Status status = Status::error(ValuesDiffer, "output '" + output->name + "' " +
                                                  describe(output->comparison));
  if (found.first)
    status.addNote("the first value that differs is '" + found.first->name +
                   "' of node '" + found.first->node + "': it " +
                   describe(found.first->comparison));
  return status;
}
