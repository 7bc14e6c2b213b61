//===- PrivateFolder.cpp - temporary folder of one job --------------------===//

#include "runtime/launch/job/PrivateFolder.h"

#include <cstdlib>

namespace pcc::runtime {

static std::string temporaryFolder() {
  const char *base = std::getenv("TMPDIR");
  return base && *base ? base : "/tmp";
}

Status PrivateFolder::create(const std::string &base) {
  Status status = folder.createFolder(
      (base.empty() ? temporaryFolder() : base) + "/pcc", 0700);
  if (status.failed() && base.empty())
    status.addNote("a job keeps temporary files in the folder that TMPDIR "
                   "names, or in /tmp");
  return status;
}

} // namespace pcc::runtime
