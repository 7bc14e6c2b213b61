//===- Parameters.h - loads a rank's pieces of the weights ----------------===//

#ifndef PCC_RUNTIME_ENGINE_WEIGHT_PARAMETERS_H
#define PCC_RUNTIME_ENGINE_WEIGHT_PARAMETERS_H

#include "runtime/base/MappedFile.h"
#include "runtime/device/Device.h"
#include "runtime/engine/options/RunOptions.h"

#include <memory>
#include <vector>

namespace pcc::runtime {

/// Loads this rank's shards (local pieces) of the parameters (weights and
/// optimizer state) on first use. A shard is in one of these places:
///
/// - pages of the mapped weight file, if the file holds the shard exactly as
///   the buffer needs it
/// - a copy in host memory; the file's pages are then released
/// - only the device's own copy (often in another memory format), after drop()
class Parameters : public ParameterSource {
public:
  /// Stores references to all arguments, which must outlive this object. Opens
  /// no file.
  Parameters(const program::ProgramT &program, const Mesh &mesh,
             const Coordinates &at);

  /// Maps all weight files. Exit code 11 if a file has changed since
  /// compilation.
  Status openFiles(const RunOptions &options);

  /// Returns whether exactly one operand of one instruction reads the
  /// parameter, and no instruction writes the parameter. Only then may a device
  /// replace the parameter by a copy in another memory format.
  bool isExclusive(int32_t parameter) const override;
  /// Sets `data` to the address of this rank's dense shard of parameter number
  /// `parameter`. The first call for a parameter reads or generates the shard.
  /// The memory is owned by this object, and valid until drop().
  Status acquire(int32_t parameter, const void *&data) override;
  /// Frees the host memory of this rank's shard. The device must have made a
  /// copy of the shard before.
  void drop(int32_t parameter) override;

  /// Sets the base address of the buffers of every parameter that was not
  /// dropped. On a device with separate memory, allocates device memory for all
  /// shards together, and uploads or generates the shards there.
  Status fillBases(BufferTable &buffers, Device &device,
                   const ProgramImage &image);

  /// Returns exit code 11 if a weight file changed while it was mapped. Weights
  /// that were read from the file may then be wrong. Call this function after
  /// loading and after each step, because instructions may read weights
  /// directly from the mapped pages.
  Status checkFiles() const;

private:
  /// State of this rank's shard of one parameter: whether the shard is in host
  /// memory, and where.
  struct LocalPiece {
    /// Memory of the shard if it was copied; null if the shard is in pages of
    /// the mapped file.
    std::unique_ptr<void, decltype(&std::free)> copy{nullptr, &std::free};
    /// Address of the shard; null if it has not been read, or has been dropped.
    const void *data = nullptr;
    /// Number of uses of the parameter: instruction operands, program outputs
    /// and transfers between stages.
    int uses = 0;
    /// Whether drop() has been called. Only the device has the shard then.
    bool dropped = false;
  };

  /// Sets `uses` for every parameter.
  void countUses();
  /// Sets the base addresses of the parameter buffers to the shards in host
  /// memory, for a device that shares the host's memory.
  Status fillBasesOfHost(BufferTable &buffers);
  /// Allocates device memory for the shards of all parameters that are needed
  /// (isNeeded). Uploads or generates the shards there, and sets the buffers'
  /// base addresses.
  Status copyTo(Device &device, BufferTable &buffers,
                const ProgramImage &image);
  /// Uploads or generates the shard of one parameter at device address `to`.
  Status writePiece(int32_t parameter, Device &device,
                    const ProgramImage &image, void *to);
  /// Returns whether `buffer` belongs to a parameter that has uses and was not
  /// dropped.
  bool isNeeded(const program::BufferT &buffer) const;
  /// Reads the shard of a parameter from its weight file. If the mapped pages
  /// hold the shard exactly as needed, `piece` points to these pages. Otherwise
  /// `piece` owns a copy.
  Status readFile(const program::ParameterT &parameter, LocalPiece &piece);
  /// Allocates host memory for a shard. Exit code 13 if there is not enough
  /// memory.
  Status allocate(const program::ParameterT &parameter, LocalPiece &piece);

  const program::ProgramT &program;
  const Mesh &mesh;
  const Coordinates &at;
  /// The mapped weight files, in the order of `program.files`.
  std::vector<MappedFile> files;
  /// Whether instructions read weights directly in the file's mapped pages; one
  /// entry per file.
  std::vector<bool> isReadInPlace;
  /// Whether all weights have been loaded.
  bool isLoaded = false;
  /// This rank's shard of each parameter, by parameter index.
  std::vector<LocalPiece> pieces;
};

} // namespace pcc::runtime

#endif // PCC_RUNTIME_ENGINE_WEIGHT_PARAMETERS_H
