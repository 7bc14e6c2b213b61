//===- TransferSlots.cpp - how many microbatches of a value are held ------===//

#include "passes/7-emit/program/TransferSlots.h"

using namespace pcc;
using namespace pcc::emit;

void TransferSlots::Span::add(size_t step) {
  first = std::min(first, step);
  last = std::max(last, step);
}

bool TransferSlots::Span::overlaps(const Span &other) const {
  return first <= other.last && other.first <= last;
}

TransferSlots::TransferSlots(const ModelFacts &facts, int position)
    : steps(&facts.pipeline.positions[position]), spans(facts.microbatches) {}

void TransferSlots::addActions(int stage) {
  for (auto [index, step] : llvm::enumerate(*steps))
    if (!step.isExchange && step.action.stage == stage &&
        step.action.microbatch >= 0)
      spans[step.action.microbatch].add(index);
}

void TransferSlots::addMessages(
    std::vector<plan::Message> plan::ProgramStep::*side, int transfer) {
  for (auto [index, step] : llvm::enumerate(*steps))
    for (const plan::Message &message : step.*side)
      if (message.transfer == transfer)
        spans[message.microbatch].add(index);
}

void TransferSlots::addReceives(int transfer) {
  addMessages(&plan::ProgramStep::receives, transfer);
}

void TransferSlots::addSends(int transfer) {
  addMessages(&plan::ProgramStep::sends, transfer);
}

bool TransferSlots::collides(int32_t slots) const {
  for (size_t m = 0; m < spans.size(); ++m)
    for (size_t other = m + slots; other < spans.size(); other += slots)
      if (spans[m].overlaps(spans[other]))
        return true;
  return false;
}

int32_t TransferSlots::count() const {
  int32_t slots = 1;
  while (collides(slots))
    ++slots;
  return slots;
}

bool TransferSlots::isHeldLong() const {
  for (const Span &span : spans) {
    size_t actions = 0;
    for (size_t step = span.first; step <= span.last && span.last > 0; ++step)
      actions += !(*steps)[step].isExchange;
    if (actions > 1)
      return true;
  }
  return false;
}
