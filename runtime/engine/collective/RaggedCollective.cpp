//===- RaggedCollective.cpp - collectives that move only selected rows ----===//

#include "runtime/engine/collective/RaggedCollective.h"
#include "runtime/engine/collective/CollectiveOperation.h"
#include "runtime/tensor/ElementDispatch.h"

#include <cstring>

namespace pcc::runtime {

namespace {
/// Base class of the ragged all-gather and reduce-scatter, which move only the
/// rows that masks select at run time. RowPlan lists the row indices of all
/// members. A message to a member has the rows that are selected for that
/// member, packed in the order of the RowPlan.
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
  /// The two selection masks of one execution. A mask has one byte per entry; a
  /// byte other than 0 means true.
  ///
  /// - `divided`: shape [rows of this rank, members]. Entry (i, m): whether
  ///   this rank's row i is exchanged with member m.
  /// - `whole`: shape [rows of all members]. Entry i: whether this rank
  ///   exchanges row i with the row's owner.
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

  /// Returns whether row number `i` of this rank is selected for `member`.
  bool counts(const RaggedMasks &masks, size_t i, int member) const {
    return masks.divided[plan.divided[i] * members + member] != 0;
  }

  /// Sends the messages in `sends` and receives the messages in `receives`. If
  /// no row is selected for a member, that member gets no message. The member
  /// expects none, because sender and receiver have equal masks.
  Status exchange() {
    return sends.empty() && receives.empty()
               ? Status::success()
               : group->exchange(sends, receives, action);
  }

  /// Packs the selected rows of `in` to scratch, and sets `sends` to one
  /// message per other member. `rowsFor(member)` lists the rows that `member`
  /// may get. The i-th row of this list is packed only if `travels(i, member)`
  /// is true. Returns the end of the used part of scratch.
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

  /// Appends to `receives` a message of `count` rows from `member`, which is
  /// received at address `place`. Does nothing if `count` is 0.
  void addReceive(int member, char *place, size_t count) {
    if (count > 0)
      receives.push_back({member, place, count * bytes});
  }

  RowPlan plan;
  int64_t elements; ///< elements per row
  size_t bytes;     ///< bytes per row
  int members;      ///< number of members of the group
  std::vector<PeerBuffer> sends, receives;
  /// Position in the rows received from each member, one address per member.
  /// The all-gather reads these rows backward, so the address is the end of the
  /// unread rows. The reduce-scatter reads them forward, so the address is the
  /// next unread row.
  std::vector<char *> arrived;
  /// Addresses of the input rows whose sum is one result row, in member order.
  std::vector<const char *> addends;
};

/// A ragged all-gather. Every rank gets its own rows and the rows that other
/// members selected for it. The rows from a member are received contiguously:
/// in `out` if each member's rows are contiguous there, otherwise in scratch.
/// The received rows are then moved to their final indices. Example: member 1
/// has rows 0 to 3 and sends rows 1 and 3:
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
  /// Moves the received rows to their final indices in `out`. If the rows were
  /// received in `out`, no row moves to a lower index. The last row is
  /// therefore moved first; otherwise a row could be overwritten before it is
  /// moved.
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

/// A ragged reduce-scatter. Every rank gets the sums of its rows. The sum of a
/// row has this rank's own value and the values of the members for which the
/// row is selected, added in member order.
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
  /// Computes the sum of this rank's i-th row. f16 and bf16 accumulate in f32.
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
