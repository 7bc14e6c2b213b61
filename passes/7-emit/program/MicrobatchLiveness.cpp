//===- MicrobatchLiveness.cpp - liveness across actions -------------------===//

#include "passes/7-emit/program/MicrobatchLiveness.h"
#include "dialects/pipe/PipeDialect.h"

using namespace pcc;
using namespace pcc::emit;

void Instants::add(size_t instant) {
  first = std::min(first, instant);
  last = std::max(last, instant);
}

InstantLine::InstantLine(const plan::PositionProgram &steps)
    : exchanges(steps.size()) {
  for (auto [index, step] : llvm::enumerate(steps))
    if (step.kind != plan::ProgramStep::Compute)
      exchanges[index] = ++now;
}

void MicrobatchLiveness::Span::add(size_t step) {
  first = std::min(first, step);
  last = std::max(last, step);
}

bool MicrobatchLiveness::Span::overlaps(const Span &other) const {
  return first <= other.last && other.first <= last;
}

MicrobatchLiveness::MicrobatchLiveness(const ModelFacts &facts, int position,
                                       bool isShared)
    : facts(&facts), steps(&facts.pipeline.positions[position]),
      spans(isShared ? 1 : facts.microbatches) {}

/// Adds each program step that runs `function` for microbatch m to the live
/// range of microbatch m. Some functions run only once for the whole batch,
/// such as the update of the weights. The run of such a function extends the
/// live range of the last microbatch: of microbatch 3 if there are four.
void MicrobatchLiveness::addRuns(mlir::func::FuncOp function) {
  const bool runsOnce = pipe::runsOnce(function);
  for (auto [index, step] : llvm::enumerate(*steps))
    if (step.kind == plan::ProgramStep::Compute &&
        step.action.stage == pipe::stageOf(function) &&
        facts->functionOf(step.action) == function)
      spanOf(runsOnce ? static_cast<int>(spans.size()) - 1
                      : step.action.microbatch)
          .add(index);
}

void MicrobatchLiveness::addMessages(
    std::vector<plan::Message> plan::ProgramStep::*side, int transfer) {
  for (auto [index, step] : llvm::enumerate(*steps))
    for (const plan::Message &message : step.*side)
      if (message.transfer == transfer)
        spanOf(message.microbatch).add(index);
}

void MicrobatchLiveness::addReceives(int transfer) {
  addMessages(&plan::ProgramStep::receives, transfer);
}

void MicrobatchLiveness::addSends(int transfer) {
  addMessages(&plan::ProgramStep::sends, transfer);
}

void MicrobatchLiveness::addEnd() {
  for (Span &span : spans)
    span.add(steps->size());
}

bool MicrobatchLiveness::collides(int32_t slots) const {
  for (size_t m = 0; m < spans.size(); ++m)
    for (size_t other = m + slots; other < spans.size(); other += slots)
      if (spans[m].overlaps(spans[other]))
        return true;
  return false;
}

/// Tries 1, 2, 3, ... slots (copies of the value) until no two live
/// microbatches share a slot. One slot per microbatch always suffices.
int32_t MicrobatchLiveness::count() const {
  int32_t slots = 1;
  while (collides(slots))
    ++slots;
  return slots;
}

/// Returns the instants at which the value is live during step number `step` of
/// the program. An instant is the number of an instruction, a post (start of
/// messages) or a wait for messages. A step is a post, a wait, or a run of a
/// function.
///
/// If the step is a post or a wait, the result is its own instant. If the step
/// runs a function, the result is the range of the instants of the function's
/// instructions. The range is shorter in two cases:
///
/// - The step is the first step of the live range `span`, and the function
///   contains the first instruction that uses the value. The range then begins
///   at this instruction.
/// - The step is the last step of `span`, and the function contains the last
///   instruction that uses the value. The range then ends at this instruction.
///
/// Example: the function has the instructions 5 to 9, and the instructions 7 to
/// 12 use the value. For the first step of `span`, the result is [7, 9].
Instants MicrobatchLiveness::heldAt(size_t step, const Span &span,
                                    const InstantLine &line,
                                    const Instants &touched) const {
  if ((*steps)[step].kind != plan::ProgramStep::Compute)
    return {line.exchanges[step], line.exchanges[step]};
  Instants held = line.functions.at(facts->functionOf((*steps)[step].action));
  if (step == span.first && held.contains(touched.first))
    held.first = touched.first;
  if (step == span.last && held.contains(touched.last))
    held.last = touched.last;
  return held;
}

/// Returns the ranges of `list` in ascending order. Merges ranges that overlap
/// or are adjacent.
static std::vector<Instants> joined(std::vector<Instants> list) {
  llvm::sort(list, [](const Instants &left, const Instants &right) {
    return left.first < right.first;
  });
  std::vector<Instants> result;
  for (const Instants &next : list)
    if (result.empty() || next.first > result.back().last + 1)
      result.push_back(next);
    else
      result.back().add(next.last);
  return result;
}

std::vector<Instants>
MicrobatchLiveness::heldIn(int32_t slot, int32_t slots, const InstantLine &line,
                           const Instants &touched) const {
  std::vector<Instants> held;
  for (size_t m = slot; m < spans.size(); m += slots)
    for (size_t step = spans[m].first;
         step <= spans[m].last && step < steps->size(); ++step)
      held.push_back(heldAt(step, spans[m], line, touched));
  return joined(std::move(held));
}

std::vector<plan::ArenaPiece>
MicrobatchLiveness::pieces(const InstantLine &line, const Instants &touched,
                           int32_t slots, uint64_t stride) const {
  std::vector<plan::ArenaPiece> result;
  std::vector<Instants> before;
  for (int32_t slot = 0; slot < slots; ++slot) {
    const uint64_t begin = slot * stride, end = begin + stride;
    std::vector<Instants> held = heldIn(slot, slots, line, touched);
    // If this slot is live at the same instants as the previous slot, do not
    // add byte ranges for this slot. Extend the byte ranges of the previous
    // slot instead. Example: slot 0 has the bytes [0, 64). The extended range
    // [0, 128) also covers slot 1.
    if (slot > 0 && held == before) {
      for (size_t i = 0; i < held.size(); ++i)
        result.rbegin()[i].end = end;
      continue;
    }
    for (const Instants &instants : held)
      result.push_back({instants.first, instants.last, begin, end});
    before = std::move(held);
  }
  return result;
}
