//===- Arena.cpp - liveness-based offsets of buffers in a static arena ----===//

#include "passes/plan/memory/Arena.h"
#include "status/Counted.h"

#include <algorithm>
#include <bit>
#include <cassert>
#include <functional>
#include <limits>
#include <map>
#include <numeric>
#include <set>
#include <tuple>
#include <utility>

namespace pcc::plan {
namespace {

constexpr uint64_t unbounded = std::numeric_limits<uint64_t>::max();

uint64_t alignUp(uint64_t offset, uint64_t alignment) {
  assert((alignment & (alignment - 1)) == 0 && "not a power of two");
  return alignment <= 1 ? offset
                        : (offset + alignment - 1) / alignment * alignment;
}

/// Returns the pieces of `buffer`. A piece is a range of bytes of the buffer
/// that is alive during a range of instructions. If the list `buffer.pieces` is
/// empty, all bytes of the buffer are alive during the same instructions. The
/// result is then one piece: all bytes of the buffer, alive from the
/// instruction `buffer.first` to the instruction `buffer.last`.
std::vector<ArenaPiece> piecesOf(const ArenaBuffer &buffer) {
  if (!buffer.pieces.empty())
    return buffer.pieces;
  return {{buffer.first, buffer.last, 0, buffer.size}};
}

/// Rule by which findGap() chooses among the gaps that are large enough for a
/// buffer: `First` takes the lowest offset, and `Best` takes the smallest gap.
/// A gap is a range of bytes that is free while the buffer is alive.
enum class Fit { First, Best };

/// Sparse table for the largest number of live bytes in a range of
/// instructions. levels[k][i] is the maximum of the live bytes at the 2^k
/// entries of `times` from entry i on. `times` has only the instructions at
/// which a buffer or a part of it becomes alive, because the live bytes grow
/// only there.
class LiveProfile {
public:
  /// Fills `times` and `levels` for `buffers`. levels[0] has the live bytes at
  /// each entry of `times`. Level k + 1 is computed from level k: levels[k +
  /// 1][i] = max(levels[k][i], levels[k][i + 2^k]). A level without entries is
  /// not stored.
  explicit LiveProfile(const std::vector<ArenaBuffer> &buffers) {
    std::map<size_t, uint64_t> begun, ended;
    for (const ArenaBuffer &buffer : buffers)
      for (const ArenaPiece &piece : piecesOf(buffer)) {
        begun[piece.first] += piece.end - piece.begin;
        ended[piece.last + 1] += piece.end - piece.begin;
      }
    levels.emplace_back();
    uint64_t live = 0;
    auto end = ended.begin();
    for (const auto &[time, bytes] : begun) {
      for (; end != ended.end() && end->first <= time; ++end)
        live -= end->second;
      live += bytes;
      times.push_back(time);
      levels[0].push_back(live);
    }
    for (size_t width = 1; 2 * width <= times.size(); width *= 2) {
      const std::vector<uint64_t> &below = levels.back();
      std::vector<uint64_t> level(times.size() - 2 * width + 1);
      for (size_t i = 0; i < level.size(); ++i)
        level[i] = std::max(below[i], below[i + width]);
      levels.push_back(std::move(level));
    }
  }

  /// Returns the largest number of live bytes at the instructions at which
  /// `buffer` is alive. The live bytes at an instruction are the bytes of all
  /// buffers that are alive at this instruction, added up. For example, if
  /// `buffer` has 10 bytes, and a buffer of 30 bytes is alive at one of these
  /// instructions, the result is at least 40.
  uint64_t most(const ArenaBuffer &buffer) const {
    uint64_t bytes = 0;
    for (const ArenaPiece &piece : piecesOf(buffer))
      bytes = std::max(bytes, most(piece.first, piece.last));
    return bytes;
  }

  /// Returns the largest number of live bytes at any instruction.
  uint64_t most() const {
    return levels[0].empty()
               ? 0
               : *std::max_element(levels[0].begin(), levels[0].end());
  }

private:
  /// Returns the largest number of live bytes at the instructions [first,
  /// last], both included. `first` must be an entry of `times`. The function
  /// reads two entries of one level. They cover the first 2^k and the last 2^k
  /// of the instructions of `times` in the range, and may overlap. For example,
  /// for 3 instructions with 3, 5 and 4 live bytes, the entries of levels[1]
  /// are max(3, 5) and max(5, 4).
  uint64_t most(size_t first, size_t last) const {
    auto at = [&](size_t time) {
      return static_cast<size_t>(
          std::upper_bound(times.begin(), times.end(), time) - times.begin());
    };
    const size_t low = at(first) - 1, high = at(last);
    const size_t level = std::bit_width(high - low) - 1;
    return std::max(levels[level][low],
                    levels[level][high - (size_t(1) << level)]);
  }

  /// Instructions at which a piece (a live part of a buffer) begins, ascending.
  std::vector<size_t> times;
  std::vector<std::vector<uint64_t>> levels;
};

/// Allocator of offsets in an arena (best fit). It allocates no memory. The map
/// `byOffset` serves to merge adjacent free blocks. The set `bySize` serves to
/// find the smallest block that is large enough.
class FreeBlocks {
public:
  /// Takes `size` free bytes of the arena. Returns the offset of the first of
  /// these bytes. The function uses the smallest free block that has at least
  /// `size` bytes. The other bytes of this block stay free. If all free blocks
  /// are smaller, the function makes the arena larger.
  uint64_t take(uint64_t size) {
    auto fitting = bySize.lower_bound({size, 0});
    if (fitting == bySize.end())
      return grow(size);
    const auto [bytes, offset] = *fitting;
    erase(offset, bytes);
    if (bytes > size)
      insert(offset + size, bytes - size);
    return offset;
  }

  /// Makes the `size` bytes at the offset `offset` free again. An earlier call
  /// take(size) has returned `offset`. If the bytes before or after these bytes
  /// are also free, the function merges them into one free block. For example,
  /// the free blocks are the bytes [0, 64) and [128, 192). After the call
  /// give(64, 64), there is one free block, the bytes [0, 192).
  void give(uint64_t offset, uint64_t size) {
    auto next = byOffset.lower_bound(offset);
    if (next != byOffset.end() && next->first == offset + size) {
      size += next->second;
      erase(next->first, next->second);
    }
    next = byOffset.lower_bound(offset);
    if (next != byOffset.begin())
      if (const auto [begin, bytes] = *std::prev(next);
          begin + bytes == offset) {
        erase(begin, bytes);
        offset = begin;
        size += bytes;
      }
    insert(offset, size);
  }

  /// Returns the bytes of the arena.
  uint64_t total() const { return end; }

private:
  /// Makes the arena larger, takes its last `size` bytes, and returns their
  /// offset. If the arena ends with a free block, this block is a part of the
  /// taken bytes, so the arena grows by fewer than `size` bytes. The free block
  /// must have fewer than `size` bytes.
  uint64_t grow(uint64_t size) {
    uint64_t begin = end;
    if (!byOffset.empty())
      if (const auto [offset, bytes] = *byOffset.rbegin();
          offset + bytes == end) {
        begin = offset;
        erase(offset, bytes);
      }
    end = begin + size;
    return begin;
  }
  void insert(uint64_t offset, uint64_t size) {
    byOffset[offset] = size;
    bySize.insert({size, offset});
  }
  void erase(uint64_t offset, uint64_t size) {
    byOffset.erase(offset);
    bySize.erase({size, offset});
  }

  std::map<uint64_t, uint64_t> byOffset;
  std::set<std::pair<uint64_t, uint64_t>> bySize;
  uint64_t end = 0;
};

/// Planner that assigns each buffer an offset in one arena. It places the
/// buffers in different orders, because each order can give an arena of another
/// size. `best` has the offsets of the smallest arena so far, and `bestTotal`
/// its bytes.
class ArenaPlanner {
public:
  ArenaPlanner(const std::vector<ArenaBuffer> &buffers, uint64_t effort)
      : buffers(buffers), profile(buffers), effort(effort) {}

  ArenaPlan run();

private:
  /// Indices of the buffers in the order in which they are placed.
  using Order = std::vector<uint32_t>;

  /// Bytes [begin, end) of the arena that a placed buffer occupies during the
  /// instructions [first, last], both included.
  struct PlacedRange {
    size_t first, last;
    uint64_t begin, end;
  };

  /// State of one hill climb. A hill climb searches for an order of the buffers
  /// that gives a small arena. The planner places the buffers in the arena one
  /// after another, in the order `order`. It chooses the offset of each buffer
  /// by the rule `fit`. The resulting offsets of the buffers are `offsets`, and
  /// the arena has `total` bytes.
  struct Climb {
    Order order;
    Fit fit;
    uint64_t total;
    std::vector<uint64_t> offsets;
  };
  /// If there are more buffers than this number, run() calls sweep() before it
  /// calls place(). Both functions make plans. For n buffers, the time of
  /// sweep() is proportional to n log n, and the time of place() is
  /// proportional to n^2.
  static constexpr size_t manyBuffers = 2048;
  /// Number of comparisons that the search may make for each byte that a better
  /// plan could save. A comparison takes about 2 ns. Example: if a better plan
  /// could save 64 bytes, the search ends after 640,000 comparisons.
  static constexpr uint64_t stepsPerByte = 10'000;
  /// Number of changes that climb() tries for one hill climb, before it
  /// continues with the next hill climb. A hill climb searches for a good order
  /// in which the planner places the buffers in the arena. It makes a random
  /// change of the order, and keeps the change if the arena does not become
  /// larger. It repeats this many times.
  static constexpr int neighboursPerTurn = 64;

  /// Makes a plan in time O(n log n): takes free bytes for a buffer when it
  /// becomes alive, and frees them after its last instruction. Stores the
  /// offsets in `best` and the bytes of the arena in `bestTotal`.
  void sweep();
  /// Assigns offsets to the buffers in the order `order`, by the rule `fit`,
  /// and stores them in `offsets`. Returns the bytes of the arena. If the arena
  /// exceeds `limit` bytes, stops and returns `unbounded`, with `offsets` not
  /// complete.
  uint64_t place(const Order &order, Fit fit, uint64_t limit);
  /// Returns an offset for `buffer` in a gap: a range of bytes that no placed
  /// buffer uses while `buffer` is alive. If no gap is large enough, returns an
  /// offset after all placed buffers that are alive at the same time. All bytes
  /// of `buffer` must be alive at the same instructions: `buffer.pieces` is
  /// empty.
  uint64_t findGap(const ArenaBuffer &buffer, Fit fit);
  /// Returns the lowest offset in the arena at which `buffer` can be placed.
  /// `buffer` consists of pieces. A piece is a range of bytes of the buffer
  /// that is alive during a range of instructions. At the returned offset, no
  /// piece uses a byte of the arena that a placed buffer uses at the same
  /// instruction.
  uint64_t findLowest(const ArenaBuffer &buffer);
  /// Adds one piece (live part) of a buffer to the list `placed`. `offset` is
  /// the offset of the buffer in the arena. For example, if the piece is the
  /// bytes [64, 128) of the buffer and `offset` is 256, the function adds the
  /// bytes [320, 384) of the arena.
  void add(const ArenaPiece &piece, uint64_t offset);
  /// Makes a plan (an offset of each buffer) in the member `offsets`. `order`
  /// is the order in which the buffers get their offsets, and `fit` chooses one
  /// of several free ranges. Returns the bytes of the arena. If the arena is
  /// the smallest so far, stores the plan in `best` and the bytes in
  /// `bestTotal`. If the arena would get more than `limit` bytes, returns the
  /// largest integer, and `offsets` is not valid.
  uint64_t attempt(const Order &order, Fit fit, uint64_t limit);
  Order neighbour(const Climb &climb);
  void climb(std::vector<Climb> climbs);
  /// Returns whether the search for a small arena must end: no smaller arena
  /// exists, `effort` comparisons are made, or `stepsPerByte` comparisons are
  /// made for each byte that a better plan could save.
  bool done() const {
    return bestTotal <= bound || steps >= effort || isTooMany(steps);
  }
  /// Returns whether `steps` comparisons are more than the bytes are worth that
  /// a better plan than `best` could save.
  bool isTooMany(uint64_t steps) const {
    return steps / stepsPerByte >= bestTotal - bound;
  }
  /// Returns a pseudo-random number below `count`.
  uint32_t below(size_t count);

  /// Returns the indices of all non-empty buffers. key(i) returns a number, or
  /// a tuple of numbers, for the buffer with the index i. The result begins
  /// with the buffer that has the smallest key. If two buffers have equal keys,
  /// the buffer with the smaller index comes first. For example, if three
  /// buffers have the keys 64, 32 and 16, the result is 2, 1, 0.
  template <typename Key> Order orderBy(Key &&key) const {
    using KeyType = decltype(key(0u));
    std::vector<std::pair<KeyType, uint32_t>> keyed;
    for (uint32_t i = 0; i < buffers.size(); ++i)
      if (buffers[i].size > 0)
        keyed.push_back({key(i), i});
    std::sort(keyed.begin(), keyed.end());
    Order order;
    for (const auto &[unused, i] : keyed)
      order.push_back(i);
    return order;
  }

  const std::vector<ArenaBuffer> &buffers;
  const LiveProfile profile;
  const uint64_t effort;
  /// Largest number of bytes that are alive at one instruction. No arena can be
  /// smaller. If the planner finds an arena with this number of bytes, it stops
  /// and does not look for a better plan.
  uint64_t bound = 0;
  /// Number of comparisons that findGap() and findLowest() have made for all
  /// plans together. Each comparison compares a buffer with a range of bytes
  /// that another buffer already occupies. When the number reaches `effort`,
  /// the planner stops, and returns the best plan that it has found.
  uint64_t steps = 0;
  /// State of the pseudo-random numbers, with a fixed seed: equal input gives
  /// equal plans.
  uint64_t state = 0x9e3779b97f4a7c15;
  /// Ranges of bytes of the arena that the placed buffers occupy. A placed
  /// buffer is a buffer that already has an offset in the current plan. The
  /// list is sorted by the first byte of each range, the smallest first.
  std::vector<PlacedRange> placed;
  std::vector<uint64_t> offsets, best;
  uint64_t bestTotal = unbounded;
};

/// Returns a pseudo-random integer from 0 to count − 1. The function uses the
/// algorithm xorshift (Marsaglia 2003). It does not use the random numbers of
/// the C++ library, so the numbers are equal on all platforms.
uint32_t ArenaPlanner::below(size_t count) {
  state ^= state << 13;
  state ^= state >> 7;
  state ^= state << 17;
  return static_cast<uint32_t>((state >> 16) % count);
}

/// Returns an offset at which `buffer` overlaps no placed range that is alive
/// at the same time. `placed` must be sorted by the first bytes of the ranges.
/// `free` is the largest end of the visited ranges, so the bytes from `free` to
/// the next range are a gap. With Fit::First, the function uses the first gap
/// that is large enough. With Fit::Best, it uses the smallest such gap. If
/// there is no such gap, the buffer lies after all these ranges.
uint64_t ArenaPlanner::findGap(const ArenaBuffer &buffer, Fit fit) {
  uint64_t free = 0, found = unbounded, smallest = unbounded;
  for (const PlacedRange &other : placed) {
    if (other.last < buffer.first || other.first > buffer.last)
      continue;
    const uint64_t begin = alignUp(free, buffer.alignment);
    if (begin + buffer.size <= other.begin && other.begin - free < smallest) {
      found = begin;
      smallest = other.begin - free;
      if (fit == Fit::First)
        break;
    }
    free = std::max(free, other.end);
  }
  steps += placed.size() + 1;
  return found == unbounded ? alignUp(free, buffer.alignment) : found;
}

/// Returns the lowest multiple of `buffer.alignment` at which no piece of
/// `buffer` has a byte in common with a placed range at the same instruction.
/// If a piece overlaps a placed range, the offset grows until the piece lies
/// after the range. The search ends after a pass over all pieces and placed
/// ranges without such an overlap. For example, a piece of 64 bytes and the
/// ranges [0, 64) and [64, 128), alive at the same time, give the offset 128.
uint64_t ArenaPlanner::findLowest(const ArenaBuffer &buffer) {
  uint64_t offset = 0;
  for (bool moved = true; std::exchange(moved, false);)
    for (const ArenaPiece &piece : buffer.pieces) {
      for (const PlacedRange &other : placed) {
        if (other.last < piece.first || other.first > piece.last ||
            other.end <= offset + piece.begin ||
            other.begin >= offset + piece.end)
          continue;
        offset = alignUp(other.end - piece.begin, buffer.alignment);
        moved = true;
      }
      steps += placed.size() + 1;
    }
  return offset;
}

void ArenaPlanner::add(const ArenaPiece &piece, uint64_t offset) {
  auto where =
      std::upper_bound(placed.begin(), placed.end(), offset + piece.begin,
                       [](uint64_t begin, const PlacedRange &other) {
                         return begin < other.begin;
                       });
  placed.insert(where, {piece.first, piece.last, offset + piece.begin,
                        offset + piece.end});
}

void ArenaPlanner::sweep() {
  uint64_t alignment = 1;
  for (const ArenaBuffer &buffer : buffers)
    alignment = std::max(alignment, buffer.alignment);
  auto bytesOf = [&](uint32_t i) {
    return alignUp(buffers[i].size, alignment);
  };
  // Events (instruction, begins, buffer). If `begins` is true, the buffer
  // becomes alive at the instruction. If `begins` is false, the buffer is not
  // alive from this instruction on. Events of one instruction are sorted by
  // `begins`: false comes first, so the bytes of an ended buffer can be taken
  // again.
  std::vector<std::tuple<size_t, bool, uint32_t>> events;
  for (uint32_t i = 0; i < buffers.size(); ++i)
    if (buffers[i].size > 0) {
      events.push_back({buffers[i].first, true, i});
      events.push_back({buffers[i].last + 1, false, i});
    }
  std::sort(events.begin(), events.end());
  FreeBlocks blocks;
  best.assign(buffers.size(), 0);
  for (const auto &[time, begins, i] : events)
    if (begins)
      best[i] = blocks.take(bytesOf(i));
    else
      blocks.give(best[i], bytesOf(i));
  bestTotal = blocks.total();
}

uint64_t ArenaPlanner::place(const Order &order, Fit fit, uint64_t limit) {
  placed.clear();
  offsets.assign(buffers.size(), 0);
  uint64_t total = 0;
  for (uint32_t index : order) {
    const ArenaBuffer &buffer = buffers[index];
    const uint64_t offset =
        buffer.pieces.empty() ? findGap(buffer, fit) : findLowest(buffer);
    offsets[index] = offset;
    total = std::max(total, offset + buffer.size);
    if (total > limit)
      return unbounded;
    for (const ArenaPiece &piece : piecesOf(buffer))
      add(piece, offset);
  }
  return total;
}

uint64_t ArenaPlanner::attempt(const Order &order, Fit fit, uint64_t limit) {
  const uint64_t total = place(order, fit, limit);
  if (total < bestTotal) {
    bestTotal = total;
    best = offsets;
  }
  return total;
}

/// Returns a copy of `climb.order` with random changes. The function chooses a
/// random buffer that ends at the end of the arena, and moves it to an earlier
/// position in the order. If this buffer is already the first one, the function
/// exchanges it with a random buffer. With the probability 1/2, the function
/// also exchanges two random buffers. For example, 4, 7, 2, 9 can become 2, 4,
/// 7, 9 if buffer 2 is at the end of the arena.
ArenaPlanner::Order ArenaPlanner::neighbour(const Climb &climb) {
  std::vector<size_t> top;
  for (size_t turn = 0; turn < climb.order.size(); ++turn) {
    const uint32_t i = climb.order[turn];
    if (climb.offsets[i] + buffers[i].size == climb.total)
      top.push_back(turn);
  }
  Order order = climb.order;
  const size_t from = top[below(top.size())];
  const size_t to = from == 0 ? below(order.size()) : below(from);
  if (from > to)
    std::rotate(order.begin() + to, order.begin() + from,
                order.begin() + from + 1);
  else
    std::swap(order[from], order[to]);
  if (below(2))
    std::swap(order[below(order.size())], order[below(order.size())]);
  return order;
}

/// Searches for a plan with a smaller arena by hill climbing, until done()
/// returns true. Each entry of `climbs` is a hill climb with its own order of
/// the buffers or its own rule. A step changes the order at random and makes a
/// plan. If the arena does not become larger, the hill climb keeps the new
/// order. After `neighboursPerTurn` steps, the next hill climb continues.
void ArenaPlanner::climb(std::vector<Climb> climbs) {
  for (size_t turn = 0; !done(); turn = (turn + 1) % climbs.size()) {
    Climb &climb = climbs[turn];
    for (int i = 0; i < neighboursPerTurn && !done(); ++i) {
      Order order = neighbour(climb);
      const uint64_t total = attempt(order, climb.fit, climb.total);
      if (total > climb.total)
        continue;
      climb = {std::move(order), climb.fit, total, offsets};
    }
  }
}

/// Searches for a plan with a small arena. The plan of sweep(), which compares
/// no buffers, is the only one if one call of place() would make more than
/// `effort` comparisons, or more than the bytes are worth that are left to
/// save. If not, place() makes plans from six orders and two rules, and climb()
/// improves them.
ArenaPlan ArenaPlanner::run() {
  bound = profile.most();
  if (bound == 0)
    return {std::vector<uint64_t>(buffers.size(), 0), 0, 0};
  // One call of place() compares each buffer with those placed before it.
  const uint64_t placeSteps = uint64_t(buffers.size()) * buffers.size() / 2;
  if (placeSteps > effort || buffers.size() > manyBuffers) {
    sweep();
    if (placeSteps > effort || isTooMany(placeSteps))
      return {best, bestTotal, bound};
  }
  // orderBy() puts the buffer with the smallest tuple first. `down` inverts the
  // bits of a number, and thus puts the largest number first.
  auto down = [](uint64_t value) { return ~value; };
  auto size = [&](uint32_t i) { return buffers[i].size; };
  auto length = [&](uint32_t i) {
    return uint64_t(buffers[i].last - buffers[i].first + 1);
  };
  std::vector<Order> orders;
  orders.push_back(orderBy([&](uint32_t i) {
    return std::tuple(down(profile.most(buffers[i])), down(length(i)),
                      down(size(i)));
  }));
  orders.push_back(orderBy([&](uint32_t i) {
    return std::tuple(down(profile.most(buffers[i])), down(size(i)),
                      buffers[i].first);
  }));
  orders.push_back(orderBy([&](uint32_t i) {
    return std::tuple(down(size(i)), down(length(i)), buffers[i].first);
  }));
  orders.push_back(orderBy([&](uint32_t i) {
    return std::tuple(down(length(i)), down(size(i)), buffers[i].first);
  }));
  orders.push_back(orderBy([&](uint32_t i) {
    return std::tuple(-double(size(i)) * double(length(i)), buffers[i].first);
  }));
  orders.push_back(orderBy([&](uint32_t i) {
    return std::tuple(buffers[i].first, down(length(i)), down(size(i)));
  }));
  std::vector<Climb> climbs;
  for (const Order &order : orders)
    for (Fit fit : {Fit::First, Fit::Best}) {
      if (!climbs.empty() && done())
        break;
      const uint64_t total = attempt(order, fit, unbounded);
      climbs.push_back({order, fit, total, offsets});
    }
  climb(std::move(climbs));
  return {best, bestTotal, bound};
}

/// Piece of a buffer in the arena. A piece is a part of a buffer that is alive
/// during a range of instructions. `buffer` is the index of the buffer. The
/// piece occupies the bytes [begin, end) of the arena during the instructions
/// [first, last], both included.
struct PlacedPiece {
  size_t buffer, first, last;
  uint64_t begin, end;
};

std::string describe(const PlacedPiece &piece) {
  return "buffer " + std::to_string(piece.buffer) + " at [" +
         std::to_string(piece.begin) + ", " + std::to_string(piece.end) +
         "), alive at " + std::to_string(piece.first) + " to " +
         std::to_string(piece.last);
}

/// Returns a message about two of the `pieces` (live parts of buffers) that use
/// the same byte of the arena at the same instruction. Returns an empty string
/// if there are none.
std::string findClash(const std::vector<PlacedPiece> &pieces) {
  std::vector<std::tuple<size_t, int, size_t>> events;
  for (size_t i = 0; i < pieces.size(); ++i) {
    events.push_back({pieces[i].first, 1, i});
    events.push_back({pieces[i].last + 1, 0, i});
  }
  std::sort(events.begin(), events.end());
  // Live pieces (parts of buffers) by their first byte. They do not overlap. A
  // new piece that overlaps one of them therefore overlaps its predecessor or
  // successor.
  std::map<uint64_t, size_t> live;
  for (const auto &[time, begins, i] : events) {
    if (!begins) {
      live.erase(pieces[i].begin);
      continue;
    }
    auto next = live.lower_bound(pieces[i].begin);
    auto clash =
        next != live.end() && next->first < pieces[i].end ? next : live.end();
    if (next != live.begin())
      if (auto previous = std::prev(next);
          pieces[previous->second].end > pieces[i].begin)
        clash = previous;
    if (clash != live.end())
      return describe(pieces[i]) + ", overlaps " +
             describe(pieces[clash->second]);
    live[pieces[i].begin] = i;
  }
  return {};
}

} // namespace

ArenaPlan planArena(const std::vector<ArenaBuffer> &buffers, uint64_t effort) {
  assert(std::all_of(buffers.begin(), buffers.end(),
                     [](const ArenaBuffer &buffer) {
                       return buffer.first <= buffer.last;
                     }) &&
         "a buffer that dies before it is made");
  return ArenaPlanner(buffers, effort).run();
}

std::string verifyArena(const std::vector<ArenaBuffer> &buffers,
                        const ArenaPlan &plan) {
  if (plan.offsets.size() != buffers.size())
    return "expected " + std::to_string(buffers.size()) + " offsets, got " +
           std::to_string(plan.offsets.size());
  std::vector<PlacedPiece> pieces;
  for (size_t i = 0; i < buffers.size(); ++i) {
    const uint64_t offset = plan.offsets[i];
    if (buffers[i].size == 0)
      continue;
    const PlacedPiece whole = {i, buffers[i].first, buffers[i].last, offset,
                               offset + buffers[i].size};
    if (offset % std::max<uint64_t>(buffers[i].alignment, 1) != 0)
      return describe(whole) + ", is not aligned to " +
             std::to_string(buffers[i].alignment);
    if (whole.end > plan.total)
      return describe(whole) + ", leaves the arena of " +
             counted(plan.total, "byte");
    for (const ArenaPiece &piece : piecesOf(buffers[i]))
      pieces.push_back({i, piece.first, piece.last, offset + piece.begin,
                        offset + piece.end});
  }
  return findClash(pieces);
}

} // namespace pcc::plan
