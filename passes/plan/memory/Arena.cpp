//===- Arena.cpp - liveness-based offsets of buffers in a static arena ----===//

#include "passes/plan/memory/Arena.h"

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

/// Returns the live pieces of a buffer. A buffer without `pieces` is one piece.
std::vector<ArenaPiece> piecesOf(const ArenaBuffer &buffer) {
  if (!buffer.pieces.empty())
    return buffer.pieces;
  return {{buffer.first, buffer.last, 0, buffer.size}};
}

/// Rule by which findGap() chooses the offset of a buffer. A gap is a range of
/// bytes of the arena that is free while the buffer is alive. Both rules
/// consider only the gaps that are large enough. The rule `First` chooses the
/// gap with the lowest offset. The rule `Best` chooses the smallest gap. For
/// example, a buffer needs 64 bytes, and the gaps are the bytes [0, 256) and
/// [512, 576). With `First`, the buffer gets the offset 0. With `Best`, it gets
/// the offset 512.
enum class Fit { First, Best };

/// Table that gives the largest number of live bytes in a range of
/// instructions. The live bytes at an instruction are the sizes of all pieces
/// that are alive, added up. A piece is a part of a buffer that is alive during
/// a range of instructions.
///
/// The number of live bytes can grow only at an instruction at which a piece
/// begins. The table therefore has one entry for each such instruction. `times`
/// contains the instructions, and `levels` the largest numbers of live bytes.
/// For example, if the live bytes at four such instructions are 3, 5, 4 and 2:
///
///     level 0   3 5 4 2
///     level 1   5 5 4     maxima of 2 adjacent entries of level 0
///     level 2   5         maximum of 4 adjacent entries of level 0
class LiveProfile {
public:
  /// Computes the live bytes by a sweep over all begins and ends of pieces
  /// (live parts of buffers).
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

  /// Returns the largest number of live bytes of all buffers while a piece
  /// (live part) of `buffer` is alive.
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
  /// last], both included. `first` must not lie before the first instruction at
  /// which a piece (live part of a buffer) begins.
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

/// Allocator that assigns the offsets of the blocks in an arena. It allocates
/// no memory. take() returns the offset of a block: the smallest free block
/// that is large enough, or else new bytes at the end of the arena. give()
/// makes a block free again.
///
/// The free blocks are stored in two forms. `byOffset` sorts them by offset, so
/// that adjacent free blocks can be merged. `bySize` sorts them by size, so
/// that the smallest block that is large enough can be found.
class FreeBlocks {
public:
  /// Takes `size` bytes, and returns their offset.
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

  /// Frees bytes that take() has returned.
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
  /// Returns the offset of `size` bytes at the end of the arena, and makes the
  /// arena larger. If the last bytes of the arena are a free block, the new
  /// bytes begin at the beginning of this block.
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

/// Planner that assigns each buffer an offset in the arena. The arena is one
/// allocation that contains all buffers. A plan contains the offsets of all
/// buffers. The planner places the buffers one after another. It repeats this
/// in different orders, because each order can give an arena of another size.
///
/// The planner keeps the plan with the smallest arena. `best` contains the
/// offsets of this plan, and `bestTotal` is the number of bytes of its arena.
/// Before the first plan, `bestTotal` is the largest integer.
class ArenaPlanner {
public:
  ArenaPlanner(const std::vector<ArenaBuffer> &buffers, uint64_t effort)
      : buffers(buffers), profile(buffers), effort(effort),
        isLarge(uint64_t(buffers.size()) * buffers.size() / 2 > effort) {}

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

  /// State of one hill climb: its current order and the plan of that order.
  struct Climb {
    Order order;
    Fit fit;
    uint64_t total;
    std::vector<uint64_t> offsets;
  };
  /// Largest number of buffers for which run() does not call sweep() first.
  /// With more buffers, run() calls sweep() first. The time of sweep() for n
  /// buffers is proportional to n log n, but the time of place() is
  /// proportional to n^2. The plan of sweep() is often the best one.
  static constexpr size_t manyBuffers = 2048;
  /// Number of changed orders that climb() tries for one hill climb before it
  /// continues with the next hill climb. A hill climb is a search that changes
  /// an order again and again, and keeps changes that do not enlarge the arena.
  static constexpr int neighboursPerTurn = 64;

  /// Makes a plan in n log n steps, for n buffers. Goes through the
  /// instructions in order. Takes bytes from a FreeBlocks allocator where a
  /// buffer becomes alive, and gives the bytes back where the buffer ends.
  /// Stores the offsets in `best`, and the bytes of the arena in `bestTotal`.
  void sweep();
  /// Assigns an offset in the arena to each buffer, one buffer after another.
  /// `order` contains the indices of the buffers. `fit` is the rule by which
  /// findGap() chooses one of several free ranges. Stores the offsets in
  /// `offsets`. Returns the bytes of the arena.
  ///
  /// If the arena gets more than `limit` bytes, the function stops and returns
  /// `unbounded`, the largest integer. The caller then ignores `offsets`.
  uint64_t place(const Order &order, Fit fit, uint64_t limit);
  /// Returns an offset for `buffer`, which must not have `pieces`. The offset
  /// lies in a gap between the placed buffers that are alive at the same time.
  /// The gap is large enough for `buffer`. If `fit` is Fit::First, the gap is
  /// the one with the lowest offset. If `fit` is Fit::Best, the gap is the
  /// smallest one.
  uint64_t findGap(const ArenaBuffer &buffer, Fit fit);
  /// Returns the lowest offset in the arena at which `buffer` can be placed.
  /// `buffer` consists of pieces. A piece is a range of bytes of the buffer
  /// that is alive during a range of instructions. At the returned offset, no
  /// piece uses a byte of the arena that a placed buffer uses at the same
  /// instruction.
  uint64_t findLowest(const ArenaBuffer &buffer);
  /// Inserts one piece (live part) of a buffer into `placed`. The buffer is at
  /// byte `offset`.
  void add(const ArenaPiece &piece, uint64_t offset);
  /// Calls place() with the same arguments and returns its result, the bytes of
  /// the arena. If the arena is smaller than `bestTotal`, the smallest arena so
  /// far, stores the new offsets in `best` and the bytes in `bestTotal`.
  uint64_t attempt(const Order &order, Fit fit, uint64_t limit);
  Order neighbour(const Climb &climb);
  void climb(std::vector<Climb> climbs);
  bool done() const { return bestTotal <= bound || steps >= effort; }
  /// Returns a pseudo-random number below `count`.
  uint32_t below(size_t count);

  /// Returns the indices of all non-empty buffers, sorted by `key`.
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
  /// Whether n * n / 2 is larger than `effort`, where n is the number of
  /// buffers. If place() places n buffers, it makes about n * n / 2
  /// comparisons. If `isLarge` is true, run() returns the plan of sweep().
  const bool isLarge;
  /// Largest number of bytes that are alive at one instruction. No arena can be
  /// smaller. If the planner finds an arena with this number of bytes, it stops
  /// and does not look for a better plan.
  uint64_t bound = 0;
  /// Number of comparisons of a buffer with a placed range so far. The search
  /// ends when it reaches the limit `effort`.
  uint64_t steps = 0;
  /// State of the pseudo-random numbers, with a fixed seed: equal input gives
  /// equal plans.
  uint64_t state = 0x9e3779b97f4a7c15;
  /// Ranges occupied by the buffers placed so far, ascending in `begin`.
  std::vector<PlacedRange> placed;
  std::vector<uint64_t> offsets, best;
  uint64_t bestTotal = unbounded;
};

/// Draws a number by xorshift (Marsaglia 2003). All platforms draw equal
/// numbers.
uint32_t ArenaPlanner::below(size_t count) {
  state ^= state << 13;
  state ^= state >> 7;
  state ^= state << 17;
  return static_cast<uint32_t>((state >> 16) % count);
}

/// Visits the placed ranges in the order of their first bytes. A placed range
/// is a range of bytes that an earlier buffer occupies. The function ignores
/// the ranges that are not alive at the same time as `buffer`.
///
/// A gap is the free bytes before a range. `free` is the first byte of the gap:
/// the largest end of the ranges visited before, or 0. For example, ranges at
/// the bytes [0, 64) and [128, 192) have the gap [64, 128). With Fit::First,
/// the loop ends at the first gap that is large enough. With Fit::Best, the
/// loop visits all ranges and keeps the smallest gap that is large enough. If
/// no gap is large enough, the result is the first aligned offset after all
/// these ranges.
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

/// Begins with offset 0 for `buffer`. The function compares each piece of the
/// buffer with each placed range. A placed range is a range of bytes of the
/// arena that an earlier buffer occupies during some instructions.
///
/// If a piece and a placed range have a byte in common at the same instruction,
/// the function increases the offset of the buffer. It chooses the lowest
/// aligned offset at which the piece begins at the end of the range or after
/// it. At all offsets that it skips, the piece overlaps this range or the
/// offset is not aligned. The function then continues with the next range. It
/// ends when it has compared all pieces with all ranges and has not increased
/// the offset. The result is therefore the lowest valid offset.
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

/// Returns a changed copy of `climb.order`, the order in which buffers are
/// placed. Chooses at random one of the buffers that end at the end of the
/// arena, and moves it to a random earlier position in the order. If the buffer
/// is the first in the order, swaps it with a random buffer instead. With
/// probability 1/2, then swaps two random buffers in the order.
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

/// Improves `climbs`, a list of hill climbs. A hill climb has an order in which
/// buffers are placed. The function changes the order at random (see
/// neighbour). If the arena of the changed order is not larger, the changed
/// order replaces the old order. The function tries `neighboursPerTurn` changes
/// for one hill climb, and then continues with the next one. After the last
/// hill climb, it begins again with the first one.
///
/// The function ends if the best plan has only `bound` bytes, or if the search
/// has made `effort` comparisons. `bound` is the lower bound of the arena's
/// bytes. attempt() stores the best plan.
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

/// Searches for a small arena, and returns the best plan. A plan contains the
/// offsets of all buffers in the arena. If there are many buffers, sweep()
/// makes the first plan. If one call of place() would take longer than the
/// whole search may take, this plan is the result.
///
/// The function then places the buffers in several orders, such as the largest
/// buffer first. It uses each order with two rules. The rule Fit::First places
/// a buffer in the first free range that is large enough. The rule Fit::Best
/// places a buffer in the smallest free range that is large enough. A buffer
/// with `pieces` gets the lowest free offset with both rules.
///
/// Each order with each rule gives one plan. From each of these plans, the
/// function starts a hill climb. A hill climb changes the order at random, and
/// keeps a change if the arena does not become larger. The search ends if the
/// arena cannot become smaller, or if the search has compared buffers `effort`
/// times.
ArenaPlan ArenaPlanner::run() {
  bound = profile.most();
  if (bound == 0)
    return {std::vector<uint64_t>(buffers.size(), 0), 0, 0};
  if (isLarge || buffers.size() > manyBuffers) {
    sweep();
    if (isLarge || done())
      return {best, bestTotal, bound};
  }
  // orderBy() sorts the buffers by a key, the smallest key first. A key is a
  // tuple of numbers. The second number counts only if the first numbers are
  // equal. Buffers with equal keys are sorted by their indices.
  //
  // The function `down` inverts all bits of a number, so that a larger number
  // becomes a smaller one. For example, a key that begins with down(size(i))
  // puts the largest buffer first.
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

/// A piece (live part) of buffer `buffer`, at the bytes [begin, end) of the
/// arena during the instructions [first, last].
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

/// Returns a message about two pieces in `pieces` that use the same byte of the
/// arena at the same instruction. Returns an empty string if there are none. A
/// piece is a part of a buffer that is alive during a range of instructions.
///
/// The function goes through the instructions in order. `live` contains the
/// pieces that are alive at the current instruction, sorted by their first
/// byte. These pieces do not overlap each other. If a new piece overlaps any of
/// them, it overlaps the piece just before it or the piece just after it.
std::string findClash(const std::vector<PlacedPiece> &pieces) {
  std::vector<std::tuple<size_t, int, size_t>> events;
  for (size_t i = 0; i < pieces.size(); ++i) {
    events.push_back({pieces[i].first, 1, i});
    events.push_back({pieces[i].last + 1, 0, i});
  }
  std::sort(events.begin(), events.end());
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
             std::to_string(plan.total) + " bytes";
    for (const ArenaPiece &piece : piecesOf(buffers[i]))
      pieces.push_back({i, piece.first, piece.last, offset + piece.begin,
                        offset + piece.end});
  }
  return findClash(pieces);
}

} // namespace pcc::plan
