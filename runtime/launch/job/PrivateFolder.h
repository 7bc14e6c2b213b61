//===- PrivateFolder.h - a temporary folder of one job --------------------===//

#ifndef PCC_RUNTIME_LAUNCH_JOB_PRIVATEFOLDER_H
#define PCC_RUNTIME_LAUNCH_JOB_PRIVATEFOLDER_H

#include "runtime/base/ScopedFolder.h"
#include "runtime/base/Status.h"

#include <string>

namespace pcc::runtime {

/// A folder below `base`, else below TMPDIR (or /tmp), that only this user can
/// read; destroyed with all that is in it.
class PrivateFolder {
public:
  Status create(const std::string &base = {});
  const std::string &path() const { return folder.path(); }

private:
  ScopedFolder folder;
};

} // namespace pcc::runtime

#endif // PCC_RUNTIME_LAUNCH_JOB_PRIVATEFOLDER_H
