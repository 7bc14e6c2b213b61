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
  /// U: optimizer update of the weights of a stage, once per step. The update
  /// of a stage can consist of several actions, U0, U1, …, which run in this
  /// order. U1 can then use values that U0 of another stage computes.
  Update,
  /// UNSHARD: computes the values of a stage that all microbatches use. It runs
  /// once per step, not once per microbatch. An example of such a value is a
  /// weight that FSDP shards and an all-gather makes whole.
  Unshard,
  /// RESHARD: release of gathered weights; occurs only in schedule files.
  Reshard,
  /// REDUCE_GRAD: reduction of gradients over replicas; occurs only in schedule
  /// files.
  ReduceGradient,
  /// Sends and receives of messages between stages. Schedule files may contain
  /// them, and timelines show them. pcc ignores the ones in schedule files: it
  /// computes itself which messages the stages exchange.
  SendForward,
  ReceiveForward,
  SendBackward,
  ReceiveBackward,
  /// Time in which a rank of a measured step exchanged messages or ran
  /// collectives.
  Communication,
};

/// One action of a step. print() spells it as in PyTorch's schedule files:
/// stage, kind, microbatch. Examples are 0F3, 2I0, 1UNSHARD and 0SEND_F2.
struct Action {
  ActionKind kind = ActionKind::Forward;
  int stage = 0;
  /// Index of the microbatch: 3 in 0F3. It is -1 for an action that runs once
  /// per step, such as 1UNSHARD. An optimizer update can consist of several
  /// actions, U0, U1, …. Then this field is the number after U: 1 in 0U1.
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
/// Parses the spelling of an action, such as "0F3". F, B, I and W (forward,
/// backward, input and weight gradient) must have a microbatch. Returns
/// std::nullopt for any other text.
std::optional<Action> parseAction(std::string_view text);

/// Parses an action's name that has no stage and no microbatch, such as "F" or
/// "UNSHARD". The names "U0" and "U1" are also accepted: an optimizer update
/// can consist of several actions, U0, U1, …. The returned action has stage 0.
/// Its `microbatch` is the number after U, or -1 if there is no number. Returns
/// std::nullopt for any other text.
std::optional<Action> parseKind(std::string_view text);
/// Returns the name of `action` without its stage and without its microbatch:
/// "F" for action 0F3 (stage 0, forward, microbatch 3). For an optimizer
/// update, the number after U stays: "U1" for action 2U1 of stage 2.
/// parseKind() parses this name.
std::string printKind(const Action &action);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_TIMELINE_ACTION_H
