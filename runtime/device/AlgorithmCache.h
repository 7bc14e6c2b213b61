//===- AlgorithmCache.h - what a library has chosen before ----------------===//
//
// A library that chooses among algorithms may choose another one another day,
// and then gives other bits. A bundle keeps what was chosen, in a file per
// device and version of the library:
//
//   pcc algorithms 1
//   <64 bytes in hexadecimal> <the problem, as the device describes it>
//   ...
//   checksum <xxh3 of the lines above, in hexadecimal>
//
//===----------------------------------------------------------------------===//

#ifndef PCC_RUNTIME_DEVICE_ALGORITHMCACHE_H
#define PCC_RUNTIME_DEVICE_ALGORITHMCACHE_H

#include <array>
#include <map>
#include <string>
#include <string_view>

namespace pcc::runtime {

/// What only the library understands.
using AlgorithmBytes = std::array<unsigned char, 64>;

class AlgorithmCache {
public:
  /// Reads the file of `user`, as "cublaslt 130000 NVIDIA H100", in a bundle's
  /// folder. A file that is absent or not what keep() has written is as good
  /// as empty.
  void open(const std::string &folder, std::string_view user);

  /// Null if the problem is new. What is found is the file's word: the library
  /// has to be asked whether it can run that.
  const AlgorithmBytes *find(const std::string &problem) const;
  void add(const std::string &problem, const AlgorithmBytes &algorithm);

  /// Writes what was added and what others have written meanwhile, as a whole
  /// file. A folder that cannot be written keeps nothing, which costs the next
  /// start a question.
  void keep();

private:
  std::string path;
  std::map<std::string, AlgorithmBytes> known, added;
};

} // namespace pcc::runtime

#endif // PCC_RUNTIME_DEVICE_ALGORITHMCACHE_H
