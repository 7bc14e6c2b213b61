//===- Arena.h - liveness-based offsets of buffers in a static arena ------===//
//
// Assigns every buffer of a program an offset in one arena. Buffers share bytes
// if they are never alive at the same instruction (liveness-based arena
// planning; also known as dynamic storage allocation). Live ranges are given as
// instruction indices; the planner knows nothing about instructions.
//
//===----------------------------------------------------------------------===//

#ifndef PCC_PASSES_PLAN_MEMORY_ARENA_H
#define PCC_PASSES_PLAN_MEMORY_ARENA_H

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace pcc::plan {

/// Bytes [begin, end) of a buffer that are alive from instruction `first` to
/// instruction `last`, both included.
struct ArenaPiece {
  size_t first = 0;
  size_t last = 0;
  /// Live bytes [begin, end), relative to the start of the buffer.
  uint64_t begin = 0;
  uint64_t end = 0;

  friend bool operator==(const ArenaPiece &, const ArenaPiece &) = default;
};

/// A buffer that is alive from instruction `first` to instruction `last`, both
/// included. Values that share storage are one buffer.
struct ArenaBuffer {
  size_t first = 0;
  size_t last = 0;
  /// Bytes of the buffer. A buffer of size 0 gets the offset 0.
  uint64_t size = 0;
  /// Alignment in bytes of the buffer's offset in the arena, a power of two.
  /// The arena itself must have the largest alignment of its buffers.
  uint64_t alignment = 64;
  /// Parts of the buffer that are alive at different times, such as one range
  /// of bytes per microbatch. If empty, the whole buffer is alive from `first`
  /// to `last`.
  std::vector<ArenaPiece> pieces = {};
};

/// Result of planArena. The arena is one allocation that contains all buffers.
struct ArenaPlan {
  /// Offset of each buffer, in bytes from the start of the arena.
  std::vector<uint64_t> offsets;
  /// Bytes of the arena.
  uint64_t total = 0;
  /// Lower bound of `total`: the largest number of bytes that are alive at one
  /// instruction. A byte of a buffer is alive if the program still needs its
  /// value. Bytes that only align buffers do not count. If `total` is equal to
  /// `lowerBound`, no smaller arena exists.
  uint64_t lowerBound = 0;
};

/// Assigns each buffer an offset in the arena, and searches for a small arena.
/// Two buffers may share bytes that are never alive in both buffers at once.
/// The search ends at the latest after about `effort` comparisons of two
/// buffers. 10^8 comparisons take about 0.2 s. Since `effort` is a count and
/// not a time, the result does not depend on the speed of the machine.
ArenaPlan planArena(const std::vector<ArenaBuffer> &buffers,
                    uint64_t effort = 100'000'000);

/// Checks that `plan` is a valid plan for `buffers`. There must be one offset
/// per buffer. Each buffer must be aligned and lie inside the arena. Two
/// buffers must never use the same byte at the same instruction. Returns a
/// message about the first violation, or an empty string. Does not check the
/// offsets of empty buffers.
std::string verifyArena(const std::vector<ArenaBuffer> &buffers,
                        const ArenaPlan &plan);

} // namespace pcc::plan

#endif // PCC_PASSES_PLAN_MEMORY_ARENA_H
