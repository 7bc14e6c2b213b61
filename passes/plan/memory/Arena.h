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
  /// Byte offsets of the live bytes [begin, end), relative to the beginning of
  /// the buffer.
  uint64_t begin = 0;
  uint64_t end = 0;

  friend bool operator==(const ArenaPiece &, const ArenaPiece &) = default;
};

/// A buffer that is alive from instruction `first` to instruction `last`, both
/// included. Values that share storage (in-place results) are one buffer.
struct ArenaBuffer {
  size_t first = 0;
  size_t last = 0;
  /// Bytes of the buffer. A buffer of size 0 gets the offset 0.
  uint64_t size = 0;
  /// Alignment of the offset: a power of two. The arena itself must be aligned
  /// to the largest alignment of its buffers.
  uint64_t alignment = 64;
  /// The live parts of the buffer, if different parts are alive at different
  /// times. For example, a buffer may have one slot (range of bytes) per
  /// microbatch. Other buffers may use the bytes while they are not alive. If
  /// empty, the whole buffer is alive from `first` to `last`.
  std::vector<ArenaPiece> pieces = {};
};

/// Result of planArena: the offset of every buffer, and the size of the arena
/// (one allocation that contains all buffers).
struct ArenaPlan {
  /// Element i is the offset of buffer i, in bytes from the beginning of the
  /// arena.
  std::vector<uint64_t> offsets;
  /// Bytes of the arena.
  uint64_t total = 0;
  /// Largest number of bytes that are alive at one instruction, without padding
  /// for alignment. No arena can be smaller, so `total == lowerBound` proves
  /// that the plan is optimal.
  uint64_t lowerBound = 0;
};

/// Assigns offsets in one allocation, the arena, to all buffers. No byte of the
/// arena is alive in two buffers at one instruction. The arena is made small:
///
///   offset            Places the buffers one after another. Each buffer goes
///     ^  +--+         into the lowest (or smallest) gap large enough between
///     |  |C +-----+   the placed buffers that are alive at the same time.
///     |  +--+ D   |   Several orders of placement are tried, such as largest
///     +-----+--+--+   buffer first or longest live range first. Then a hill
///     |  A  | B  |    climb changes each order: a buffer that ends at the top
///     +-----+----+--> of the arena is placed earlier.
///            instruction
///
/// `effort` limits the number of comparisons of a buffer with a placed one
/// (10^8 comparisons take about 0.2 s). A limit in seconds would make the
/// result depend on the machine. At least one order is always tried. The search
/// stops as soon as the arena has the size of the lower bound.
ArenaPlan planArena(const std::vector<ArenaBuffer> &buffers,
                    uint64_t effort = 100'000'000);

/// Checks a plan of planArena by a sweep over the instructions. The sweep
/// shares no code with planArena. Returns an empty string if every buffer is
/// aligned, lies inside of `plan.total` bytes and shares no live byte with
/// another buffer. Otherwise returns a message about the first violation.
std::string verifyArena(const std::vector<ArenaBuffer> &buffers,
                        const ArenaPlan &plan);

} // namespace pcc::plan

#endif // PCC_PASSES_PLAN_MEMORY_ARENA_H
