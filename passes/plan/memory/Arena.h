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
  /// Alignment of the offset, a power of two. The arena itself must have the
  /// largest alignment of its buffers.
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

/// Assigns an offset in the arena to each buffer. The arena is one allocation
/// that contains all buffers. Two buffers may have bytes of the arena in common
/// if these bytes are never alive in both buffers at the same instruction. The
/// function searches for offsets with a small arena.
///
///     offset
///       ^     +-----------+
///       |     |     C     |
///       +-----+-----+-----+
///       |     A     |  B  |
///       +-----------+-----+--> instruction
///
/// In the picture, A and B share bytes, because A ends before B begins. C is
/// alive at the same time as A and at the same time as B. C shares no bytes.
///
/// The search has three steps:
///
///  1. Only if there are many buffers: go through the instructions in order,
///     allocate each buffer where its life begins, and free it where its life
///     ends.
///  2. Place the buffers in several orders, such as largest buffer first. Each
///     buffer gets an offset at which it overlaps no placed buffer that is
///     alive at the same time. One rule takes the lowest such offset. A second
///     rule takes the smallest gap that is large enough.
///  3. Change each order at random. In most changes, a buffer that ends at the
///     end of the arena is placed earlier. Keep the change if the arena does
///     not become larger. Repeat.
///
/// `effort` limits the search: it is about the largest number of comparisons of
/// a buffer with a placed buffer. 10^8 comparisons take about 0.2 seconds. The
/// result does not depend on the speed of the machine.
ArenaPlan planArena(const std::vector<ArenaBuffer> &buffers,
                    uint64_t effort = 100'000'000);

/// Checks that `plan` is a valid plan for `buffers`. A plan contains the offset
/// of each buffer in the arena. These conditions must be true:
///
///  - The plan has one offset per buffer.
///  - Each offset is a multiple of the alignment of its buffer.
///  - Each buffer lies inside the arena, which has `plan.total` bytes.
///  - Two buffers never use the same byte of the arena at the same instruction.
///    A buffer uses a byte only while the byte is alive, which means that the
///    program still needs its value.
///
/// If a condition is false, the function returns a message about the first
/// violation. If all conditions are true, it returns an empty string. The
/// offsets of empty buffers are not checked.
std::string verifyArena(const std::vector<ArenaBuffer> &buffers,
                        const ArenaPlan &plan);

} // namespace pcc::plan

#endif // PCC_PASSES_PLAN_MEMORY_ARENA_H
