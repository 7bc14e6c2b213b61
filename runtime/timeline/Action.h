//===- Action.h - what a rank does in a step ------------------------------===//

#ifndef PCC_RUNTIME_TIMELINE_ACTION_H
#define PCC_RUNTIME_TIMELINE_ACTION_H

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace pcc::runtime {

/// What an action does. B = I + W: a table has either B, or I and W, of a
/// stage and microbatch.
enum class ActionKind : uint8_t {
  Forward,
  Backward,
  InputGradient,
  WeightGradient,
  /// Of the whole stage, once per step.
  Update,
  /// What all microbatches share, weights that are gathered above all.
  Unshard,
  Reshard,
  ReduceGradient,
  /// Only in files and simulations: pcc derives messages from transfers
  /// (plan/DeadlockCheck.h).
  SendForward,
  ReceiveForward,
  SendBackward,
  ReceiveBackward,
  /// Of a measured step: any time in which a rank communicated.
  Communication,
};

/// One action of a step. Written as in PyTorch's schedule files: stage, kind,
/// microbatch, for example 0F3, 2I0, 1UNSHARD, 0SEND_F2.
struct Action {
  ActionKind kind = ActionKind::Forward;
  int stage = 0;
  /// -1 for actions that concern the whole step. Of an update it is the part:
  /// what one part sends, a later one receives.
  int microbatch = -1;

  friend auto operator<=>(const Action &, const Action &) = default;
};

/// F, B, I or W: what computes something for one microbatch.
bool isCompute(ActionKind kind);

/// Whether the action hands gradients to the stage before: B or I.
inline bool makesInputGradient(ActionKind kind) {
  return kind == ActionKind::Backward || kind == ActionKind::InputGradient;
}

std::string print(const Action &action);
/// Nothing if `text` is not an action.
std::optional<Action> parseAction(std::string_view text);

/// What runs a function of a stage: an action without stage and microbatch (F,
/// B, UNSHARD), an update with its part (U0). Nothing if it is none.
std::optional<Action> parseKind(std::string_view text);
/// The same of an action.
std::string printKind(const Action &action);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_TIMELINE_ACTION_H
