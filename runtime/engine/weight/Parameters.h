//===- Parameters.h - loads a rank's pieces of the weights ----------------===//

#ifndef PCC_RUNTIME_ENGINE_WEIGHT_PARAMETERS_H
#define PCC_RUNTIME_ENGINE_WEIGHT_PARAMETERS_H

#include "runtime/base/MappedFile.h"
#include "runtime/device/Device.h"
#include "runtime/engine/options/RunOptions.h"

#include <memory>
#include <vector>

namespace pcc::runtime {

/// Loads this rank's shards of the parameters. A parameter is a weight or a
/// tensor of the optimizer state. acquire() loads a shard when it is called for
/// the parameter for the first time. The shard is then in one of these places:
///
/// - In the memory-mapped weight file. Instructions read the shard there
///   without a copy. This is only possible if the shard is one contiguous range
///   of bytes in the file, and if training does not change the parameter.
/// - In a copy in host memory, in all other cases.
///
/// A device may make its own copy of the shard, often in another memory format.
/// The copy in host memory is then not needed any more, and drop() frees it.
class Parameters : public ParameterSource {
public:
  /// Prepares to load the shards of the rank with the mesh coordinates `at`.
  /// The object keeps references to `program`, `mesh` and `at`. These three
  /// arguments must outlive the object. The constructor opens no weight file;
  /// openFiles() opens the weight files.
  Parameters(const program::ProgramT &program, const Mesh &mesh,
             const Coordinates &at);

  /// Maps all weight files. Returns an error with exit code 11 if a file has
  /// changed since compilation.
  Status openFiles(const RunOptions &options);

  /// Returns whether the program uses the parameter exactly once and training
  /// does not change the parameter. Only in this case, a device may convert the
  /// parameter to another memory format and free the original.
  bool isExclusive(int32_t parameter) const override;
  /// Sets `data` to the host address of this rank's shard of one parameter.
  /// `parameter` is the index of the parameter in the program's list of
  /// parameters. The elements of the shard are in row-major order, without gaps
  /// between the rows. The first call for a parameter loads the shard from a
  /// weight file, or generates the elements. The address is valid until drop()
  /// is called for the parameter.
  Status acquire(int32_t parameter, const void *&data) override;
  /// Frees the host memory of this rank's shard, after the device has copied
  /// it.
  void drop(int32_t parameter) override;

  /// Stores the addresses of this rank's shards in `buffers`. Loads the shards
  /// that are not in memory yet. If `device` shares the host's memory, the
  /// addresses are in host memory. Otherwise, the function allocates memory on
  /// the device and fills it with the shards. `image` contains the kernels that
  /// generate random elements on the device. Skips a parameter that the program
  /// does not use, or for which drop() was called. Returns an error with exit
  /// code 11 if a weight file has changed while it was mapped.
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
    /// Address of the shard in host memory. The address is null until acquire()
    /// has loaded the shard. The address is null again after drop() has freed
    /// the shard.
    const void *data = nullptr;
    /// Number of uses of the parameter, by instructions, program outputs and
    /// messages between stages.
    int uses = 0;
    /// Whether drop() was called for the parameter. If true, the device has its
    /// own copy of the shard, and the copy in host memory is freed.
    bool dropped = false;
  };

  /// Sets the field `uses` of every element of `pieces` to the number of times
  /// that the program uses the parameter. Each use is one of these:
  ///
  /// - an instruction that reads or writes the parameter
  /// - an output of the program that is the parameter
  /// - a message that sends the parameter to another stage of the pipeline
  void countUses();
  /// Stores the host addresses of this rank's shards in `buffers`, a table with
  /// the address of each tensor that the program's instructions access. Loads
  /// the shards that are not in memory yet. The device must be able to read
  /// host memory, as a CPU does.
  ///
  /// Skips a parameter if the program does not use the parameter, or if drop()
  /// was called for the parameter.
  Status fillBasesOfHost(BufferTable &buffers);
  /// Allocates memory on `device` for this rank's shards, and fills this memory
  /// with the elements of the shards. `image` contains the kernels that
  /// generate random elements on the device. Stores the device addresses of the
  /// shards in `buffers`, a table with the address of each tensor that the
  /// program's instructions access.
  ///
  /// Skips a parameter if the program does not use the parameter, or if drop()
  /// was called for the parameter.
  Status copyTo(Device &device, BufferTable &buffers,
                const ProgramImage &image);
  /// Writes this rank's shard of one parameter to device memory, beginning at
  /// the address `to`. `parameter` is the index of the parameter in the
  /// program's list of parameters. The memory at `to` must contain zeros before
  /// the call.
  ///
  /// - If all elements of the parameter are zero, the function writes nothing.
  /// - If the elements are random and `image` contains a kernel that generates
  ///   the elements, the function runs this kernel on the device.
  /// - Otherwise the function loads the shard into host memory, and copies the
  ///   shard to the device.
  Status writePiece(int32_t parameter, Device &device,
                    const ProgramImage &image, void *to);
  /// Returns whether this object must provide the memory of `buffer`. A buffer
  /// is a tensor in memory. The result is true if all of these conditions hold:
  ///
  /// - The tensor is a parameter (weight or optimizer state), not an activation
  ///   or a constant.
  /// - The program uses the parameter at least once.
  /// - drop() was not called for the parameter. After drop(), the device uses
  ///   its own copy.
  bool isNeeded(const program::BufferT &buffer) const;
  /// Loads this rank's shard of `parameter` from the memory-mapped weight file.
  /// Stores the address of the shard in `piece.data`. There are two cases:
  ///
  /// - The file contains the shard as one aligned range of bytes, in the right
  ///   element type, and training does not change the parameter. The address
  ///   then points into the mapped pages.
  /// - Otherwise the function copies the shard to new host memory. `piece.copy`
  ///   owns this memory.
  Status readFile(const program::ParameterT &parameter, LocalPiece &piece);
  /// Allocates host memory for a shard. Returns an error with exit code 13 if
  /// memory is short.
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

/// Returns the path at which a run with `options` reads the weight file `file`
/// of `program`: in the bundle, in the directory of --weights, or where the
/// compiler found it.
std::string weightPath(const program::WeightFileT &file,
                       const program::ProgramT &program,
                       const RunOptions &options);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_ENGINE_WEIGHT_PARAMETERS_H
