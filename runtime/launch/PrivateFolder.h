//===- PrivateFolder.h - a temporary folder of one job --------------------===//

#ifndef PCC_RUNTIME_LAUNCH_PRIVATEFOLDER_H
#define PCC_RUNTIME_LAUNCH_PRIVATEFOLDER_H

#include "runtime/program/Status.h"

#include <string>

namespace pcc::runtime {

/// A folder below TMPDIR (or /tmp) that only this user can read; destroyed with
/// all that is in it.
class PrivateFolder {
public:
  PrivateFolder() = default;
  PrivateFolder(const PrivateFolder &) = delete;
  PrivateFolder &operator=(const PrivateFolder &) = delete;
  ~PrivateFolder();

  Status create();
  const std::string &path() const { return folder; }

private:
  std::string folder;
};

} // namespace pcc::runtime

#endif // PCC_RUNTIME_LAUNCH_PRIVATEFOLDER_H
