//===- FiniteCheck.h - finds the op that made a value not finite ----------===//

#ifndef PCC_RUNTIME_ENGINE_FINITECHECK_H
#define PCC_RUNTIME_ENGINE_FINITECHECK_H

#include "runtime/comm/Communicator.h"
#include "runtime/device/Device.h"
#include "runtime/engine/observe/RunReport.h"

#include <array>
#include <vector>

namespace pcc::runtime {

/// Finds the instruction that made the first value that is not finite
/// (--check-finite). Looks at the result of every instruction of a step, which
/// takes time. If a loss, a gradient norm or a trained weight is not finite
/// after a step, endStep() names the origin:
///
/// - The origin is the first instruction, in the order of the program, whose
///   result has a NaN or an infinity. All ranks compare what they found. The
///   order goes by the pass (forward, backward, update), the microbatch, the
///   stage in the direction of the data, and the position in the stage.
/// - An input or a weight that already has such a value before the step comes
///   before all instructions.
/// - Infinities may be wanted: an attention adds -inf to scores that it masks.
///   A result therefore does not count if it had the same kind of value in a
///   step that was good. A result with no other such value than -inf counts
///   only if nothing else is found.
///
/// A step in which the loss scale has found an overflow is neither good nor
/// bad: it changes no weight.
class FiniteCheck {
public:
  /// Borrows all arguments.
  FiniteCheck(const program::ProgramT &program, const BufferTable &buffers,
              Device &device, World &world);

  /// Looks at the inputs of step number `step` and, before the first step, at
  /// the weights. All of them must have their values.
  Status beginStep(int64_t step);
  /// Looks at the results of an instruction, which has run. `action` is an
  /// index in the list of actions of the program, `instruction` an index in the
  /// function of the action.
  Status see(size_t action, size_t instruction);
  /// Returns an error with exit code 17 if the step was bad on any rank. The
  /// error is the same on all ranks. `metrics` are those of this rank. All
  /// ranks must call this function together.
  Status endStep(const StepMetrics &metrics);

private:
  /// Numbers by which findings are ordered: the lowest one is the origin.
  using Key = std::array<int64_t, 7>;
  /// A place at which a value that is not finite was seen.
  struct Finding {
    Key key;
    std::string text; ///< the place and the values, for the message
  };
  /// Facts of a rank after a step, which all ranks exchange.
  struct Verdict {
    /// First bad fact in the order of TroubleKind; kNoTrouble if there is none.
    int64_t trouble;
    /// The loss if it is not finite, otherwise the gradient norm.
    double value;
    int64_t hasFinding;
    Key key;
  };

  /// Sets `kinds` to the kinds of values (NonFinite) in `buffer` that are not
  /// finite.
  Status look(int32_t buffer, int64_t microbatch, unsigned &kinds);
  /// Looks at the weights, only at trained ones with `onlyTrained`. Sets
  /// `areBad` to whether a weight is not finite.
  Status lookAtWeights(bool onlyTrained, bool &areBad);
  /// Stores a finding if it comes before the one that is stored. `place` is the
  /// part of the key that tells the place.
  void note(unsigned kinds, const std::array<int64_t, 5> &place,
            const std::string &text);
  /// Sets `verdict` to the facts of this rank.
  Status judge(const StepMetrics &metrics, Verdict &verdict);
  /// Stores what the current step, which was good, has made: it is no reason
  /// for a bad step.
  void learn();
  /// Returns the error that names the origin. `verdicts` has that of each rank.
  Status explain(const std::vector<Verdict> &verdicts);
  /// Returns whether the step scales its loss.
  bool scalesLoss() const;

  const program::ProgramT &program;
  const BufferTable &buffers;
  Device &device;
  World &world;
  /// Buffers that each instruction of each function computes.
  std::vector<std::vector<std::vector<int32_t>>> computed;
  /// Kinds of values of each instruction of each function: in the steps that
  /// were good, and in the current step.
  std::vector<std::vector<unsigned>> usual, current;
  int64_t step = 0;
  bool sawWeights = false;
  bool hasFinding = false;
  Finding first = {};
  std::vector<std::byte> copy; ///< elements that a GPU has computed
};

} // namespace pcc::runtime

#endif // PCC_RUNTIME_ENGINE_FINITECHECK_H
