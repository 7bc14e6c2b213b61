//===- RaggedCollective.cpp - collectives that move only selected rows ----===//

#include "runtime/engine/collective/RaggedCollective.h"
#include "runtime/engine/collective/CollectiveOperation.h"
#include "runtime/tensor/ElementDispatch.h"

#include <cstring>

namespace pcc::runtime {

namespace {
/// Base class of the ragged all-gather and the ragged reduce-scatter. They move
/// only the rows that masks select at run time. `plan` lists, per member, the
/// indices of its rows in this rank's buffers.
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
  /// Two masks that select rows, with one byte per entry (0 is false). Each row
  /// has an owner. An all-gather sends a row from its owner to other members. A
  /// reduce-scatter sends a row from other members to its owner.
  ///
  /// - `divided`: shape [rows of this rank, members]. Entry (i, m) selects row
  ///   i of this rank for a message to or from member m.
  /// - `whole`: shape [rows of all members]. Entry i selects row i for a
  ///   message to or from the row's owner.
  struct RaggedMasks {
    const uint8_t *divided, *whole;
  };
  /// Returns the selection masks of the microbatch of `run`.
  RaggedMasks masksOf(const RunContext &run) const {
    const auto at = [&](int32_t buffer) {
      return static_cast<const uint8_t *>(
          context.buffers.at(buffer, run.microbatch));
    };
    return {at(collective.divided_rows), at(collective.whole_rows)};
  }

  bool isMe(int member) const { return member == group->index(); }

  /// Returns whether the masks select row number `i` of this rank's own rows
  /// for a message to or from `member`.
  bool counts(const RaggedMasks &masks, size_t i, int member) const {
    return masks.divided[plan.divided[i] * members + member] != 0;
  }

  /// Executes the messages in `sends` and `receives`. Does nothing without
  /// messages.
  Status exchange() {
    return sends.empty() && receives.empty()
               ? Status::success()
               : group->exchange(sends, receives, action);
  }

  /// Copies rows of `in` to scratch (temporary memory) as one message per other
  /// member. Lists the messages in `sends`. `rowsFor(member)` returns a list of
  /// row indices. Entry i of the list is sent if `travels(i, member)` is true.
  /// Returns the first unused address of scratch.
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

  /// Appends a message of `count` rows from `member`, to be received at
  /// `place`, unless it is empty.
  void addReceive(int member, char *place, size_t count) {
    if (count > 0)
      receives.push_back({member, place, count * bytes});
  }

  RowPlan plan;
  int64_t elements; ///< elements per row
  size_t bytes;     ///< bytes per row
  int members;      ///< number of members of the group
  std::vector<PeerBuffer> sends, receives;
  /// Per member: read position in the rows that arrived from this member. An
  /// all-gather reads these rows backward, a reduce-scatter forward.
  std::vector<char *> arrived;
  /// Addresses of the rows whose sum is one result row of a reduce-scatter, in
  /// member order.
  std::vector<const char *> addends;
};

/// A ragged all-gather. `out` gets all rows of this rank, and some rows of the
/// other members. Masks select these rows at run time. The selected rows of a
/// member arrive contiguously. spread() moves each row to its index in `out`.
/// For example, member 1 has rows 0 to 3 and sends rows 1 and 3:
///
///   received  [ 1 3 . . ]
///   spread    [ . 1 . 3 ]
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
    PCC_RETURN_IF_ERROR(exchange());
    spread(at, masks);
    return Status::success();
  }

private:
  /// Copies this rank's own rows to `out`. Moves each received row to its index
  /// in `out`. A received row never moves to a lower index, so the last row
  /// moves first.
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

/// A ragged reduce-scatter. For each row of this rank, adds this rank's values
/// and the values of some other members, in member order. Masks select these
/// members at run time.
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
    PCC_RETURN_IF_ERROR(exchange());
    for (size_t i = 0; i < plan.divided.size(); ++i)
      add(at, masks, i);
    return Status::success();
  }

private:
  /// Writes row number `i` of the result to `out`: the sum of this rank's
  /// values and all values that other members sent for the row. Computes sums
  /// of f16 or bf16 in f32.
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
  if (spec.kind == dist::CollectiveKind::AllGather)
    operation = std::make_unique<RaggedAllGather>(context, instruction, group,
                                                  std::move(*plan), elements);
  else
    operation = std::make_unique<RaggedReduceScatter>(
        context, instruction, group, std::move(*plan), elements);
  return Status::success();
}

} // namespace pcc::runtime
