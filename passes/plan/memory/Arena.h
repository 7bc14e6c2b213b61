//===- Arena.h - offsets of buffers in one static arena -------------------===//

#ifndef PCC_PASSES_PLAN_MEMORY_ARENA_H
#define PCC_PASSES_PLAN_MEMORY_ARENA_H

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace pcc::plan {

/// Bytes [begin, end) of a buffer that hold something from instruction `first`
/// to `last`, both included.
struct ArenaPiece {
  size_t first = 0;
  size_t last = 0;
  uint64_t begin = 0;
  uint64_t end = 0;

  friend bool operator==(const ArenaPiece &, const ArenaPiece &) = default;
};

/// A buffer that holds its bytes from instruction `first` to `last`, both
/// included. Values that share storage (in-place results) are one buffer.
struct ArenaBuffer {
  size_t first = 0;
  size_t last = 0;
  uint64_t size = 0;
  /// Power of two; the arena itself starts at the largest of them.
  uint64_t alignment = 64;
  /// Where only parts are held at a time; others may use the rest meanwhile.
  /// None: all of it from first to last.
  std::vector<ArenaPiece> pieces = {};
};

/// Where every buffer lies.
struct ArenaPlan {
  std::vector<uint64_t> offsets;
  /// Bytes of the arena.
  uint64_t total = 0;
  /// Largest sum of the bytes that are held at one instruction: no plan is
  /// smaller. Alignment is not counted.
  uint64_t lowerBound = 0;
};

/// Places buffers so that two that are alive at the same instruction never
/// share a byte, and the arena is small.
///
///   offset            Buffers are placed one after another, each in the lowest
///     ^  +--+         or tightest gap between those alive at the same time.
///     |  |C +-----+   The order decides: fullest instruction first (fits
///     |  +--+ D   |   exactly where that instruction alone sets the bound),
///     +-----+--+--+   size, length, area, time; then hill climbing on the
///     |  A  | B  |    each of these orders in turn, which moves the buffers
///     +-----+----+--> that stick out to an earlier turn.
///
/// Deterministic: `effort` bounds the number of neighbours looked at, not time
/// (10^8 is about 0.2 s; at least one order is always tried). Stops early as
/// soon as the bound is reached.
ArenaPlan planArena(const std::vector<ArenaBuffer> &buffers,
                    uint64_t effort = 100'000'000);

/// Largest sum of the bytes held at one instruction.
uint64_t liveBound(const std::vector<ArenaBuffer> &buffers);

/// Checks a plan by a sweep over time that shares no code with the planner:
/// empty if every buffer is aligned, inside `total`, and alone on its bytes;
/// else what is wrong.
std::string verifyArena(const std::vector<ArenaBuffer> &buffers,
                        const ArenaPlan &plan);

} // namespace pcc::plan

#endif // PCC_PASSES_PLAN_MEMORY_ARENA_H
