//===- OutputParts.h - the parts of the outputs that a rank writes --------===//

#ifndef PCC_RUNTIME_ENGINE_IO_OUTPUTPARTS_H
#define PCC_RUNTIME_ENGINE_IO_OUTPUTPARTS_H

#include "runtime/engine/io/HostBuffers.h"

#include <span>
#include <vector>

namespace pcc::runtime {

/// Receives contiguous runs of output bytes. In the sink each output is whole,
/// dense and row-major, in the element type of .npy files (bf16 becomes f32).
class OutputSink {
public:
  virtual ~OutputSink() = default;
  /// Writes `size` bytes at byte `offset` of output number `output`.
  virtual Status write(size_t output, int64_t offset, const void *data,
                       size_t size) = 0;
};

/// Writes into memory that all ranks share, with one address per output. Runs
/// of different ranks do not overlap, so no lock is needed.
class MemorySink : public OutputSink {
public:
  explicit MemorySink(std::span<std::byte *const> places) : places(places) {}
  Status write(size_t output, int64_t offset, const void *data,
               size_t size) override;

private:
  std::span<std::byte *const> places;
};

/// The parts of the outputs that this rank is responsible for. Among replicas,
/// the lowest rank is responsible; the parts of all ranks cover every output
/// once.
class OutputParts {
public:
  /// Borrows all arguments; they must outlive this object.
  OutputParts(const program::ProgramT &program, const Mesh &mesh,
              const Coordinates &at, HostBuffers &buffers)
      : program(program), mesh(mesh), at(at), buffers(buffers) {}

  /// Writes this rank's parts of all outputs, in all microbatches, to `sink`.
  Status write(OutputSink &sink);

private:
  /// Writes what one microbatch holds of output `index`.
  Status writePart(OutputSink &sink, size_t index, const Layout &layout,
                   int32_t microbatch);
  /// Executes copy loops down to contiguous runs. `from` and `to` are in
  /// elements.
  Status writeLoops(OutputSink &sink, size_t index,
                    std::span<const CopyLoop> loops, int64_t from, int64_t to,
                    const char *data);
  /// Writes `count` contiguous elements, converted to the type of .npy files.
  Status writeRun(OutputSink &sink, size_t index, int64_t count, int64_t from,
                  int64_t to, const char *data);

  const program::ProgramT &program;
  const Mesh &mesh;
  const Coordinates &at;
  HostBuffers &buffers;
  /// Scratch of writeRun().
  std::vector<char> converted;
};

} // namespace pcc::runtime

#endif // PCC_RUNTIME_ENGINE_IO_OUTPUTPARTS_H
