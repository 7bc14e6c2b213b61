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
/// (Qi et al. 2023). The order matters: F, B, I and W come first, messages
/// last.
enum class ActionKind : uint8_t {
  Forward,        ///< F: forward pass
  Backward,       ///< B: gradients of inputs and of weights
  InputGradient,  ///< I: gradients of the stage's inputs only
  WeightGradient, ///< W: gradients of the stage's weights only
  /// U: optimizer update of a whole stage, once per step. A split update has
  /// numbered parts U0, U1, ….
  Update,
  /// UNSHARD: work of a stage once for all microbatches, mainly all-gathers of
  /// sharded weights (FSDP).
  Unshard,
  /// RESHARD: release of gathered weights; occurs only in schedule files.
  Reshard,
  /// REDUCE_GRAD: reduction of gradients over replicas; occurs only in schedule
  /// files.
  ReduceGradient,
  /// Messages between stages. They occur only in schedule files and timelines;
  /// pcc derives them from the transfers between stages.
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
  /// Index of the microbatch; -1 for an action of the whole step. For a split
  /// update, the index of the part: 0 in U0.
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

/// Parses the name of a stage's function: an action's spelling without stage
/// and microbatch, such as "F" or "UNSHARD". An update may have a part's index,
/// such as "U0". Returns std::nullopt for any other text.
std::optional<Action> parseKind(std::string_view text);
/// Returns the name of the stage's function that executes `action`: "F" for
/// 0F3, "U0" for part 0 of an update. parseKind() parses this name.
std::string printKind(const Action &action);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_TIMELINE_ACTION_H
