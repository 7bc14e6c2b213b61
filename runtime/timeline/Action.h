//===- Action.h - actions of a pipeline schedule and their spelling -------===//

#ifndef PCC_RUNTIME_TIMELINE_ACTION_H
#define PCC_RUNTIME_TIMELINE_ACTION_H

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace pcc::runtime {

/// Kind of an action of a pipeline schedule. The backward pass is one action B,
/// or two actions I (input gradient) and W (weight gradient), as in zero bubble
/// (Qi et al. 2023).
///
/// Keep the order of the enumerators, because code compares kinds with `<=` and
/// `>=`. The kinds F, B, I and W come first. The kinds from SendForward to the
/// end are communication.
enum class ActionKind : uint8_t {
  Forward,        ///< F: forward pass
  Backward,       ///< B: gradients of inputs and of weights
  InputGradient,  ///< I: gradients of the stage's inputs only
  WeightGradient, ///< W: gradients of the stage's weights only
  /// U: optimizer update of the weights of a stage, once per step. If stages
  /// exchange values during the update, the update of a stage is divided into
  /// several actions. The actions U0, U1 and so on run in this order. For
  /// example, U0 of stage 1 computes the sum of the squared gradients of stage
  /// 1, and sends the sum to stage 0. U1 of stage 0 receives the sum, and
  /// computes the norm of the gradients of all stages.
  Update,
  /// UNSHARD: computes the values of a stage that are equal for all
  /// microbatches. The action runs once per step, not once per microbatch. For
  /// example, FSDP shards a weight over ranks, and this action gathers the
  /// whole weight with an all-gather.
  Unshard,
  /// RESHARD: frees the weights that UNSHARD has gathered. Schedule files in
  /// the format of PyTorch can contain this action. pcc drops this action when
  /// it reads a schedule file, and never creates this action.
  Reshard,
  /// REDUCE_GRAD: adds up the gradients that the data-parallel replicas of a
  /// stage have computed. Schedule files in the format of PyTorch can contain
  /// this action. pcc drops this action when it reads a schedule file, and
  /// never creates this action.
  ReduceGradient,
  /// SEND_F, the first of four kinds for messages between stages. The other
  /// kinds are RECV_F, SEND_B and RECV_B. F stands for the forward pass, and B
  /// for the backward pass. Timelines show these actions. Schedule files can
  /// also contain these actions, but pcc drops these actions when it reads a
  /// schedule file. pcc computes from the model which messages the stages
  /// exchange.
  SendForward,
  ReceiveForward,
  SendBackward,
  ReceiveBackward,
  /// Execution of a collective on one rank, or the time for which one rank
  /// waits for messages of other ranks. If the runtime measures a step, the
  /// timeline of the step contains actions of this kind. A schedule file cannot
  /// contain an action of this kind.
  Communication,
};

/// One action of a step. print() spells it as in PyTorch's schedule files:
/// stage, kind, microbatch. Examples are 0F3, 2I0, 1UNSHARD and 0SEND_F2.
struct Action {
  ActionKind kind = ActionKind::Forward;
  int stage = 0;
  /// Number of the microbatch, or -1 for an action that runs once per step. In
  /// the name of an action, this number follows the kind. For example, 0F3 is
  /// the forward pass (F) of stage 0 for microbatch 3. The action 1UNSHARD has
  /// the number -1, so no number follows the kind UNSHARD.
  ///
  /// The optimizer update (U) of a stage can be divided into several actions,
  /// which are numbered from 0. For these actions, this field is the number of
  /// the action. For example, 0U1 is the second update action of stage 0, and
  /// the field is 1.
  int microbatch = -1;

  friend auto operator<=>(const Action &, const Action &) = default;
};

/// Returns whether the action computes for one microbatch: F (forward), B
/// (backward), I (input gradient) or W (weight gradient).
bool isCompute(ActionKind kind);

/// Returns whether the action computes the gradient that the previous stage
/// needs: B (backward) or I (input gradient).
inline bool makesInputGradient(ActionKind kind) {
  return kind == ActionKind::Backward || kind == ActionKind::InputGradient;
}

/// Returns the spelling of an action: stage, kind, microbatch, such as "0F3" or
/// "1UNSHARD".
std::string print(const Action &action);
/// Parses the spelling of an action: stage, kind, microbatch. For example,
/// "0F3" has stage 0, kind F and microbatch 3. The kinds F (forward), B
/// (backward), I (input gradient) and W (weight gradient) require a microbatch.
/// For all other kinds, the microbatch is optional. For example, "1UNSHARD" has
/// no microbatch, and the field `microbatch` of the result is -1. Returns
/// std::nullopt if `text` is not the spelling of an action, or if the stage or
/// the microbatch is 2^20 or larger.
std::optional<Action> parseAction(std::string_view text);

/// Parses an action's name that has no stage and no microbatch, such as "F" or
/// "UNSHARD". The names "U0" and "U1" are also accepted: an optimizer update
/// can consist of several actions, U0, U1, …. The returned action has stage 0.
/// Its `microbatch` is the number after U, or -1 if there is no number. Returns
/// std::nullopt for any other text.
std::optional<Action> parseKind(std::string_view text);
/// Returns the text that names the kind of `action`. For example, the function
/// returns "F" for the action 0F3, which is the forward pass (F) of stage 0 for
/// microbatch 3.
///
/// The optimizer update (U) of a stage can consist of several actions, which
/// are numbered from 0. For these actions, the result also contains the number
/// of the action. For example, the function returns "U1" for 2U1, which is the
/// second update action of stage 2.
///
/// parseKind() parses the result of this function.
std::string printKind(const Action &action);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_TIMELINE_ACTION_H
