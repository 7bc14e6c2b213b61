//===- Verification.cpp - check of a partitioned model against whole ------===//

#include "passes/interpret/Verification.h"
#include "dialects/graph/GraphDialect.h"
#include "passes/interpret/MeasureNoise.h"
#include "passes/interpret/VerifyAccuracy.h"
#include "passes/interpret/VerifyTraining.h"
#include "passes/interpret/compare/FirstDifference.h"
#include "passes/interpret/compare/VerdictText.h"
#include "passes/interpret/elements/NpyFiles.h"
#include "passes/interpret/simulate/UnpartitionedRun.h"
#include "runtime/tensor/OutputNames.h"

using namespace mlir;
using namespace pcc;
using namespace pcc::interpret;
using graph::HostTensor;
using graph::Numerics;

/// Number of training steps that are executed.
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
         Comparison(*tensor, toleranceOf(value, found.numerics),
                    noise.lookup(name.getValue()))});
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
  PCC_RETURN_IF_ERROR(compareRanks(parts));
  if (found.simulatedDifference()) {
    PCC_ASSIGN_OR_RETURN(noise, measureNoise(whole, inputs, found.numerics,
                                             steps(), numSamples()));
    PCC_RETURN_IF_ERROR(compareRanks(parts));
  }
  if (!found.simulatedDifference())
    return compareAccuracy(parts);
  found.first = findFirstDifference(whole, parts, inputs, found.numerics,
                                    steps(), numSamples());
  return Status::success();
}

int Verification::steps() { return isTraining(whole) ? numSteps : 1; }

int Verification::numSamples() {
  constexpr int ofNumbers = 10, ofOverflows = 30;
  return found.differsInOverflows() ? ofOverflows : ofNumbers;
}

Status Verification::measureOwnNoise() {
  if (!ownNoise.empty())
    return Status::success();
  PCC_ASSIGN_OR_RETURN(ownNoise, measureNoise(whole, inputs, Numerics::Model,
                                              steps(), numSamples()));
  return Status::success();
}

Status Verification::compareAccuracy(ModuleOp parts) {
  if (!hasNarrowFloats(whole))
    return Status::success();
  const auto compare = [&]() -> Status {
    auto values = verifyAccuracy(whole, parts, inputs, steps(), ownNoise);
    if (!values)
      return cannotRun("the model in its own types", values.status());
    found.ownTypes = std::move(*values);
    return Status::success();
  };
  PCC_RETURN_IF_ERROR(compare());
  if (!found.accuracyLoss())
    return Status::success();
  PCC_RETURN_IF_ERROR(measureOwnNoise());
  return compare();
}

Status Verification::compareRanks(ModuleOp parts) {
  found.outputs.clear();
  shards.clear();
  if (isTraining(whole))
    return verifyTraining(whole, parts, inputs, numSteps, noise, found);
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

void Verification::addExecuted(const std::string &name, Value value,
                               const HostTensor &got,
                               ArrayRef<RankShard> held) {
  VerifiedValue output = *llvm::find_if(
      found.outputs, [&](const VerifiedValue &v) { return v.name == name; });
  // The executables of the bundle round their results to the element types of
  // the model, such as bf16. simulate() may have computed in f64, and then the
  // tolerance in `output` is too small for the executables. Replace this
  // tolerance by the tolerance for the element types of the model.
  output.comparison =
      Comparison(output.comparison.whole(), toleranceOf(value, Numerics::Model),
                 ownNoise.lookup(name));
  auto own = llvm::find_if(found.ownTypes, [&](const AccurateValue &value) {
    return value.ranks.name == name;
  });
  if (own != found.ownTypes.end())
    output.comparison.leaveOutSame(own->ranks.comparison);
  if (held.empty())
    output.comparison.add(got, allIndices(got.shape), /*rank=*/std::nullopt);
  for (const RankShard &shard : held)
    output.comparison.add(takeShard(got, shard.indices, Padding::Zero),
                          shard.indices, shard.rank);
  found.executed.push_back(std::move(output));
}

/// Compares the tensors that the executables of the bundle have written to
/// files with the expected tensors. Each file contains a whole tensor. In
/// inference, the function cuts the tensor into the shards that the ranks have
/// computed, so that the comparison can name the rank with a wrong element. In
/// training, the comparison names no rank.
Status Verification::readExecuted(const ExecutedFiles &files) {
  std::vector<std::string> names;
  for (unsigned i = 0; i < model.getNumResults(); ++i)
    names.push_back(
        model.getResultAttrOfType<StringAttr>(i, graph::nameName).str());
  const std::vector<std::string> paths = runtime::outputFileNames(names);
  for (auto [i, value] : llvm::enumerate(results())) {
    HostTensor got;
    if (Status status = readNpy(files.outputs + "/" + paths[i],
                                graph::tensorType(value), got);
        status.failed())
      return Status::error(Defect,
                           "output '" + names[i] + "': " + status.message());
    addExecuted(nameInStep(names[i], steps(), steps()), value, got,
                shards.empty() ? ArrayRef<RankShard>()
                               : ArrayRef<RankShard>(shards[i]));
  }
  for (auto set : model.getOps<graph::SetParameterOp>()) {
    const std::string name = set.getParameter().str();
    auto file = files.parameters.find(name);
    if (file == files.parameters.end())
      continue;
    HostTensor got;
    PCC_RETURN_IF_ERROR(
        readNpy(file->second, graph::tensorType(set.getValue()), got));
    addExecuted(name, set.getValue(), got, {});
  }
  return Status::success();
}

Status Verification::compareExecuted(const ExecutedFiles &files) {
  PCC_RETURN_IF_ERROR(readExecuted(files));
  if (!found.executedDifference())
    return Status::success();
  PCC_RETURN_IF_ERROR(measureOwnNoise());
  found.executed.clear();
  return readExecuted(files);
}

/// Returns the first difference as an error, or success if there is none.
/// Differences are examined in this order: outputs of the executables, outputs
/// of the simulated ranks, accuracy of the simulated ranks in the element types
/// of the model.
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
    status.addNote(describeFirst(*found.first));
  else if (!output->node.empty())
    status.addNote("at node '" + output->node + "'");
  return status;
}
