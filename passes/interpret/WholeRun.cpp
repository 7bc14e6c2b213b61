//===- WholeRun.cpp - the unpartitioned model on one device ---------------===//

#include "passes/interpret/WholeRun.h"

using namespace mlir;
using namespace pcc;
using namespace pcc::interpret;

FailureOr<std::vector<TensorPointer>>
interpret::runWhole(ModuleOp module, const Inputs &inputs,
                    graph::Numerics numerics, OnResult onResult,
                    std::string &error) {
  auto model = module.lookupSymbol<func::FuncOp>("main");
  std::vector<RankTensors> arguments;
  for (unsigned i = 0; i < model.getNumArguments(); ++i)
    arguments.push_back({std::make_shared<const graph::HostTensor>(
        inputs.find(inputName(model, i))->second)});
  WeightSource weights(module);
  FunctionRun run(model, Ranks(), weights, numerics, {}, std::move(onResult));
  auto results = run.run(std::move(arguments), error);
  if (failed(results))
    return failure();
  std::vector<TensorPointer> outputs;
  for (const RankTensors &tensors : *results)
    outputs.push_back(tensors.front());
  return outputs;
}
