//===- PrivateFolder.cpp - temporary folder of one job --------------------===//

#include "runtime/launch/job/PrivateFolder.h"

#include <cstdlib>

namespace pcc::runtime {

static std::string temporaryFolder() {
  const char *base = std::getenv("TMPDIR");
  return base && *base ? base : "/tmp";
}

Status PrivateFolder::create(const std::string &base) {
  if (!base.empty())
    return folder.createFolder(base + "/pcc", 0700);
  Status status = folder.createFolder(temporaryFolder() + "/pcc", 0700);
  return status.ok() ? status
                     : status.addNote("TMPDIR sets where temporary files are");
}

} // namespace pcc::runtime
