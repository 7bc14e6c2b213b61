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

/// Opaque bytes by which a library denotes one of its algorithms, such as a
/// cublasLtMatmulAlgo_t of cuBLASLt.
using AlgorithmBytes = std::array<unsigned char, 64>;

/// Map from a problem to the algorithm that a library selected for the problem.
/// A problem is a text that describes one computation, such as a matrix product
/// with its types and shapes. A file in the bundle stores the map, so that a
/// later run uses the same algorithms. The caller calls the functions in this
/// order:
///
///   open()   reads the file
///   find()   returns the algorithm of a problem, or null if the map has none
///   add()    stores an algorithm that the library has newly selected
///   keep()   writes the file
class AlgorithmCache {
public:
  /// Reads the cache from its file in `folder`, the directory of the bundle.
  /// `user` names a library, its version and the GPU. For example, the file of
  /// "cublaslt 130000 NVIDIA H100" is "algorithms-cublaslt-130000-NVIDIA-H100".
  /// If the file is absent or damaged, the cache is empty.
  void open(const std::string &folder, std::string_view user);

  /// Returns the algorithm that the cache contains for `problem`; null if the
  /// cache contains none. `problem` is a text that describes one computation,
  /// such as a matrix product. A library, such as cuBLASLt, may reject the
  /// algorithm, for example because the algorithm needs too much temporary
  /// memory. The caller must therefore check that the library accepts the
  /// algorithm. The pointer is valid until the next open() or add().
  const AlgorithmBytes *find(const std::string &problem) const;
  /// Sets the algorithm of `problem` to `algorithm`. `problem` is a text that
  /// describes one computation, such as a matrix product. find() then returns
  /// `algorithm` for this text. The cache file does not change until keep().
  void add(const std::string &problem, const AlgorithmBytes &algorithm);

  /// Writes the new algorithms to the cache file. An algorithm is new if add()
  /// stored the algorithm after the last call of keep().
  ///
  /// Another process may have written algorithms to the file after the call of
  /// open(). The function therefore reads the file again, and then adds the new
  /// algorithms to the algorithms from the file. The file has one algorithm for
  /// each problem, which is a text that describes one computation. If the file
  /// already has an algorithm for a problem, a new algorithm for this problem
  /// replaces the algorithm in the file.
  ///
  /// The function ignores errors, because a later run can select the algorithms
  /// again.
  void keep();

private:
  /// Path of the file that stores the cache in the directory of the bundle.
  std::string path;
  /// Two maps from a problem to its algorithm. A problem is a text that
  /// describes one computation, such as a matrix product.
  ///
  /// - `known` contains all algorithms that find() can return: the algorithms
  ///   from the cache file and from add().
  /// - `added` contains only the algorithms from add() that keep() has not yet
  ///   written to the file.
  std::map<std::string, AlgorithmBytes> known, added;
};

} // namespace pcc::runtime

#endif // PCC_RUNTIME_DEVICE_ALGORITHMCACHE_H
