//===- TeamThreads.cpp - distribution of a row over a team of GPU threads -===//

#include "passes/7-emit/gpu/kernel/TeamThreads.h"
#include "passes/7-emit/gpu/kernel/SharedMemory.h"
#include "passes/7-emit/gpu/kernel/WarpShuffles.h"

using namespace mlir;
using namespace pcc::emit;

using Values = SmallVector<Value>;

static constexpr int64_t warp = lanesOfWarp;
/// Largest number of elements of one row that a thread keeps in registers for
/// later uses. The loop over the elements is then unrolled. If a thread
/// computes more elements of one row, the thread keeps no elements of the row
/// in registers. The thread then computes each element again for each use.
static constexpr int64_t mostInRegisters = 32;

TeamThreads::TeamThreads(IndexSpace &indices, const GpuPlan &plan,
                         const Index &thread)
    : plan(plan) {
  const int64_t divisor = plan.isAcross ? plan.teams : plan.team;
  member = indices.remainder(thread, divisor);
  number = indices.quotient(thread, divisor);
  if (plan.isAcross)
    std::swap(member, number);
}

//===----------------------------------------------------------------------===//
// Turns
//===----------------------------------------------------------------------===//

Values TeamThreads::forEach(KernelWriter &w, ValueRange carried,
                            NestBody body) {
  const int64_t rounds = plan.rounds();
  if (!numSlots(w.rows))
    return w.loop(rounds, carried, [&](const Index &number, ValueRange so) {
      return round(w, number, so, body);
    });
  Values so(carried);
  for (int64_t number = 0; number < rounds; ++number)
    so = round(w, IndexSpace::constant(number), so, body);
  return so;
}

Values TeamThreads::round(KernelWriter &w, const Index &number,
                          ValueRange carried, NestBody body) {
  const int64_t chunks = w.rows.innerSize() / plan.vector;
  Index chunk = w.indices.add(w.indices.scale(number, plan.team), member);
  if (rangeOf(chunk).high < chunks)
    return turn(w, number, chunk, carried, body);
  Value at = w.materialise(chunk);
  ScalarBuilder s = w.scalar();
  Value isThere = s.compare(arith::CmpIPredicate::slt, at,
                            s.integer(w.builder.getI64Type(), chunks));
  return w.branch(isThere, carried, [&] {
    return turn(w, number, w.indices.leaf(at, 0, chunks - 1), carried, body);
  });
}

Values TeamThreads::turn(KernelWriter &w, const Index &number,
                         const Index &chunk, ValueRange carried,
                         NestBody body) {
  const Index start = w.indices.scale(chunk, plan.vector);
  std::vector<MultiIndex> inner, places;
  for (int64_t lane = 0; lane < plan.vector; ++lane) {
    inner.push_back(w.indices.delineariseLane(start, lane, w.rows.innerShape(),
                                              w.rows.innerGroups));
    places.push_back(w.rowPlace(inner.back()));
  }
  w.readAhead(places, w.rows.shape);
  Values so(carried);
  w.storeTogether([&] {
    for (int64_t lane = 0; lane < plan.vector; ++lane) {
      current = inner[lane];
      currentSlot = w.indices.add(w.indices.scale(number, plan.vector),
                                  IndexSpace::constant(lane));
      so = body(current, so);
    }
  });
  current.clear();
  return so;
}

void TeamThreads::once(KernelWriter &w, llvm::function_ref<void()> body) {
  if (plan.team == 1) {
    body();
    return;
  }
  ScalarBuilder s = w.scalar();
  Value isFirst = s.compare(arith::CmpIPredicate::eq, w.materialise(member),
                            s.integer(w.builder.getI64Type(), 0));
  w.branch(isFirst, ValueRange(), [&] {
    body();
    return Values();
  });
}

void TeamThreads::store(KernelWriter &w, llvm::function_ref<void()> body) {
  if (!isWanted) {
    body();
    return;
  }
  w.branch(isWanted, ValueRange(), [&] {
    body();
    return Values();
  });
}

std::optional<int64_t> TeamThreads::numSlots(const RowSpace &) const {
  const int64_t slots = plan.rounds() * plan.vector;
  if (slots > mostInRegisters)
    return std::nullopt;
  return slots;
}

std::optional<Index> TeamThreads::slotOf(KernelWriter &,
                                         ArrayRef<Index> inner) const {
  if (inner != ArrayRef(current))
    return std::nullopt;
  return currentSlot;
}

//===----------------------------------------------------------------------===//
// Shared memory
//===----------------------------------------------------------------------===//

namespace {
/// Layout of a buffer in shared memory. The members of a team, which reduces
/// one row, exchange values through the buffer. A member is a thread or a warp.
/// A team has `count` members, and a block has `stride` teams. The value of
/// member m of team t is at m · `stride` + t.
struct ExchangeBuffer {
  int64_t count, stride;
  /// Position of the current thread. A team is a group of threads that reduce
  /// one row together. A team is divided into members. A member is either one
  /// thread or one warp. `member` is the index of the thread's member in the
  /// team. `team` is the index of the thread's team in the block.
  Index member, team;
};
} // namespace

/// Emits code that combines the values `own` of all members of a team, in the
/// order of the members. A member is a thread or a warp. The i1 `mayStore`
/// selects the threads that write `own` to shared memory. Null selects all
/// threads. All threads of a block must reach the emitted barrier.
static Values joinShared(KernelWriter &w, ValueRange own,
                         const ExchangeBuffer &exchange, Value mayStore,
                         MergeBody merge) {
  auto placeOf = [&](const Index &member) {
    return w.indices.add(w.indices.scale(member, exchange.stride),
                         exchange.team);
  };
  Values memory;
  for (Value value : own)
    memory.push_back(
        allocateShared(w, value.getType(), exchange.count * exchange.stride));
  auto store = [&] {
    for (auto [pointer, value] : llvm::zip_equal(memory, own))
      w.store(pointer, value.getType(), placeOf(exchange.member), value);
    return Values();
  };
  if (mayStore)
    w.branch(mayStore, ValueRange(), store);
  else
    store();
  syncThreads(w);
  auto loadOf = [&](int64_t member) {
    Values values;
    for (auto [pointer, value] : llvm::zip_equal(memory, own))
      values.push_back(w.load(pointer, value.getType(),
                              placeOf(IndexSpace::constant(member))));
    return values;
  };
  Values so = loadOf(0);
  for (int64_t member = 1; member < exchange.count; ++member)
    so = merge(so, loadOf(member));
  return so;
}

Values TeamThreads::join(KernelWriter &w, ValueRange own, MergeBody merge) {
  if (plan.team == 1)
    return Values(own);
  if (plan.isAcross)
    return joinShared(w, own, {plan.team, plan.teams, member, number}, {},
                      merge);
  Values lanes = reduceLanes(w, own, std::min(plan.team, warp), merge);
  if (plan.team <= warp)
    return lanes;
  ScalarBuilder s = w.scalar();
  Value lane = w.materialise(w.indices.remainder(member, warp));
  Value isFirst = s.compare(arith::CmpIPredicate::eq, lane,
                            s.integer(w.builder.getI64Type(), 0));
  return joinShared(w, lanes,
                    {plan.team / warp, 1, w.indices.quotient(member, warp),
                     IndexSpace::constant(0)},
                    isFirst, merge);
}
