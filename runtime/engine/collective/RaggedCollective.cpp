//===- RaggedCollective.cpp - collectives that move only rows that count --===//

#include "runtime/engine/collective/RaggedCollective.h"
#include "runtime/engine/collective/CollectiveOperation.h"
#include "runtime/tensor/ElementDispatch.h"

#include <cstring>

namespace pcc::runtime {

namespace {
class RaggedCollective : public CollectiveOperation {
public:
  RaggedCollective(const LoadContext &context,
                   const program::InstructionT &instruction, Group *group,
                   RowPlan made, int64_t elements)
      : CollectiveOperation(context, instruction, group), plan(std::move(made)),
        elements(elements), bytes(size_t(elements) * size),
        members(group->size()), arrived(size_t(members)) {
    sends.reserve(size_t(members));
    receives.reserve(size_t(members));
    addends.reserve(size_t(members));
  }

protected:
  /// Of each row and member whether the row counts.
  struct RaggedMasks {
    const uint8_t *divided, *whole;
  };
  RaggedMasks masksOf(const RunContext &run) const {
    const auto at = [&](int32_t buffer) {
      return static_cast<const uint8_t *>(
          context.buffers.at(buffer, run.microbatch));
    };
    return {at(collective.divided_rows), at(collective.whole_rows)};
  }

  bool isMe(int member) const { return member == group->index(); }

  bool counts(const RaggedMasks &masks, size_t i, int member) const {
    return masks.divided[plan.divided[i] * members + member] != 0;
  }

  /// Sends what was packed and receives what is expected; a member that there
  /// is nothing for knows that as well.
  Status exchange() {
    return sends.empty() && receives.empty()
               ? Status::success()
               : group->exchange(sends, receives, action);
  }

  /// Packs for each other member the rows `rowsFor(member)` of `in` of which
  /// `travels(index, member)` is true, and fills `sends`. Returns where scratch
  /// is free.
  template <typename Rows, typename Travels>
  char *pack(const Addresses &at, Rows rowsFor, Travels travels) {
    sends.clear();
    char *free = at.scratch;
    for (int member = 0; member < members; ++member) {
      if (isMe(member))
        continue;
      char *packed = free;
      const std::vector<int64_t> &rows = rowsFor(member);
      for (size_t i = 0; i < rows.size(); ++i)
        if (travels(i, member)) {
          std::memcpy(free, at.in + size_t(rows[i]) * bytes, bytes);
          free += bytes;
        }
      if (packed != free)
        sends.push_back({member, packed, size_t(free - packed)});
    }
    return free;
  }

  void addReceive(int member, char *place, size_t count) {
    if (count > 0)
      receives.push_back({member, place, count * bytes});
  }

  RowPlan plan;
  int64_t elements; ///< of a row
  size_t bytes;     ///< of a row
  int members;
  std::vector<PeerBuffer> sends, receives;
  std::vector<char *> arrived;       ///< per member: where its next row is
  std::vector<const char *> addends; ///< of one row, by member
};

/// Every rank gets the rows that count for it; its own are always there.
class RaggedAllGather : public RaggedCollective {
public:
  RaggedAllGather(const LoadContext &context,
                  const program::InstructionT &instruction, Group *group,
                  RowPlan made, int64_t elements)
      : RaggedCollective(context, instruction, group, std::move(made),
                         elements),
        isInPlace(areConsecutive(plan)) {}

  Status run(const RunContext &run) override {
    const Addresses at = begin(run);
    const RaggedMasks masks = masksOf(run);
    char *free = pack(
        at, [&](int) -> const auto & { return plan.divided; },
        [&](size_t i, int member) { return counts(masks, i, member); });
    receives.clear();
    for (int member = 0; member < members; ++member) {
      const std::vector<int64_t> &rows = plan.whole[size_t(member)];
      if (isMe(member) || rows.empty())
        continue;
      size_t count = 0;
      for (int64_t row : rows)
        count += masks.whole[row] != 0;
      char *place = isInPlace ? at.out + size_t(rows[0]) * bytes : free;
      free += isInPlace ? 0 : count * bytes;
      addReceive(member, place, count);
      arrived[size_t(member)] = place + count * bytes;
    }
    if (Status status = exchange(); status.failed())
      return status;
    spread(at, masks);
    return Status::success();
  }

private:
  /// Rows lie no further behind than where they belong, so that the last one
  /// is moved first.
  void spread(const Addresses &at, const RaggedMasks &masks) {
    for (int member = 0; member < members; ++member) {
      const std::vector<int64_t> &rows = plan.whole[size_t(member)];
      for (size_t i = rows.size(); i-- > 0;) {
        char *target = at.out + size_t(rows[i]) * bytes;
        if (isMe(member))
          std::memcpy(target, at.in + size_t(plan.divided[i]) * bytes, bytes);
        else if (masks.whole[rows[i]] != 0)
          std::memmove(target, arrived[size_t(member)] -= bytes, bytes);
      }
    }
  }

  bool isInPlace;
};

/// Every rank gets its rows back, added in the order of members to its own.
class RaggedReduceScatter : public RaggedCollective {
public:
  using RaggedCollective::RaggedCollective;

  Status run(const RunContext &run) override {
    const Addresses at = begin(run);
    const RaggedMasks masks = masksOf(run);
    char *free = pack(
        at,
        [&](int member) -> const auto & { return plan.whole[size_t(member)]; },
        [&](size_t i, int member) {
          return masks.whole[plan.whole[size_t(member)][i]] != 0;
        });
    receives.clear();
    for (int member = 0; member < members; ++member) {
      if (isMe(member))
        continue;
      size_t count = 0;
      for (size_t i = 0; i < plan.divided.size(); ++i)
        count += counts(masks, i, member);
      addReceive(member, free, count);
      arrived[size_t(member)] = free;
      free += count * bytes;
    }
    if (Status status = exchange(); status.failed())
      return status;
    for (size_t i = 0; i < plan.divided.size(); ++i)
      add(at, masks, i);
    return Status::success();
  }

private:
  void add(const Addresses &at, const RaggedMasks &masks, size_t i) {
    addends.clear();
    for (int member = 0; member < members; ++member) {
      if (isMe(member))
        addends.push_back(at.in +
                          size_t(plan.whole[size_t(member)][i]) * bytes);
      else if (counts(masks, i, member)) {
        addends.push_back(arrived[size_t(member)]);
        arrived[size_t(member)] += bytes;
      }
    }
    dispatch(type, [&](auto element) {
      using T = decltype(element);
      T *sums = reinterpret_cast<T *>(at.out + size_t(plan.divided[i]) * bytes);
      for (int64_t j = 0; j < elements; ++j) {
        auto sum = static_cast<Computed<T>>(
            reinterpret_cast<const T *>(addends[0])[j]);
        for (size_t k = 1; k < addends.size(); ++k)
          sum = static_cast<Computed<T>>(
              sum + static_cast<Computed<T>>(
                        reinterpret_cast<const T *>(addends[k])[j]));
        sums[j] = static_cast<T>(sum);
      }
    });
  }
};
} // namespace

Status prepareRaggedCollective(const LoadContext &context,
                               const program::InstructionT &instruction,
                               const CollectiveSpec &spec, Group *group,
                               std::unique_ptr<Operation> &operation) {
  const program::CollectiveT &collective = *instruction.body.AsCollective();
  const auto rowDims = size_t(collective.row_dims);
  auto plan = planRows(spec, rowDims, context.mesh, context.at);
  if (!plan)
    return Status::error(DamagedBundle, "the rows of \"" + collective.value +
                                            "\" do not fit their layouts");
  const int64_t elements = rowElements(spec, rowDims);
  if (spec.kind == CollectiveKind::AllGather)
    operation = std::make_unique<RaggedAllGather>(context, instruction, group,
                                                  std::move(*plan), elements);
  else
    operation = std::make_unique<RaggedReduceScatter>(
        context, instruction, group, std::move(*plan), elements);
  return Status::success();
}

} // namespace pcc::runtime
