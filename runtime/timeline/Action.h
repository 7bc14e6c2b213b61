//===- Action.h - actions of a pipeline schedule and their spelling -------===//

#ifndef PCC_RUNTIME_TIMELINE_ACTION_H
#define PCC_RUNTIME_TIMELINE_ACTION_H

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace pcc::runtime {

/// Kind of an action. A backward pass may be split into two actions (zero
/// bubble, Qi et al. 2023), B = I + W. A schedule has either B, or I and W, for
/// a stage and microbatch. The order of the enumerators matters: F, B, I and W
/// come first (isCompute), messages last.
enum class ActionKind : uint8_t {
  Forward,        ///< F: forward pass
  Backward,       ///< B: gradients of inputs and of weights
  InputGradient,  ///< I: gradients of the stage's inputs only
  WeightGradient, ///< W: gradients of the stage's weights only
  /// U: optimizer update of a whole stage, once per step. An update may have
  /// several numbered parts.
  Update,
  /// Work that all microbatches share, mainly all-gathers of sharded weights
  /// (FSDP).
  Unshard,
  /// Release of gathered weights; occurs only in schedule files.
  Reshard,
  /// Reduction of gradients over replicas; occurs only in schedule files.
  ReduceGradient,
  /// Messages between stages. Message actions occur only in schedule files and
  /// timelines, because pcc derives messages from the transfers between stages
  /// (passes/plan/schedule/PipelineMessages.h).
  SendForward,
  ReceiveForward,
  SendBackward,
  ReceiveBackward,
  /// Time in which a rank of a measured step communicated, whatever the cause.
  Communication,
};

/// One action of a step. print() spells it as PyTorch's schedule files do:
/// stage, kind, microbatch. Examples are 0F3, 2I0, 1UNSHARD and 0SEND_F2.
struct Action {
  ActionKind kind = ActionKind::Forward;
  int stage = 0;
  /// Microbatch; -1 for actions of the whole step. For an update it is the
  /// part: a later part may receive what an earlier part sends.
  int microbatch = -1;

  friend auto operator<=>(const Action &, const Action &) = default;
};

/// Returns whether the action computes for one microbatch: F, B, I or W.
bool isCompute(ActionKind kind);

/// Returns whether the action computes the gradient that the previous stage
/// needs: B or I.
inline bool makesInputGradient(ActionKind kind) {
  return kind == ActionKind::Backward || kind == ActionKind::InputGradient;
}

/// Returns the spelling of an action.
std::string print(const Action &action);
/// Parses the spelling of an action. Returns nothing if `text` is not one; F,
/// B, I and W need a microbatch.
std::optional<Action> parseAction(std::string_view text);

/// Parses the kind of a stage's function: an action without stage and
/// microbatch, such as F, B or UNSHARD. An update may have the number of its
/// part, such as U0. Returns nothing if `text` is not such a kind.
std::optional<Action> parseKind(std::string_view text);
/// Returns the kind of the function that executes `action`; the inverse of
/// parseKind().
std::string printKind(const Action &action);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_TIMELINE_ACTION_H
