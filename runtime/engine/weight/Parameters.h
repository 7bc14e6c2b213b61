//===- Parameters.h - loads a rank's pieces of the weights ----------------===//

#ifndef PCC_RUNTIME_ENGINE_WEIGHT_PARAMETERS_H
#define PCC_RUNTIME_ENGINE_WEIGHT_PARAMETERS_H

#include "runtime/base/MappedFile.h"
#include "runtime/device/Device.h"
#include "runtime/engine/options/RunOptions.h"

#include <memory>
#include <vector>

namespace pcc::runtime {

/// Loads the local pieces of parameters on first use. A piece is one of:
///
/// - pages of the mapped weight file, if the file holds the piece exactly as
///   the buffer needs it
/// - a copy, for which the file's pages are released again
/// - nothing, once a device keeps the parameter in its own format (see drop())
class Parameters : public ParameterSource {
public:
  /// Borrows all arguments; they must outlive this object. Opens no file.
  Parameters(const program::ProgramT &program, const Mesh &mesh,
             const Coordinates &at);

  /// Maps all weight files. Exit code 11 if a file has changed since
  /// compilation.
  Status openFiles(const RunOptions &options);

  /// Returns whether exactly one operand of one instruction reads the
  /// parameter, and no instruction writes it. A device may then keep it in its
  /// own format.
  bool isExclusive(int32_t parameter) const override;
  /// Sets `data` to the dense local piece, which is read or generated on first
  /// use. Owned by this object, and valid until drop().
  Status acquire(int32_t parameter, const void *&data) override;
  /// Frees the local piece: the device has its own copy.
  void drop(int32_t parameter) override;

  /// Sets the base addresses of all parameter buffers whose piece was not
  /// dropped. On a device with its own memory, pieces are uploaded into one
  /// allocation, or generated there.
  Status fillBases(BufferTable &buffers, Device &device,
                   const ProgramImage &image);

private:
  /// The local piece of one parameter, while the program is loaded.
  struct LocalPiece {
    /// Memory of a piece that had to be copied; null for pages of a file.
    std::unique_ptr<void, decltype(&std::free)> copy{nullptr, &std::free};
    /// Address of the piece; null if it has not been read.
    const void *data = nullptr;
    /// Operands, outputs and transfers that refer to the parameter.
    int uses = 0;
    /// Whether the device has its own copy.
    bool dropped = false;
  };

  /// Counts the uses of every parameter.
  void countUses();
  /// Points the buffers to the pieces in host memory.
  Status fillBasesOfHost(BufferTable &buffers);
  /// Copies or generates all needed pieces in the device's memory.
  Status copyTo(Device &device, BufferTable &buffers,
                const ProgramImage &image);
  /// Writes one piece to the address `to` in the device's memory.
  Status writePiece(int32_t parameter, Device &device,
                    const ProgramImage &image, void *to);
  /// Returns whether the buffer belongs to a parameter with uses whose piece
  /// was not dropped.
  bool isNeeded(const program::BufferT &buffer) const;
  /// Reads a piece from its file, in place if possible.
  Status readFile(const program::ParameterT &parameter, LocalPiece &piece);
  /// Allocates host memory for a piece. Exit code 13 if there is none.
  Status allocate(const program::ParameterT &parameter, LocalPiece &piece);

  const program::ProgramT &program;
  const Mesh &mesh;
  const Coordinates &at;
  /// The weight files of the program.
  std::vector<MappedFile> files;
  /// The local piece of each parameter.
  std::vector<LocalPiece> pieces;
};

} // namespace pcc::runtime

#endif // PCC_RUNTIME_ENGINE_WEIGHT_PARAMETERS_H
