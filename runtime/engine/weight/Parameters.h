//===- Parameters.h - a rank's pieces of the weights ----------------------===//

#ifndef PCC_RUNTIME_ENGINE_WEIGHT_PARAMETERS_H
#define PCC_RUNTIME_ENGINE_WEIGHT_PARAMETERS_H

#include "runtime/base/MappedFile.h"
#include "runtime/device/Device.h"
#include "runtime/engine/options/RunOptions.h"

#include <memory>
#include <vector>

namespace pcc::runtime {

/// Reads pieces when they are first asked for. A piece that lies in its file as
/// it is needed is the mapped file itself; another is a copy, whose pages of
/// the file are let go again; one that the device keeps in its own form is
/// dropped.
class Parameters : public ParameterSource {
public:
  Parameters(const program::ProgramT &program, const Mesh &mesh,
             const Coordinates &at);

  /// Maps the files and refuses those that have changed (exit code 11).
  Status openFiles(const RunOptions &options);

  bool isExclusive(int32_t parameter) const override;
  Status acquire(int32_t parameter, const void *&data) override;
  void drop(int32_t parameter) override;

  /// Fills the bases of all parameter buffers that have not been dropped; what
  /// a device needs in memory of its own is copied, or made, there.
  Status fillBases(BufferTable &buffers, Device &device,
                   const ProgramImage &image);

private:
  struct LocalPiece {
    std::unique_ptr<void, decltype(&std::free)> copy{nullptr, &std::free};
    const void *data = nullptr;
    int uses = 0;
    bool dropped = false;
  };

  void countUses();
  Status fillBasesOfHost(BufferTable &buffers);
  Status copyTo(Device &device, BufferTable &buffers,
                const ProgramImage &image);
  Status writePiece(int32_t parameter, Device &device,
                    const ProgramImage &image, void *to);
  bool isNeeded(const program::BufferT &buffer) const;
  Status readFile(const program::ParameterT &parameter, LocalPiece &piece);
  Status allocate(const program::ParameterT &parameter, LocalPiece &piece);

  const program::ProgramT &program;
  const Mesh &mesh;
  const Coordinates &at;
  std::vector<MappedFile> files;
  std::vector<LocalPiece> pieces;
};

} // namespace pcc::runtime

#endif // PCC_RUNTIME_ENGINE_WEIGHT_PARAMETERS_H
