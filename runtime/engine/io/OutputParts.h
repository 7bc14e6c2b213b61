//===- OutputParts.h - what a rank has of the outputs ---------------------===//

#ifndef PCC_RUNTIME_ENGINE_IO_OUTPUTPARTS_H
#define PCC_RUNTIME_ENGINE_IO_OUTPUTPARTS_H

#include "runtime/engine/io/HostBuffers.h"

#include <span>
#include <vector>

namespace pcc::runtime {

/// Takes runs of bytes of the outputs, which are whole and dense there and of
/// the type that they have in files.
class OutputSink {
public:
  virtual ~OutputSink() = default;
  /// `offset` is in bytes.
  virtual Status write(size_t output, int64_t offset, const void *data,
                       size_t size) = 0;
};

/// Memory that all ranks share: every output has its place.
class MemorySink : public OutputSink {
public:
  explicit MemorySink(std::span<std::byte *const> places) : places(places) {}
  Status write(size_t output, int64_t offset, const void *data,
               size_t size) override;

private:
  std::span<std::byte *const> places;
};

/// What this rank writes: its own parts, of replicated ones if it is the lowest
/// rank that has them. Those of all ranks are the outputs.
class OutputParts {
public:
  /// All of these must outlive this.
  OutputParts(const program::ProgramT &program, const Mesh &mesh,
              const Coordinates &at, HostBuffers &buffers)
      : program(program), mesh(mesh), at(at), buffers(buffers) {}

  /// The parts of all outputs, of all microbatches.
  Status write(OutputSink &sink);

private:
  Status writePart(OutputSink &sink, size_t index, const Layout &layout,
                   int32_t microbatch);
  Status writeLoops(OutputSink &sink, size_t index,
                    std::span<const CopyLoop> loops, int64_t from, int64_t to,
                    const char *data);
  Status writeRun(OutputSink &sink, size_t index, int64_t count, int64_t from,
                  int64_t to, const char *data);

  const program::ProgramT &program;
  const Mesh &mesh;
  const Coordinates &at;
  HostBuffers &buffers;
  std::vector<char> converted;
};

} // namespace pcc::runtime

#endif // PCC_RUNTIME_ENGINE_IO_OUTPUTPARTS_H
