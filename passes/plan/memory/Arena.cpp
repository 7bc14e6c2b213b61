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

/// Choice among the gaps that are large enough: the one with the lowest offset
/// (First) or the smallest one (Best).
enum class Fit { First, Best };

/// Finds the largest number of live bytes in a range of instructions. Stores
/// only instructions at which a piece (live part of a buffer) begins. `levels`
/// is a sparse table of maxima. Example for the live bytes 3, 5, 4, 2:
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

/// Bytes of an arena that grows as needed. Keeps the free blocks by offset, to
/// join neighbors, and by size, to find the smallest one that is large enough.
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
  /// Takes bytes at the end of the arena, of which the last block may be free.
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

/// Places buffers in different orders and keeps the plan with the smallest
/// arena. Invariant after the first order: `best` is a valid plan of
/// `bestTotal` bytes.
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
  /// Number of buffers above which the plan of sweep() is tried first. It is
  /// often the best one, and an order takes quadratic time.
  static constexpr size_t manyBuffers = 2048;
  /// Number of orders that one hill climb tries before the next hill climb gets
  /// its turn.
  static constexpr int neighboursPerTurn = 64;

  /// Places the buffers in the order in which they become alive, as an
  /// allocator would, in n log n steps. Sets `best` and `bestTotal`.
  void sweep();
  /// Places all buffers in `order`, sets `offsets`, and returns the arena's
  /// bytes. Returns `unbounded` as soon as they exceed `limit`.
  uint64_t place(const Order &order, Fit fit, uint64_t limit);
  /// Returns an offset for a buffer without `pieces`: the lowest or the
  /// smallest gap that is large enough, as `fit` says.
  uint64_t findGap(const ArenaBuffer &buffer, Fit fit);
  /// Returns the lowest offset at which `buffer` overlaps no placed range. The
  /// buffer consists of several pieces, which are alive at different times.
  uint64_t findLowest(const ArenaBuffer &buffer);
  /// Inserts one piece (live part) of a buffer into `placed`. The buffer is at
  /// byte `offset`.
  void add(const ArenaPiece &piece, uint64_t offset);
  /// Places all buffers in `order` and returns the bytes of the arena, as
  /// place() does. Stores the offsets in `best` if the arena is the smallest so
  /// far.
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
  /// Whether one order takes more steps than `effort`. The first plan is then
  /// that of sweep(), and an order is given up when the effort is used up.
  const bool isLarge;
  /// Lower bound of the arena's bytes, at which the search ends.
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

/// Visits the placed ranges that are alive together with `buffer`, by ascending
/// offset. A gap lies between `free`, the largest end so far, and the begin of
/// the next range. If no gap is large enough, returns the first free offset
/// after all ranges.
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

/// Moves the buffer up from offset 0 until no piece (live part) overlaps a
/// placed range. Each step moves a piece to the end of a range, so no valid
/// offset is skipped.
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
  // Pairs of an instruction and a buffer: ends come first at an instruction.
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
    if (isLarge && steps >= effort)
      return unbounded;
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

/// Returns a changed order. A random buffer at the top of the arena moves to an
/// earlier place. With probability 1/2, two random buffers are swapped, too.
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

/// Continues each hill climb in turn until the effort is used up or a plan
/// reaches the lower bound. A climb also accepts an order whose arena is
/// equally large.
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

/// Tries several orders of placement, each with both rules for a buffer's gap
/// (the lowest or the smallest that is large enough). Then starts a hill climb
/// from each of these plans, and returns the best plan.
ArenaPlan ArenaPlanner::run() {
  bound = profile.most();
  if (bound == 0)
    return {std::vector<uint64_t>(buffers.size(), 0), 0, 0};
  if (isLarge || buffers.size() > manyBuffers) {
    sweep();
    if (done())
      return {best, bestTotal, bound};
  }
  // Keys are sorted ascending; `down` puts larger numbers first. Buffers with
  // equal keys keep their order.
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

/// Returns a message about two pieces (live parts of buffers) that share a live
/// byte; empty if there are none. Sweeps over the instructions. `live` holds
/// the live pieces by first byte, so a new piece can overlap only its two
/// neighbors.
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
