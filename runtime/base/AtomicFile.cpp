//===- AtomicFile.cpp - atomic replacement of a text file -----------------===//

#include "runtime/base/AtomicFile.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <unistd.h>

namespace pcc::runtime {

Status writeFileAtomically(const std::string &path, const std::string &text) {
  const std::string temporary = path + ".partial";
  std::FILE *file = std::fopen(temporary.c_str(), "w");
  const bool written =
      file && std::fwrite(text.data(), 1, text.size(), file) == text.size();
  const bool closed = file && std::fclose(file) == 0;
  if (written && closed && std::rename(temporary.c_str(), path.c_str()) == 0)
    return Status::success();
  const int error = errno;
  unlink(temporary.c_str());
  return Status::error(InputOutput, "cannot write \"" + path +
                                        "\": " + std::strerror(error));
}

} // namespace pcc::runtime
