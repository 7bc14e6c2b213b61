//===- ArenaUse.cpp - bytes in use at each step of a program --------------===//

#include "passes/7-emit/program/ArenaUse.h"

using namespace pcc;
using namespace pcc::emit;

ArenaUse::ArenaUse(const InstantLine &line, const StepIndex &index)
    : line(line), index(index), partial(index.size()),
      throughout(index.size() + 1), behind(index.size() + 1) {
  for (const auto &[function, instants] : line.functions)
    functionAt[instants.first] = function;
}

void ArenaUse::addTemporary(const Instants &touched, int64_t bytes) {
  auto next = functionAt.upper_bound(touched.first);
  mlir::Operation *function =
      next == functionAt.begin() ? nullptr : std::prev(next)->second;
  if (!function || !line.functions.at(function).contains(touched.last))
    return addWhole(bytes);
  temporaries[function].push_back({touched.first, touched.last, bytes});
}

void ArenaUse::addSpan(size_t first, const Instants &atFirst, size_t last,
                       const Instants &atLast, int64_t bytes) {
  partial[first].push_back({atFirst.first, atFirst.last, bytes});
  if (first == last)
    return;
  throughout[first + 1] += bytes;
  throughout[last] -= bytes;
  behind[first] += bytes;
  behind[last] -= bytes;
  if (last < index.size())
    partial[last].push_back({atLast.first, atLast.last, bytes});
}

int64_t ArenaUse::peakOf(llvm::ArrayRef<Piece> pieces) {
  std::map<size_t, int64_t> changes;
  for (const auto &[first, last, bytes] : pieces) {
    changes[first] += bytes;
    changes[last + 1] -= bytes;
  }
  int64_t sum = 0, peak = 0;
  for (const auto &[instant, change] : changes)
    peak = std::max(peak, sum += change);
  return peak;
}

/// Each step runs one function. Many steps run the same function with equal
/// lists of pieces (bytes in use from one instant to another). The peak of each
/// different pair of function and list is computed only once, and is stored in
/// `peaks`.
std::vector<ArenaUse::StepBytes> ArenaUse::compute() const {
  std::vector<StepBytes> result(index.size());
  std::map<std::pair<mlir::Operation *, std::vector<Piece>>, int64_t> peaks;
  int64_t during = whole, after = whole;
  for (size_t step = 0; step < index.size(); ++step) {
    mlir::Operation *function = index.functionAt(step);
    std::vector<Piece> own = partial[step];
    llvm::sort(own);
    auto [peak, isNew] = peaks.try_emplace({function, own});
    if (isNew) {
      if (auto found = temporaries.find(function); found != temporaries.end())
        llvm::append_range(own, found->second);
      peak->second = peakOf(own);
    }
    during += throughout[step];
    after += behind[step];
    result[step] = {during + peak->second, after};
  }
  return result;
}
