//===- WarpProduct.h - products of small matrices by a warp ---------------===//
//
// The 32 threads of a warp multiply matrices of 16 rows with matrices of 8
// columns, eight elements of the contraction or a multiple of that at a time.
// Of each eight, thread `quad` of a row or column holds two neighbours:
//
//   left, 16 x 8              right, 8 x 8              sums, 16 x 8
//   row g:      t0 t1 t2 t3   rows 0, 1:  t0 of col g   row g:      t0 t1 t2 t3
//   row g + 8:  t0 t1 t2 t3   rows 2, 3:  t1 of col g   row g + 8:  t0 t1 t2 t3
//
// with g = lane / 4, quad = lane % 4, and two elements at each t. Sums lie as a
// left operand does, so that they become one without moving.
//
// bf16 and f16 are multiplied as they are and added up in f32. f32 is cut into
// two numbers of 11 bits (tf32), of whose four products the three larger are
// added up: what is lost is about 2^-21 of a product. An infinite f32 leaves no
// number behind, so that its sums are NaN.
//
//===----------------------------------------------------------------------===//

#ifndef PCC_PASSES_7_EMIT_GPU_KERNEL_WARPPRODUCT_H
#define PCC_PASSES_7_EMIT_GPU_KERNEL_WARPPRODUCT_H

#include "passes/7-emit/kernel/Writer.h"

namespace pcc::emit {

/// Rows in shared memory, `pitch` elements apart: 16 bytes or a multiple.
struct SharedMatrix {
  mlir::Value memory;
  int64_t pitch;
};

class WarpProduct {
public:
  /// Rows of a left operand, columns of a right one, and the elements of the
  /// contraction that go together.
  static constexpr int64_t rows = 16, columns = 8, depth = 8;
  /// Neighbouring lanes that hold a row of sums together.
  static constexpr int64_t lanesOfRow = 4;

  /// Two neighbouring elements, in one register or, of f32, in two.
  using Pair = llvm::SmallVector<mlir::Value, 2>;
  /// Of 16 rows and 8 elements: those of row g, and of row g + 8.
  struct Left {
    Pair top, bottom;
  };
  /// f32: row g at 2·quad and behind it, and the same of row g + 8.
  using Sums = llvm::SmallVector<mlir::Value, 4>;

  /// `element` is f32, bf16 or f16; `thread` is this one's number in its block.
  WarpProduct(KernelWriter &w, mlir::Type element, const Index &thread);

  /// This thread's g, 2 · quad, and the number of its warp.
  const Index &row() const { return g; }
  const Index &pair() const { return twoQuads; }
  const Index &warp() const { return warpNumber; }

  Sums zeros() const;
  /// From two numbers in f32.
  Pair pairOf(mlir::Value first, mlir::Value second) const;
  /// Sums as the left operand of another product.
  Left leftOf(llvm::ArrayRef<mlir::Value> sums) const;

  /// The right operand whose columns are the eight rows of `matrix` from `row`
  /// on: `count` elements of the contraction, the first of each row.
  std::vector<Pair> rightFromRows(const SharedMatrix &matrix, int64_t row,
                                  int64_t count) const;
  /// The one whose columns are eight columns of `matrix`, from `column` on:
  /// elements of the contraction are its rows, from `row` on.
  std::vector<Pair> rightFromColumns(const SharedMatrix &matrix, int64_t column,
                                     int64_t row, int64_t count) const;

  /// sums + Σ left[i] · right[i]
  Sums add(llvm::ArrayRef<mlir::Value> sums, llvm::ArrayRef<Left> left,
           llvm::ArrayRef<Pair> right) const;

private:
  bool isWide() const { return element.isF32(); }
  mlir::Value bitsOf(mlir::Value value) const;
  Sums addWide(llvm::ArrayRef<mlir::Value> sums, const Left &left,
               const Pair &right) const;
  Sums multiply(llvm::ArrayRef<mlir::Value> sums,
                llvm::ArrayRef<mlir::Value> left,
                llvm::ArrayRef<mlir::Value> right) const;
  /// Where the first element of a right operand lies in a matrix, and how far
  /// the next ones of its contraction and of its columns are.
  struct Steps {
    int64_t start, inside, across;
  };
  std::vector<Pair> load(const SharedMatrix &matrix, const Steps &steps,
                         int64_t count) const;
  Pair loadPair(const SharedMatrix &matrix, const Steps &steps,
                int64_t start) const;
  /// Up to four squares of eight rows, `step` elements from one to the next,
  /// each transposed or not: a pair of each.
  std::vector<Pair> loadSquares(const SharedMatrix &matrix, int64_t start,
                                int64_t step, int64_t count,
                                bool isTransposed) const;

  KernelWriter &w;
  const mlir::Type element;
  Index lane, g, twoQuads, warpNumber;
};

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_GPU_KERNEL_WARPPRODUCT_H
