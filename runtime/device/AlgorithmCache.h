//===- AlgorithmCache.h - persistent cache of library algorithms ----------===//
//
// A library that selects among algorithms by heuristics, such as cuBLASLt, may
// select another one in another run, which changes the bits of the results. A
// bundle therefore keeps the selected algorithms, in one text file per version
// of the library and model of GPU:
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

/// Algorithm in the library's own binary format, such as a
/// cublasLtMatmulAlgo_t.
using AlgorithmBytes = std::array<unsigned char, 64>;

/// Map from problems to the algorithms that a library selected for them, in
/// this run or an earlier one. All ranks of a job share the files of their
/// bundle. Calls are open(), then find() and add() for each problem, then
/// keep().
class AlgorithmCache {
public:
  /// Reads the file of `user` in `folder`, the folder of a bundle. `user` names
  /// the library, its version and the GPU, for example "cublaslt 130000 NVIDIA
  /// H100". A file that is absent, damaged or not written by keep() counts as
  /// empty.
  void open(const std::string &folder, std::string_view user);

  /// Returns the algorithm of a problem, or null if none is known. The file is
  /// not trusted: the caller must ask the library whether it can execute the
  /// algorithm. The pointer is valid until the next open() or add().
  const AlgorithmBytes *find(const std::string &problem) const;
  /// Adds the algorithm of a problem, and replaces a known one. The file
  /// changes only in keep().
  void add(const std::string &problem, const AlgorithmBytes &algorithm);

  /// Writes the added algorithms into the file, merged with those that other
  /// processes have written since open(). The file is replaced as a whole.
  /// Errors are ignored: if the folder is not writable, the next run asks the
  /// library again.
  void keep();

private:
  /// Path of the file.
  std::string path;
  /// Algorithms by problem: all of them, and those to be written by keep().
  std::map<std::string, AlgorithmBytes> known, added;
};

} // namespace pcc::runtime

#endif // PCC_RUNTIME_DEVICE_ALGORITHMCACHE_H
