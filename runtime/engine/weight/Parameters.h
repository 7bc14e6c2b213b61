//===- Parameters.h - loads a rank's pieces of the weights ----------------===//

#ifndef PCC_RUNTIME_ENGINE_WEIGHT_PARAMETERS_H
#define PCC_RUNTIME_ENGINE_WEIGHT_PARAMETERS_H

#include "runtime/base/MappedFile.h"
#include "runtime/device/Device.h"
#include "runtime/engine/options/RunOptions.h"

#include <memory>
#include <vector>

namespace pcc::runtime {

/// Loads this rank's shards of the parameters (weights and optimizer state) on
/// first use. A shard is in one of these places:
///
/// - pages of the mapped weight file, if the file has exactly these bytes
/// - a copy in host memory
/// - only the device's own copy (often in another memory format), after drop()
class Parameters : public ParameterSource {
public:
  /// Borrows all arguments. Opens no file.
  Parameters(const program::ProgramT &program, const Mesh &mesh,
             const Coordinates &at);

  /// Maps all weight files. Exit code 11 if a file has changed since
  /// compilation.
  Status openFiles(const RunOptions &options);

  /// Returns whether only one operand of one instruction uses the parameter.
  /// Only then may a device replace it by a copy in another memory format.
  bool isExclusive(int32_t parameter) const override;
  /// Sets `data` to the address of this rank's dense shard of parameter number
  /// `parameter`. The first call for a parameter reads or generates the shard.
  /// The address is valid until drop().
  Status acquire(int32_t parameter, const void *&data) override;
  /// Frees the host memory of this rank's shard, after the device has copied
  /// it.
  void drop(int32_t parameter) override;

  /// Sets the base addresses of all parameters' buffers, except for parameters
  /// with a call of drop(). On a device with its own memory, also uploads the
  /// shards or generates them on the device.
  Status fillBases(BufferTable &buffers, Device &device,
                   const ProgramImage &image);

  /// Returns exit code 11 if a weight file has changed while it was mapped.
  /// Call this after loading and after each step, because instructions may read
  /// the mapped pages.
  Status checkFiles() const;

private:
  /// This rank's shard of one parameter in host memory.
  struct LocalPiece {
    /// Memory of a copied shard; null if the shard is in pages of the mapped
    /// file.
    std::unique_ptr<void, decltype(&std::free)> copy{nullptr, &std::free};
    /// Address of the shard; null before it is read, and after drop().
    const void *data = nullptr;
    /// Number of uses of the parameter, by instructions, program outputs and
    /// messages between stages.
    int uses = 0;
    /// Whether only the device has the shard, after drop().
    bool dropped = false;
  };

  /// Sets LocalPiece::uses of every parameter: the number of its uses in the
  /// program.
  void countUses();
  /// Sets the base addresses of the parameters' buffers to the shards in host
  /// memory. The device must share the host's memory.
  Status fillBasesOfHost(BufferTable &buffers);
  /// Allocates device memory for all needed shards (isNeeded), uploads or
  /// generates them there, and sets the buffers' base addresses.
  Status copyTo(Device &device, BufferTable &buffers,
                const ProgramImage &image);
  /// Uploads or generates the shard of one parameter at device address `to`.
  Status writePiece(int32_t parameter, Device &device,
                    const ProgramImage &image, void *to);
  /// Returns whether `buffer` belongs to a parameter in use that was not
  /// dropped.
  bool isNeeded(const program::BufferT &buffer) const;
  /// Reads the shard of a parameter from its weight file. `piece` refers to the
  /// mapped pages if possible; otherwise it owns a copy.
  Status readFile(const program::ParameterT &parameter, LocalPiece &piece);
  /// Allocates host memory for a shard. Exit code 13 if memory is short.
  Status allocate(const program::ParameterT &parameter, LocalPiece &piece);

  const program::ProgramT &program;
  const Mesh &mesh;
  const Coordinates &at;
  /// The mapped weight files, in the order of `program.files`.
  std::vector<MappedFile> files;
  /// Per weight file: whether some instruction reads weights directly from the
  /// file's mapped pages, without a copy.
  std::vector<bool> isReadInPlace;
  /// Whether all weights have been loaded.
  bool isLoaded = false;
  /// This rank's shard of each parameter, by parameter index.
  std::vector<LocalPiece> pieces;
};

} // namespace pcc::runtime

#endif // PCC_RUNTIME_ENGINE_WEIGHT_PARAMETERS_H
