//===- TransferSlots.h - how many microbatches of a value are held --------===//

#ifndef PCC_PASSES_7_EMIT_PROGRAM_TRANSFERSLOTS_H
#define PCC_PASSES_7_EMIT_PROGRAM_TRANSFERSLOTS_H

#include "passes/7-emit/program/ModelFacts.h"

namespace pcc::emit {

/// When a position holds a value that crosses stages, for each microbatch: from
/// the first step of its program that touches the value to the last.
class TransferSlots {
public:
  TransferSlots(const ModelFacts &facts, int position);

  /// The stage's actions make or read the value.
  void addActions(int stage);
  /// It arrives, or leaves.
  void addReceives(int transfer);
  void addSends(int transfer);

  /// The fewest slots such that no two microbatches that are held at the same
  /// time share one: m lies in slot m % slots.
  int32_t count() const;
  /// Whether another action runs while a microbatch is held.
  bool isHeldLong() const;

private:
  struct Span {
    size_t first = SIZE_MAX, last = 0;
    void add(size_t step);
    bool overlaps(const Span &other) const;
  };
  void addMessages(std::vector<plan::Message> plan::ProgramStep::*side,
                   int transfer);
  bool collides(int32_t slots) const;

  const plan::PositionProgram *steps;
  std::vector<Span> spans;
};

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_PROGRAM_TRANSFERSLOTS_H
