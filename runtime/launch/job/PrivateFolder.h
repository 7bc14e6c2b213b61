//===- PrivateFolder.h - temporary folder of one job ----------------------===//

#ifndef PCC_RUNTIME_LAUNCH_JOB_PRIVATEFOLDER_H
#define PCC_RUNTIME_LAUNCH_JOB_PRIVATEFOLDER_H

#include "runtime/base/Unfinished.h"
#include "status/Status.h"

#include <string>

namespace pcc::runtime {

/// A temporary folder that only this user can access. The destructor removes
/// the folder and its contents.
class PrivateFolder {
public:
  /// Creates the folder in directory `base`; an empty `base` means $TMPDIR or
  /// /tmp. Returns an error with exit code 7 if the folder cannot be created.
  Status create(const std::string &base = {});
  /// Returns the path of the folder; empty before create().
  const std::string &path() const { return folder.path(); }

private:
  Unfinished folder;
};

} // namespace pcc::runtime

#endif // PCC_RUNTIME_LAUNCH_JOB_PRIVATEFOLDER_H
