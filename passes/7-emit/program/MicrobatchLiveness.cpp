//===- MicrobatchLiveness.cpp - liveness across actions -------------------===//

#include "passes/7-emit/program/MicrobatchLiveness.h"
#include "dialects/pipe/PipeDialect.h"
#include "passes/7-emit/program/ArenaUse.h"

using namespace pcc;
using namespace pcc::emit;

void Instants::add(size_t instant) {
  first = std::min(first, instant);
  last = std::max(last, instant);
}

InstantLine::InstantLine(const plan::PositionProgram &steps) {
  for (const plan::ProgramStep &step : steps) {
    exchangesBefore.push_back(now);
    now += step.kind != plan::ProgramStep::Compute;
  }
  exchangesBefore.push_back(now);
}

//===----------------------------------------------------------------------===//
// StepIndex
//===----------------------------------------------------------------------===//

StepIndex::StepIndex(const ModelFacts &facts, int position)
    : sends(facts.transfers.size()), receives(facts.transfers.size()) {
  for (auto [number, step] :
       llvm::enumerate(facts.pipeline.positions[position])) {
    mlir::Operation *function = nullptr;
    if (step.kind == plan::ProgramStep::Compute) {
      function = facts.functionOf(step.action);
      runs[function].push_back({number, step.action.microbatch});
    }
    functions.push_back(function);
    for (const plan::Message &message : step.sends)
      sends[message.transfer].push_back({number, message.microbatch});
    for (const plan::Message &message : step.receives)
      receives[message.transfer].push_back({number, message.microbatch});
  }
}

llvm::ArrayRef<StepIndex::MicrobatchStep>
StepIndex::runsOf(mlir::Operation *function) const {
  auto found = runs.find(function);
  return found == runs.end() ? llvm::ArrayRef<MicrobatchStep>()
                             : llvm::ArrayRef(found->second);
}

bool StepIndex::runsWithin(mlir::Operation *function, size_t first,
                           size_t last) const {
  const llvm::ArrayRef<MicrobatchStep> list = runsOf(function);
  const auto *next = llvm::partition_point(
      list, [&](const MicrobatchStep &run) { return run.step < first; });
  return next != list.end() && next->step <= last;
}

//===----------------------------------------------------------------------===//
// MicrobatchLiveness
//===----------------------------------------------------------------------===//

void MicrobatchLiveness::Span::add(size_t step) {
  first = std::min(first, step);
  last = std::max(last, step);
}

/// If `function` runs once per step, such as the optimizer update, extends only
/// the live range of the last microbatch.
void MicrobatchLiveness::addRuns(mlir::func::FuncOp function) {
  if (!pipe::runsOnce(function))
    return addSteps(index->runsOf(function));
  for (const auto &[step, _] : index->runsOf(function))
    spans.back().add(step);
}

void MicrobatchLiveness::addSteps(
    llvm::ArrayRef<StepIndex::MicrobatchStep> list) {
  for (const auto &[step, microbatch] : list)
    spanOf(microbatch).add(step);
}

void MicrobatchLiveness::addReceives(int transfer) {
  addSteps(index->receivesOf(transfer));
}

void MicrobatchLiveness::addSends(int transfer) {
  addSteps(index->sendsOf(transfer));
}

void MicrobatchLiveness::addEnd() {
  for (Span &span : spans)
    span.add(index->size());
}

bool MicrobatchLiveness::collides(int32_t slots) const {
  for (int32_t slot = 0; slot < slots; ++slot) {
    std::vector<Span> sharers;
    for (size_t m = slot; m < spans.size(); m += slots)
      if (spans[m].first <= spans[m].last)
        sharers.push_back(spans[m]);
    llvm::sort(sharers, [](const Span &left, const Span &right) {
      return left.first < right.first;
    });
    for (size_t i = 1; i < sharers.size(); ++i)
      if (sharers[i].first <= sharers[i - 1].last)
        return true;
  }
  return false;
}

/// Tries 1, 2, 3 and more slots. Returns the first number of slots for which no
/// two microbatches need the same slot at the same time. A slot has room for
/// the value of one microbatch. Microbatch m uses slot m % n if there are n
/// slots. One slot per microbatch always suffices.
int32_t MicrobatchLiveness::count() const {
  int32_t slots = 1;
  while (collides(slots))
    ++slots;
  return slots;
}

/// Instants number the points in time of a program. A step that starts messages
/// or waits for messages has one instant. A step that runs a function has one
/// instant per instruction. In the first step of `span`, the value is live from
/// its first use on. In the last step of `span`, the value is live up to its
/// last use. In all other steps, it is live at all instants.
Instants MicrobatchLiveness::heldAt(size_t step, const Span &span,
                                    const InstantLine &line,
                                    const Instants &touched) const {
  mlir::Operation *function = index->functionAt(step);
  if (!function)
    return {line.exchangesBefore[step] + 1, line.exchangesBefore[step] + 1};
  Instants held = line.functions.at(function);
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

void MicrobatchLiveness::addWholeSteps(size_t first, size_t last,
                                       const InstantLine &line,
                                       std::vector<Instants> &held) const {
  const Instants exchanges = {line.exchangesBefore[first] + 1,
                              line.exchangesBefore[last + 1]};
  if (exchanges.first <= exchanges.last)
    held.push_back(exchanges);
  for (const auto &[function, instants] : line.functions)
    if (index->runsWithin(function, first, last))
      held.push_back(instants);
}

std::vector<Instants>
MicrobatchLiveness::heldIn(int32_t slot, int32_t slots, const InstantLine &line,
                           const Instants &touched) const {
  std::vector<Instants> held;
  for (size_t m = slot; m < spans.size(); m += slots) {
    const auto [first, last] = spans[m];
    if (first > last || first >= index->size())
      continue;
    held.push_back(heldAt(first, spans[m], line, touched));
    if (last > first + 1)
      addWholeSteps(first + 1, last - 1, line, held);
    if (last > first && last < index->size())
      held.push_back(heldAt(last, spans[m], line, touched));
  }
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
    // If the preceding slot is in use at the same instants, extend its byte
    // ranges to the end of this slot. These byte ranges are the last elements
    // of `result`.
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

void MicrobatchLiveness::addTo(ArenaUse &use, const InstantLine &line,
                               const Instants &touched, int64_t bytes) const {
  for (const Span &span : spans) {
    if (span.first > span.last || span.first >= index->size())
      continue;
    const bool endsHere = span.last < index->size();
    use.addSpan(span.first, heldAt(span.first, span, line, touched), span.last,
                endsHere ? heldAt(span.last, span, line, touched) : Instants(),
                bytes);
  }
}
