//===- ExpectedValues.h - all values of the unpartitioned model -----------===//

#ifndef PCC_PASSES_INTERPRET_COMPARE_EXPECTEDVALUES_H
#define PCC_PASSES_INTERPRET_COMPARE_EXPECTEDVALUES_H

#include "passes/interpret/elements/Inputs.h"
#include "passes/interpret/simulate/UnpartitionedRun.h"

#include <deque>

namespace pcc::interpret {

/// A value that the unpartitioned model has computed.
struct ExpectedValue {
  TensorPointer tensor;
  /// Largest difference of an element that rounding errors alone can cause.
  double noise = 0;
  /// Name of the op that computes the value, such as "graph.mul".
  llvm::StringRef op;
  /// Largest finite magnitude of an element.
  double magnitude = 0;
};

/// Returns the name of `value` in the ONNX model; empty if there is none. The
/// result of a collective has the name of its operand, because the compiler has
/// added the collective.
llvm::StringRef nameOf(mlir::Value value);

/// Executes the unpartitioned model step by step, and keeps the op results of
/// the last step. Pointers to them are valid until the next step begins.
class ExpectedValues {
public:
  /// Prepares the execution of `whole` with `inputs`. Each step is executed
  /// `numSamples` more times, with random rounding errors (RandomRounding).
  ExpectedValues(mlir::ModuleOp whole, const Inputs &inputs,
                 graph::Numerics numerics, int numSamples);

  /// Executes the next step, and replaces the kept values by those of this
  /// step. Returns an error if the model cannot be executed.
  Status runStep();

  /// Returns the op result `name` in the ONNX model; null if there is none.
  const ExpectedValue *named(llvm::StringRef name) const {
    return byName.lookup(name);
  }
  /// Returns the op results at `place`, a text of graph::placeText(). Returns
  /// none if all op results need more memory than maxKeptBytes.
  llvm::ArrayRef<const ExpectedValue *> at(llvm::StringRef place) const;
  /// Returns the output `name` of the model; null if there is none.
  const ExpectedValue *output(llvm::StringRef name) const {
    return find(outputs, name);
  }
  /// Returns the value that the step has written to the parameter `name`; null
  /// if it has written none.
  const ExpectedValue *written(llvm::StringRef name) const {
    return find(writes, name);
  }

private:
  /// Largest number of bytes of op results without a name.
  static constexpr int64_t maxKeptBytes = int64_t(2) << 30;
  using Table = llvm::StringMap<ExpectedValue>;

  static const ExpectedValue *find(const Table &table, llvm::StringRef name) {
    auto found = table.find(name);
    return found == table.end() ? nullptr : &found->second;
  }
  /// Stores `tensors`, the op result `result`, if it can be found later.
  void keep(mlir::OpResult result, const RankTensors &tensors);
  /// Executes the step again with random rounding errors, and increases the
  /// noise of each kept value to what these errors have changed.
  Status measureNoise();
  /// Stores `results`, the outputs of the step, and the parameters that it has
  /// written.
  void keepResults(llvm::ArrayRef<TensorPointer> results);
  /// Returns the noise of `value`; 0 if it is no kept op result.
  double noiseOf(mlir::Value value) const;

  /// An execution with random rounding errors: their generator, and the
  /// parameters after the steps so far.
  struct Sample {
    RandomRounding rounding;
    WrittenParameters parameters;
  };

  mlir::ModuleOp whole;
  mlir::func::FuncOp model;
  const Inputs &inputs;
  graph::Numerics numerics;
  WrittenParameters parameters;
  std::vector<Sample> samples;
  std::deque<ExpectedValue> values;
  llvm::DenseMap<mlir::Value, ExpectedValue *> byValue;
  llvm::StringMap<const ExpectedValue *> byName;
  llvm::StringMap<std::vector<const ExpectedValue *>> byPlace;
  Table outputs, writes;
  /// Number of bytes of the values in `byPlace`.
  int64_t keptBytes = 0;
};

} // namespace pcc::interpret

#endif // PCC_PASSES_INTERPRET_COMPARE_EXPECTEDVALUES_H
