//===- PrivateFolder.cpp - a temporary folder of one job ------------------===//

#include "runtime/launch/PrivateFolder.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <stdlib.h>

namespace pcc::runtime {

Status PrivateFolder::create() {
  const char *base = std::getenv("TMPDIR");
  folder = std::string(base && *base ? base : "/tmp") + "/pcc-XXXXXX";
  if (mkdtemp(folder.data()))
    return Status::success();
  const std::string pattern = std::exchange(folder, "");
  return Status::error(InputOutput, "cannot make a temporary folder " +
                                        pattern + ": " + std::strerror(errno));
}

PrivateFolder::~PrivateFolder() {
  std::error_code ignored;
  if (!folder.empty())
    std::filesystem::remove_all(folder, ignored);
}

} // namespace pcc::runtime
