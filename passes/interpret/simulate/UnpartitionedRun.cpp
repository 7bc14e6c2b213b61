//===- UnpartitionedRun.cpp - execution of the unpartitioned model --------===//

#include "passes/interpret/simulate/UnpartitionedRun.h"

using namespace mlir;
using namespace pcc;
using namespace pcc::interpret;

StatusOr<std::vector<TensorPointer>>
interpret::runUnpartitioned(ModuleOp module, const Inputs &inputs,
                            graph::Numerics numerics, OnResult onResult,
                            WrittenParameters *parameters,
                            RandomRounding *rounding) {
  // The map `written` stores the new values of weights that @main writes. If
  // @main reads a weight after it has written the weight, the read must still
  // return the old value. Therefore this function copies the new values to
  // `parameters` only after the execution of @main.
  WrittenParameters written;
  BoundaryHooks hooks;
  hooks.read = [&](graph::GetParameterOp get) {
    auto it =
        parameters ? parameters->find(get.getParameter().str()) : written.end();
    return parameters && it != parameters->end() ? RankTensors{it->second}
                                                 : RankTensors();
  };
  hooks.write = [&](graph::SetParameterOp set, const RankTensors &tensors) {
    written[set.getParameter().str()] = tensors.front();
  };
  auto model = module.lookupSymbol<func::FuncOp>("main");
  std::vector<RankTensors> arguments;
  for (unsigned i = 0; i < model.getNumArguments(); ++i)
    arguments.push_back({std::make_shared<const graph::HostTensor>(
        inputs.find(inputName(model, i))->second)});
  WeightSource weights(module);
  FunctionRun run(model, SimulatedRanks(), weights, numerics, std::move(hooks),
                  std::move(onResult));
  if (rounding)
    run.addErrors(*rounding);
  PCC_ASSIGN_OR_RETURN(std::vector<RankTensors> results,
                       run.run(std::move(arguments)));
  std::vector<TensorPointer> outputs;
  for (const RankTensors &tensors : results)
    outputs.push_back(tensors.front());
  if (parameters)
    for (auto &[name, tensor] : written)
      (*parameters)[name] = std::move(tensor);
  return outputs;
}

Status interpret::cannotRun(StringRef what, const Status &error) {
  const bool isOfUser = error.code() == BadInput ||
                        error.code() == CannotRead ||
                        error.code() == InputOutput;
  if (isOfUser)
    return error;
  return Status::error(Defect,
                       what.str() + " cannot be run: " + error.message());
}
