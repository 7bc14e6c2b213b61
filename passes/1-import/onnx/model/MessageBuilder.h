//===- MessageBuilder.h - protocol buffer encoder that copies by view -----===//

#ifndef PCC_PASSES_1_IMPORT_ONNX_MODEL_MESSAGEBUILDER_H
#define PCC_PASSES_1_IMPORT_ONNX_MODEL_MESSAGEBUILDER_H

#include <cstdint>
#include <deque>
#include <functional>
#include <iosfwd>
#include <string>
#include <string_view>

namespace pcc::onnx {

/// Encodes a protocol buffer message field by field. Each method whose name
/// begins with "add" appends one field; its parameter `field` is the number of
/// the field. The method `copy` appends fields that are already encoded. `copy`
/// stores only a view of the bytes. The message therefore needs no memory of
/// its own for a large weight that `copy` appends.
class MessageBuilder {
public:
  /// Appends one or more fields that are already encoded. `field` is a view of
  /// the encoded bytes. These bytes include the number and the type of each
  /// field. The builder stores only the view. The memory with the bytes must
  /// therefore exist until write() has written the message.
  void copy(std::string_view field);
  /// Appends an integer field in varint encoding.
  void addInteger(uint32_t field, int64_t value);
  /// Appends a field of type string or bytes. Copies `bytes`.
  void addBytes(uint32_t field, std::string_view bytes);
  /// Appends a field whose content is the nested message `message`.
  void addMessage(uint32_t field, MessageBuilder message);
  /// Appends a field whose content is produced only when write() writes the
  /// message to a stream. write() then calls `content` with the stream.
  /// `content` must write exactly `size` bytes.
  void addLater(uint32_t field, uint64_t size,
                std::function<void(std::ostream &)> content);
  /// Appends a repeated integer field in packed encoding (all values in one
  /// length-delimited field), as ONNX requires. Appends nothing if `values` is
  /// empty.
  template <typename List>
  void addIntegers(uint32_t field, const List &values) {
    std::string packed;
    for (int64_t value : values)
      appendInteger(static_cast<uint64_t>(value), packed);
    if (!packed.empty())
      addBytes(field, packed);
  }

  /// Returns the size of the encoded message in bytes.
  uint64_t size() const { return numBytes; }
  /// Writes the encoded message to `out`. The caller must check the stream for
  /// errors.
  void write(std::ostream &out) const;

private:
  /// Appends the varint encoding of `value` to `bytes`.
  static void appendInteger(uint64_t value, std::string &bytes);
  /// Appends the first bytes of a field whose encoding contains the size of the
  /// content. Examples are a string and a nested message. The first bytes give
  /// the number of the field (`field`), the kind of encoding (protobuf wire
  /// type 2) and the size of the content in bytes (`size`). The caller must
  /// append the content itself.
  void addHead(uint32_t field, uint64_t size);
  /// Appends `bytes` to the encoded message. The builder stores the string
  /// itself, not a view of it. There are two cases. In the first case, `bytes`
  /// is a whole field: the number of the field, its wire type and its content.
  /// In the second case, `bytes` holds only the bytes of a field that come
  /// before its content. The caller must then append the content separately.
  void own(std::string bytes);

  /// A part of the encoded message. Exactly one member is set: bytes that the
  /// chunk owns, a view of bytes elsewhere, or a function that writes the bytes
  /// to a stream.
  struct Chunk {
    std::string owned;
    std::string_view viewed;
    std::function<void(std::ostream &)> later;
  };
  std::deque<Chunk> pieces;
  uint64_t numBytes = 0;
};

} // namespace pcc::onnx

#endif // PCC_PASSES_1_IMPORT_ONNX_MODEL_MESSAGEBUILDER_H
