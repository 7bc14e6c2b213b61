//===- open-fuzzer.cpp - any bytes are a program or an error --------------===//
//
//   program-open-seeds CORPUS && program-open-fuzzer CORPUS
//
// The bytes are opened as they are, and as tables with a valid checksum. An
// accepted program must satisfy the guarantees of Verification.h.
//
//===----------------------------------------------------------------------===//

#include "runtime/program/CollectivePlan.h"
#include "runtime/program/InstructionOperands.h"
#include "runtime/program/Program.h"

#include <cstring>

using namespace pcc;
using namespace pcc::runtime;

namespace {

/// Stops the process if a program violates a guarantee of openProgram.
void require(bool promise) {
  if (!promise)
    __builtin_trap();
}

/// Bytes with the alignment that openProgram needs.
struct AlignedBytes {
  explicit AlignedBytes(std::span<const std::byte> bytes)
      : storage(bytes.size() + kAlignment) {
    const auto address = reinterpret_cast<uintptr_t>(storage.data());
    auto *at = storage.data() + (kAlignment - address % kAlignment);
    std::copy(bytes.begin(), bytes.end(), at);
    view = {at, bytes.size()};
  }
  std::vector<std::byte> storage;
  std::span<const std::byte> view;
};

void requirePlan(const program::ProgramT &program, const Mesh &mesh,
                 const program::CollectiveT &collective) {
  if (!collective.from || !collective.to ||
      collective.kind == program::CollectiveKind::AllReduce ||
      collective.kind == program::CollectiveKind::Broadcast)
    return;
  if (numRanks(mesh) > 16 || numElements(collective.shape) > 4096)
    return;
  const CollectiveSpec spec = collectiveOf(program, collective);
  const int64_t most = collectiveScratchElements(spec, mesh);
  for (int64_t rank = 0; rank < numRanks(mesh); ++rank)
    require(
        planCollective(spec, mesh, coordinatesOf(mesh, rank)).scratchElements <=
        most);
}

void requireSound(const OpenedProgram &opened) {
  const program::ProgramT &program = *opened.tables;
  const Mesh mesh = meshOf(program);
  require(numRanks(mesh) >= 1 && numRanks(mesh) <= 65536);
  for (const auto &buffer : program.buffers) {
    const auto last = __int128(buffer->offset) + buffer->bytes +
                      __int128(buffer->slots - 1) * buffer->slot_stride;
    if (buffer->memory == program::Memory::Constant)
      require(last <= __int128(opened.constants.size()));
    if (buffer->memory == program::Memory::Arena)
      require(last <= program.arena_bytes);
  }
  for (const auto &function : program.functions)
    for (const auto &instruction : function->instructions) {
      for (int32_t buffer : buffersOf(*instruction))
        require(buffer >= 0 && size_t(buffer) < program.buffers.size());
      if (const auto *collective = instruction->body.AsCollective())
        requirePlan(program, mesh, *collective);
    }
}

void check(std::span<const std::byte> bytes) {
  const AlignedBytes aligned(bytes);
  OpenedProgram opened;
  const Status status = openProgram(aligned.view, opened);
  if (status.ok())
    requireSound(opened);
  else
    require(status.code() == DamagedBundle && !status.message().empty());
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  const std::span bytes(reinterpret_cast<const std::byte *>(data), size);
  check(bytes);
  check(sealTables(bytes, bytes.first(size / 2)));
  return 0;
}
