//===- FileStream.cpp - a stream that keeps why writing failed ------------===//

#include "passes/annotate/FileStream.h"

#include <cerrno>
#include <unistd.h>

using namespace pcc;

FileStream::FileStream(int descriptor)
    : std::ostream(static_cast<std::streambuf *>(this)),
      descriptor(descriptor) {
  setp(buffer.begin(), buffer.end());
}

int FileStream::finish() {
  flush();
  return error;
}

FileStream::int_type FileStream::overflow(int_type next) {
  if (FileStream::sync() != 0)
    return traits_type::eof();
  if (!traits_type::eq_int_type(next, traits_type::eof()))
    sputc(traits_type::to_char_type(next));
  return traits_type::not_eof(next);
}

int FileStream::sync() {
  for (const char *at = pbase(); at < pptr() && error == 0;) {
    const ssize_t count = ::write(descriptor, at, size_t(pptr() - at));
    if (count >= 0)
      at += count;
    else if (errno != EINTR)
      error = errno;
  }
  setp(buffer.begin(), buffer.end());
  return error == 0 ? 0 : -1;
}
