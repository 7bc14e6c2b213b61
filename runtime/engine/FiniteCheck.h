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
/// - Some infinities are intended: an attention adds -inf to scores that it
///   masks. A result therefore does not count if it had the same kind of value
///   (NaN, inf or -inf) in an earlier step that ended without an error. A
///   result that contains -inf, but no NaN and no inf, is the origin only if
///   there is no other candidate.
///
/// If the training scales the loss, an overflow makes the gradient norm
/// infinite or NaN, and the step changes no weight. endStep() returns no error
/// after this step, and the kinds of values in this step do not count as
/// intended.
class FiniteCheck {
public:
  /// Borrows all arguments.
  FiniteCheck(const program::ProgramT &program, const BufferTable &buffers,
              Device &device, World &world);

  /// Searches the inputs of step number `step` for values that are not finite.
  /// Before the first step, also searches the weights. The buffers must already
  /// contain these inputs and weights.
  Status beginStep(int64_t step);
  /// Looks at the results of an instruction, which has run. `action` is an
  /// index in the list of actions of the program, `instruction` an index in the
  /// function of the action.
  Status see(size_t action, size_t instruction);
  /// Returns an error with exit code 17 if the loss, the gradient norm or a
  /// trained weight of any rank is not finite after the step. The error is the
  /// same on all ranks. `metrics` are those of this rank. All ranks must call
  /// this function together.
  Status endStep(const StepMetrics &metrics);

private:
  /// Sort key of a Finding. The Finding with the smallest key is the origin.
  /// The key consists of these numbers, the most significant one first:
  ///
  /// - 1 if all values of the Finding that are not finite are -inf, otherwise 0
  /// - the source: an input, a weight or an instruction
  /// - the pass, the microbatch, the stage, and the index within the stage
  /// - the rank
  using Key = std::array<int64_t, 7>;
  /// A place at which a value that is not finite was seen.
  struct Finding {
    Key key;
    std::string text; ///< the place and the values, for the message
  };
  /// Result of the checks of one rank after a step. All ranks exchange their
  /// results by an all-gather.
  struct Verdict {
    /// First of these that is not finite: the loss, the gradient norm, a
    /// trained weight (values of TroubleKind); kNoTrouble if all are finite.
    int64_t trouble;
    /// The loss if it is not finite, otherwise the gradient norm.
    double value;
    int64_t hasFinding;
    Key key;
  };

  /// Adds to `kinds`, a set of NonFinite bits, the kinds of values in `buffer`
  /// that are not finite: NaN, infinity or -infinity.
  Status look(int32_t buffer, int64_t microbatch, unsigned &kinds);
  /// Searches the weights for values that are not finite, and sets `areBad` to
  /// whether it has found any. If `onlyTrained` is true, searches only weights
  /// that training changes. Otherwise searches all weights, and calls note()
  /// for each weight with such a value. In a weight that training does not
  /// change, only NaN counts, because a constant mask may contain infinities.
  Status lookAtWeights(bool onlyTrained, bool &areBad);
  /// Stores a Finding for a value that is not finite, unless the Finding stored
  /// so far has an equal or a smaller key. `place` contains five numbers of the
  /// key: source, pass, microbatch, stage and index.
  void note(unsigned kinds, const std::array<int64_t, 5> &place,
            const std::string &text);
  /// Sets `verdict` to the result of the checks of this rank.
  Status judge(const StepMetrics &metrics, Verdict &verdict);
  /// Adds the kinds of values that the instructions of the current step have
  /// made (`current`) to `usual`. Must be called only after a step without an
  /// error. Later steps do not report these kinds of values at these
  /// instructions.
  void learn();
  /// Returns the error for a step after which a value is not finite. The error
  /// names the origin. `verdicts` contains one Verdict per rank.
  Status explain(const std::vector<Verdict> &verdicts);
  /// Returns whether the step scales its loss.
  bool scalesLoss() const;

  const program::ProgramT &program;
  const BufferTable &buffers;
  Device &device;
  World &world;
  /// computed[f][i] lists the buffers that instruction i of function f
  /// computes.
  std::vector<std::vector<std::vector<int32_t>>> computed;
  /// Kinds of values that are not finite (sets of NonFinite bits) in the
  /// results of instruction i of function f: usual[f][i] in earlier steps
  /// without an error, and current[f][i] in the current step.
  std::vector<std::vector<unsigned>> usual, current;
  int64_t step = 0;
  bool sawWeights = false;
  bool hasFinding = false;
  Finding first = {};
  std::vector<std::byte> copy; ///< elements that a GPU has computed
};

} // namespace pcc::runtime

#endif // PCC_RUNTIME_ENGINE_FINITECHECK_H
