//===- RaggedCollective.cpp - collectives that move only selected rows ----===//

#include "runtime/engine/collective/RaggedCollective.h"
#include "runtime/engine/collective/CollectiveOperation.h"
#include "runtime/tensor/ElementDispatch.h"

#include <cstring>

namespace pcc::runtime {

namespace {
/// Base class of the ragged all-gather and the ragged reduce-scatter. A ragged
/// collective sends only some rows of a tensor. A row is the block of elements
/// at one index of the tensor's first dims, such as one token. Masks select the
/// rows at run time. Every row belongs to one member of the group.
///
/// A buffer has either only the rows of this rank (operand of an all-gather,
/// result of a reduce-scatter) or the rows of all members (result of an
/// all-gather, operand of a reduce-scatter). `plan.divided` lists the indices
/// of this rank's rows in the first buffer. `plan.whole[m]` lists the indices
/// of member m's rows in the second buffer.
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
  /// Masks that select the rows to send. Every row belongs to one member, the
  /// owner. An all-gather sends a row from the owner to other members. A
  /// reduce-scatter sends a row from other members to the owner.
  ///
  /// - `divided`: bytes of shape [rows of this rank, members]. Byte (i, m) is
  ///   not 0 if this rank exchanges its own row number i with member m.
  /// - `whole`: one byte per row of all members. Byte i is not 0 if this rank
  ///   exchanges row i with the owner. Bytes of this rank's own rows are
  ///   unused.
  struct RaggedMasks {
    const uint8_t *divided, *whole;
  };
  /// Returns the two masks of one microbatch, `divided` and `whole`. A mask is
  /// an array of bytes that selects the rows to send. The program computes the
  /// masks at run time. A row is the block of elements at one index of a
  /// tensor's first dims, such as one token. `divided` selects rows that belong
  /// to this rank. `whole` selects rows that belong to other members of the
  /// group. `run.microbatch` is the number of the microbatch.
  RaggedMasks masksOf(const RunContext &run) const {
    const auto at = [&](int32_t buffer) {
      return static_cast<const uint8_t *>(
          context.buffers.at(buffer, run.microbatch));
    };
    return {at(collective.divided_rows), at(collective.whole_rows)};
  }

  bool isMe(int member) const { return member == group->index(); }

  /// Returns whether the collective transfers row number `i` between this rank
  /// and `member`. A row is a block of elements, such as one token. Row number
  /// `i` is one of the rows that this rank owns. An all-gather sends the row
  /// from this rank to `member`. A reduce-scatter sends values for the row from
  /// `member` to this rank. `masks.divided` has one byte for each row of this
  /// rank and each member. The row is transferred if this byte is not 0.
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

  /// Copies the rows that this rank sends from `at.in` to `at.scratch`
  /// (temporary memory). Replaces the list `sends` with one message for each
  /// other member that gets rows. `rowsFor(member)` returns the indices in
  /// `at.in` of the rows that this rank can send to `member`. `travels(i,
  /// member)` returns whether row `rowsFor(member)[i]` is sent.
  ///
  /// Returns the address in scratch after the last copied row.
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

  /// Adds one message to the list `receives`. The message comes from `member`
  /// and has `count` rows. A row is a block of elements, such as one token.
  /// This rank receives the message at the address `place`. If `count` is 0,
  /// adds no message.
  void addReceive(int member, char *place, size_t count) {
    if (count > 0)
      receives.push_back({member, place, count * bytes});
  }

  RowPlan plan;
  int64_t elements; ///< elements per row
  size_t bytes;     ///< bytes per row
  int members;      ///< number of members of the group
  std::vector<PeerBuffer> sends, receives;
  /// List with one address per member. A member sends rows to this rank. A row
  /// is a block of elements, such as one token. This rank receives the rows of
  /// a member one after the other in memory, and then reads the rows one by
  /// one. The address moves with each row that is read:
  ///
  /// - An all-gather reads the last row first. The address begins at the end of
  ///   the last row, and decreases.
  /// - A reduce-scatter reads the first row first. The address begins at the
  ///   start of the first row, and increases.
  std::vector<char *> arrived;
  /// List that a reduce-scatter uses while it computes one row of its result. A
  /// row is a block of elements, such as one token. A row of the result is the
  /// sum of a row in this rank's operand and rows that other members have sent.
  /// The list has the addresses of all these rows, in the order of the members.
  ///
  /// For example, there are 3 members, this rank is member 0, and only member 2
  /// has sent a row for the sum. The list then has two addresses: first the
  /// address of this rank's row, then the address of the row from member 2.
  std::vector<const char *> addends;
};

/// A ragged all-gather. The result gets all rows of this rank, and some rows of
/// the other members. A row is a block of elements, such as one token. Masks
/// select the rows of the other members at run time. The selected rows of a
/// member are received one after another, without gaps. spread() then moves
/// each row to its index in the result.
///
/// For example, member 1 has rows 0 to 3, and sends rows 1 and 3 to this rank.
/// Each cell of the picture is the memory of one row. A number is the row in
/// this memory, and a dot is memory without a row:
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
  /// Writes the rows of the result `at.out`. Copies the rows of this rank from
  /// `at.in`. Moves each received row to the index of the row in `at.out`. The
  /// received rows of one member are stored without gaps, and may have been
  /// received in `at.out` itself. For example, rows 1 and 3 are received:
  ///
  ///   before  [ 1 3 . . ]
  ///   after   [ . 1 . 3 ]
  void spread(const Addresses &at, const RaggedMasks &masks) {
    for (int member = 0; member < members; ++member) {
      const std::vector<int64_t> &rows = plan.whole[size_t(member)];
      // Begin with the last row. Example: rows 1 and 3 were received at indices
      // 0 and 1. If row 1 moved first, it would overwrite row 3 at index 1.
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

/// A ragged reduce-scatter. Every row (such as a token) belongs to one member.
/// The operand of a member has values for all rows. The result has only the
/// member's own rows. A result row is the sum of this rank's operand row and
/// the operand rows of the members that masks select at run time.
///
/// For example, row 1 belongs to member 0. In the operands of members 0, 1 and
/// 2, row 1 is 5, 20 and 300. If the masks select only member 2, row 1 of the
/// result is 5 + 300 = 305.
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
  /// Computes row number `i` of the result, and writes the row to the result. A
  /// row is a block of elements, such as one token. The row is the sum of this
  /// rank's values and the values that other members have sent for the row.
  /// `masks` tells which members have sent values for the row. `at` has the
  /// addresses of the operand and of the result. Sums of f16 and bf16 are
  /// computed in f32.
  ///
  /// Each call reads the next received row of each of these members. The
  /// function must therefore be called for all rows in order, beginning with
  /// row 0.
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
    return Status::error(DamagedBundle, "the rows of '" + collective.value +
                                            "' do not fit their layouts");
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
