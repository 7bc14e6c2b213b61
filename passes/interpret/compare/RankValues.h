//===- RankValues.h - values of ranks, right or wrong ---------------------===//

#ifndef PCC_PASSES_INTERPRET_COMPARE_RANKVALUES_H
#define PCC_PASSES_INTERPRET_COMPARE_RANKVALUES_H

#include "passes/interpret/compare/ExpectedValues.h"
#include "passes/interpret/compare/PartialSums.h"
#include "passes/interpret/compare/ValueSources.h"
#include "passes/interpret/compare/VerifiedValue.h"

namespace pcc::interpret {

/// Compares the op results of simulated ranks with values of the unpartitioned
/// model, whether they have a name in the ONNX model or not.
///
/// Op results without a name do not correspond one to one: the compiler merges
/// equal ops, and divides some ops into several. An op result is right if it
/// equals any value that the unpartitioned model computes at the same place
/// (graph::placeText()). The result of an op that moves elements, such as a
/// collective, is right if it equals a value that an operand equals. The result
/// of an element-wise op must be another value than its operands, because x + y
/// is x if y is 0, also if y is wrong.
///
/// An op result that equals none may still be a value that only the ranks have,
/// such as a part of a divided op. It is to blame only if the error reaches an
/// output of the step, or a written parameter: no op on the way is right.
/// Nothing is to blame before or after a value that rounding errors alone
/// change so much that an error does not show.
///
///     a (right) ─> b (none) ─> c (right)            b is not to blame
///     a (right) ─> d (none) ─> e (none) ─> output   d is, if the output is wrong
///
/// Call check() for each op result of a step in the order of execution,
/// checkOutput() for each output, and checkWrite() for each written parameter.
class RankValues {
public:
  /// Prepares the comparison of `parts`, a module after 6-schedule, with
  /// `expected`. Call it when `expected` has executed the step.
  RankValues(mlir::ModuleOp parts, const ExpectedValues &expected,
             graph::Numerics numerics)
      : expected(expected), numerics(numerics), sums(dist::meshOf(parts)),
        sources(parts) {}

  void check(const StageValue &value);
  void checkOutput(llvm::StringRef name, const StageValue &value);
  void checkWrite(llvm::StringRef parameter, const StageValue &value);

  /// Returns whether an output or a written parameter is wrong.
  bool isWrong() const { return !wrongResults.empty(); }
  /// Returns the first value that is to blame; nullopt if none is.
  std::optional<VerifiedValue> toBlame() const;

private:
  using Expected = llvm::SmallVector<const ExpectedValue *>;

  /// Result of the comparisons of an op result, over all microbatches.
  struct Checked {
    /// Values that the op result equals.
    Expected equals = {};
    /// Whether only large rounding errors make it equal to a value.
    bool isUndecided = false;
    /// First difference; nullopt while there is none.
    std::optional<VerifiedValue> difference = {};
    /// Number of differences before that one.
    int64_t order = 0;
    /// The op result; null for a written parameter.
    mlir::OpResult result = {};

    bool isRight() const {
      return !equals.empty() && !difference && !isUndecided;
    }
  };

  /// Returns the values that the operands of `value` equal.
  Expected ofSources(mlir::OpResult value) const;
  /// Returns the values that `value` may equal, those of equal ops first.
  Expected candidates(mlir::OpResult value) const;
  /// Returns the result of the comparisons of `parts`, parts of `value` on all
  /// ranks, with all values that `value` may equal.
  Checked compareAll(const StageValue &value,
                     llvm::ArrayRef<ValuePart> parts) const;
  /// Returns the comparison of `parts`, parts of `value` on all ranks, with
  /// `expected`. Relative errors up to `tolerance`, and
  /// differences up to `noise`, are accepted. Returns nullopt if the
  /// shapes do not fit.
  std::optional<Comparison> compare(const StageValue &value,
                                    llvm::ArrayRef<ValuePart> parts,
                                    const ExpectedValue &expected,
                                    double tolerance, double noise) const;
  /// Returns whether `value`, the tensors of an output or a written parameter,
  /// differs from `expected`. Stores the comparison in `found`.
  bool differs(const StageValue &value, const ExpectedValue *expected,
               std::optional<Comparison> &found) const;
  /// Returns whether `result` was compared and is right.
  bool isRight(mlir::OpResult result) const;
  /// Returns all op results that are not right and from which `results` are
  /// computed by ops that are wrong, or not comparable.
  llvm::SetVector<mlir::OpResult>
  suspects(llvm::ArrayRef<mlir::OpResult> results) const;
  /// Returns the comparisons of the op results of suspects().
  llvm::SmallVector<const Checked *>
  checkedSuspects(llvm::ArrayRef<mlir::OpResult> results) const;

  const ExpectedValues &expected;
  graph::Numerics numerics;
  PartialSums sums;
  ValueSources sources;
  /// Results of the comparisons so far.
  llvm::DenseMap<mlir::Value, Checked> checked;
  /// Wrong outputs and written parameters.
  llvm::SmallVector<mlir::OpResult> wrongResults;
  /// Writes of right values to wrong parameters.
  std::vector<Checked> wrongWrites;
  /// Number of differences in `checked` and `wrongWrites`.
  int64_t numDifferences = 0;
};

} // namespace pcc::interpret

#endif // PCC_PASSES_INTERPRET_COMPARE_RANKVALUES_H
