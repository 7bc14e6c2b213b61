//===- MicrobatchLiveness.h - when values that outlive their action are held ===//

#ifndef PCC_PASSES_7_EMIT_PROGRAM_MICROBATCHLIVENESS_H
#define PCC_PASSES_7_EMIT_PROGRAM_MICROBATCHLIVENESS_H

#include "passes/7-emit/program/ModelFacts.h"
#include "passes/plan/memory/Arena.h"

namespace pcc::emit {

/// A part of a position's line.
struct Instants {
  size_t first = SIZE_MAX, last = 0;
  void add(size_t instant);
  bool contains(size_t instant) const {
    return first <= instant && instant <= last;
  }
  friend bool operator==(const Instants &, const Instants &) = default;
};

/// The instants of a position: 0, when the step begins, its posts and waits in
/// their order, then the instructions of each function of its stages behind one
/// another.
struct InstantLine {
  explicit InstantLine(const plan::PositionProgram &steps);

  llvm::DenseMap<mlir::Operation *, Instants> functions;
  /// By step; of posts and waits only.
  std::vector<size_t> exchanges;
  /// The newest instant.
  size_t now = 0;
};

/// When a position holds a value that crosses stages, leaves the model or is
/// shared by all microbatches, for each microbatch: from the first step of its
/// program that touches the value to the last.
class MicrobatchLiveness {
public:
  /// `isShared`: there is one value for all microbatches.
  MicrobatchLiveness(const ModelFacts &facts, int position, bool isShared);

  /// The actions that run a function make or read the value.
  void addRuns(mlir::func::FuncOp function);
  /// It arrives, or leaves: from the post to the end of the wait.
  void addReceives(int transfer);
  void addSends(int transfer);
  /// It is wanted after the last step.
  void addEnd();

  /// The fewest slots such that no two microbatches that are held at the same
  /// time share one: m lies in slot m % slots.
  int32_t count() const;

  /// Which bytes of `slots` slots of `stride` bytes are held when, if the
  /// value's instructions are those of `touched`: all of the line in steps
  /// between the first and the last, in these from or to the instruction.
  std::vector<plan::ArenaPiece> pieces(const InstantLine &line,
                                       const Instants &touched, int32_t slots,
                                       uint64_t stride) const;

private:
  struct Span {
    size_t first = SIZE_MAX, last = 0;
    void add(size_t step);
    bool overlaps(const Span &other) const;
  };
  Span &spanOf(int microbatch) { return spans[microbatch % spans.size()]; }
  void addMessages(std::vector<plan::Message> plan::ProgramStep::*side,
                   int transfer);
  bool collides(int32_t slots) const;
  std::vector<Instants> heldIn(int32_t slot, int32_t slots,
                               const InstantLine &line,
                               const Instants &touched) const;
  Instants heldAt(size_t step, const Span &span, const InstantLine &line,
                  const Instants &touched) const;

  const ModelFacts *facts;
  const plan::PositionProgram *steps;
  /// By microbatch, or the only one.
  std::vector<Span> spans;
};

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_PROGRAM_MICROBATCHLIVENESS_H
