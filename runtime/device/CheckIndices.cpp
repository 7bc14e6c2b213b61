//===- CheckIndices.cpp - bounds check of index tensors -------------------===//

#include "runtime/device/CheckIndices.h"
#include "runtime/tensor/ElementDispatch.h"

#include <optional>

namespace pcc::runtime {

namespace {
/// Checks that the elements of one index tensor are valid indices. Padding
/// elements are not checked. The positions of the padding depend on the
/// microbatch if the layout divides the tensor by microbatch.
class CheckIndicesOperation : public Operation {
public:
  CheckIndicesOperation(const LoadContext &context,
                        const program::CheckIndicesT &indices,
                        const std::string &node)
      : context(context), indices(indices), node(node),
        buffer(*context.program.buffers[indices.buffer]),
        type(typeOf(buffer.type)) {
    if (indices.layout)
      layout = layoutOf(*indices.layout, context.mesh);
    useMicrobatch(context.at);
    dependsOnMicrobatch = layout && isCutByMicrobatch(*layout);
  }

  bool runsOnHost() const override { return true; }

  Status run(const RunContext &run) override {
    if (dependsOnMicrobatch)
      useMicrobatch(run.at);
    const void *data = context.hostBuffers.at(indices.buffer, run.microbatch);
    for (const StridedCopy &part : held)
      if (int64_t at = findOutside(data, part.sourceOffset, part.loops);
          at >= 0)
        return fail(data, at);
    return Status::success();
  }

private:
  /// Sets `held` to the elements to check: the elements of this rank's shard of
  /// the tensor that are not padding. `at` has the mesh coordinates of the rank
  /// and the microbatch.
  void useMicrobatch(const Coordinates &at) {
    if (!layout) {
      held = {{0, 0, {{numElements(buffer.shape), 1, 1}}}};
      return;
    }
    const Layout whole = wholeLayout(indices.shape);
    held = intersect({&*layout, &at}, {&whole, &at}, context.mesh);
  }

  /// Returns the element with index `at` of `data`, this rank's shard of the
  /// tensor, as an int64_t.
  int64_t valueAt(const void *data, int64_t at) const {
    return dispatch(type, [&](auto element) {
      return int64_t(static_cast<Computed<decltype(element)>>(
          static_cast<const decltype(element) *>(data)[at]));
    });
  }

  /// Checks the elements of `data` that the loop nest `loops` visits, from
  /// index `offset` on. Returns the index of the first element that is not
  /// valid; -1 if all are valid.
  template <typename T>
  int64_t findIn(const T *data, int64_t offset,
                 std::span<const CopyLoop> loops) const {
    if (loops.empty()) {
      // An index of 8 bits has a sign.
      // NOLINTNEXTLINE(bugprone-signed-char-misuse)
      const auto value = int64_t(static_cast<Computed<T>>(data[offset]));
      const bool isOutside = value < indices.low || value >= indices.high;
      return isOutside && value != indices.ignored ? offset : -1;
    }
    for (int64_t i = 0; i < loops.front().extent; ++i)
      if (int64_t at = findIn(data, offset + i * loops.front().sourceStride,
                              loops.subspan(1));
          at >= 0)
        return at;
    return -1;
  }

  /// Calls findIn() for the element type of the tensor, to check the elements
  /// of `data` that `loops` visit. Returns the index in `data` of the first
  /// element that is not a valid index; -1 if all are valid.
  int64_t findOutside(const void *data, int64_t offset,
                      std::span<const CopyLoop> loops) const {
    return dispatch(type, [&](auto element) {
      return findIn(static_cast<const decltype(element) *>(data), offset,
                    loops);
    });
  }

  /// Returns the error (exit code 10, BadInput) for element `at` of `data`,
  /// which is not a valid index.
  Status fail(const void *data, int64_t at) const {
    const std::string range =
        std::to_string(indices.low) + ".." + std::to_string(indices.high - 1);
    return Status::error(BadInput,
                         "index " + std::to_string(valueAt(data, at)) +
                             " in \"" + indices.input + "\" is outside " +
                             indices.table_name + ", which has indices " +
                             range + " (node \"" + node + "\")");
  }

  LoadContext context;
  const program::CheckIndicesT &indices;
  const std::string &node;
  const program::BufferT &buffer;
  ElementType type;
  /// Layout that divides the tensor over ranks and microbatches. If absent, the
  /// whole buffer is checked.
  std::optional<Layout> layout;
  bool dependsOnMicrobatch = false;
  /// Elements to check: the elements of this rank's shard that are not padding.
  /// They are stored as the sources of copies, which are never executed.
  std::vector<StridedCopy> held;
};
} // namespace

std::unique_ptr<Operation>
makeCheckIndices(const LoadContext &context,
                 const program::InstructionT &instruction) {
  return std::make_unique<CheckIndicesOperation>(
      context, *instruction.body.AsCheckIndices(), instruction.node);
}

} // namespace pcc::runtime
